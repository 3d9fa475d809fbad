/// Couplings are dropped on the device: counted, a running sum, and copied, a warp per row.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "pc/subdomains/couplings.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

static constexpr unsigned ALL = 0xffffffffu;

namespace
{
/// A and the subdomains of its rows and columns.
struct Coupled {
  PetscInt        rows;
  const PetscInt *i, *j, *of_row, *of_column;
};
} // namespace

/// count[r]: entries of row r that stay, 0 for r = rows.
static __global__ void count_kernel(Coupled A, PetscInt *count)
{
  const PetscInt r = static_cast<PetscInt>(thread_index() / 32);
  if (r > A.rows) return;
  PetscInt stay = 0;
  if (r < A.rows)
    for (PetscInt e = A.i[r] + threadIdx.x % 32; e < A.i[r + 1]; e += 32) stay += A.of_column[A.j[e]] == A.of_row[r];
  for (int mask = 16; mask > 0; mask /= 2) stay += __shfl_xor_sync(ALL, stay, mask);
  if (threadIdx.x % 32 == 0) count[r] = stay;
}

/// The entries that stay, in their order. i [rows + 1]: where rows begin.
static __global__ void copy_kernel(Coupled A, const PetscInt *i, PetscInt *j, PetscInt *entry)
{
  const PetscInt r    = static_cast<PetscInt>(thread_index() / 32);
  const int      lane = threadIdx.x % 32;
  if (r >= A.rows) return;
  PetscInt at = i[r];
  for (PetscInt first = A.i[r]; first < A.i[r + 1]; first += 32) {
    const PetscInt e     = first + lane;
    const bool     stays = e < A.i[r + 1] && A.of_column[A.j[e]] == A.of_row[r];
    const unsigned votes = __ballot_sync(ALL, stays);
    if (stays) {
      const PetscInt k = at + __popc(votes & ((1u << lane) - 1));
      j[k]             = A.j[e];
      entry[k]         = e;
    }
    at += __popc(votes);
  }
}

static __global__ void compose_kernel(PetscInt count, const PetscInt *entry, PetscInt *source)
{
  const PetscCount f = thread_index();
  if (f < count && source[f] >= 0) source[f] = entry[source[f]];
}

PetscErrorCode UncoupledOnDevice::Drop(PetscInt rows, const PetscInt *matrix_i, const PetscInt *matrix_j,
                                       const Cut &cut, const PetscInt *there, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<PetscInt>    of_row, of_column;
  DeviceMemory       scratch;

  PetscFunctionBegin;
  nonzeros = 0;
  if (!there) PetscCall(of_row.Copy(cut.of_row.data(), cut.of_row.size(), Space::Device));
  if (!cut.of_column.empty()) PetscCall(of_column.Copy(cut.of_column.data(), cut.of_column.size(), Space::Device));
  PetscCall(i.Allocate(static_cast<size_t>(rows) + 1, Space::Device));
  const PetscInt *of_rows = there ? there : of_row.data();
  const Coupled   A{rows, matrix_i, matrix_j, of_rows, of_column.size() ? of_column.data() : of_rows};
  count_kernel<<<Blocks((static_cast<PetscCount>(rows) + 1) * 32), THREADS, 0, s>>>(A, i.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(rows, &i, &nonzeros, &scratch, stream));
  PetscCall(j.Allocate(nonzeros, Space::Device));
  PetscCall(entry.Allocate(nonzeros, Space::Device));
  if (rows > 0) // CUDA rejects an empty grid
    copy_kernel<<<Blocks(static_cast<PetscCount>(rows) * 32), THREADS, 0, s>>>(A, i.data(), j.data(), entry.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the subdomains' arrays end here
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UncoupledOnDevice::Compose(PetscInt count, PetscInt *source, Stream stream) const
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  compose_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, entry.data(), source);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
