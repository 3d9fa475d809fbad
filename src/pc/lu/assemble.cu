/// What children leave is added to large fronts, in global memory.
#include <cstdint>
#include "pc/lu/copy_ahead.cuh"
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int ASSEMBLE_WARPS = 4;
/// Rows of a column that a warp sums up at a time, in shared memory, so that entries of the front are read and written
/// once, whatever the number of children.
template <class Number> static constexpr PetscInt SPAN = sizeof(Number) > 8 ? 256 : 512;
/// Entries of children that a lane has on their way at a time.
static constexpr int FLIGHT = 4;

namespace
{
/// What a child has for one column of the front.
template <class Number> struct Contribution {
  const Number   *from; ///< entry 0 of its column
  const PetscInt *at;   ///< [rows] rows of the front, ascending
  PetscInt        begin, rows;

  Contribution() = default;
  __device__ Contribution(const FrontsView &V, PetscInt column, const Number *work, bool half)
  {
    const PetscInt   child = V.owner[column];
    const PetscCount first = V.row_begin[child], n = V.row_begin[child + 1] - first, j = column - first;
    from  = work + V.update[child] + (half ? UpdateColumn(n, j) : j * n);
    at    = V.relative + first;
    begin = static_cast<PetscInt>(half ? j : 0);
    rows  = static_cast<PetscInt>(n);
  }
  __device__ Contribution Of(int lane) const
  {
    Contribution C;
    C.from  = reinterpret_cast<const Number *>(__shfl_sync(ALL_LANES, reinterpret_cast<uintptr_t>(from), lane));
    C.at    = reinterpret_cast<const PetscInt *>(__shfl_sync(ALL_LANES, reinterpret_cast<uintptr_t>(at), lane));
    C.begin = __shfl_sync(ALL_LANES, begin, lane);
    C.rows  = __shfl_sync(ALL_LANES, rows, lane);
    return C;
  }
};

/// The first of `at` [n] from `begin` on that is not below `row`; by a warp.
static __device__ PetscInt FirstNotBelow(const PetscInt *at, PetscInt begin, PetscInt n, PetscInt row)
{
  const int lane = static_cast<int>(threadIdx.x) % 32;
  while (n - begin > 32) {
    const PetscInt step = Parts(n - begin, 32), a = begin + lane * step;
    const int      below = __popc(__ballot_sync(ALL_LANES, a < n && at[a] < row));
    if (below == 0) return begin;
    n     = below < 32 && begin + below * step < n ? begin + below * step : n;
    begin = begin + (below - 1) * step + 1;
  }
  return begin + __popc(__ballot_sync(ALL_LANES, begin + lane < n && at[begin + lane] < row));
}

/// sum [end - row], in shared memory: what a child has for rows `row` .. end - 1 of a column is added. By a warp.
template <class Number>
static __device__ void AddContribution(const Contribution<Number> &C, PetscInt row, PetscInt end, Number *sum)
{
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool      more = true;

  for (PetscInt a0 = row > 0 ? FirstNotBelow(C.at, C.begin, C.rows, row) : C.begin; more && a0 < C.rows;
       a0 += 32 * FLIGHT) {
    PetscInt at[FLIGHT];
    Number   v[FLIGHT];
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      const PetscInt a = a0 + 32 * u + lane;
      at[u]            = a < C.rows ? C.at[a] : end;
      v[u]             = a < C.rows ? C.from[a] : Number(0);
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++)
      if (at[u] < end) sum[at[u] - row] += v[u];
    more = __all_sync(ALL_LANES, at[FLIGHT - 1] < end);
  }
  __syncwarp(); // another lane may have the next child's entry
}

/// Rows row0 .. row0 + SPAN - 1 of column j of a front; `sum` [SPAN] in shared memory. By a warp.
template <bool half, class Number> static __device__ void AssembleSpan(const DeviceFront<Number> &F,
                                                                       const FrontsView &V, PetscCount j, PetscInt row0,
                                                                       const LuWorkspace<Number> &W, Number *sum)
{
  const int        lane   = static_cast<int>(threadIdx.x) % 32;
  const PetscCount number = F.first + F.row_begin + j, p = F.pivots;
  const PetscInt   source = V.source_begin[number], sources = V.source_begin[number + 1];
  const PetscInt   row = half && j > row0 ? static_cast<PetscInt>(j) : row0;
  const PetscInt   end = row0 + SPAN<Number> < F.rows ? row0 + SPAN<Number> : F.rows;
  // rows of pivots at top + row, others at rest + row; the update is written, all else has the matrix's entries
  Number *const top  = j < p ? F.template Column<half>(j) : F.upper + (j - p) * p;
  Number *const rest = (j < p ? F.template Rest<half>(j) : F.template Update<half>(j - p)) - p;

  if (j < p && source == sources) return;
#pragma unroll 4
  for (PetscInt i = row + lane; i < end; i += 32) CopyAhead(sum + (i - row), (i < p ? top : rest) + i, i < p || j < p);
  for (PetscInt s0 = source; s0 < sources; s0 += 32) {
    const int            count = static_cast<int>(sources - s0 < 32 ? sources - s0 : 32);
    Contribution<Number> mine{};
    if (lane < count) mine = Contribution<Number>(V, V.source[s0 + lane], W.work, half);
    AwaitCopies();
    __syncwarp();
    for (int s = 0; s < count; s++) AddContribution(mine.Of(s), row, end, sum);
  }
  AwaitCopies();
#pragma unroll 4
  for (PetscInt i = row + lane; i < end; i += 32) (i < p ? top : rest)[i] = sum[i - row];
  __syncwarp();
}
} // namespace

/// The columns of an item, a warp a span of one of them.
template <bool half, class Number> static __global__ void __launch_bounds__(32 * ASSEMBLE_WARPS)
    assemble_kernel(FrontsView V, const AssembleItem *items, LuWorkspace<Number> W)
{
  const AssembleItem                        item = items[blockIdx.x];
  const DeviceFront<Number>                 F(V, item.front, W.values, W.work);
  const PetscInt                            spans = Parts(F.rows, SPAN<Number>);
  const int                                 warp  = static_cast<int>(threadIdx.x) / 32;
  __shared__ alignas(sizeof(Number)) Number sum[ASSEMBLE_WARPS][SPAN<Number>]; // for CopyAhead()

  for (PetscInt t = warp; t < (item.end - item.begin) * spans; t += ASSEMBLE_WARPS) {
    const PetscCount j    = item.begin + t / spans;
    const PetscInt   row0 = t % spans * SPAN<Number>;
    if (!half || j < row0 + SPAN<Number>) AssembleSpan<half>(F, V, j, row0, W, sum[warp]);
  }
}

template <class Number> PetscErrorCode AssembleFronts_CUDA(const FrontsView &fronts, const AssembleItem *items,
                                                           PetscInt count, const LuWorkspace<Number> &work,
                                                           Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const auto assemble = fronts.shape != Shape::General ? assemble_kernel<true, Number> : assemble_kernel<false, Number>;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  assemble<<<static_cast<unsigned>(count), 32 * ASSEMBLE_WARPS, 0, s>>>(fronts, items, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode AssembleFronts_CUDA(const FrontsView &, const AssembleItem *, PetscInt,
                                            const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode AssembleFronts_CUDA(const FrontsView &, const AssembleItem *, PetscInt,
                                            const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
