/// Solves of subdomains on the GPU, each by one thread block: unknowns in shared memory, entries streamed in the order
/// of the levels. What the next level needs is on its way from memory while a level is computed.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/limits.hpp"
#include "device/segmented.cuh"
#include "pc/subdomains/solve.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

static constexpr int AHEAD        = 4;   ///< entries of a row that a lane has in registers before they are needed
static constexpr int MOST_THREADS = 512; ///< of a block

namespace
{
/// A row of the level at work or of one to come, for one of its lanes.
struct Place {
  PetscInt position, at, end; ///< the lane's entries are at, at + LANES, ... before end
  int      row;               ///< of the subdomain; -1: none
};
struct Entries {
  Scalar         a[AHEAD];
  unsigned short j[AHEAD];
  Scalar         scale;
};
} // namespace

template <int LANES> __device__ __forceinline__ Place Find(const SubdomainLayout &A, PetscInt position, PetscInt stop)
{
  if (position >= stop) return Place{0, 0, 0, -1};
  return Place{position, A.first[position] + static_cast<PetscInt>(threadIdx.x % LANES), A.first[position + 1],
               static_cast<int>(A.local[position])};
}

template <bool SINGLE> __device__ __forceinline__ Scalar ValueAt(const SubdomainLayout &A, PetscInt e)
{
  if constexpr (SINGLE)
    return Widen(A.single[e]);
  else
    return A.a[e];
}

template <int LANES, bool SINGLE>
__device__ __forceinline__ Entries Load(const SubdomainLayout &A, const Place &p, bool scaled)
{
  Entries entries;
#pragma unroll
  for (int q = 0; q < AHEAD; q++) {
    const bool there = p.at + q * LANES < p.end;
    entries.a[q]     = there ? ValueAt<SINGLE>(A, p.at + q * LANES) : Scalar(0);
    entries.j[q]     = there ? A.j[p.at + q * LANES] : 0;
  }
  entries.scale = scaled && p.row >= 0 ? A.scale[p.position] : Scalar(1);
  return entries;
}

/// The unknown of a row, all of whose others are known. All threads of the warp must call.
template <int LANES, bool SINGLE> __device__ __forceinline__ void SolveRow(const SubdomainLayout &A, const Place &p,
                                                                           const Entries &entries, bool scaled,
                                                                           Scalar *unknowns)
{
  Scalar sum(0);
#pragma unroll
  for (int q = 0; q < AHEAD; q++)
    if (p.at + q * LANES < p.end) sum += entries.a[q] * unknowns[entries.j[q]];
  for (PetscInt at = p.at + AHEAD * LANES; at < p.end; at += LANES) sum += ValueAt<SINGLE>(A, at) * unknowns[A.j[at]];
  sum = group_sum<LANES>(sum);
  if (p.row < 0 || threadIdx.x % LANES > 0) return;
  const Scalar result = unknowns[p.row] - sum;
  unknowns[p.row]     = scaled ? result * entries.scale : result;
}

/// L or U of a subdomain, level by level: first a row for each group of lanes, whose entries were loaded while the
/// level before was computed, then the others. All bounds of loops are the block's.
template <int LANES, bool SINGLE>
__device__ __forceinline__ void SolveHalf(const SubdomainLayout &A, PetscInt half, bool scaled, Scalar *unknowns)
{
  const PetscInt groups = static_cast<PetscInt>(blockDim.x / LANES), group = static_cast<PetscInt>(threadIdx.x / LANES);
  const PetscInt last  = A.half[half + 1];
  PetscInt       level = A.half[half];
  // where the next levels end; all the same after the last one
  const auto ending = [&](PetscInt l, PetscInt otherwise) { return l < last ? A.level[l + 1] : otherwise; };
  PetscInt   begin = A.level[level], end = A.level[level + 1];
  PetscInt   after = ending(level + 1, end), beyond = ending(level + 2, after);
  Place      now = Find<LANES>(A, begin + group, end), next = Find<LANES>(A, end + group, after);
  Entries    entries = Load<LANES, SINGLE>(A, now, scaled);

  for (; level < last; level++) {
    const Entries  ahead   = Load<LANES, SINGLE>(A, next, scaled);
    const Place    later   = Find<LANES>(A, after + group, beyond);
    const PetscInt further = ending(level + 3, beyond);
    SolveRow<LANES, SINGLE>(A, now, entries, scaled, unknowns);
    for (PetscInt p = begin + groups; p < end; p += groups) {
      const Place other = Find<LANES>(A, p + group, end);
      SolveRow<LANES, SINGLE>(A, other, Load<LANES, SINGLE>(A, other, scaled), scaled, unknowns);
    }
    __syncthreads();
    now     = next;
    entries = ahead;
    next    = later;
    begin   = end;
    end     = after;
    after   = beyond;
    beyond  = further;
  }
}

