/// Sliced ELLPACK with row classes and narrow columns: thread per row for short rows, warp per row for longer ones,
/// thread blocks for the longest, in one launch.
///
/// Places are rows, sorted by falling length within windows where that saves padding. 32 neighbouring places form a
/// slice as wide as its longest short row. A row's entries are summed one after the other, in CSR's order, so that the
/// product is bit for bit that of dia, ell, stencil and csr with one thread per row.
///
/// Value k of place p of a slice of width w lies, with b = 32 * begin[slice] and lane = p % 32, at
///     b + k / 2 * 64 + lane * 2 + k % 2,    the last one of an odd w at    b + k * 32 + lane:
/// two at a load. Columns are differences to the smallest column of entry k within the slice, of 1 or 2 bytes, or
/// themselves, in 4: whatever fits the slice. Four entries k form a group: four bases, then four differences a lane;
/// w % 4 entries that remain come as their bases and then 32 differences each.
///
/// Kreutzer et al., SIAM J. Sci. Comput. 36(5), 2014 (SELL-C-sigma); Willcock & Lumsdaine, ICS 2006 (narrow columns).
#pragma once

#include <optional>
#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

struct SellLayout {
  static constexpr int           HEIGHT     = 32;
  static constexpr unsigned char NOT_HERE   = 255;  ///< length of a row that is in another class
  static constexpr PetscInt      LONGEST    = 254;  ///< of a short row
  static constexpr PetscInt      WARP_ROW   = 1024; ///< entries that one warp takes: 32 turns
  static constexpr PetscInt      CHUNK      = 2048; ///< entries that a thread block takes of a longer row
  static constexpr size_t        UNIT       = 16;   ///< bytes: a group's bases, and what columns are aligned to
  static constexpr PetscInt      MAX_WINDOW = 65536;
  static constexpr PetscInt      STAGED     = 64; ///< entries of a row that go through shared memory

  PetscInt              rows, slices;
  PetscInt              width;  ///< of all slices if that is the same, and their columns' bytes too; else -1
  int                   bytes;  ///< of a column then: 1, 2, 4
  PetscInt              window; ///< a power of two; places and rows are the same if 1
  const PetscInt       *begin;  ///< [slices + 1] sum of the widths before, null if `width` tells
  const PetscInt       *column; ///< [slices] 4 * first unit of columns + log2(bytes), null if `width` tells
  const unsigned char  *length; ///< [slices * 32] of the row at each place, null if all are `width`
  const unsigned short *local;  ///< [slices * 32] row of each place, less the window's first; null if window is 1
  const unsigned char  *columns;

  PetscInt long_rows, warp_rows, chunks; ///< rows in the list; the first warp_rows by a warp each; chunks of others
  PetscInt long_values;                  ///< where their values begin
  const PetscInt *long_row;              ///< [long_rows] row
  const PetscInt *long_begin;            ///< [long_rows + 1] first entry
  const PetscInt *long_j;                ///< [long_begin[long_rows]] column
  const PetscInt *chunk_row;             ///< [chunks] place in the list, ascending
  const PetscInt *chunk_begin;           ///< [chunks] first entry
  Scalar         *chunk_sum;             ///< [chunks] scratch
  int            *arrived; ///< [chunks] scratch, zero between products: chunks done of the row that begins here
};

/// Units of the columns of a slice.
SPARSEGPU_HD PetscInt SellColumnUnits(PetscInt width, int bytes)
{
  if (bytes == 4) return 8 * width;
  return width / 4 * (1 + 8 * bytes) + (width % 4 ? 1 + 2 * bytes * (width % 4) : 0);
}
/// Where value k of a slice's lane lies, after the slice's first.
SPARSEGPU_HD PetscInt SellSlot(PetscInt width, PetscInt k, PetscInt lane)
{
  return k == width - 1 && width % 2 ? 32 * k + lane : k / 2 * 64 + 2 * lane + k % 2;
}
/// A slice's width, its first value and its columns.
struct SellSlice {
  PetscInt             width, begin;
  int                  bytes;
  const unsigned char *columns;
};
SPARSEGPU_HD SellSlice SellSliceOf(const SellLayout &A, PetscInt s)
{
  if (A.width >= 0) {
    const size_t unit = static_cast<size_t>(SellColumnUnits(A.width, A.bytes)) * s;
    return SellSlice{A.width, 32 * A.width * s, A.bytes, A.columns + SellLayout::UNIT * unit};
  }
  const PetscInt begin = A.begin[s], column = A.column[s];
  return SellSlice{A.begin[s + 1] - begin, 32 * begin, 1 << (column & 3),
                   A.columns + SellLayout::UNIT * static_cast<size_t>(column >> 2)};
}

