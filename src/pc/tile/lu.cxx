/// Storage of a batch of LU factors, and the choice between the backends.
#include "pc/tile/lu.hpp"
#include <algorithm>
#include "device/kokkos.hpp"
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::tile
{

PetscErrorCode TileLargest(Space space, PetscInt *largest)
{
  PetscFunctionBegin;
  *largest = 1024;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCall(TileLargest_CUDA(largest));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileLU::Symbolic(const TileBatch &A, bool pivoting)
{
  const TilePattern &pattern = A.Pattern();
  const PetscInt     count   = pattern.Count();
  TilePattern        factors;
  PetscInt           largest;

  PetscFunctionBegin;
  space_    = A.space();
  pivoting_ = pivoting;
  PetscCall(TileLargest(space_, &largest));
  PetscCheck(A.Largest() <= largest, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A tile of %" PetscInt_FMT " rows takes %.0f bytes: at most %" PetscInt_FMT " rows fit %s", A.Largest(),
             (double)(DenseScalars(A.Largest()) * sizeof(Scalar)), largest,
             space_ == Space::Device ? "the shared memory of a thread block of this device" : "a tile of the host");
  PetscCall(TileFactorPattern(pattern, &factors)); // checks the shapes, too
  if (pivoting) PetscCall(TileFullPattern(pattern, &factors));
  PetscCall(LU_.Build(std::move(factors), space_, const_cast<TileBatch &>(A).Layout().bits));
  PetscCall(permutation_.Allocate(pivoting ? pattern.Rows() : 0, space_));
  PetscCall(pivot_.Allocate(count, space_));
  PetscCall(failed_.Allocate(1, space_));
  workers_ = 0;
  if (space_ == Space::Host) {
    PetscCall(KokkosConcurrency(&workers_));
    workers_ = std::min(workers_, count);
    PetscCall(dense_.Allocate(static_cast<size_t>(workers_) * DenseScalars(A.Largest()), Space::Host));
    PetscCall(indices_.Allocate(static_cast<size_t>(workers_) * A.Largest(), Space::Host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TileLULayout TileLU::Layout()
{
  return TileLULayout{LU_.Layout(), pivoting_ ? permutation_.data() : nullptr, failed_.data(), pivot_.data()};
}

PetscErrorCode TileLU::Numeric(TileBatch &A, PetscReal zero, PetscInt *failed, PetscReal *pivot, Stream stream)
{
  const std::vector<TileShape> &shape = LU_.Pattern().shape;
  unsigned long long            first = NO_FAILED_ROW;

  PetscFunctionBegin;
  PetscCheck(A.Pattern().Count() == LU_.Pattern().Count() && A.space() == space_, PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONGSTATE, "The batch is not the one of the symbolic factorization");
  PetscCall(SPARSEGPU_LAUNCH(
      space_, TileFactor_CUDA(A.Layout(), Layout(), LU_.Classes(), zero, stream),
      TileFactor_Kokkos(A.Layout(), Layout(), LU_.Largest(), zero, workers_, dense_.data(), indices_.data())));
  if (space_ == Space::Host)
    first = *failed_.data();
  else {
    PetscCall(DeviceCopyOut(&first, failed_.data(), sizeof(first), stream));
    PetscCall(DeviceSynchronize(stream));
  }
  *failed = -1;
  *pivot  = 0;
  if (first == NO_FAILED_ROW) PetscFunctionReturn(PETSC_SUCCESS);
  *failed                = static_cast<PetscInt>(first);
  const auto       after = std::upper_bound(shape.begin(), shape.end(), *failed,
                                            [](PetscInt row, const TileShape &s) { return row < s.row + s.rows; });
  const PetscReal *from  = pivot_.data() + (after - shape.begin());
  if (space_ == Space::Host)
    *pivot = *from;
  else {
    PetscCall(DeviceCopyOut(pivot, from, sizeof(*pivot), stream));
    PetscCall(DeviceSynchronize(stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileLU::Solve(const Scalar *b, Scalar *x, bool transpose, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, TileSolve_CUDA(Layout(), LU_.Classes(), b, x, transpose, stream),
                             TileSolve_Kokkos(Layout(), LU_.Largest(), b, x, transpose, workers_, dense_.data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileLU::GetPermutation(std::vector<PetscInt> *permutation) const
{
  Stream stream;

  PetscFunctionBegin;
  PetscCallCXX(permutation->resize(permutation_.size()));
  if (space_ == Space::Host) {
    std::copy(permutation_.data(), permutation_.data() + permutation_.size(), permutation->begin());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(permutation->data(), permutation_.data(), permutation_.bytes(), stream));
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t TileLU::Bytes() const
{
  return LU_.Bytes() + permutation_.bytes() + pivot_.bytes() + failed_.bytes() + dense_.bytes() + indices_.bytes();
}

} // namespace sparsegpu::tile