/// Subdomain blockIdx.x of right-hand side blockIdx.y. LANES lanes sum up a row in a fixed order: bitwise reproducible.
template <int LANES, bool SINGLE> static __global__ void __launch_bounds__(MOST_THREADS)
    subdomain_kernel(SubdomainLayout A, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx)
{
  extern __shared__ __align__(16) unsigned char memory[];
  Scalar                                       *unknowns = reinterpret_cast<Scalar *>(memory);
  const PetscInt s = static_cast<PetscInt>(blockIdx.x), first = A.begin[s], rows = A.begin[s + 1] - first;

  b += static_cast<PetscCount>(blockIdx.y) * ldb;
  x += static_cast<PetscCount>(blockIdx.y) * ldx;
  for (PetscInt k = threadIdx.x; k < rows; k += blockDim.x) unknowns[k] = b[A.row ? A.row[first + k] : first + k];
  __syncthreads();
  SolveHalf<LANES, SINGLE>(A, 2 * s, A.lower_diagonal, unknowns);
  SolveHalf<LANES, SINGLE>(A, 2 * s + 1, !A.lower_diagonal, unknowns);
  for (PetscInt k = threadIdx.x; k < rows; k += blockDim.x) x[A.column ? A.column[first + k] : first + k] = unknowns[k];
}

/// The factors' values in the order of the layout.
static __global__ void layout_values_kernel(PetscInt entries, SubdomainLayout A, const Scalar *values)
{
  const PetscCount e = thread_index();
  if (e < entries && A.a) A.a[e] = values[A.from[e]];
  if (e < entries && !A.a) A.single[e] = Narrow(values[A.from[e]]);
  if (e < 2 * static_cast<PetscCount>(A.rows)) A.scale[e] = values[A.pivot[e]];
}

using Kernel = void (*)(SubdomainLayout, const Scalar *, PetscInt, Scalar *, PetscInt);
template <bool SINGLE> static Kernel KernelFor(int lanes)
{
  switch (lanes) {
  case 1: return subdomain_kernel<1, SINGLE>;
  case 2: return subdomain_kernel<2, SINGLE>;
  case 4: return subdomain_kernel<4, SINGLE>;
  case 8: return subdomain_kernel<8, SINGLE>;
  case 16: return subdomain_kernel<16, SINGLE>;
  default: return subdomain_kernel<32, SINGLE>;
  }
}
static Kernel KernelFor(int lanes, bool single)
{
  return single ? KernelFor<true>(lanes) : KernelFor<false>(lanes);
}

PetscErrorCode DeviceSubdomains::Fits(PetscInt rows, bool *fits)
{
  size_t bytes;

  PetscFunctionBegin;
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(KernelFor(1, false)), &bytes));
  *fits = static_cast<size_t>(rows) <= PetscMin(bytes / sizeof(Scalar), 65536); // unsigned short
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSubdomains::ChooseLaunch()
{
  const PetscCount positions = 2 * static_cast<PetscCount>(layout_.rows);
  size_t           bytes;

  PetscFunctionBegin;
  lanes_   = 1;
  threads_ = 64;
  while (lanes_ < 32 && lanes_ * AHEAD * positions < entries_) lanes_ *= 2;
  // a lane for each entry of a level, as far as a block goes: more would wait idle at its barriers
  while (threads_ < MOST_THREADS && threads_ * static_cast<PetscCount>(levels_) < lanes_ * positions) threads_ *= 2;
  largest_ = 0;
  for (size_t s = 1; s < host_begin_.size(); s++) largest_ = PetscMax(largest_, host_begin_[s] - host_begin_[s - 1]);
  // the most there is, since the kernel serves other factors, too
  const Kernel kernel = KernelFor(lanes_, options.single);
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(kernel), &bytes));
  SparseGPUCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSubdomains::SetValues(const Scalar *values, Stream stream)
{
  const PetscCount count = PetscMax(entries_, 2 * layout_.rows);

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  if (layout_.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  layout_values_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(entries_, layout_, values);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSubdomains::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                       Stream stream)
{
  constexpr PetscInt TOGETHER = 65535; // right-hand sides: blocks of a grid in its second dimension
  const size_t       bytes    = static_cast<size_t>(largest_) * sizeof(Scalar);
  const Kernel       kernel   = KernelFor(lanes_, options.single);

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  if (layout_.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  for (PetscInt c = 0; c < count; c += TOGETHER) {
    const dim3 grid(static_cast<unsigned>(layout_.subdomains), static_cast<unsigned>(PetscMin(count - c, TOGETHER)));
    kernel<<<grid, threads_, bytes, static_cast<cudaStream_t>(stream)>>>(
        layout_, b + static_cast<PetscCount>(c) * ldb, ldb, x + static_cast<PetscCount>(c) * ldx, ldx);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