/// z = A x + y; y null or z allowed.
PetscErrorCode SellMult_Kokkos(const SellLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode SellMult_CUDA(const SellLayout &A, const ValueLayout &a, const Scalar *x, const ProductTarget &to,
                             Stream stream, const comm::DeviceExchange *exchange = nullptr);
/// Format::MultDots().
PetscErrorCode SellMultDots_CUDA(const SellLayout &A, const ValueLayout &a, const ProductDots &dots, Stream stream);
/// The same, with `values` in the order of the rows, which begin at begin[row]. longest: of the short rows.
PetscErrorCode SellMultUnplaced_CUDA(const SellLayout &A, PetscInt longest, const PetscInt *begin, const Scalar *values,
                                     const Scalar *x, const ProductTarget &to, Stream stream);
/// Whether the device has the shared memory for that.
PetscErrorCode SellMultipliesUnplaced_CUDA(PetscInt longest, bool *can);
/// Format::MultDense().
PetscErrorCode SellMultDense_Kokkos(const SellLayout &A, const ValueLayout &a, const DenseColumns &d);
PetscErrorCode SellMultDense_CUDA(const SellLayout &A, const ValueLayout &a, PetscInt cols, const DenseColumns &d,
                                  DeviceMemory *scratch, Stream stream);

/// The place and the class of each row, from the row lengths alone.
struct SellArrangement {
  PetscInt                   window = 1, longest = 0; ///< longest short row
  PetscInt                   slices = 0;
  std::vector<PetscInt>      order;    ///< [rows] row at each place; empty if window is 1
  std::vector<PetscInt>      begin;    ///< [slices + 1]
  std::vector<unsigned char> length;   ///< [slices * 32], NOT_HERE also beyond the last row
  std::vector<PetscInt>      long_row; ///< rows of more than `longest` entries, those for a warp first
  PetscInt                   warp_rows = 0;
  PetscCount                 stored    = 0; ///< values, padding and long rows included
  // Instead of order, begin and length where the matrix lies on the device
  Array<PetscInt>      device_order, device_begin;
  Array<unsigned char> device_length;

  PetscInt Row(PetscInt place) const { return order.empty() ? place : order[place]; }
};
/// window: 0 < power of two <= MAX_WINDOW, or -1 for the smallest that leaves little padding. longest: entries of A's
/// longest row. O(rows) time. On the device where the rows lie there, which it then waits for.
PetscErrorCode ArrangeSell(const CsrView &A, PetscInt window, PetscInt longest, SellArrangement *places);
PetscErrorCode ArrangeSell_CUDA(const CsrView &A, PetscInt window, PetscInt longest, SellArrangement *places);

/// The window to begin with, the next wider one to try for -1, and when to stop trying.
struct SellWindows {
  static constexpr PetscReal ENOUGH = 1.03; ///< padded over true entries: wider ones would save less than they scatter
  static constexpr PetscInt  TRIED[4] = {1, 256, 4096, 65536};
};
/// Rows beyond this many entries leave the slices, of at most `longest` in the matrix: four times the mean, so that one
/// row does not widen 31 others.
PetscInt SellLongestShort(const CsrView &A, PetscInt longest);

/// Sums over the slices 0, step, 2 step, ...: widths, and widths times bytes of a column.
PetscErrorCode SampleSellColumns_CUDA(const CsrView &A, const SellArrangement &places, int least, PetscInt step,
                                      PetscLogDouble *widths, PetscLogDouble *bytes);
/// The columns of all slices, see SellLayout.
struct SellColumnsOnDevice {
  Array<PetscInt>      column; ///< [slices]
  Array<unsigned char> columns;
  PetscCount           narrow[3]; ///< places with columns of 1, 2, 4 bytes
  PetscInt             width;     ///< of the first slice
  int                  bytes;     ///< of its columns
  bool                 uniform;   ///< all slices are like the first
  bool                 full;      ///< no row is shorter than its slice is wide, or in another class
};
PetscErrorCode BuildSellColumns_CUDA(const CsrView &A, const SellArrangement &places, int least,
                                     SellColumnsOnDevice *out);
/// local[p] for all places.
PetscErrorCode SellLocalRows_CUDA(const CsrView &A, const SellArrangement &places, unsigned short *local);
/// j of the long rows, one after the other: [long_begin[long_rows]].
PetscErrorCode SellLongColumns_CUDA(const SellLayout &layout, const CsrArrays &A, PetscInt *j, Stream stream);
/// The values of A, and padding, in their places.
PetscErrorCode SellPlace_CUDA(const SellLayout &layout, const CsrArrays &A, Scalar *values, Stream stream);

/// Bytes of a column on average, from a few hundred slices spread over the matrix.
PetscErrorCode SampleSellColumns(const CsrView &A, const SellArrangement &places, int least, PetscLogDouble *bytes);

struct SellOptions : OptionsOf<SellOptions> {
  PetscInt window       = -1; ///< -mat_sparsegpu_sell_window: rows sorted by length together, 1 none; -1: by padding
  PetscInt column_bytes = 0;  ///< -mat_sparsegpu_column_bytes: at least so many for a column, 1, 2, 4; 0: what fits

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
  int            LeastColumnBytes() const { return column_bytes ? static_cast<int>(column_bytes) : 1; }
};

/// The rows are arranged once for Estimate() and the build, which takes their places.
class SellPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
  PetscErrorCode Estimate(PetscLogDouble beat, bool *candidate, Cost *cost) override;
  int            TrialPlace() const override { return 2; }
  PetscErrorCode Take(SellArrangement *places);

private:
  PetscErrorCode Arrange();

  std::optional<SellArrangement> places_;
};

