/// The rows of boxes of a grid on the device, a thread block a box.
#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "pc/subdomains/cut.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

namespace
{
struct Grid {
  PetscInt            sides[3], unknowns;
  const GridCut::Box *boxes;
};
} // namespace

/// of_row[r] = the box of row r, row[k] = the k-th row, box after box, each in the matrix's own order.
static __global__ void boxes_kernel(Grid grid, PetscInt *of_row, PetscInt *row)
{
  const GridCut::Box box = grid.boxes[blockIdx.x];
  const PetscInt     x = box.high[0] - box.low[0], y = box.high[1] - box.low[1], z = box.high[2] - box.low[2];
  for (PetscInt k = threadIdx.x; k < x * y * z * grid.unknowns; k += blockDim.x) {
    const PetscInt node = k / grid.unknowns, line = node / x;
    const PetscInt at =
        ((box.low[2] + line / y) * grid.sides[1] + box.low[1] + line % y) * grid.sides[0] + box.low[0] + node % x;
    const PetscInt r   = at * grid.unknowns + k % grid.unknowns;
    of_row[r]          = static_cast<PetscInt>(blockIdx.x);
    row[box.begin + k] = r;
  }
}

PetscErrorCode CutOnDevice(const GridCut &grid, Cut *cut, Array<PetscInt> *of_row, Array<PetscInt> *row, Stream stream)
{
  const PetscInt      count = static_cast<PetscInt>(grid.boxes.size());
  Array<GridCut::Box> boxes;

  PetscFunctionBegin;
  *cut       = Cut();
  cut->count = count;
  cut->kind  = CutKind::Boxes;
  for (const GridCut::Box &box : grid.boxes) PetscCallCXX(cut->begin.push_back(box.begin));
  PetscCallCXX(cut->begin.push_back(grid.rows));
  for (PetscInt s = 0; s < count; s++) cut->largest = std::max(cut->largest, cut->begin[s + 1] - cut->begin[s]);
  PetscCall(boxes.Copy(grid.boxes.data(), grid.boxes.size(), Space::Device));
  PetscCall(of_row->Allocate(grid.rows, Space::Device));
  PetscCall(row->Allocate(grid.rows, Space::Device));
  boxes_kernel<<<static_cast<unsigned>(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      Grid{{grid.sides[0], grid.sides[1], grid.sides[2]}, grid.unknowns, boxes.data()}, of_row->data(), row->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
