/// The columns of a sliced ELLPACK matrix in as few bytes as each slice allows: sampled for a plan, and built.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr PetscInt HEIGHT = SellLayout::HEIGHT;

namespace
{
/// The columns of one slice, by places: entry k of lane l at 32 k + l, -1 where there is none; and for each k the
/// smallest and the largest, first > last if there is none.
class SliceColumns
{
public:
  void Take(const CsrView &A, const SellArrangement &places, PetscInt s)
  {
    const PetscInt width = places.begin[s + 1] - places.begin[s];
    std::fill_n(first_, width, PETSC_MAX_INT);
    std::fill_n(last_, width, PetscInt(-1));
    std::fill_n(j_, width * HEIGHT, PetscInt(-1));
    for (PetscInt lane = 0; lane < HEIGHT; lane++) {
      const PetscInt p = s * HEIGHT + lane;
      if (places.length[p] == SellLayout::NOT_HERE) continue;
      const PetscInt *row = A.j + A.i[places.Row(p)];
      for (PetscInt k = 0; k < places.length[p]; k++) {
        j_[k * HEIGHT + lane] = row[k];
        first_[k]             = std::min(first_[k], row[k]);
        last_[k]              = std::max(last_[k], row[k]);
      }
    }
  }
  /// Bytes that hold the columns, relative to the first of each k.
  int Bytes(PetscInt width, int least) const
  {
    int bytes = least;
    for (PetscInt k = 0; bytes < 4 && k < width; k++) {
      if (last_[k] - first_[k] > 65535)
        bytes = 4;
      else if (last_[k] - first_[k] > 255)
        bytes = std::max(bytes, 2);
    }
    return bytes;
  }
  PetscInt Base(PetscInt k) const { return last_[k] < 0 ? 0 : first_[k]; }
  PetscInt At(PetscInt k, PetscInt lane) const { return j_[k * HEIGHT + lane]; }

private:
  PetscInt first_[SellLayout::LONGEST], last_[SellLayout::LONGEST], j_[SellLayout::LONGEST * HEIGHT];
};
} // namespace

PetscErrorCode SampleSellColumns(const CsrView &A, const SellArrangement &places, int least, PetscLogDouble *bytes)
{
  const PetscInt step = places.slices / 256 + 1;
  PetscLogDouble sum = 0, entries = 0;
  SliceColumns   columns;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(SampleSellColumns_CUDA(A, places, least, step, &entries, &sum));
    *bytes = entries > 0 ? sum / entries : 4;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt s = 0; s < places.slices; s += step) {
    const PetscInt width = places.begin[s + 1] - places.begin[s];
    columns.Take(A, places, s);
    sum += static_cast<PetscLogDouble>(width) * columns.Bytes(width, least);
    entries += width;
  }
  *bytes = entries > 0 ? sum / entries : 4;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Store(unsigned char *to, int bytes, size_t place, PetscInt v)
{
  const std::uint32_t wide  = static_cast<std::uint32_t>(v);
  const std::uint16_t half  = static_cast<std::uint16_t>(v);
  const unsigned char small = static_cast<unsigned char>(v);
  std::memcpy(to + place * bytes, bytes == 4 ? (const void *)&wide : bytes == 2 ? (const void *)&half : &small, bytes);
}

/// The columns of one slice, see the head of sell.hpp.
static void FillColumns(const SliceColumns &columns, PetscInt width, int bytes, unsigned char *to)
{
  for (PetscInt group = 0; group < width; group += 4) {
    const PetscInt count = std::min<PetscInt>(4, width - group);
    if (bytes < 4) to += SellLayout::UNIT;
    for (PetscInt k = group; k < group + count; k++) {
      const PetscInt base = bytes < 4 ? columns.Base(k) : 0;
      if (bytes < 4) Store(to - SellLayout::UNIT, 4, static_cast<size_t>(k - group), base);
      for (PetscInt lane = 0; lane < HEIGHT; lane++) {
        const PetscInt j = columns.At(k, lane);
        Store(to, bytes, static_cast<size_t>(count == 4 ? 4 * lane + k - group : (k - group) * HEIGHT + lane),
              j >= 0 ? j - base : 0);
      }
    }
    to += static_cast<size_t>(count) * HEIGHT * bytes;
  }
}

PetscErrorCode Sell::BuildColumns(const CsrView &A, int least)
{
  const PetscInt             slices = layout_.slices;
  std::vector<PetscInt>      column;
  std::vector<unsigned char> columns;
  SliceColumns               taken;
  PetscInt                   units   = 0;
  bool                       uniform = true;

  PetscFunctionBegin;
  PetscCallCXX(column.resize(slices));
  for (PetscInt s = 0; s < slices; s++) {
    const PetscInt width = places_.begin[s + 1] - places_.begin[s];
    taken.Take(A, places_, s);
    const int bytes = taken.Bytes(width, least);
    column[s]       = 4 * units + (bytes == 4 ? 2 : bytes - 1);
    units += SellColumnUnits(width, bytes);
    narrow_[column[s] & 3] += 32.0 * width;
    uniform = uniform && width == places_.begin[1] && (column[s] & 3) == (column[0] & 3);
  }
  PetscCallCXX(columns.assign(SellLayout::UNIT * static_cast<size_t>(units), 0));
  for (PetscInt s = 0; s < slices; s++) {
    taken.Take(A, places_, s);
    FillColumns(taken, places_.begin[s + 1] - places_.begin[s], 1 << (column[s] & 3),
                columns.data() + SellLayout::UNIT * static_cast<size_t>(column[s] >> 2));
  }
  layout_.width = uniform ? places_.begin[slices ? 1 : 0] : -1;
  layout_.bytes = slices ? 1 << (column[0] & 3) : 4;
  PetscCall(columns_.Take(std::move(columns), space_));
  layout_.columns = columns_.data();
  if (!uniform) {
    PetscCall(column_.Take(std::move(column), space_));
    PetscCall(begin_.Take(std::vector<PetscInt>(places_.begin), space_));
    layout_.column = column_.data();
    layout_.begin  = begin_.data();
  }
  pattern_bytes_ += static_cast<PetscLogDouble>(columns_.bytes()) + column_.bytes() + begin_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