class Sell : public Format
{
public:
  const char           *Name() const override { return "sell"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<SellPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode        MultDots(const ProductDots &dots, Stream stream) override;
  PetscErrorCode        MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream) override;
  bool                  TakesSteps() const override { return space_ == Space::Device; }
  PetscErrorCode        MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  std::string           Details() const override;
  const SellLayout     &Layout() const { return layout_; }
#if defined(SPARSEGPU_HAVE_CUDA)
  bool ConvertsOnDevice() const override
  {
    return true;
  }
#endif

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;
  bool           PlaceValues(const CsrView &A, Scalar *values) const override;
  bool           EncodesValues() const override
  {
    return true;
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscErrorCode BuildPatternOnDevice(Plan *plan) override;
  bool           PlacesByRows() const override
  {
    return true;
  }
  bool MultipliesUnplaced() const override
  {
    return unplaced_;
  }
  PetscErrorCode PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream) override;
#endif

private:
  template <class Place> void EachSlot(const CsrView &A, Place place) const;

  PetscErrorCode MultOnDevice(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                              Stream stream);
  PetscErrorCode Begin(Plan *plan);
  PetscErrorCode BuildColumns(const CsrView &A, int least);
  PetscErrorCode BuildLongRows(Look *look);

  SellLayout            layout_ = {};
  SellArrangement       places_;
  bool                  unplaced_  = false;     ///< MultipliesUnplaced()
  PetscLogDouble        narrow_[3] = {0, 0, 0}; ///< entries with columns of 1, 2, 4 bytes
  Array<PetscInt>       begin_, column_, long_row_, long_begin_, long_j_, chunk_row_, chunk_begin_;
  Array<unsigned char>  length_, columns_;
  Array<unsigned short> local_;
  Array<Scalar>         chunk_sum_;
  Array<int>            arrived_;
};

} // namespace sparsegpu::formats
