/// Fronts that fit the shared memory of a thread block, from A's entries and the children's updates to the factors and
/// the update, without a barrier between fronts: each waits for its children, and the list has them before it.
#include "device/limits.hpp"
#include "pc/lu/small_assemble.cuh"
#include "pc/lu/small_eliminate.cuh"
#include "pc/lu/small_pairs.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// Entries (i0 + u TI, j0 + v TJ) of the update, u, v < E. `half`: those of the lower triangle; `diagonal`: in a block
/// of the thread block's that has the diagonal in its corner, where many are above it for all threads.
template <bool half, bool diagonal, int E, int TI, int TJ, class Number>
static __device__ void LeaveEntries(const DeviceFront<Number> &F, Dense<Number> D, int i0, int j0)
{
  const int      p = static_cast<int>(F.pivots), r = static_cast<int>(F.others);
  constexpr auto above = [](int u, int v) { return diagonal && TI - 1 + TI * u < TJ * v; };
  Number         sum[E][E];
  int            row[E], column[E];

  for (int u = 0; u < E; u++) {
    row[u]    = p + min(i0 + u * TI, r - 1);
    column[u] = p + min(j0 + u * TJ, r - 1);
    for (int v = 0; v < E; v++) sum[u][v] = Number(0);
  }
#pragma unroll 2
  for (int k = 0; k < p; k++) {
    Number l[E], w[E];
#pragma unroll
    for (int u = 0; u < E; u++) {
      l[u] = D(row[u], k);
      w[u] = D(k, column[u]);
    }
#pragma unroll
    for (int u = 0; u < E; u++)
#pragma unroll
      for (int v = 0; v < E; v++)
        if (!above(u, v)) sum[u][v] = sum[u][v] + l[u] * w[v];
  }
#pragma unroll
  for (int v = 0; v < E; v++)
#pragma unroll
    for (int u = 0; u < E; u++) {
      const int i = i0 + u * TI, j = j0 + v * TJ;
      if (i < r && j < r && (!half || i >= j)) F.update[i + j * r] = D(p + i, p + j) - sum[u][v];
    }
}

/// The update that the others leave: E x E entries a thread at a time, TI threads along the rows.
template <bool half, int E, int TI, int TJ, class Number>
static __device__ void LeaveUpdateBy(const DeviceFront<Number> &F, Dense<Number> D)
{
  const int r  = static_cast<int>(F.others);
  const int ti = threadIdx.x % TI, tj = threadIdx.x / TI;

  for (int j0 = 0; j0 + tj < r; j0 += E * TJ)
    for (int i0 = 0; i0 + ti < r; i0 += E * TI) {
      if (half && i0 + E * TI <= j0) continue;
      if (half && i0 == j0)
        LeaveEntries<half, half, E, TI, TJ>(F, D, i0 + ti, j0 + tj);
      else
        LeaveEntries<half, false, E, TI, TJ>(F, D, i0 + ti, j0 + tj);
    }
}
/// With as few entries a thread as take the update at once: one front's threads have nothing else to do.
template <bool half, int TI, int TJ, class Number>
static __device__ void LeaveUpdate(const DeviceFront<Number> &F, Dense<Number> D)
{
  if (F.others <= 2 * TJ)
    LeaveUpdateBy<half, 2, TI, TJ>(F, D);
  else if (F.others <= 3 * TJ)
    LeaveUpdateBy<half, 3, TI, TJ>(F, D);
  else
    LeaveUpdateBy<half, 4, TI, TJ>(F, D);
}

