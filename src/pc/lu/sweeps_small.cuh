/// The sweeps over small fronts: a warp takes the next one by ticket and keeps its rows in registers. Of a block of
/// columns it takes WARP_COLUMNS, and the next warps the others: the steps of a front take one as long as all.
#pragma once

#include "pc/lu/small_sweep.cuh"

namespace sparsegpu::lu
{

/// Which front and which columns a ticket is for; there are 2^spread groups of columns.
template <int columns> struct SmallTask {
  PetscInt   place; ///< in the list
  PetscCount shift; ///< of the columns' entries

  __device__ SmallTask(unsigned long long ticket, int spread, PetscCount stride)
      : place(static_cast<PetscInt>(columns == 1 ? ticket : ticket >> spread)),
        shift(columns == 1 ? 0 : static_cast<PetscCount>(ticket & ((1u << spread) - 1)) * columns * stride)
  {
  }
};

/// v[q]: the values at at[q], in all columns, once they are there; zero where none is `wanted`. The rows' values are
/// polled for at a time: waiting for one after the other would make a chain of fronts as many times as long. (A null
/// at[q] in place of `wanted` was read: ptxas of CUDA 13.0 compares it before it has become null.)
template <int ROWS, int columns, class Number>
static __device__ __forceinline__ void AwaitRows(const bool (&wanted)[ROWS], const Number *const (&at)[ROWS],
                                                 int launch, const LuSolution<Number> &W, Number (&v)[ROWS][columns])
{
  Patience patience;
  bool     missing = false;
#pragma unroll
  for (int q = 0; q < ROWS; q++)
#pragma unroll
    for (int c = 0; c < columns; c++) v[q][c] = wanted[q] ? poll(at[q] + c * W.stride) : Number(0);
#pragma unroll
  for (int q = 0; q < ROWS; q++)
#pragma unroll
    for (int c = 0; c < columns; c++) missing = missing || IsMissing(v[q][c]);
  while (missing) {
    const bool ends = patience.Ends(W.spins, W.report->ticket + launch, &W.report->stuck);
    if (ends) W.report->stuck = 1;
#pragma unroll
    for (int q = 0; q < ROWS; q++)
#pragma unroll
      for (int c = 0; c < columns; c++)
        if (IsMissing(v[q][c])) v[q][c] = ends ? Abandoned<Number>() : poll(at[q] + c * W.stride);
    missing = false;
#pragma unroll
    for (int q = 0; q < ROWS; q++)
#pragma unroll
      for (int c = 0; c < columns; c++) missing = missing || IsMissing(v[q][c]);
  }
}

/// Rows lane + 32 q of a front before its own elimination, as Gather() has them one by one.
template <Way way, int ROWS, int columns, class Number>
static __device__ __forceinline__ void GatherRows(const FrontsView &V, PetscInt first, PetscCount row_begin, int p,
                                                  int m, int launch, const LuSolution<Number> &W, PetscCount shift,
                                                  Number (&v)[ROWS][columns])
{
  PetscInt next[ROWS], end[ROWS], source[ROWS];
  Number   part[ROWS][columns];
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const int        a      = static_cast<int>(threadIdx.x) % 32 + 32 * q;
    const PetscInt   from   = a < p && Exchanged(way) ? W.local_row[first + a] : a;
    const PetscCount number = first + row_begin + from;
    next[q]                 = a < m ? V.source_begin[number] : 0;
    end[q]                  = a < m ? V.source_begin[number + 1] : 0;
#pragma unroll
    for (int c = 0; c < columns; c++) v[q][c] = a < p ? W.b[shift + c * W.stride + first + from] : Number(0);
  }
#pragma unroll
  for (int q = 0; q < ROWS; q++) source[q] = next[q] < end[q] ? V.source[next[q]] : 0;
  for (bool more = true; more;) {
    const Number *at[ROWS];
    bool          wanted[ROWS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      wanted[q] = next[q] < end[q];
      at[q]     = W.parts + shift + source[q];
    }
    AwaitRows(wanted, at, launch, W, part);
    more = false;
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      if (!wanted[q]) continue;
#pragma unroll
      for (int c = 0; c < columns; c++) v[q][c] += part[q][c];
      if (++next[q] < end[q]) source[q] = V.source[next[q]];
      more = more || next[q] < end[q];
    }
  }
}

