/// LU of a batch of tiles on the host: workers take tiles in turn.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "pc/tile/core.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::tile
{

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;

/// A worker takes every `workers`-th tile, so that its scratch memory is its own.
template <class Word> static void Factor(const TileLayout &A, const TileLULayout &F, PetscInt largest, PetscReal zero,
                                         PetscInt workers, Scalar *dense, PetscInt *indices)
{
  unsigned long long first = NO_FAILED_ROW;
  Kokkos::parallel_reduce(
      "TileFactor", Range(0, workers),
      [=](const PetscInt worker, unsigned long long &failed) {
        for (PetscInt t = worker; t < A.count; t += workers) {
          const TileShape s = A.shape[t];
          const DenseTile D{s.rows, DensePitch(s.rows), dense + DenseScalars(largest) * worker,
                            indices + static_cast<size_t>(largest) * worker};
          const PetscInt  row = FactorTile(Team(), A.View<Word>(t), F.LU.View<Word>(t),
                                          F.permutation ? F.permutation + s.row : nullptr, zero, D, F.pivot + t);
          const auto      at  = static_cast<unsigned long long>(s.row) + static_cast<unsigned long long>(row);
          if (row < s.rows && at < failed) failed = at;
        }
      },
      Kokkos::Min<unsigned long long>(first));
  *F.failed = first;
}

PetscErrorCode TileFactor_Kokkos(const TileLayout &A, const TileLULayout &F, PetscInt largest, PetscReal zero,
                                 PetscInt workers, Scalar *dense, PetscInt *indices)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(A.bits == 32 ? Factor<Word32>(A, F, largest, zero, workers, dense, indices)
                            : Factor<Word64>(A, F, largest, zero, workers, dense, indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Word> static void Solve(const TileLULayout &F, PetscInt largest, const Scalar *b, Scalar *x,
                                        bool transpose, PetscInt workers, Scalar *dense)
{
  Kokkos::parallel_for("TileSolve", Range(0, workers), [=](const PetscInt worker) {
    Scalar *y = dense + DenseScalars(largest) * worker;
    for (PetscInt t = worker; t < F.LU.count; t += workers) {
      const BitmapView<Word> LU          = F.LU.View<Word>(t);
      const PetscInt         row         = F.LU.shape[t].row;
      const PetscInt        *permutation = F.permutation ? F.permutation + row : nullptr;
      if (transpose)
        SolveTransposedTile(Team(), LU, permutation, b + row, x + row, y, y + LU.rows);
      else
        SolveTile(Team(), LU, permutation, b + row, x + row, y, y + LU.rows);
    }
  });
}

PetscErrorCode TileSolve_Kokkos(const TileLULayout &F, PetscInt largest, const Scalar *b, Scalar *x, bool transpose,
                                PetscInt workers, Scalar *dense)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(F.LU.bits == 32 ? Solve<Word32>(F, largest, b, x, transpose, workers, dense)
                               : Solve<Word64>(F, largest, b, x, transpose, workers, dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::tile
