/// What a thread block of the sweeps with one column multiplies its rows with: columns of the factors before them, a
/// tile of as many columns at a time, times unknowns that other blocks find.
#pragma once

#include "pc/lu/swept_tile.cuh"

namespace sparsegpu::lu
{

namespace
{
/// `by_rows`: entries of a column lie together. Then lanes have rows and each warp a share of a tile's columns;
/// otherwise lanes have columns and each warp a share of the rows.
template <bool by_rows, class Number> class SweptProducts
{
  using Place                = SweptPlace<Number>;
  static constexpr int SHARE = Place::COLUMNS, HALVES = Place::HALVES;
  static constexpr int HELD = by_rows ? HALVES : SHARE, WIDE = by_rows ? SHARE : HALVES; ///< rows, columns of a thread
  static constexpr int ASKED = by_rows ? 1 : HALVES;                                     ///< unknowns that it waits for

public:
  __device__ explicit SweptProducts(SweptTile<Number> &tile) : S_(tile) { Clear(sum_); }
  SweptProducts(const SweptProducts &)            = delete;
  SweptProducts &operator=(const SweptProducts &) = delete;

  /// Adds up `count` tiles, which begin at columns `from`, from + step, ... Columns from `end` on and rows from `rows`
  /// on are not there. Entry (row, column) is taken(*place(row, column)), and apart(row, column) from the next column,
  /// or row; unknown index(column) is waited for. What comes next is asked for before.
  template <class Where, class Apart, class Taken, class Index>
  __device__ void Take(PetscInt from, PetscInt step, PetscInt count, PetscInt rows, PetscInt end, const Where &place,
                       const Apart &apart, const Taken &taken, const Number *unknowns, const Index &index, int launch,
                       const LuSolution<Number> &W)
  {
    PetscInt at[ASKED];
    if (count <= 0) return;
    Look(from, end, index, at);
    for (PetscInt n = 0; n < count; n++, from += step) {
      Number           e[HELD][WIDE], x[ASKED];
      const PetscCount distance = apart(Row(0), from + Column(0));
#pragma unroll
      for (int minor = 0; minor < HALVES; minor++) {
        const Number *const at_first = place(Row(by_rows ? minor : 0), from + Column(by_rows ? 0 : minor));
#pragma unroll
        for (int major = 0; major < SHARE; major++) {
          const int j = by_rows ? minor : major, c = by_rows ? major : minor;
          e[j][c] = Row(j) < rows && from + Column(c) < end ? taken(at_first[major * distance]) : Number(0);
        }
      }
      const Number *unknown[ASKED];
#pragma unroll
      for (int c = 0; c < ASKED; c++) unknown[c] = at[c] >= 0 ? unknowns + at[c] : nullptr;
      if (n + 1 < count) {
        Fetch(from + step, rows, end, place);
        Look(from + step, end, index, at);
      }
#pragma unroll
      for (int c = 0; c < ASKED; c++)
        x[c] = unknown[c] ? Await(unknown[c], W.spins, W.report->ticket + launch, W.report) : Number(0);
      Multiply(e, x);
    }
  }
  /// S.part of the rows' positions. To be followed by a barrier; S.part is all zero, or from here.
  template <class Position> __device__ void Tell(const Position &position)
  {
    if constexpr (by_rows) {
#pragma unroll
      for (int h = 0; h < HALVES; h++)
        if (position(P_.Row(h)) >= 0) S_.part[P_.share][position(P_.Row(h))] = sum_[h];
    } else {
      Fold<16, HELD>();
      constexpr int LANES = 32 / HELD; // of a row
      const int     l     = position(P_.share * SHARE + P_.lane / LANES);
      if (P_.lane % LANES == 0 && l >= 0) S_.part[0][l] = sum_[0];
    }
  }

private:
  __device__ int Row(int j) const
  {
    return by_rows ? P_.Row(j) : P_.share * SHARE + j;
  }
  __device__ int Column(int c) const
  {
    return by_rows ? P_.share * SHARE + c : P_.Row(c);
  }

  /// Adds up what the lanes have of `left` rows; of two lanes `step` apart each goes on with half of the rows.
  template <int step, int left> __device__ void Fold()
  {
    if constexpr (left > 1) {
      const bool upper = (P_.lane & step) != 0;
#pragma unroll
      for (int j = 0; j < left / 2; j++) {
        const Number first = held(sum_[j]), second = held(sum_[j + left / 2]);
        sum_[j] = (upper ? second : first) + shuffle(upper ? first : second, P_.lane ^ step);
      }
    } else {
      sum_[0] = sum_[0] + shuffle(sum_[0], P_.lane ^ step);
    }
    if constexpr (step > 1) Fold<step / 2, (left > 1 ? left / 2 : 1)>();
  }
  /// Where the unknowns of the tile at `from` are that the thread waits for, or -1.
  template <class Index>
  __device__ void Look(PetscInt from, PetscInt end, const Index &index, PetscInt (&at)[ASKED]) const
  {
#pragma unroll
    for (int c = 0; c < ASKED; c++) {
      const PetscInt k = from + (by_rows ? P_.share * SHARE + P_.lane : Column(c));
      at[c]            = k < end && (!by_rows || P_.lane < SHARE) ? index(k) : -1;
    }
  }
  /// Entries of the tile at `from` on their way to the L2 cache.
  template <class Where> __device__ void Fetch(PetscInt from, PetscInt rows, PetscInt end, const Where &place) const
  {
    constexpr int LINE = 128 / sizeof(Number), LINES = Place::ROWS / LINE;
#pragma unroll
    for (int q = P_.lane; q < SHARE * LINES; q += 32) {
      const int      major = P_.share * SHARE + q / LINES, minor = q % LINES * LINE;
      const PetscInt row = by_rows ? minor : major, column = from + (by_rows ? major : minor);
      if (row < rows && column < end) fetch_to_l2(place(row, column));
    }
  }
  __device__ void Multiply(const Number (&e)[HELD][WIDE], const Number (&x)[ASKED])
  {
    if constexpr (by_rows) {
      Number *const shared = S_.unknown[P_.share];
      Number        more[HELD];
      Clear(more);
      __syncwarp(); // the last ones have been read
      if (P_.lane < SHARE) shared[P_.lane] = x[0];
      __syncwarp();
#pragma unroll
      for (int c = 0; c < WIDE; c += 2) {
        const Two<Number> two(shared + c);
#pragma unroll
        for (int j = 0; j < HELD; j++) {
          sum_[j] = sum_[j] + e[j][c] * two.first;
          more[j] = more[j] + e[j][c + 1] * two.second;
        }
      }
#pragma unroll
      for (int j = 0; j < HELD; j++) sum_[j] = sum_[j] + more[j];
    } else {
#pragma unroll
      for (int c = 0; c < WIDE; c++)
#pragma unroll
        for (int j = 0; j < HELD; j++) sum_[j] = sum_[j] + e[j][c] * x[c];
    }
  }

  const Place        P_;
  SweptTile<Number> &S_;
  Number             sum_[HELD];
};
} // namespace

} // namespace sparsegpu::lu
