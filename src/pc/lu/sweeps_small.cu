/// The sweeps over small fronts: a warp takes the next one by ticket and keeps its rows in registers.
#include "pc/lu/sweep.cuh"

namespace sparsegpu::lu
{

static_assert(LU_TILE == 32, "the rows that lanes have are a tile");
static constexpr int ROWS  = (LARGEST_SMALL + 31) / 32; ///< of a small front that a lane has
static constexpr int AHEAD = 8;                         ///< columns whose entries are loaded before they are used

template <Way way> static __global__ void __launch_bounds__(THREADS)
    forward_small_kernel(FrontsView V, const PetscInt *list, PetscInt count, int launch, LuSolution W)
{
  constexpr bool transpose = way == Way::Transposed;
  const int      lane      = threadIdx.x % 32;

  for (;;) {
    const unsigned long long t = TakeTicket(W.report->ticket + launch);
    if (t >= static_cast<unsigned long long>(count)) return;
    const PetscInt     f = list[t], first = V.first[f];
    const PetscCount   row_begin = V.row_begin[f];
    const Factors<way> F         = FactorsOf<way>(V, f, W);
    const int          p = static_cast<int>(F.p), m = static_cast<int>(F.m);
    Scalar             v[ROWS], inverse[ROWS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      inverse[q]  = transpose && a < p ? Inverse(F.Pivot(a)) : Scalar(1);
      v[q]        = a < m ? Gather<way>(V, first, row_begin, p, a, launch, W) : Scalar(0);
    }
    __syncwarp();
    for (int k0 = 0; k0 < p; k0 += AHEAD) {
      Scalar entry[AHEAD][ROWS];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q, k = k0 + u;
          entry[u][q] = a > k && k < p && a < m ? F.Forward(a, k, k0 / LU_TILE * LU_TILE) : Scalar(0);
        }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int k = k0 + u;
        if (k >= p) break;
        Scalar own = held(v[0] * inverse[0]);
#pragma unroll
        for (int q = 1; q < ROWS; q++) {
          const Scalar other = held(v[q] * inverse[q]);
          own                = k / 32 == q ? other : own;
        }
        const Scalar x = shuffle(own, k % 32);
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q;
          if (a > k) v[q] = v[q] - entry[u][q] * x; // other rows must not become NaN
          if (transpose && a == k) v[q] = x;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      if (a < p)
        publish(W.y + first + a, v[q]);
      else if (a < m)
        publish(W.parts + row_begin + a - p, v[q]);
    }
  }
}

template <Way way> static __global__ void __launch_bounds__(THREADS)
    backward_small_kernel(FrontsView V, const PetscInt *list, PetscInt count, int launch, LuSolution W)
{
  constexpr bool transpose = way == Way::Transposed, half = way == Way::Half;
  const int      lane = threadIdx.x % 32;

  for (;;) {
    const unsigned long long t = TakeTicket(W.report->ticket + launch);
    if (t >= static_cast<unsigned long long>(count)) return;
    const PetscInt     f = list[count - 1 - static_cast<PetscInt>(t)], first = V.first[f];
    const PetscInt    *row = V.row + V.row_begin[f];
    const Factors<way> F   = FactorsOf<way>(V, f, W);
    const int          p = static_cast<int>(F.p), m = static_cast<int>(F.m);
    Scalar             v[ROWS], inverse[ROWS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) { // pivots' unknowns so far, and the others', as lanes have them
      const int    a     = lane + 32 * q;
      const Scalar pivot = !transpose && a < p ? Inverse(F.Pivot(a)) : Scalar(1);
      inverse[q]         = half ? Scalar(1) : pivot;
      v[q]               = a < p   ? (half ? W.y[first + a] * pivot : W.y[first + a])
                           : a < m ? Await(W.x + row[a - p], W.spins, W.report->ticket + launch, W.report)
                                   : Scalar(0);
    }
    __syncwarp();
    for (int k0 = (m - 1) / AHEAD * AHEAD; k0 >= 0; k0 -= AHEAD) {
      Scalar entry[AHEAD][ROWS];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q, k = k0 + u;
          entry[u][q] = a < k && k < m && a < p ? F.Backward(a, k, 32 * q) : Scalar(0);
        }
#pragma unroll
      for (int u = AHEAD - 1; u >= 0; u--) {
        const int k = k0 + u;
        if (k >= m) continue;
        Scalar own = held(v[0] * inverse[0]);
#pragma unroll
        for (int q = 1; q < ROWS; q++) {
          const Scalar other = held(v[q] * inverse[q]);
          own                = k / 32 == q ? other : own;
        }
        const Scalar x = shuffle(own, k % 32);
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q;
          if (a < k && a < p) v[q] = v[q] - entry[u][q] * x;
          if (a == k) v[q] = x;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      if (a < p) publish(W.x + first + (transpose ? W.local_row[first + a] : a), v[q]);
    }
  }
}

template <Way way>
static PetscErrorCode Sweep(const FrontsView &V, const SolveLists &L, bool forward, const LuSolution &W, cudaStream_t s)
{
  const PetscInt warps = (L.small_count + WARPS - 1) / WARPS;
  unsigned       blocks;

  PetscFunctionBegin;
  if (forward) {
    PetscCall(Blocks(forward_small_kernel<way>, warps, &blocks));
    forward_small_kernel<way><<<blocks, THREADS, 0, s>>>(V, L.small, L.small_count, 0, W);
  } else {
    PetscCall(Blocks(backward_small_kernel<way>, warps, &blocks));
    backward_small_kernel<way><<<blocks, THREADS, 0, s>>>(V, L.small, L.small_count, 3, W);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SweepSmallFronts_CUDA(const FrontsView &fronts, const SolveLists &lists, bool forward, bool transpose,
                                     const LuSolution &work, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (lists.small_count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (fronts.shape != Shape::General)
    PetscCall(Sweep<Way::Half>(fronts, lists, forward, work, s));
  else
    PetscCall(transpose ? Sweep<Way::Transposed>(fronts, lists, forward, work, s)
                        : Sweep<Way::Plain>(fronts, lists, forward, work, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
