/// One cooperative kernel runs many Jacobi sweeps of a CSR matrix; see run.hpp.
#include <cooperative_groups.h>
#include <algorithm>
#include "device/batched.cuh"
#include "device/limits.hpp"
#include "ksp/jacobi/run.hpp"
#include "ksp/sweep/launch.hpp"
#include "ksp/sweep/sweep.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::jacobi
{

using sweep::JACOBI_THREADS;

/// The matrix, or a block's rows of it.
struct RunRows {
  PetscInt        first; ///< row of the matrix that i[0] is of
  const PetscInt *i;     ///< where row first + r begins in the next two
  const PetscInt *j;
  const Scalar   *a;
};

/// Shared memory of `rows` rows: where the values begin, after i and j.
inline __host__ __device__ size_t run_values(size_t rows, size_t entries)
{
  return ((rows + 1 + entries) * sizeof(PetscInt) + 15) / 16 * 16;
}

/// Copies the block's rows to shared memory if they fit: the barrier between two sweeps empties L1. All threads must
/// call.
__device__ __forceinline__ RunRows run_rows(const CsrLayout &A, const JacobiRun &run, PetscInt at_once,
                                            unsigned char *shared)
{
  const RunRows whole{0, A.i, A.j, A.a};

  if (run.bytes == 0) return whole;
  const PetscInt first = static_cast<PetscInt>(blockIdx.x) * at_once, left = A.rows - first;
  const PetscInt count = left < at_once ? left : at_once;
  const PetscInt begin = A.i[first], entries = A.i[first + count] - begin;
  const size_t   values = run_values(static_cast<size_t>(at_once), static_cast<size_t>(entries));
  if (values + static_cast<size_t>(entries) * sizeof(Scalar) > run.bytes) return whole;
  PetscInt *const i = reinterpret_cast<PetscInt *>(shared), *const j = i + at_once + 1;
  Scalar *const a = reinterpret_cast<Scalar *>(shared + values);
  for (PetscInt r = threadIdx.x; r <= count; r += JACOBI_THREADS) i[r] = A.i[first + r] - begin;
  for (PetscInt e = threadIdx.x; e < entries; e += JACOBI_THREADS) {
    j[e] = A.j[begin + e];
    a[e] = A.a[begin + e];
  }
  __syncthreads();
  return RunRows{first, i, j, a};
}

/// `count` neighbouring threads write the records of as many sweeps, from sweep `from` of the run on. Each record must
/// be visible before its flag; the threads pay for that fence together.
__device__ __forceinline__ void write_records(const JacobiControl &control, const JacobiRun &run,
                                              const PetscReal *norms, int from, int count, bool stops)
{
  const int t = static_cast<int>(threadIdx.x);

  if (t >= count) return;
  volatile Record *record = run.records + (control.number + from + t) % static_cast<int>(RECORDS);
  record->norm            = norms[t];
  record->outcome         = stops && t == count - 1;
  __threadfence_system(); // the host reads these once it sees the next
  record->ready = control.round + from + t;
}

/// Sweeps of csr_jacobi_kernel(): a block does the work of its blocks b, b + gridDim.x, ... with the same threads, so
/// that outside the product a thread reads only entries of x that it wrote itself. The norms of the blocks alternate
/// between two arrays, as some blocks still read those of the sweep before. All blocks take the same decision to stop.
template <int width> static __global__ void __launch_bounds__(JACOBI_THREADS)
    csr_run_jacobi_kernel(CsrLayout A, JacobiSweep sweep, JacobiControl control, JacobiRun run)
{
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int                                 ROWS = JACOBI_THREADS / width, RECORDED = 32; // sweeps at a time
  __shared__ PetscReal                          norms[RECORDED], whole;
  const cooperative_groups::grid_group          grid = cooperative_groups::this_grid();
  const int                                     lane = threadIdx.x % width;

  if (jacobi_stopped(control)) return;
  const RunRows rows = run_rows(A, run, ROWS, shared);
  for (int s = 0; s < run.sweeps; s++) {
    PetscReal *const partial = control.partial + s % 2 * JACOBI_BLOCKS;
    for (unsigned block = blockIdx.x; block < run.blocks; block += gridDim.x) {
      PetscReal norm = 0;
      for (PetscInt first = static_cast<PetscInt>(block) * ROWS; first < A.rows;
           first += static_cast<PetscInt>(run.blocks) * ROWS) {
        const PetscInt row = first + threadIdx.x / width;
        Scalar         sum(0);
        if (row < A.rows) {
          const PetscInt r = row - rows.first;
          sum              = batched_sum<4>(
              rows.i[r] + lane, rows.i[r + 1], width, [&](PetscInt e) { return rows.a[e]; },
              [&](PetscInt e) { return rows.j[e]; }, [&](PetscInt j) { return load_shared(sweep.x + j); });
        }
        sum = group_sum<width>(sum);
        if (row < A.rows && lane == 0) norm = joined(sweep.norm, norm, jacobi_row(sweep, row, sum));
      }
      if (!run.records) continue;
      norm = block_joined(sweep.norm, norm);
      if (threadIdx.x == 0) partial[block] = norm;
    }
    grid.sync();
    Scalar *const before = const_cast<Scalar *>(sweep.x); // all have read it
    sweep.x              = sweep.next;
    sweep.next           = before;
    if (!run.records) continue;
    const PetscReal norm = blocks_joined(sweep.norm, partial, run.blocks);
    if (threadIdx.x == 0) whole = norms[s % RECORDED] = recorded_norm(control, norm);
    __syncthreads();
    const bool stops = norm_stops(control, control.number + s >= run.tested_from, whole);
    if (blockIdx.x == 0 && (stops || s + 1 == run.sweeps || s % RECORDED == RECORDED - 1))
      write_records(control, run, norms, s - s % RECORDED, s % RECORDED + 1, stops);
    if (!stops) continue;
    if (blockIdx.x == 0 && threadIdx.x == 0) *control.stopped_at = control.number + s;
    return;
  }
}

using RunKernel = void (*)(CsrLayout, JacobiSweep, JacobiControl, JacobiRun);
static RunKernel KernelOf(PetscInt width)
{
  switch (width) {
  case 1: return csr_run_jacobi_kernel<1>;
  case 2: return csr_run_jacobi_kernel<2>;
  case 4: return csr_run_jacobi_kernel<4>;
  case 8: return csr_run_jacobi_kernel<8>;
  case 16: return csr_run_jacobi_kernel<16>;
  default: return csr_run_jacobi_kernel<32>;
  }
}

PetscErrorCode PlanJacobiRun_CUDA(const CsrLayout &A, JacobiRun *run, bool *fits)
{
  constexpr size_t  MOST    = 40 * 1024; // bytes of shared memory: what every kernel may have, less our scratch
  const PetscInt    at_once = JACOBI_THREADS / A.width;
  const void *const kernel  = reinterpret_cast<const void *>(KernelOf(A.width));
  PetscInt          together;

  PetscFunctionBegin;
  *fits = false;
  if (A.rows < 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sweep::CsrJacobiBlocks_CUDA(A, &run->blocks));
  const bool   once    = static_cast<PetscInt>(run->blocks) >= (A.rows + at_once - 1) / at_once; // all rows, by blocks
  const size_t entries = static_cast<size_t>(1.5 * A.nonzeros / A.rows * at_once); // some blocks have more than others
  const size_t bytes   = run_values(static_cast<size_t>(at_once), entries) + entries * sizeof(Scalar);
  run->bytes           = once && bytes <= MOST ? bytes : 0;
  PetscCall(CooperativeBlocks(kernel, JACOBI_THREADS, run->bytes, &together));
  if (run->bytes && static_cast<PetscInt>(run->blocks) > together) {
    run->bytes = 0; // as a block has several blocks' rows
    PetscCall(CooperativeBlocks(kernel, JACOBI_THREADS, run->bytes, &together));
  }
  run->launched = std::min(run->blocks, static_cast<unsigned>(together));
  *fits         = together > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrRunJacobi_CUDA(const CsrLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                                 const JacobiRun &run, Stream stream, bool *launched)
{
  void *arguments[] = {const_cast<CsrLayout *>(&A), const_cast<JacobiSweep *>(&sweep),
                       const_cast<JacobiControl *>(&control), const_cast<JacobiRun *>(&run)};

  PetscFunctionBegin;
  PetscCall(LaunchCooperative(reinterpret_cast<const void *>(KernelOf(A.width)), run.launched, JACOBI_THREADS,
                              arguments, run.bytes, stream, launched)); // else single sweeps do
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::jacobi
