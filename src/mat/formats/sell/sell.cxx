/// sell's arrays from the places of its rows, but for the columns: columns.cxx.
#include "mat/formats/sell/sell.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr PetscInt HEIGHT = SellLayout::HEIGHT;

FormatEntry RegisterFormat_sell()
{
  return EntryOf<Sell, SellOptions>();
}

PetscErrorCode Sell::BuildLongRows(Look *look)
{
  const CsrView        &A = look->rows();
  const PetscInt       *i;
  std::vector<PetscInt> begin{0}, j, chunk_row, chunk_begin;

  PetscFunctionBegin;
  layout_.long_rows = static_cast<PetscInt>(places_.long_row.size());
  layout_.warp_rows = places_.warp_rows;
  if (!layout_.long_rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(look->Beginnings(&i));
  for (PetscInt l = 0; l < layout_.long_rows; l++) {
    const PetscInt r = places_.long_row[l], length = i[r + 1] - i[r];
    for (PetscInt e = begin[l]; l >= layout_.warp_rows && e < begin[l] + length; e += SellLayout::CHUNK) {
      PetscCallCXX(chunk_row.push_back(l));
      PetscCallCXX(chunk_begin.push_back(e));
    }
    if (!A.device.i) PetscCallCXX(j.insert(j.end(), A.j + i[r], A.j + i[r + 1]));
    PetscCallCXX(begin.push_back(begin.back() + length));
  }
  const PetscInt entries = begin.back();
  layout_.chunks         = static_cast<PetscInt>(chunk_row.size());
  layout_.long_values    = stored_ - entries;
  PetscCall(long_row_.Take(std::vector<PetscInt>(places_.long_row), space_));
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

/// Arranges the rows, and sets the parts of the layout that follow from their places.
PetscErrorCode Sell::Begin(Plan *plan)
{
  const CsrView &A = plan->rows();

  PetscFunctionBegin;
  PetscCall(plan->options<SellOptions>().Check());
  PetscCall(static_cast<SellPlan *>(plan)->Take(&places_));
  PetscCheck(places_.stored <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Slices of 32 of the %" PetscInt_FMT " rows, sorted within %" PetscInt_FMT
             ", would store %.0f entries for %" PetscInt_FMT " nonzeros, more than the %" PetscInt_FMT
             " that PetscInt counts (-mat_sparsegpu_sell_window)",
             A.rows, places_.window, static_cast<double>(places_.stored), A.nonzeros, PETSC_MAX_INT);
  layout_        = {};
  pattern_bytes_ = 0;
  std::fill(narrow_, narrow_ + 3, 0);
  layout_.rows        = A.rows;
  layout_.slices      = places_.slices;
  layout_.window      = places_.window;
  stored_             = static_cast<PetscInt>(places_.stored);
  layout_.long_values = stored_;
#if defined(SPARSEGPU_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) // compilers may contract complex products otherwise
  if (space_ == Space::Device) PetscCall(SellMultipliesUnplaced_CUDA(places_.longest, &unplaced_));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::BuildPattern(Plan *plan)
{
  const CsrView &A = plan->rows();

  PetscFunctionBegin;
  PetscCall(Begin(plan));
  PetscCall(BuildColumns(A, plan->options<SellOptions>().LeastColumnBytes()));
  PetscCall(BuildLongRows(&plan->look()));
  if (places_.window > 1) {
    std::vector<unsigned short> local;
    PetscCallCXX(local.assign(static_cast<size_t>(layout_.slices) * HEIGHT, 0));
    for (PetscInt p = 0; p < A.rows; p++)
      local[p] = static_cast<unsigned short>(places_.order[p] - p / places_.window * places_.window);
    PetscCall(local_.Take(std::move(local), space_));
    layout_.local = local_.data();
  }
  const bool full = layout_.width >= 0 && std::all_of(places_.length.begin(), places_.length.begin() + A.rows,
                                                      [&](unsigned char l) { return l == layout_.width; });
  if (!full) {
    PetscCall(length_.Take(std::vector<unsigned char>(places_.length), space_));
    layout_.length = length_.data();
  }
  pattern_bytes_ += static_cast<PetscLogDouble>(length_.bytes()) + local_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Sell::BuildPatternOnDevice(Plan *plan)
{
  const CsrView      &A = plan->rows();
  SellColumnsOnDevice found;
  Stream              stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Begin(plan));
  PetscCall(BuildSellColumns_CUDA(A, places_, plan->options<SellOptions>().LeastColumnBytes(), &found));
  for (int k = 0; k < 3; k++) narrow_[k] = static_cast<PetscLogDouble>(found.narrow[k]);
  layout_.width   = found.uniform ? found.width : -1;
  layout_.bytes   = found.bytes;
  columns_        = std::move(found.columns);
  layout_.columns = columns_.data();
  if (!found.uniform) {
    column_        = std::move(found.column);
    begin_         = std::move(places_.device_begin);
    layout_.column = column_.data();
    layout_.begin  = begin_.data();
  }
  PetscCall(BuildLongRows(&plan->look()));
  if (layout_.long_rows) PetscCall(SellLongColumns_CUDA(layout_, A.device, long_j_.data(), stream));
  if (places_.window > 1) {
    PetscCall(local_.Allocate(static_cast<size_t>(layout_.slices) * HEIGHT, space_));
    PetscCall(SellLocalRows_CUDA(A, places_, local_.data()));
    layout_.local = local_.data();
  }
  if (!found.full) {
    length_        = std::move(places_.device_length);
    layout_.length = length_.data();
  }
  pattern_bytes_ += static_cast<PetscLogDouble>(columns_.bytes()) + column_.bytes() + begin_.bytes() + length_.bytes() +
                    local_.bytes();
  // frees what only the conversion needed; the list of long rows stays
  places_.device_order  = Array<PetscInt>();
  places_.device_begin  = Array<PetscInt>();
  places_.device_length = Array<unsigned char>();
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
    if (places_.length[p] == SellLayout::NOT_HERE) continue;
    const PetscInt s = p / HEIGHT, first = A.i[places_.Row(p)], width = places_.begin[s + 1] - places_.begin[s];
    for (PetscInt k = 0; k < places_.length[p]; k++)
      place(first + k, HEIGHT * places_.begin[s] + SellSlot(width, k, p % HEIGHT));
  }
  PetscInt next = layout_.long_values;
  for (PetscInt r : places_.long_row)
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

#if defined(SPARSEGPU_HAVE_CUDA)
/// Values that lie by rows have a kernel of their own.
PetscErrorCode Sell::MultOnDevice(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                  Stream stream)
{
  const UnplacedValues unplaced = Unplaced();

  PetscFunctionBegin;
  if (!unplaced.a) {
    PetscCall(SellMult_CUDA(layout_, EncodedLayout(), x, to, stream, exchange));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (exchange) PetscCall(comm::BeginExchange_CUDA(*exchange, x, stream));
  PetscCall(SellMultUnplaced_CUDA(layout_, places_.longest, unplaced.row_begin, unplaced.a, x, to, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Sell::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, MultOnDevice(x, {y, z}, nullptr, stream),
                             SellMult_Kokkos(layout_, EncodedLayout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                              Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, MultOnDevice(x, to, exchange, stream), Format::MultInto(x, to, exchange, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  if (layout_.chunks > 0 || Unplaced().a) { // as csr; values that lie by rows have a kernel of their own
    PetscCall(Format::MultDots(dots, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SPARSEGPU_LAUNCH(space_, SellMultDots_CUDA(layout_, EncodedLayout(), dots, stream),
                             Format::MultDots(dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sell::MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Settle());
  const ValueLayout a = EncodedLayout();
  PetscCall(SPARSEGPU_LAUNCH(space_, SellMultDense_CUDA(layout_, a, cols_, d, scratch, stream),
                             SellMultDense_Kokkos(layout_, a, d)));
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
                               100 * narrow_[1] / all, 100 * narrow_[2] / all, places_.window, layout_.long_rows));
  return text;
}

} // namespace sparsegpu::formats