template <Way way, int ROWS, int columns, class Number>
static __global__ void __launch_bounds__(THREADS, columns == 1 ? 4 : 3)
    forward_small_kernel(FrontsView V, const PetscInt *list, PetscInt count, int spread, int launch,
                         LuSolution<Number> W)
{
  constexpr bool transpose = way == Way::Transposed;
  const int      lane      = threadIdx.x % 32;

  for (;;) {
    const unsigned long long t = TakeTicket(W.report->ticket + launch);
    if (t >= static_cast<unsigned long long>(count) << spread) return;
    const SmallTask<columns>   task(t, spread, W.stride);
    const PetscInt             f = list[task.place], first = V.first[f];
    const PetscCount           row_begin = V.row_begin[f];
    const Factors<way, Number> F         = FactorsOf<way, Number>(V, f, W);
    const int                  p = static_cast<int>(F.p), m = static_cast<int>(F.m);
    Number                     v[ROWS][columns], inverse[ROWS];
    const auto                 gather = [&] {
      GatherRows<way>(V, first, row_begin, p, m, launch, W, task.shift, v);
      TurnRows<way, false>(W, first, p, v);
    };
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      inverse[q]  = transpose && a < p ? Inverse(F.Pivot(a)) : Number(1);
    }
    if (m <= 32)
      ForwardFront<1>(F, inverse, v, gather);
    else
      ForwardFront<ROWS>(F, inverse, v, gather);
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int     a  = lane + 32 * q;
      Number *const to = task.shift + (a < p ? W.y + first + a : W.parts + row_begin + a - p);
#pragma unroll
      for (int c = 0; c < columns; c++)
        if (a < m) publish(to + c * W.stride, v[q][c]);
    }
  }
}

/// Backward a front comes after its parent, and that after its own parent: until then its lanes ask for one unknown of
/// the latter, and not all the time. Most fronts wait at first, and if all asked for all that they need, those whose
/// turn it is would wait behind them.
template <class Number> static __device__ void AwaitTurn(const FrontsView &V, PetscInt f, int launch,
                                                         const LuSolution<Number> &W, PetscCount shift)
{
  constexpr unsigned PAUSE  = 200; // ns, at most twice as long: a front takes longer
  const PetscInt     parent = V.parent[f];
  Patience           patience;

  if (parent < 0 || V.row_begin[parent] == V.row_begin[parent + 1]) return;
  const Number *const early = W.x + shift + V.row[V.row_begin[parent]];
  while (IsMissing(poll(early))) {
    if (patience.Ends(W.spins, W.report->ticket + launch, &W.report->stuck)) {
      W.report->stuck = 1;
      return;
    }
    __nanosleep(PAUSE);
  }
}

/// Backward, as lanes have them: the pivots' unknowns so far with the inverses that they are multiplied with last, and
/// the others' unknowns, which are waited for after all else has been loaded.
template <Way way, int ROWS, int columns, class Number>
static __device__ __forceinline__ void TakeUnknowns(const Factors<way, Number> &F, PetscInt first, const PetscInt *row,
                                                    int launch, const LuSolution<Number> &W, PetscCount shift,
                                                    Number (&v)[ROWS][columns], Number (&inverse)[ROWS])
{
  constexpr bool half = IsHalf(way);
  const int      p = static_cast<int>(F.p), m = static_cast<int>(F.m), lane = static_cast<int>(threadIdx.x) % 32;
  const Number  *at[ROWS];
  bool           wanted[ROWS];
  Number         own[ROWS][columns];
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const int    a     = lane + 32 * q;
    const Number pivot = way != Way::Transposed && a < p ? Inverse(F.Pivot(a)) : Number(1);
    wanted[q]          = a >= p && a < m;
    at[q]              = W.x + shift + (wanted[q] ? row[a - p] : 0);
    inverse[q]         = half ? Number(1) : pivot;
#pragma unroll
    for (int c = 0; c < columns; c++) {
      own[q][c] = a < p ? W.y[shift + c * W.stride + first + a] : Number(0);
      if (half && a < p) own[q][c] = own[q][c] * pivot;
    }
  }
  AwaitRows(wanted, at, launch, W, v);
