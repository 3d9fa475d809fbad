/// Sums and products of tiles through Kokkos, a thread a tile.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/products/tile/core.hpp"
#include "mat/products/tile/tile.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;

template <class Word> static void Add(const TileLayout &A, const TileLayout &B, bool subtract, const TileLayout &C)
{
  Kokkos::parallel_for("TileAdd", Range(0, C.count), [=](const PetscInt t) {
    AddTile(Team(), A.View<Word>(t), B.View<Word>(t), subtract, C.View<Word>(t));
  });
}

PetscErrorCode TileAdd_Kokkos(const TileLayout &A, const TileLayout &B, bool subtract, const TileLayout &C)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(C.bits == 32 ? Add<Word32>(A, B, subtract, C) : Add<Word64>(A, B, subtract, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Word> static void Multiply(const TileLayout &A, const TileLayout &B, const TileLayout &C)
{
  Kokkos::parallel_for("TileMultiply", Range(0, C.count), [=](const PetscInt t) {
    MultiplyTile(Team(), A.View<Word>(t), B.View<Word>(t), C.View<Word>(t));
  });
}

PetscErrorCode TileMultiply_Kokkos(const TileLayout &A, const TileLayout &B, const TileLayout &C)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(C.bits == 32 ? Multiply<Word32>(A, B, C) : Multiply<Word64>(A, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
