/// Lines of a tile for a warp: its lanes read the flags of as many lines at once, each of its own, so that all are
/// waited for together; later each line is passed to all lanes, which hold places lane + 32 q of it.
#pragma once

#include "mat/formats/bitmap/storage.hpp"
#include "pc/tile/names.hpp"

namespace sparsegpu::tile
{

/// A line in registers: its flags in words of 32 bits, zero where there is no line, and where its entries begin.
template <int WORDS> struct TileLine {
  unsigned word[WORDS];
  int      start;

  template <class Word> __device__ __forceinline__ void Read(const BitmapView<Word> &A, int line)
  {
    constexpr int PARTS = sizeof(Word) / sizeof(unsigned);
    const bool    has   = line < A.Lines();
    start               = has ? static_cast<int>(A.start[line]) : 0;
#pragma unroll
    for (int q = 0; q < WORDS; q++) {
      const Word w = has && q / PARTS < A.words ? A.Line(line)[q / PARTS] : 0;
      word[q]      = static_cast<unsigned>(w >> (32 * (q % PARTS)));
    }
  }
  /// The line of lane `source`, to all lanes.
  __device__ __forceinline__ TileLine Of(int source) const
  {
    TileLine line;
    line.start = __shfl_sync(0xffffffffu, start, source);
#pragma unroll
    for (int q = 0; q < WORDS; q++) line.word[q] = __shfl_sync(0xffffffffu, word[q], source);
    return line;
  }
  /// Calls visit(q, has, e) for the lane's places, lane + 32 q: entry e lies there, if any.
  template <class Call> __device__ __forceinline__ void Visit(Call visit) const
  {
    const int lane = threadIdx.x % 32;
    int       e    = start;
#pragma unroll
    for (int q = 0; q < WORDS; q++) {
      visit(q, word[q] >> lane & 1, e + __popc(word[q] & ((1u << lane) - 1)));
      e += __popc(word[q]);
    }
  }
};

} // namespace sparsegpu::tile