#pragma unroll
  for (int q = 0; q < ROWS; q++)
    if (lane + 32 * q < p)
#pragma unroll
      for (int c = 0; c < columns; c++) v[q][c] = own[q][c];
}

template <Way way, int ROWS, int columns, class Number>
static __global__ void __launch_bounds__(THREADS, columns == 1 ? 4 : 3)
    backward_small_kernel(FrontsView V, const PetscInt *list, PetscInt count, int spread, int launch,
                          LuSolution<Number> W)
{
  constexpr bool moved = way == Way::Transposed || way == Way::Paired;
  const int      lane  = threadIdx.x % 32;

  for (;;) {
    const unsigned long long t = TakeTicket(W.report->ticket + launch);
    if (t >= static_cast<unsigned long long>(count) << spread) return;
    const SmallTask<columns>   task(t, spread, W.stride);
    const PetscInt             f = list[count - 1 - task.place], first = V.first[f];
    const PetscInt            *row = V.row + V.row_begin[f];
    const Factors<way, Number> F   = FactorsOf<way, Number>(V, f, W);
    const int                  p   = static_cast<int>(F.p);
    Number                     v[ROWS][columns], inverse[ROWS];
    const auto                 take = [&] {
      AwaitTurn(V, f, launch, W, task.shift);
      TakeUnknowns(F, first, row, launch, W, task.shift, v, inverse);
    };
    if (p <= 32)
      BackwardFront<1>(F, inverse, v, take);
    else
      BackwardFront<ROWS>(F, inverse, v, take);
    TurnRows<way, true>(W, first, p, v);
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      if (a >= p) continue;
      Number *const to = W.x + task.shift + first + (moved ? W.local_row[first + a] : a);
#pragma unroll
      for (int c = 0; c < columns; c++) publish(to + c * W.stride, v[q][c]);
    }
  }
}

template <Way way, int ROWS, int columns, class Number>
static PetscErrorCode Sweep(const FrontsView &V, const SolveLists &L, bool forward, const LuSolution<Number> &W,
                            cudaStream_t s)
{
  const int      groups = static_cast<int>(W.columns) / columns, spread = groups / 2; // 0, 1, 2 for 1, 2, 4
  const PetscInt wanted = (L.small_count + WARPS - 1) / WARPS;
  unsigned       blocks;

  PetscFunctionBegin;
  if (forward) {
    PetscCall(Blocks(forward_small_kernel<way, ROWS, columns, Number>, THREADS, wanted, groups, &blocks));
    forward_small_kernel<way, ROWS, columns, Number>
        <<<blocks, THREADS, 0, s>>>(V, L.small, L.small_count, spread, 0, W);
  } else {
    PetscCall(Blocks(backward_small_kernel<way, ROWS, columns, Number>, THREADS, wanted, groups, &blocks));
    backward_small_kernel<way, ROWS, columns, Number>
        <<<blocks, THREADS, 0, s>>>(V, L.small, L.small_count, spread, 3, W);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <Way way, class Number> PetscErrorCode SweepSmall(const FrontsView &V, const SolveLists &L, bool forward,
                                                           const LuSolution<Number> &W, Stream stream)
{
  const cudaStream_t s    = static_cast<cudaStream_t>(stream);
  const bool         one  = W.columns == 1;
  const PetscInt     rows = (L.small_rows + 31) / 32;

  PetscFunctionBegin;
  if (rows <= FEWER_ROWS)
    PetscCall(one ? Sweep<way, FEWER_ROWS, 1>(V, L, forward, W, s)
                  : Sweep<way, FEWER_ROWS, WARP_COLUMNS>(V, L, forward, W, s));
  else if (rows < MOST_ROWS)
    PetscCall(one ? Sweep<way, MOST_ROWS - 1, 1>(V, L, forward, W, s)
                  : Sweep<way, MOST_ROWS - 1, WARP_COLUMNS>(V, L, forward, W, s));
  else
    PetscCall(one ? Sweep<way, MOST_ROWS, 1>(V, L, forward, W, s)
                  : Sweep<way, MOST_ROWS, WARP_COLUMNS>(V, L, forward, W, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
