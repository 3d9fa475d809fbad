/// csr's products: of all rows, or of those that are not empty where they are added to others.
#include "device/backend_call.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

PetscErrorCode Csr::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  if (adds_ && y && y == z) {
    if (layout_.filled == CsrLayout::UNKNOWN) PetscCall(FindFilled());
    if (layout_.filled >= 0) {
      PetscCall(
          SPARSEGPU_LAUNCH(space_, CsrAddFilled_CUDA(Layout(), x, z, stream), CsrAddFilled_Kokkos(Layout(), x, z)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(SPARSEGPU_LAUNCH(space_, CsrMult_CUDA(Layout(), x, {y, z}, stream), CsrMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Csr::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                             Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, CsrMult_CUDA(Layout(), x, to, stream, exchange),
                             Format::MultInto(x, to, exchange, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Csr::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  if (layout_.chunks > 0) { // the last of several blocks to arrive would have a row's sum
    PetscCall(Format::MultDots(dots, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SPARSEGPU_LAUNCH(space_, CsrMultDots_CUDA(Layout(), dots, stream), Format::MultDots(dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Csr::AddArriving(const comm::DeviceExchange &exchange, const SumTarget &to, Stream stream)
{
  PetscFunctionBegin;
  if (layout_.chunks > 0) { // rows that thread blocks share
    PetscCall(Format::AddArriving(exchange, to, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SPARSEGPU_LAUNCH(space_, CsrAddArriving_CUDA(Layout(), exchange, to, stream),
                             Format::AddArriving(exchange, to, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Csr::MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, CsrMultDense_CUDA(Layout(), cols_, d, scratch, stream),
                             CsrMultDense_Kokkos(Layout(), d)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
