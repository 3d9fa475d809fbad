/// Sums and products of tiles on a GPU, a thread block a tile.
#include <climits>
#include "device/cuda_check.hpp"
#include "mat/products/tile/core.hpp"
#include "mat/products/tile/tile.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

static constexpr int TILE_THREADS = 128;

/// Neighbouring threads read and write neighbouring values; blocks take every gridDim.x-th tile. Bitwise reproducible.
template <class Word> static __global__ void __launch_bounds__(TILE_THREADS)
    tile_add_kernel(TileLayout A, TileLayout B, bool subtract, TileLayout C)
{
  const Team team{static_cast<PetscInt>(threadIdx.x), TILE_THREADS, 32};
  for (PetscCount t = blockIdx.x; t < C.count; t += gridDim.x) {
    const PetscInt tile = static_cast<PetscInt>(t);
    AddTile(team, A.View<Word>(tile), B.View<Word>(tile), subtract, C.View<Word>(tile));
  }
}

/// The same; a thread sums its entries alone.
template <class Word> static __global__ void __launch_bounds__(TILE_THREADS)
    tile_multiply_kernel(TileLayout A, TileLayout B, TileLayout C)
{
  const Team team{static_cast<PetscInt>(threadIdx.x), TILE_THREADS, 32};
  for (PetscCount t = blockIdx.x; t < C.count; t += gridDim.x) {
    const PetscInt tile = static_cast<PetscInt>(t);
    MultiplyTile(team, A.View<Word>(tile), B.View<Word>(tile), C.View<Word>(tile));
  }
}

/// Blocks for so many tiles: as many as a grid takes.
static unsigned TileBlocks(PetscCount tiles)
{
  return static_cast<unsigned>(tiles < INT_MAX ? tiles : INT_MAX);
}

PetscErrorCode TileAdd_CUDA(const TileLayout &A, const TileLayout &B, bool subtract, const TileLayout &C, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (C.count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (C.bits == 32)
    tile_add_kernel<Word32><<<TileBlocks(C.count), TILE_THREADS, 0, s>>>(A, B, subtract, C);
  else
    tile_add_kernel<Word64><<<TileBlocks(C.count), TILE_THREADS, 0, s>>>(A, B, subtract, C);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileMultiply_CUDA(const TileLayout &A, const TileLayout &B, const TileLayout &C, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (C.count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (C.bits == 32)
    tile_multiply_kernel<Word32><<<TileBlocks(C.count), TILE_THREADS, 0, s>>>(A, B, C);
  else
    tile_multiply_kernel<Word64><<<TileBlocks(C.count), TILE_THREADS, 0, s>>>(A, B, C);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
