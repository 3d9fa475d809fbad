#include <algorithm>
#include <cstdint>
#include <cstring>
#include "device/backend_call.hpp"
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr PetscInt HEIGHT = SellLayout::HEIGHT;

std::unique_ptr<Format> MakeFormat_sell()
{
  return std::make_unique<Sell>();
}

PetscErrorCode Sell::Check(const CsrView &A, const Parameters &, bool *ok, std::string *why) const
{
  char text[256];

  PetscFunctionBegin;
  // slices of 32 equal rows at worst double the entries; units of columns are counted in PetscInt, times 4
  *ok = static_cast<PetscLogDouble>(A.nonzeros) < PETSC_MAX_INT / 4.0 &&
        static_cast<PetscLogDouble>(A.cols) < 4294967296.0;
  if (*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "its %" PetscInt_FMT " nonzeros and %" PetscInt_FMT " columns are beyond %" PetscInt_FMT
                          " and 2^32",
                          A.nonzeros, A.cols, PETSC_MAX_INT / 4));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The columns of one slice, by places: entry k of lane l at 32 k + l, -1 where there is none; and for each k the
/// smallest and the largest, first > last if there is none.
class SliceColumns
{
public:
  void Take(const CsrView &A, const SellPlan &plan, PetscInt s)
  {
    const PetscInt width = plan.begin[s + 1] - plan.begin[s];
    std::fill_n(first_, width, PETSC_MAX_INT);
    std::fill_n(last_, width, PetscInt(-1));
    std::fill_n(j_, width * HEIGHT, PetscInt(-1));
    for (PetscInt lane = 0; lane < HEIGHT; lane++) {
      const PetscInt p = s * HEIGHT + lane;
      if (plan.length[p] == SellLayout::NOT_HERE) continue;
      const PetscInt *row = A.j + A.i[plan.Row(p)];
      for (PetscInt k = 0; k < plan.length[p]; k++) {
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

PetscErrorCode SampleSellColumns(const CsrView &A, const SellPlan &plan, int least, PetscLogDouble *bytes)
{
  const PetscInt step = plan.slices / 256 + 1;
  PetscLogDouble sum = 0, entries = 0;
  SliceColumns   columns;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(SampleSellColumns_CUDA(A, plan, least, step, &entries, &sum));
    *bytes = entries > 0 ? sum / entries : 4;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt s = 0; s < plan.slices; s += step) {
    const PetscInt width = plan.begin[s + 1] - plan.begin[s];
    columns.Take(A, plan, s);
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
    const PetscInt width = plan_.begin[s + 1] - plan_.begin[s];
    taken.Take(A, plan_, s);
    const int bytes = taken.Bytes(width, least);
    column[s]       = 4 * units + (bytes == 4 ? 2 : bytes - 1);
    units += SellColumnUnits(width, bytes);
    narrow_[column[s] & 3] += 32.0 * width;
    uniform = uniform && width == plan_.begin[1] && (column[s] & 3) == (column[0] & 3);
  }
  PetscCallCXX(columns.assign(SellLayout::UNIT * static_cast<size_t>(units), 0));
  for (PetscInt s = 0; s < slices; s++) {
    taken.Take(A, plan_, s);
    FillColumns(taken, plan_.begin[s + 1] - plan_.begin[s], 1 << (column[s] & 3),
                columns.data() + SellLayout::UNIT * static_cast<size_t>(column[s] >> 2));
  }
  layout_.width = uniform ? plan_.begin[slices ? 1 : 0] : -1;
  layout_.bytes = slices ? 1 << (column[0] & 3) : 4;
  PetscCall(columns_.Take(std::move(columns), space_));
  layout_.columns = columns_.data();
  if (!uniform) {
    PetscCall(column_.Take(std::move(column), space_));
    PetscCall(begin_.Take(std::vector<PetscInt>(plan_.begin), space_));
    layout_.column = column_.data();
    layout_.begin  = begin_.data();
  }
  pattern_bytes_ += static_cast<PetscLogDouble>(columns_.bytes()) + column_.bytes() + begin_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::BuildLongRows(const CsrView &A)
{
  std::vector<PetscInt> begin{0}, j, chunk_row, chunk_begin;

  PetscFunctionBegin;
  layout_.long_rows = static_cast<PetscInt>(plan_.long_row.size());
  layout_.warp_rows = plan_.warp_rows;
  if (!layout_.long_rows) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < layout_.long_rows; l++) {
    const PetscInt r = plan_.long_row[l];
    for (PetscInt e = begin[l]; l >= layout_.warp_rows && e < begin[l] + A.i[r + 1] - A.i[r]; e += SellLayout::CHUNK) {
      PetscCallCXX(chunk_row.push_back(l));
      PetscCallCXX(chunk_begin.push_back(e));
    }
    if (!A.device.i) PetscCallCXX(j.insert(j.end(), A.j + A.i[r], A.j + A.i[r + 1]));
    PetscCallCXX(begin.push_back(begin.back() + A.i[r + 1] - A.i[r]));
  }
  const PetscInt entries = begin.back();
  layout_.chunks         = static_cast<PetscInt>(chunk_row.size());
  PetscCall(long_row_.Take(std::vector<PetscInt>(plan_.long_row), space_));
  PetscCall(long_begin_.Take(std::move(begin), space_));
  if (A.device.i)
    PetscCall(long_j_.Allocate(entries, space_));
  else
    PetscCall(long_j_.Take(std::move(j), space_));
  PetscCall(chunk_row_.Take(std::move(chunk_row), space_));
  PetscCall(chunk_begin_.Take(std::move(chunk_begin), space_));
  PetscCall(chunk_sum_.Allocate(layout_.chunks, space_));
  PetscCall(arrived_.Take(std::vector<int>(layout_.chunks, 0), space_));
  layout_.long_row    = long_row_.data();
  layout_.long_begin  = long_begin_.data();
  layout_.long_j      = long_j_.data();
  layout_.chunk_row   = chunk_row_.data();
  layout_.chunk_begin = chunk_begin_.data();
  layout_.chunk_sum   = chunk_sum_.data();
  layout_.arrived     = arrived_.data();
  pattern_bytes_ += static_cast<PetscLogDouble>(long_row_.bytes()) + long_begin_.bytes() + long_j_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The plan, and of the layout what follows from it.
PetscErrorCode Sell::Begin(const CsrView &A, const Parameters &parameters, int *narrowest)
{
  const PetscInt least = parameters.column_bytes;

  PetscFunctionBegin;
  PetscCheck(least == 0 || least == 1 || least == 2 || least == 4, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_column_bytes %" PetscInt_FMT " must be 1, 2, 4, or 0", least);
  PetscCall(PlanSell(A, parameters.sell_window, &plan_));
  PetscCheck(plan_.stored <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Slices of 32 of the %" PetscInt_FMT " rows, sorted within %" PetscInt_FMT
             ", would store %.0f entries for %" PetscInt_FMT " nonzeros, more than the %" PetscInt_FMT
             " that PetscInt counts (-mat_sparsegpu_sell_window)",
             A.rows, plan_.window, static_cast<double>(plan_.stored), A.nonzeros, PETSC_MAX_INT);
  layout_        = {};
  pattern_bytes_ = 0;
  std::fill(narrow_, narrow_ + 3, 0);
  layout_.rows        = A.rows;
  layout_.slices      = plan_.slices;
  layout_.window      = plan_.window;
  stored_             = static_cast<PetscInt>(plan_.stored);
  layout_.long_values = stored_;
  for (PetscInt r : plan_.long_row) layout_.long_values -= A.i[r + 1] - A.i[r];
  *narrowest = least ? static_cast<int>(least) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::BuildPattern(const CsrView &A, const Parameters &parameters)
{
  int least;

  PetscFunctionBegin;
  PetscCall(Begin(A, parameters, &least));
  PetscCall(BuildColumns(A, least));
  PetscCall(BuildLongRows(A));
  if (plan_.window > 1) {
    std::vector<unsigned short> local;
    PetscCallCXX(local.assign(static_cast<size_t>(layout_.slices) * HEIGHT, 0));
    for (PetscInt p = 0; p < A.rows; p++)
      local[p] = static_cast<unsigned short>(plan_.order[p] - p / plan_.window * plan_.window);
    PetscCall(local_.Take(std::move(local), space_));
    layout_.local = local_.data();
  }
  const bool full = layout_.width >= 0 && std::all_of(plan_.length.begin(), plan_.length.begin() + A.rows,
                                                      [&](unsigned char l) { return l == layout_.width; });
  if (!full) {
    PetscCall(length_.Take(std::vector<unsigned char>(plan_.length), space_));
    layout_.length = length_.data();
  }
  pattern_bytes_ += static_cast<PetscLogDouble>(length_.bytes()) + local_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Sell::BuildPatternOnDevice(const CsrView &A, const Parameters &parameters)
{
  SellColumnsOnDevice found;
  Stream              stream;
  int                 least;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Begin(A, parameters, &least));
  PetscCall(BuildSellColumns_CUDA(A, plan_, least, &found));
  for (int k = 0; k < 3; k++) narrow_[k] = static_cast<PetscLogDouble>(found.narrow[k]);
  layout_.width   = found.uniform ? found.width : -1;
  layout_.bytes   = found.bytes;
  columns_        = std::move(found.columns);
  layout_.columns = columns_.data();
  if (!found.uniform) {
    column_        = std::move(found.column);
    begin_         = std::move(plan_.device_begin);
    layout_.column = column_.data();
    layout_.begin  = begin_.data();
  }
  PetscCall(BuildLongRows(A));
  if (layout_.long_rows) PetscCall(SellLongColumns_CUDA(layout_, A.device, long_j_.data(), stream));
  if (plan_.window > 1) {
    PetscCall(local_.Allocate(static_cast<size_t>(layout_.slices) * HEIGHT, space_));
    PetscCall(SellLocalRows_CUDA(A, plan_, local_.data()));
    layout_.local = local_.data();
  }
  if (!found.full) {
    length_        = std::move(plan_.device_length);
    layout_.length = length_.data();
  }
  pattern_bytes_ += static_cast<PetscLogDouble>(columns_.bytes()) + column_.bytes() + begin_.bytes() + length_.bytes() +
                    local_.bytes();
  // what only the conversion needed; rows without a place of their own stay listed
  plan_.device_order  = Array<PetscInt>();
  plan_.device_begin  = Array<PetscInt>();
  plan_.device_length = Array<unsigned char>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SellSlots_CUDA(layout_, A.device, slot, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SellPlace_CUDA(layout_, A.device, values, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// place(e, slot) for each entry e of A.
template <class Place> void Sell::EachSlot(const CsrView &A, Place place) const
{
  for (PetscInt p = 0; p < A.rows; p++) {
    if (plan_.length[p] == SellLayout::NOT_HERE) continue;
    const PetscInt s = p / HEIGHT, first = A.i[plan_.Row(p)], width = plan_.begin[s + 1] - plan_.begin[s];
    for (PetscInt k = 0; k < plan_.length[p]; k++)
      place(first + k, HEIGHT * plan_.begin[s] + SellSlot(width, k, p % HEIGHT));
  }
  PetscInt next = layout_.long_values;
  for (PetscInt r : plan_.long_row)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) place(e, next++);
}

void Sell::Slots(const CsrView &A, PetscInt *slot) const
{
  EachSlot(A, [&](PetscInt e, PetscInt s) { slot[e] = s; });
}

bool Sell::PlaceValues(const CsrView &A, Scalar *values) const
{
  EachSlot(A, [&](PetscInt e, PetscInt s) { values[s] = A.a[e]; });
  return true;
}

PetscErrorCode Sell::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  const ValueLayout a = EncodedLayout();
  PetscCall(SPARSEGPU_LAUNCH(space_, SellMult_CUDA(layout_, a, x, y, z, stream), SellMult_Kokkos(layout_, a, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Sell::Details() const
{
  const PetscLogDouble all = std::max(1.0, narrow_[0] + narrow_[1] + narrow_[2]);
  char                 text[256];
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscSNPrintf(text, sizeof(text),
                               "%s values, columns of 1, 2, 4 bytes: %.0f %%, %.0f %%, %.0f %%, sorted in windows of "
                               "%" PetscInt_FMT ", %" PetscInt_FMT " long rows",
                               ValueCodecNames[static_cast<int>(codec()) + 1], 100 * narrow_[0] / all,
                               100 * narrow_[1] / all, 100 * narrow_[2] / all, plan_.window, layout_.long_rows));
  return text;
}

} // namespace sparsegpu
