/// Products of a few columns with small matrices on the host, rows BLOCK_PIECE at a time, so that a piece of all
/// columns stays in a core's first-level cache. Tiles of columns and rows are small enough for registers: each entry
/// that is read is multiplied with all of a tile.
#pragma once

#include <type_traits>
#include "ksp/cg/block_small.hpp"

namespace sparsegpu::cg
{

constexpr PetscInt BLOCK_PIECE = 128; ///< rows: 16 KB of 16 columns

/// Columns of a piece.
struct BlockColumns {
  Scalar *v[BLOCK_MOST] = {};

  /// Rows from `row` on of columns ld entries apart.
  BlockColumns(Scalar *from, PetscInt ld, PetscInt row, int count)
  {
    for (int c = 0; c < count; c++) v[c] = from + static_cast<size_t>(c) * ld + row;
  }
};

/// to[t][r] += the sum of factors[i + width * t] from[i][r] over i = first .. end - 1, for `targets` columns and rows
/// begin .. begin + lanes - 1.
template <int targets, int lanes> void CombineTile(PetscInt begin, int first, int end, const Scalar *factors, int width,
                                                   Scalar *const *from, Scalar *const *to)
{
  Scalar sums[targets][lanes];

  for (int t = 0; t < targets; t++)
    for (int l = 0; l < lanes; l++) sums[t][l] = to[t][begin + l];
  for (int i = first; i < end; i++) {
    const Scalar *const source = from[i] + begin;
    for (int t = 0; t < targets; t++) {
      const Scalar factor = factors[i + width * t];
      for (int l = 0; l < lanes; l++) sums[t][l] += factor * source[l];
    }
  }
  for (int t = 0; t < targets; t++)
    for (int l = 0; l < lanes; l++) to[t][begin + l] = sums[t][l];
}
template <int targets> void CombineTargets(PetscInt rows, int first, int end, const Scalar *factors, int width,
                                           Scalar *const *from, Scalar *const *to)
{
  constexpr int LANES = 4;
  PetscInt      r     = 0;

  for (; r + LANES <= rows; r += LANES) CombineTile<targets, LANES>(r, first, end, factors, width, from, to);
  for (; r < rows; r++) CombineTile<targets, 1>(r, first, end, factors, width, from, to);
}

enum class Part {
  All,
  Upper, ///< factors(i, j) are zero for i > j
  Lower
};

/// to += from factors, of `count` columns each and `rows` rows.
inline void Combine(Part part, PetscInt rows, int count, const Scalar *factors, const BlockColumns &from,
                    const BlockColumns &to)
{
  constexpr int TARGETS = 4;
  const int     width   = BlockWidth(count);
  int           j       = 0;

  const auto run = [&](auto targets) {
    const int first = part == Part::Lower ? j : 0, end = part == Part::Upper ? j + targets : count;
    CombineTargets<targets>(rows, first, end, factors + width * j, width, from.v, to.v + j);
    j += targets;
  };
  while (j + TARGETS <= count) run(std::integral_constant<int, TARGETS>());
  while (j < count) run(std::integral_constant<int, 1>());
}

/// sums[i + width * j] += the product of columns left[i] and right[j], of `lefts` x `rights` of them, over the rows.
template <int lefts, int rights>
void AddGramTile(PetscInt rows, Scalar *const *left, Scalar *const *right, int width, Scalar *sums)
{
  constexpr int LANES = 2;
  Scalar        part[lefts][rights][LANES];
  PetscInt      r = 0;

  for (int i = 0; i < lefts; i++)
    for (int j = 0; j < rights; j++)
      for (int l = 0; l < LANES; l++) part[i][j][l] = Scalar(0);
  for (; r + LANES <= rows; r += LANES)
    for (int i = 0; i < lefts; i++)
      for (int j = 0; j < rights; j++)
        for (int l = 0; l < LANES; l++) part[i][j][l] += Conj(left[i][r + l]) * right[j][r + l];
  for (; r < rows; r++)
    for (int i = 0; i < lefts; i++)
      for (int j = 0; j < rights; j++) part[i][j][0] += Conj(left[i][r]) * right[j][r];
  for (int i = 0; i < lefts; i++)
    for (int j = 0; j < rights; j++) sums[i + width * j] += part[i][j][0] + part[i][j][1];
}

/// The upper triangle of `sums` += left^H right; entries below it are of no meaning.
inline void AddGram(int count, PetscInt rows, const BlockColumns &left, const BlockColumns &right, Scalar *sums)
{
  constexpr int LEFTS = 4, RIGHTS = 2;
  const int     width = BlockWidth(count);

  for (int j = 0; j < count; j += RIGHTS)
    for (int i = 0; i < count && i < j + RIGHTS; i += LEFTS) {
      Scalar *const to = sums + i + width * j;
      if (i + LEFTS <= count && j + RIGHTS <= count)
        AddGramTile<LEFTS, RIGHTS>(rows, left.v + i, right.v + j, width, to);
      else
        for (int a = i; a < count && a < i + LEFTS; a++)
          for (int b = j; b < count && b < j + RIGHTS; b++)
            AddGramTile<1, 1>(rows, left.v + a, right.v + b, width, sums + a + width * b);
    }
}

} // namespace sparsegpu::cg
