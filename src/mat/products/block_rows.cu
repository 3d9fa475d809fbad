/// Blocks are looked for, and their pattern is made that of rows again, by a warp for each row of blocks.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/products/block_rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

namespace
{
/// *broken = 1 where a row of blocks has others than full ones; i, j are undefined then. Neighbouring lanes read
/// neighbouring columns of each row.
__global__ void find_blocks_kernel(PetscInt count, PetscInt row_size, PetscInt column_size, CsrArrays rows, PetscInt *i,
                                   PetscInt *j, int *broken)
{
  const PetscCount row  = thread_index() / 32;
  const int        lane = threadIdx.x % 32;

  if (row >= count) return;
  const PetscInt *const begins = rows.i + row * row_size;
  const PetscInt        begin = begins[0], length = begins[1] - begin, block = row_size * column_size;
  bool                  full = length % column_size == 0;
  for (PetscInt s = 1 + lane; s < row_size; s += 32) full = full && begins[s + 1] - begins[s] == length;
  if (!__all_sync(0xffffffffu, full)) {
    if (lane == 0) *broken = 1;
    return;
  }
  for (PetscInt e = lane; e < length; e += 32) {
    const PetscInt column = rows.j[begin + e], q = e % column_size, first = rows.j[begin + e - q];
    full = full && first % column_size == 0 && column == first + q;
    for (PetscInt s = 1; s < row_size; s++) full = full && rows.j[begin + s * length + e] == column;
    if (q == 0) j[begin / block + e / column_size] = column / column_size;
  }
  if (!full) *broken = 1;
  if (lane != 0) return;
  i[row] = begin / block;
  if (row == count - 1) i[count] = (begin + row_size * length) / block;
}

/// i and j of the rows from those of their blocks. Neighbouring lanes write neighbouring columns.
__global__ void expand_blocks_kernel(PetscInt count, PetscInt row_size, PetscInt column_size, const PetscInt *block_i,
                                     const PetscInt *block_j, PetscInt *i, PetscInt *j)
{
  const PetscCount row  = thread_index() / 32;
  const int        lane = threadIdx.x % 32;

  if (row >= count) return;
  const PetscInt first = block_i[row], length = (block_i[row + 1] - first) * column_size;
  const PetscInt begin = first * row_size * column_size;
  for (PetscInt s = lane; s < row_size; s += 32) i[row * row_size + s] = begin + s * length;
  if (lane == 0 && row == count - 1) i[count * row_size] = begin + row_size * length;
  for (PetscInt e = lane; e < length; e += 32) {
    const PetscInt column = block_j[first + e / column_size] * column_size + e % column_size;
    for (PetscInt s = 0; s < row_size; s++) j[begin + s * length + e] = column;
  }
}
} // namespace

PetscErrorCode FindFullBlocks_CUDA(const SparseRows &rows, PetscInt row_size, PetscInt column_size, PetscInt *i,
                                   PetscInt *j, bool *found)
{
  const PetscInt count = rows.rows / row_size;
  Array<int>     broken;
  int            any = 0;
  Stream         stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(broken.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(broken.data(), 0, sizeof(int), s));
  find_blocks_kernel<<<Blocks(static_cast<PetscCount>(count) * 32), THREADS, 0, s>>>(count, row_size, column_size,
                                                                                     rows.arrays, i, j, broken.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(broken.ToHost(&any));
  *found = !any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExpandBlocks_CUDA(const Pattern &blocks, PetscInt row_size, PetscInt column_size, PetscInt *i,
                                 PetscInt *j)
{
  const PetscInt count = static_cast<PetscInt>(blocks.i.size()) - 1;
  Stream         stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  expand_blocks_kernel<<<Blocks(static_cast<PetscCount>(count) * 32), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      count, row_size, column_size, blocks.i.data(), blocks.j.data(), i, j);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
