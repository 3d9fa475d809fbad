/// Row lengths and diagonals of a pattern, found on the device.
#include "mat/rows/inspect.hpp"
#include <thrust/iterator/counting_iterator.h>
#include "device/cub_call.cuh"
#include "device/flag.cuh"
#include "device/grid.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

static constexpr int LANES = 8; ///< threads of a row

static __global__ void lengths_kernel(PetscInt rows, const PetscInt *i, RowLengths *lengths)
{
  unsigned long long squares = 0, filled = 0;
  PetscInt           longest = 0;
  for (PetscCount r = thread_index(); r < rows; r += static_cast<PetscCount>(gridDim.x) * THREADS) {
    const PetscInt length = i[r + 1] - i[r];
    squares += static_cast<unsigned long long>(length) * static_cast<unsigned long long>(length);
    longest = length > longest ? length : longest;
    filled += length > 0;
  }
  squares = warp_sum(squares);
  longest = warp_max(longest);
  filled  = warp_sum(filled);
  if (threadIdx.x % 32 > 0) return;
  atomicAdd(&lengths->squares, squares);
  atomic_max(&lengths->longest, longest);
  atomicAdd(&lengths->filled, filled);
}

/// used[j - r + rows] = 1 for every entry (r, j) of the rows [first, last). All who write the same byte write the same.
static __global__ void diagonals_kernel(PetscInt rows, PetscInt first, PetscInt last, const PetscInt *i,
                                        const PetscInt *j, unsigned char *used)
{
  const PetscCount r = first + thread_index() / LANES;
  if (r >= last) return;
  const PetscInt end = i[r + 1];
  for (PetscInt e = i[r] + threadIdx.x % LANES; e < end; e += LANES) {
    unsigned char *mine = used + (static_cast<PetscCount>(j[e]) + (rows - r));
    if (!*mine) *mine = 1;
  }
}

static __global__ void offsets_kernel(PetscInt count, PetscInt rows, PetscInt *offset)
{
  const PetscCount d = thread_index();
  if (d < count) offset[d] -= rows;
}

PetscErrorCode InspectRows_CUDA(const CsrView &A, RowLengths *lengths)
{
  constexpr PetscCount MOST = 264; // blocks: more wait for each other to add up
  Array<RowLengths>    found;
  Stream               stream;

  PetscFunctionBegin;
  *lengths = RowLengths();
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(found.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(found.data(), 0, found.bytes(), static_cast<cudaStream_t>(stream)));
  lengths_kernel<<<PetscMin(Blocks(A.rows), MOST), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A.rows, A.device.i,
                                                                                                    found.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(lengths, found.data(), sizeof(RowLengths), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void mirrors_kernel(PetscInt count, PetscInt rows, CsrArrays A, int *wrong)
{
  const PetscCount k = thread_index();
  if (k < count && !MirrorsRow(A, SampledRow(static_cast<PetscInt>(k), rows))) *wrong = 1;
}

PetscErrorCode LooksSymmetric_CUDA(const CsrView &A, bool *symmetric)
{
  const PetscInt count = PetscMin(A.rows, SAMPLED_ROWS);
  bool           wrong = false;

  const auto launch = [&](int *flag, cudaStream_t stream) {
    mirrors_kernel<<<Blocks(count), THREADS, 0, stream>>>(count, A.rows, A.device, flag);
  };
  PetscFunctionBegin;
  if (count > 0) PetscCall(RaisesFlag(launch, &wrong));
  *symmetric = !wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindDiagonals_CUDA(const CsrView &A, PetscInt most, std::vector<PetscInt> *offsets, PetscInt *count)
{
  constexpr PetscInt   LARGE = 8388608; // nonzeros
  const PetscCount     size  = static_cast<PetscCount>(A.rows) + A.cols;
  Array<unsigned char> used;
  Array<PetscInt>      offset, found;
  DeviceMemory         scratch;
  Stream               stream;

  PetscFunctionBegin;
  offsets->clear();
  *count = 0;
  if (A.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(used.Allocate(size, Space::Device));
  PetscCall(found.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(used.data(), 0, used.bytes(), s));
  // where a few rows have too many, the others need no look
  const PetscInt few = A.nonzeros >= LARGE && most < size ? A.rows / 32 : 0;
  for (PetscInt first = 0, last = few ? few : A.rows; first < A.rows; first = last, last = A.rows) {
    diagonals_kernel<<<Blocks(static_cast<PetscCount>(last - first) * LANES), THREADS, 0, s>>>(
        A.rows, first, last, A.device.i, A.device.j, used.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    CallCUB(&scratch, cub::DeviceReduce::Sum, used.data(), found.data(), static_cast<int64_t>(size), s);
    PetscCall(DeviceCopyOut(count, found.data(), sizeof(PetscInt), stream));
    if (*count > most) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(offset.Allocate(*count, Space::Device));
  CallCUB(&scratch, cub::DeviceSelect::Flagged, thrust::counting_iterator<PetscInt>(0), used.data(), offset.data(),
          found.data(), static_cast<int64_t>(size), s);
  offsets_kernel<<<Blocks(*count), THREADS, 0, s>>>(*count, A.rows, offset.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCallCXX(offsets->resize(*count));
  PetscCall(DeviceCopyOut(offsets->data(), offset.data(), offsets->size() * sizeof(PetscInt), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
