/// The kernel that walks from plane to plane; see lines.hpp. tests/mat/walks.cxx runs it on the host.
#pragma once

#include "device/launch.cuh"
#include "mat/formats/stencil/line_ghosts.cuh"

namespace sparsegpu::formats
{

/// Whether the rows are not wanted: Skip() without what is sent.
template <class Epilogue> __device__ __forceinline__ bool SkipsRows(Epilogue *epilogue)
{
  if constexpr (SENDS<Epilogue>)
    return epilogue->Epilogue::Rows::Skip();
  else
    return epilogue->Skip();
}

/// epilogue(row, A x). Neighbouring threads have neighbouring rows; what they read of a plane of x is copied to shared
/// memory while the block multiplies planes before. Rows of GhostPlanes come last. The first `senders` blocks have no
/// rows and send, so that all others take equally long. Bitwise reproducible. Starts while the kernel before it ends,
/// as only vectors may come from there.
template <int points, bool star, class Epilogue>
static __global__ void __launch_bounds__(LineWalk::THREADS, LineWalk::BLOCKS)
    stencil_lines_kernel(const __grid_constant__ StencilLines lines, StencilLayout A, const Scalar *x, unsigned senders,
                         Epilogue epilogue)
{
  SPARSEGPU_DYNAMIC_SHARED(planes);
  constexpr int STAGES = StencilLines::STAGES, ROWS = LineWalk::ROWS;
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
  if (SkipsRows(&epilogue)) return;
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
  const GhostRows ghosts{&lines, planes, A.rows, slab, begin};
  const unsigned  barriers = fixed_address(arrival), step = static_cast<unsigned>(threads) * sizeof(Scalar);
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
      if constexpr (SENDS<Epilogue>)
        if (k == 1 && ghosts.Has(0)) ghosts.Keep(walker.sums);
    }
  }
  if constexpr (SENDS<Epilogue>) ghosts.Take(walker, x, &epilogue);
  epilogue.Finish(senders);
}

} // namespace sparsegpu::formats
