/// The product that walks from plane to plane; see lines.hpp.
#pragma once

#include "device/launch.cuh"
#include "mat/formats/dots.cuh"
#include "mat/formats/stencil/line_walker.cuh"

namespace sparsegpu::formats
{

/// Whether the rows are not wanted: Skip() without what is sent.
template <class Epilogue> __device__ __forceinline__ bool SkipsRows(Epilogue *epilogue)
{
  if constexpr (SENDS<Epilogue>) return epilogue->Epilogue::Rows::Skip();
  return false;
}

/// epilogue(row, A x). Neighbouring threads have neighbouring rows; what they read of a plane of x is copied to shared
/// memory while the block multiplies planes before. The first `senders` blocks have no rows and send, so that all
/// others take equally long; where there are none, the first blocks send before they turn to their rows. Bitwise
/// reproducible. Starts while the kernel before it ends, as only vectors may come from there.
template <int points, bool star, class Epilogue>
static __global__ void __launch_bounds__(LineWalk::THREADS, LineWalk::BLOCKS)
    stencil_lines_kernel(const __grid_constant__ StencilLines lines, StencilLayout A, const Scalar *x, unsigned senders,
                         Epilogue epilogue)
{
  extern __shared__ __align__(128) unsigned char planes[];
  constexpr int                                  STAGES = StencilLines::STAGES, ROWS = LineWalk::ROWS;
  __shared__ std::uint64_t arrival[STAGES];
  const PetscInt           thread = static_cast<PetscInt>(threadIdx.x), threads = static_cast<PetscInt>(blockDim.x);
  const PetscInt           stride = lines.walk.stride, length = lines.walk.length, chunks = lines.walk.chunks;
  const PetscInt block = static_cast<PetscInt>(blockIdx.x) - static_cast<PetscInt>(senders), chunk = block % chunks,
                 slab  = block / chunks;
  const PetscInt begin = chunk * threads * ROWS, first = slab * length * stride;
  const PetscInt above = (A.rows - first - 1) / stride + 1,
                 end   = above < length ? above : length; // planes of the block
  LineWalker<points, star, Epilogue> walker;
  unsigned                           at[STAGES], parity = 0;

  if (block < 0) {
    if constexpr (SENDS<Epilogue>) epilogue.Send(senders);
    return;
  }
  walker.Begin(lines, A.rows, slab, begin + thread);
  if (senders ? SkipsRows(&epilogue) : epilogue.Skip()) return;
  if (thread == 0) begin_arrivals(arrival, STAGES);
  begin_in_turn();
  __syncthreads();
  const PlaneSource source{planes,
                           lines.PlaneBytes(),
                           threads * ROWS + lines.Reach(),
                           static_cast<PetscCount>(first) + begin + lines.offset[0],
                           stride,
                           A.cols};
  if (thread == 0)
    for (int k = -1; k < STAGES - 2 && k <= end; k++) source.Copy(x, k, arrival + k + 1);
  walker.TakeOthers(lines, A, x, senders, &epilogue);
  const unsigned barriers = fixed_address(arrival), step = static_cast<unsigned>(threads) * sizeof(Scalar);
#pragma unroll
  for (int s = 0; s < STAGES; s++) at[s] = fixed_address(source.Entries(x, s - 1) + (thread - lines.offset[0]));
#pragma unroll 1
  for (PetscInt j = -1; j <= end; j += STAGES, parity ^= 1) {
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
      const PetscInt k = j + s;
      if (k > end) break;
      await_arrival(barriers + s * static_cast<unsigned>(sizeof(arrival[0])), parity);
      __syncthreads(); // plane k - 1 has been read
      if (thread == 0 && k + STAGES - 1 <= end) source.Copy(x, k + STAGES - 1, arrival + (s + STAGES - 1) % STAGES);
      if (k <= walker.last) walker.Take(lines, static_cast<int>(k), at[s], step, &epilogue);
    }
  }
  epilogue.Finish(senders);
}

template <int points, bool star, class Epilogue>
PetscErrorCode LaunchLines(const StencilLayout &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  const LineWalk &walk    = A.lines->walk;
  const size_t    bytes   = static_cast<size_t>(A.lines->PlaneBytes()) * StencilLines::STAGES;
  static size_t   most    = 40 << 10; // without being asked for
  unsigned        senders = 0;

  PetscFunctionBegin;
  if constexpr (SENDS<Epilogue>) {
    // more entries take so few blocks longer than their rows take all others
    constexpr std::int64_t ROWS_PER_ENTRY = 16;
    if (epilogue.exchange.side.sends <= A.rows / ROWS_PER_ENTRY) senders = LineWalk::SENDERS;
  }
  if (bytes > most) {
    SparseGPUCallCUDA(cudaFuncSetAttribute(stencil_lines_kernel<points, star, Epilogue>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    most = bytes;
  }
  PetscCall((LaunchEarly<stencil_lines_kernel<points, star, Epilogue>>(
      dim3(static_cast<unsigned>(walk.Slabs(A.rows) * walk.chunks) + senders), static_cast<int>(walk.threads), bytes,
      stream, *A.lines, A, x, senders, epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The product of StoreSum alone.
struct StoreProduct {
  struct Ahead {
  };

  Scalar *z;

  __device__ __forceinline__ bool                         Skip() const { return false; }
  template <class Index> __device__ __forceinline__ Ahead Load(Index, const Scalar &) const { return {}; }
  template <class Index> __device__ __forceinline__ void  Take(Index row, const Scalar &sum, Ahead) const
  {
    z[row] = sum;
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum) const
  {
    z[row] = sum;
  }
  __device__ __forceinline__ void Finish(unsigned) const {}
};

/// Whether rows are walked for it: the other sums of BiCGStab read too many vectors beside x.
template <class Epilogue> bool TakesLines(const Epilogue &epilogue)
{
  if constexpr (std::is_same_v<Epilogue, ScaleAndDot>) return epilogue.d.kind == ProductSums::Shadow;
  return true;
}

/// Whether x lies as A.lines can copy it without a loop over entries.
inline bool LiesForLines(const Scalar *x)
{
  return reinterpret_cast<std::uintptr_t>(x) % (sizeof(Scalar) < BULK ? sizeof(Scalar) : BULK) == 0;
}

/// epilogue(row, A x) for all rows; A.lines is not null.
template <class Epilogue>
PetscErrorCode MultiplyLines(const StencilLayout &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  PetscFunctionBegin;
  if constexpr (std::is_same_v<Epilogue, StoreSum>) {
    if (!epilogue.to.f && !epilogue.to.y) { // which takes a third fewer instructions
      PetscCall(MultiplyLines(A, x, StoreProduct{epilogue.to.z}, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if constexpr (std::is_same_v<Epilogue, ScaleAndDot>)
    PetscCall(MultiplyLines(A, x, ScaleAndDotShadow{epilogue}, stream));
  else
    PetscCall(A.lines->star ? (LaunchLines<5, true>(A, x, epilogue, stream))
                            : (LaunchLines<9, false>(A, x, epilogue, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
