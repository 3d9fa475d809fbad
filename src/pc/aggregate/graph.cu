/// The pattern of nodes on the device. Where the rows of each node have the same columns, in whole blocks, it is read
/// off in one pass, a warp a node; else the blocks of all entries are sorted.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/rows/sort_coordinates.hpp"
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
/// i [nodes + 1], j and largest [nonzeros / size^2] as far as blocks are whole; *uneven = 1 where one is not. Lanes
/// take blocks in turn: neighbouring ones read neighbouring entries of each row.
__global__ void even_blocks_kernel(PetscInt nodes, PetscInt size, CsrArrays a, PetscInt *i, PetscInt *j,
                                   PetscReal *largest, int *uneven)
{
  const PetscCount node = thread_index() / 32;
  const int        lane = threadIdx.x % 32;

  if (node >= nodes) return;
  const PetscInt row = static_cast<PetscInt>(node) * size, first = a.i[row], length = a.i[row + 1] - first;
  bool           whole = length % size == 0 && first % (size * size) == 0;
  for (PetscInt r = 1; r < size; r++) whole = whole && a.i[row + r + 1] - a.i[row + r] == length;
  if (lane == 0) {
    i[node] = first / (size * size);
    if (node == nodes - 1) i[nodes] = a.i[row + size] / (size * size);
    if (!whole) *uneven = 1;
  }
  for (PetscInt q = lane; whole && q < length / size; q += 32) {
    const PetscInt column = a.j[first + q * size];
    PetscReal      most   = 0;
    bool           mine   = column % size == 0 && (q == 0 || a.j[first + (q - 1) * size] < column);
    for (PetscInt r = 0; r < size; r++)
      for (PetscInt s = 0; s < size; s++) {
        const PetscInt  e = first + r * length + q * size + s;
        const PetscReal v = Size(a.a[e]);
        mine              = mine && a.j[e] == column + s;
        if (v > most) most = v;
      }
    if (!mine) *uneven = 1;
    j[first / (size * size) + q]       = column / size;
    largest[first / (size * size) + q] = most;
  }
}

/// largest[e] = the largest magnitude of the entries that block e is made of.
__global__ void largest_kernel(PetscInt blocks, const PetscInt *jmap, const PetscInt *perm, const Scalar *a,
                               PetscReal *largest)
{
  const PetscCount e    = thread_index();
  PetscReal        most = 0;
  if (e >= blocks) return;
  for (PetscInt k = jmap ? jmap[e] : e, end = jmap ? jmap[e + 1] : e + 1; k < end; k++) {
    const PetscReal v = Size(a[perm[k]]);
    if (v > most) most = v;
  }
  largest[e] = most;
}

PetscErrorCode FindEven(const SparseRows &A, PetscInt size, NodePattern *pattern, bool *even, Stream stream)
{
  const PetscInt nodes = A.rows / size;
  const size_t   most  = static_cast<size_t>(A.nonzeros / (size * size));
  int            found = 0;
  Array<int>     uneven;

  PetscFunctionBegin;
  PetscCall(uneven.Copy(&found, 1, Space::Device));
  PetscCall(pattern->i.Allocate(static_cast<size_t>(nodes) + 1, Space::Device));
  PetscCall(pattern->j.Allocate(most, Space::Device));
  PetscCall(pattern->largest.Allocate(most, Space::Device));
  even_blocks_kernel<<<Blocks(static_cast<PetscCount>(nodes) * 32), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      nodes, size, A.arrays, pattern->i.data(), pattern->j.data(), pattern->largest.data(), uneven.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&found, uneven.data(), sizeof(found), stream));
  *even = !found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindUneven(const SparseRows &A, PetscInt size, NodePattern *pattern, Stream stream)
{
  const PetscInt    nodes = A.rows / size, others = A.cols / size;
  Array<PetscInt>   row, column;
  SortedCoordinates sorted;

  PetscFunctionBegin;
  PetscCheck(CanSortCoordinates(nodes, others, A.nonzeros), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " entries of %" PetscInt_FMT " nodes have no numbers", A.nonzeros, nodes);
  PetscCall(row.Allocate(static_cast<size_t>(A.nonzeros), Space::Device));
  PetscCall(column.Allocate(static_cast<size_t>(A.nonzeros), Space::Device));
  PetscCall(values::ForEach(Space::Device, A.rows,
                            values::BlocksOfEntries{size, A.arrays.i, A.arrays.j, row.data(), column.data()}));
  PetscCall(SortCoordinates(nodes, others, A.nonzeros, row.data(), column.data(), Space::Device, &sorted));
  pattern->i            = std::move(sorted.i);
  pattern->j            = std::move(sorted.j);
  const PetscInt blocks = static_cast<PetscInt>(pattern->j.size());
  PetscCall(pattern->largest.Allocate(static_cast<size_t>(blocks), Space::Device));
  largest_kernel<<<Blocks(blocks), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      blocks, sorted.jmap.data_or_null(), sorted.perm.data(), A.arrays.a, pattern->largest.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindBlocks_CUDA(const SparseRows &A, PetscInt size, NodePattern *pattern)
{
  const PetscInt zero = 0;
  Stream         stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (A.nonzeros == 0) {
    PetscCall(pattern->i.Allocate(static_cast<size_t>(A.rows / size) + 1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(pattern->i.data(), zero, pattern->i.bytes(), static_cast<cudaStream_t>(stream)));
    PetscCall(pattern->j.Allocate(0, Space::Device));
    PetscCall(pattern->largest.Allocate(0, Space::Device));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindEven(A, size, pattern, &pattern->whole, stream));
  if (!pattern->whole) PetscCall(FindUneven(A, size, pattern, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