/// Fronts of at most 32 ROWS rows. A thread block takes them by ticket, in the order of the list, so that the oldest
/// can always go on. Bitwise reproducible.
template <Kept kept, int ROWS, int THREADS, int TI, class Number>
static __global__ void __launch_bounds__(THREADS, 512 / THREADS)
    small_fronts_kernel(FrontsView V, const PetscInt *list, PetscInt count, int launch, LuWorkspace<Number> W)
{
  extern __shared__ double2     front_memory[]; // 16 bytes: for complex scalars, too
  __shared__ int                order[LARGEST_SMALL];
  __shared__ unsigned long long claimed;
  constexpr bool                half    = kept != Kept::Both;
  constexpr int                 BROUGHT = ROWS < CHILD_ROWS ? ROWS : CHILD_ROWS;
  const LuPivoting              P       = W.report->pivoting;
  PivotTally                    tally;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(W.report->ticket + launch, 1ull);
    __syncthreads();
    if (claimed >= static_cast<unsigned long long>(count)) break;
    const PetscInt            f = list[claimed], parent = V.parent[f];
    const DeviceFront<Number> F(V, f, W.values, W.work);
    const int                 p = static_cast<int>(F.pivots), m = static_cast<int>(F.rows);
    const Dense<Number>       D{reinterpret_cast<Number *>(front_memory), m | 1};
    // before the children are waited for, as all that does not depend on them
    const Sources<Number> sources(V, F.first + F.row_begin, m);
    const Source<Number>  own = sources.Find(V, W.work, 0);
    AssembleOwn<half>(F, D);
    if (threadIdx.x == 0) AwaitChildren(W, f, launch);
    __syncthreads();
    AssembleChildren<half, BROUGHT>(V, sources, own, W.work, D);
    __syncthreads();
    if constexpr (kept == Kept::Paired)
      EliminatePairs(F, D, W.met, order, W.pair, P, &tally);
    else
      Eliminate<half>(F, D, W.met, order, P, &tally);
    if (F.others > 0) LeaveUpdate<half, TI, THREADS / TI>(F, D);
    __syncthreads();
    if (threadIdx.x == 0 && parent >= 0) { // waits for no factors
      __threadfence();
      atomicSub(W.pending + parent, 1);
    }
    for (int j = threadIdx.x / 32; j < (half ? p : m); j += THREADS / 32)
      for (int i = (half ? j : 0) + threadIdx.x % 32; i < (j < p ? m : p); i += 32)
        if (j < p)
          (half && i >= p ? F.template Rest<half>(j)[i - p] : F.template Column<half>(j)[i]) = D(i, j);
        else
          F.upper[i + (j - p) * p] = D(i, j);
    for (int k = threadIdx.x; k < p; k += THREADS) W.local_row[F.first + k] = order[k];
    __syncthreads(); // the front is the next one's
  }
  if (threadIdx.x >= 32) return; // the first warp has seen the pivots
  tally.OfWarp();
  if (threadIdx.x == 0) tally.Tell(W.report);
}

/// Of a front of at most `size` rows.
template <class Number> static size_t FrontBytes(PetscInt size)
{
  return static_cast<size_t>(size) * (size | 1) * sizeof(Number);
}

template <Kept kept, int ROWS, int THREADS, int TI, class Number>
static PetscErrorCode Launch(const FrontsView &fronts, PetscInt size, const PetscInt *list, PetscInt count, int launch,
                             const LuWorkspace<Number> &work, cudaStream_t stream)
{
  static auto *const kernel = small_fronts_kernel<kept, ROWS, THREADS, TI, Number>;
  PetscInt           resident;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks(reinterpret_cast<const void *>(kernel), THREADS, FrontBytes<Number>(size), &resident));
  const PetscInt blocks = PetscMin(count, PetscMax(resident, 1));
  kernel<<<static_cast<unsigned>(blocks), THREADS, FrontBytes<Number>(size), stream>>>(fronts, list, count, launch,
                                                                                       work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LargestSmallFront_CUDA(PetscInt *rows)
{
  size_t most;

  PetscFunctionBegin;
  *rows = 0;
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(small_fronts_kernel<Kept::Both, 3, 256, 16, Scalar>),
                            &most)); // as of the others
  for (const PetscInt size : SMALL_FRONTS)
    if (FrontBytes<Scalar>(size) <= most) *rows = size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Kept kept, class Number> static PetscErrorCode OfSize(const FrontsView &fronts, PetscInt size,
                                                                const PetscInt *list, PetscInt count, int launch,
                                                                const LuWorkspace<Number> &work, cudaStream_t s)
{
  PetscFunctionBegin;
  if (size <= 32)
    PetscCall(Launch<kept, 1, 64, 8>(fronts, size, list, count, launch, work, s));
  else if (size <= 64)
    PetscCall(Launch<kept, 2, 128, 16>(fronts, size, list, count, launch, work, s));
  else if (size <= 96)
    PetscCall(Launch<kept, 3, 256, 16>(fronts, size, list, count, launch, work, s));
  else if (size <= 128)
    PetscCall(Launch<kept, 4, 256, 16>(fronts, size, list, count, launch, work, s));
  else
    PetscCall(Launch<kept, 5, 512, 16>(fronts, size, list, count, launch, work, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode SmallFronts_CUDA(const FrontsView &fronts, PetscInt size, const PetscInt *list,
                                                        PetscInt count, int launch, const LuWorkspace<Number> &work,
                                                        Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (fronts.shape == Shape::General)
    PetscCall(OfSize<Kept::Both>(fronts, size, list, count, launch, work, s));
  else if (work.pair)
    PetscCall(OfSize<Kept::Paired>(fronts, size, list, count, launch, work, s));
  else
    PetscCall(OfSize<Kept::Half>(fronts, size, list, count, launch, work, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode SmallFronts_CUDA(const FrontsView &, PetscInt, const PetscInt *, PetscInt, int,
                                         const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SmallFronts_CUDA(const FrontsView &, PetscInt, const PetscInt *, PetscInt, int,
                                         const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
