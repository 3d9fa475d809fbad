/// The storage of a bitmap matrix: M, the nonzeros line after line; F, one bit for every place, set where an entry is;
/// P, where each line begins in M. A line is a row, or a column where `by_columns`; its bits fill words of 32 bits
/// where one is enough for a line, else of 64.
///
///     place k of line l holds an entry  <=>  bit k % BITS of F[l * words + k / BITS] is set;
///     its value is M[P[l] + number of bits set before it in the line].
///
/// Shao, Wang & Zhou, "Matrix storage and calculation method suitable for GPU hardware", patent application, 2019.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include "mat/formats/names.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::formats
{

using Word32 = std::uint32_t;
using Word64 = std::uint64_t;

/// Bits set in a word, and the number of its lowest one (of a word that is not zero).
SPARSEGPU_HD int CountBits(Word32 w)
{
#if defined(__CUDA_ARCH__)
  return __popc(w);
#else
  return __builtin_popcount(w);
#endif
}
SPARSEGPU_HD int CountBits(Word64 w)
{
#if defined(__CUDA_ARCH__)
  return __popcll(w);
#else
  return __builtin_popcountll(w);
#endif
}
SPARSEGPU_HD int LowestBit(Word32 w)
{
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(w)) - 1;
#else
  return __builtin_ctz(w);
#endif
}
SPARSEGPU_HD int LowestBit(Word64 w)
{
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(w)) - 1;
#else
  return __builtin_ctzll(w);
#endif
}

/// 32 where a line of `length` places fits one such word, else 64.
SPARSEGPU_HD int BitmapBits(PetscInt length)
{
  return length <= 32 ? 32 : 64;
}
SPARSEGPU_HD PetscInt BitmapWords(PetscInt length, int bits)
{
  return length / bits + (length % bits != 0);
}

/// A bitmap matrix, its arrays borrowed.
template <class Word> struct BitmapView {
  static constexpr PetscInt BITS = 8 * sizeof(Word);

  PetscInt        rows, cols;
  bool            by_columns; ///< lines are columns
  PetscInt        words;      ///< of a line: BitmapWords(its length, BITS)
  const PetscInt *start;      ///< P [lines + 1]
  const Word     *flags;      ///< F [lines * words]
  Scalar         *values;     ///< M [start[lines]]

  SPARSEGPU_HD PetscInt    Lines() const { return by_columns ? cols : rows; }
  SPARSEGPU_HD PetscInt    Length() const { return by_columns ? rows : cols; }
  SPARSEGPU_HD const Word *Line(PetscInt l) const { return flags + static_cast<size_t>(l) * words; }

  /// Is there an entry at place k of line l?
  SPARSEGPU_HD bool HasPlace(PetscInt l, PetscInt k) const { return Line(l)[k / BITS] >> (k % BITS) & 1; }
  /// Where it lies in M; whole words at once.
  SPARSEGPU_HD PetscInt Position(PetscInt l, PetscInt k) const
  {
    const Word *line     = Line(l);
    PetscInt    position = start[l];
    for (PetscInt w = 0; w < k / BITS; w++) position += CountBits(line[w]);
    return position + CountBits(line[k / BITS] & ((static_cast<Word>(1) << (k % BITS)) - 1));
  }
  SPARSEGPU_HD bool Has(PetscInt i, PetscInt j) const { return by_columns ? HasPlace(j, i) : HasPlace(i, j); }
  /// Entry (i, j): zero where there is none.
  SPARSEGPU_HD Scalar Get(PetscInt i, PetscInt j) const
  {
    const PetscInt l = by_columns ? j : i, k = by_columns ? i : j;
    return HasPlace(l, k) ? values[Position(l, k)] : Scalar(0);
  }
  /// Writes entry (i, j) in place. False, and nothing written, where there is none.
  SPARSEGPU_HD bool Set(PetscInt i, PetscInt j, Scalar v) const
  {
    const PetscInt l = by_columns ? j : i, k = by_columns ? i : j;
    if (!HasPlace(l, k)) return false;
    values[Position(l, k)] = v;
    return true;
  }
};

/// F and P of a matrix, and slot[e], the place in M of its CSR entry e; O(nonzeros + bits / 64) host time.
template <class Word> struct BitmapArrays {
  std::vector<PetscInt> start; ///< P [lines + 1]
  std::vector<Word>     flags; ///< F [lines * words]
  std::vector<PetscInt> slot;  ///< [nonzeros]

  PetscErrorCode Fill(const CsrView &A, bool by_columns);
};

} // namespace sparsegpu::formats
