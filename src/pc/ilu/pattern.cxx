/// The pattern of the factors, found in the space where they will be.
#include "petsc/may_lack_memory.hpp"
#include "pc/ilu/factor.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

PetscErrorCode Factor::SymbolicOnHost(const MatrixRows &A, IS row, IS column, const MatFactorInfo &info)
{
  const PetscInt *r, *c;
  const PetscInt  n = A.csr.rows;
  HostRows        host;
  Uncoupled       uncoupled;
  CsrView         csr;
  PetscBool       identity[2];

  PetscFunctionBegin;
  PetscCall(host.Take(A, false));
  csr = host.csr;
  if (cut_.count > 1) {
    PetscCall(uncoupled.Drop(host.csr, cut_));
    csr   = uncoupled.View(host.csr);
    kept_ = csr.nonzeros;
  }
  pattern_.rows = n;
  if (!cut_.row.empty()) {
    PetscCallCXX(pattern_.row = cut_.row);
    PetscCallCXX(pattern_.column = cut_.column.empty() ? cut_.row : cut_.column);
    pattern_.natural = false;
  } else {
    PetscCall(ISGetIndices(row, &r));
    PetscCall(ISGetIndices(column, &c));
    PetscCallCXX(pattern_.row.assign(r, r + n));
    PetscCallCXX(pattern_.column.assign(c, c + n));
    PetscCall(ISIdentity(row, &identity[0]));
    PetscCall(ISIdentity(column, &identity[1]));
    pattern_.natural = identity[0] && identity[1];
    PetscCall(ISRestoreIndices(row, &r));
    PetscCall(ISRestoreIndices(column, &c));
  }
  PetscCall(Symbolic_Host(csr, kind, levels_of_fill, info.diagonal_fill != 0, &pattern_, &source_));
  for (PetscInt &source : source_)
    if (source >= 0 && cut_.count > 1) source = uncoupled.entry[source];
  nonzeros_ = static_cast<PetscInt>(pattern_.j.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
/// The pattern that the host finds, for the device.
PetscErrorCode Factor::SymbolicFromHost(const MatrixRows &A, IS row, IS column, const MatFactorInfo &info)
{
  DevicePattern *p = &device_pattern_;

  PetscFunctionBegin;
  *p = DevicePattern();
  PetscCall(BringCutHome());
  PetscCall(SymbolicOnHost(A, row, column, info));
  p->rows     = rows_;
  p->nonzeros = nonzeros_;
  p->permuted = true;
  PetscCall(p->i.Take(std::move(pattern_.i), Space::Device));
  PetscCall(p->j.Take(std::move(pattern_.j), Space::Device));
  PetscCall(p->diagonal.Take(std::move(pattern_.diagonal), Space::Device));
  PetscCall(p->row.Take(std::move(pattern_.row), Space::Device));
  PetscCall(p->column.Take(std::move(pattern_.column), Space::Device));
  PetscCall(p->source.Take(std::move(source_), Space::Device));
  pattern_ = FactorPattern();
  source_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern without fill; row and column null: the matrix's own order.
PetscErrorCode Factor::WithoutFill(const MatrixRows &A, const PetscInt *row, const PetscInt *column, Space of_order,
                                   UncoupledOnDevice *uncoupled, PetscInt *missing)
{
  const PetscInt *device_i, *device_j;
  Array<PetscInt> i, j;
  Stream          stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PatternOnDevice(A, &i, &j, &device_i, &device_j));
  kept_ = A.csr.nonzeros;
  if (cut_.count > 1) {
    PetscCall(uncoupled->Drop(rows_, device_i, device_j, cut_, device_cut_.of_row.data_or_null(), stream));
    device_i = uncoupled->i.data();
    device_j = uncoupled->j.data();
    kept_    = uncoupled->nonzeros;
  }
  PetscCall(
      Symbolic_CUDA(rows_, kept_, device_i, device_j, kind, row, column, &device_pattern_, missing, stream, of_order));
  PetscCall(DeviceSynchronize(stream)); // i and j end here
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SymbolicOnDevice(const MatrixRows &A, IS row, IS column, const MatFactorInfo &info)
{
  Stream          stream;
  PetscInt        missing = -1;
  PetscBool       row_natural, column_natural;
  bool            host = false;
  const PetscInt *r = nullptr, *c = nullptr;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(ISIdentity(row, &row_natural));
  PetscCall(ISIdentity(column, &column_natural));
  const bool there = device_cut_.row.size() > 0, here = !cut_.row.empty();
  const bool given = !there && !here && !(row_natural && column_natural);
  if (there) r = c = device_cut_.row.data();
  if (here) r = cut_.row.data();
  if (here) c = cut_.column.empty() ? r : cut_.column.data();
  if (given) {
    PetscCall(ISGetIndices(row, &r));
    PetscCall(ISGetIndices(column, &c));
  }
  const auto find = [&]() -> PetscErrorCode {
    UncoupledOnDevice uncoupled;
    PetscFunctionBegin;
    PetscCall(WithoutFill(A, r, c, there ? Space::Device : Space::Host, &uncoupled, &missing));
    if (missing < 0 && levels_of_fill > 0) PetscCall(AddFill_CUDA(levels_of_fill, 0, &device_pattern_, stream));
    if (cut_.count == 1) PetscFunctionReturn(PETSC_SUCCESS);
    if (device_pattern_.identical) // to the matrix without couplings
      device_pattern_.source = std::move(uncoupled.entry);
    else
      PetscCall(uncoupled.Compose(device_pattern_.nonzeros, device_pattern_.source.data(), stream));
    device_pattern_.identical = false;
    PetscCall(DeviceSynchronize(stream)); // the other pattern ends here
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(TryOnDevice(find, &host));
  if (given) {
    PetscCall(ISRestoreIndices(row, &r));
    PetscCall(ISRestoreIndices(column, &c));
  }
  // the host has more memory, inserts missing diagonal entries, and names errors
  if (host || (missing >= 0 && info.diagonal_fill != 0)) {
    PetscCall(PetscInfo(nullptr, "The pattern of the factors is found on the host\n"));
    PetscCall(SymbolicFromHost(A, row, column, info));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(missing < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Matrix is missing the diagonal entry of row %" PetscInt_FMT
             " (-pc_factor_diagonal_fill puts zeros there)",
             missing);
  nonzeros_ = device_pattern_.nonzeros;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace sparsegpu::ilu
