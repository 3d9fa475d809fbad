/// LU factorizations of all tiles of a batch, and solves with them. A tile is scattered into a dense one in fast
/// memory, factored there, and gathered back. Shao, Wang & Zhou, patent application, 2019. On the device that memory is
/// shared, as in the patent; up to 128 rows panels of the tile are factored in registers.
///
/// Without pivoting the updates keep to the flags of L and U, whose pattern with its fill is found once, on the host.
/// With partial pivoting P A = L U: the row of largest magnitude, the first row of several, is the pivot; which places
/// fill is not known before, so the factors are full.
///
/// Factors lie by columns, as solves read them; L has a unit diagonal, the diagonal's place holds the inverse of U's.
#pragma once

#include "mat/products/tile/tile.hpp"
#include "pc/tile/names.hpp"

namespace sparsegpu::tile
{

constexpr unsigned long long NO_FAILED_ROW = ~0ull;

/// What kernels see of the factors.
struct TileLULayout {
  TileLayout          LU;
  PetscInt           *permutation; ///< [rows of the batch] the row, within its tile, that pivot k came from; null: k
  unsigned long long *failed;      ///< the first row of the batch without a pivot, NO_FAILED_ROW
  PetscReal          *pivot;       ///< [tiles] the magnitude of a pivot that failed
};

class TileLU
{
public:
  /// Finds the pattern of the factors of A's tiles and keeps room for them, where A lies. Errors: PETSC_ERR_ARG_SIZ
  /// naming a tile that is not square; PETSC_ERR_ARG_OUTOFRANGE naming the rows of one that is larger than
  /// TileLargest(), and how many fit.
  PetscErrorCode Symbolic(const TileBatch &A, bool pivoting);
  /// Factors A, of the pattern that Symbolic() saw. *failed: the first row of the batch whose pivot is at most `zero`
  /// in magnitude, or which got a NaN (*pivot is NaN then), -1: none; the tile's factors are zero then, and so are its
  /// solutions. Waits on the device, allocates nothing.
  PetscErrorCode Numeric(TileBatch &A, PetscReal zero, PetscInt *failed, PetscReal *pivot, Stream stream);
  /// A x = b, or A^T x = b; b, x [rows of the batch], x may be b. Asynchronous on the device, allocates nothing.
  PetscErrorCode Solve(const Scalar *b, Scalar *x, bool transpose, Stream stream);

  TileBatch     &Factors() { return LU_; }
  PetscErrorCode GetPermutation(std::vector<PetscInt> *permutation) const;
  bool           Pivoting() const { return pivoting_; }
  size_t         Bytes() const;

private:
  TileLULayout Layout();

  Space                     space_    = Space::Host;
  bool                      pivoting_ = false;
  TileBatch                 LU_;
  Array<PetscInt>           permutation_;
  Array<PetscReal>          pivot_;
  Array<unsigned long long> failed_;
  // on the host, for each worker
  PetscInt        workers_ = 0;
  Array<Scalar>   dense_;   ///< [workers * DenseScalars()]
  Array<PetscInt> indices_; ///< [workers * largest]
};

/// Rows of the dense tile lie so far apart: an odd number, so that columns do not meet in one bank of shared memory.
SPARSEGPU_HD PetscInt DensePitch(PetscInt n)
{
  return n | 1;
}
/// Scalars of fast memory that a factorization, or a solve, of n rows needs.
SPARSEGPU_HD size_t DenseScalars(PetscInt n)
{
  const size_t tile = static_cast<size_t>(n) * DensePitch(n), vectors = 2 * static_cast<size_t>(n);
  return tile > vectors ? tile : vectors;
}

/// The most rows of a tile that LU takes: on the device what the shared memory of a thread block holds; on the host
/// 1024, 8 MB in double precision.
PetscErrorCode TileLargest(Space space, PetscInt *largest);
PetscErrorCode TileLargest_CUDA(PetscInt *largest);
PetscErrorCode TileFactor_CUDA(const TileLayout &A, const TileLULayout &F, const std::vector<TileClass> &classes,
                               PetscReal zero, Stream stream);
PetscErrorCode TileSolve_CUDA(const TileLULayout &F, const std::vector<TileClass> &classes, const Scalar *b, Scalar *x,
                              bool transpose, Stream stream);
/// On the host `workers` share the tiles, each with DenseScalars(largest) of `dense` and `largest` of `indices`.
PetscErrorCode TileFactor_Kokkos(const TileLayout &A, const TileLULayout &F, PetscInt largest, PetscReal zero,
                                 PetscInt workers, Scalar *dense, PetscInt *indices);
PetscErrorCode TileSolve_Kokkos(const TileLULayout &F, PetscInt largest, const Scalar *b, Scalar *x, bool transpose,
                                PetscInt workers, Scalar *dense);

} // namespace sparsegpu::tile
