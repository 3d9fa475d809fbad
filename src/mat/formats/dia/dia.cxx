/// dia's plan, from the count of diagonals, and its arrays.
#include "mat/formats/dia/dia.hpp"
#include <cstring>
#include "device/backend_call.hpp"
#include "mat/formats/padding.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_dia()
{
  return EntryOf<Dia>();
}

PetscErrorCode DiaPlan::Fits(bool *fits, std::string *why)
{
  const std::vector<PetscInt> *offsets;
  char                         what[64];

  PetscFunctionBegin;
  PetscCall(look().Diagonals(&offsets));
  PetscCall(PetscSNPrintf(what, sizeof(what), "it has entries on %zu diagonals", offsets->size()));
  PetscCall(CheckPadding(rows(), static_cast<PetscLogDouble>(offsets->size()), what,
                         options<CommonOptions>().max_padding, fits, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the device a thread walks a row, along all diagonals. On the CPU caches serve csr's gathers, so dia is
/// chosen only if it saves a quarter of the bytes. Where half of the diagonals are stored, the others come from the L2
/// cache, which is not so much faster. Measured: docs/performance.md.
PetscErrorCode DiaPlan::Estimate(PetscLogDouble, bool *candidate, Cost *cost)
{
  constexpr PetscInt  LONG_WALK  = 64;            // diagonals
  constexpr PetscReal CONVERSION = 6, UPDATE = 2; // on one core of a CPU
  constexpr PetscReal ON_DEVICE = 4;              // a conversion there
  constexpr PetscReal HALVED    = 0.86;
  const bool          device    = space() == Space::Device;
  const PatternFacts *f;
  bool                symmetric = false;

  PetscFunctionBegin;
  PetscCall(look().Facts(&f));
  *candidate = f->diagonals <= PatternFacts::MANY_DIAGONALS && (!device || look().Fills(f->diagonals)) &&
               !TooMuchPadding(f->rows, f->diagonals, f->nonzeros, options<CommonOptions>().max_padding);
  if (!*candidate) PetscFunctionReturn(PETSC_SUCCESS);
  cost->bytes = static_cast<PetscLogDouble>(f->diagonals) * f->rows * sizeof(Scalar);
  cost->reach = !device ? 0.79 : f->diagonals > LONG_WALK ? 0.8 : 1;
  if (options<CommonOptions>().values == ValueCodecNames[0] && f->diagonals > 1)
    PetscCall(look().Symmetric(&symmetric));
  if (symmetric) {
    cost->bytes *= (f->diagonals / 2 + 1.0) / f->diagonals;
    if (device) cost->reach *= HALVED;
  }
  cost->conversion = look().TimeToConvert(ON_DEVICE, CONVERSION);
  cost->update     = UPDATE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::BuildPattern(Plan *plan)
{
  const CsrView               &A = plan->rows();
  const std::vector<PetscInt> *offsets;
  std::vector<Diagonal>        diagonals;

  PetscFunctionBegin;
  PetscCall(plan->look().Diagonals(&offsets));
  PetscCallCXX(offsets_ = *offsets);
  layout_.rows       = A.rows;
  layout_.cols       = A.cols;
  layout_.diagonals  = static_cast<PetscInt>(offsets_.size());
  layout_.pitch      = EllPitch(A.rows);
  stored_            = layout_.diagonals * layout_.pitch;
  const size_t count = offsets_.size();
  mirrored_          = A.rows == A.cols && count > 1;
  for (size_t d = 0; d < count; d++) mirrored_ = mirrored_ && offsets_[d] == -offsets_[count - 1 - d];
  PetscCallCXX(diagonals.resize(mirrored_ ? 2 * count : count));
  for (size_t d = 0; d < count; d++) diagonals[d] = {offsets_[d], static_cast<PetscInt>(d) * layout_.pitch};
  for (size_t d = count; d < diagonals.size(); d++) {
    diagonals[d] = diagonals[d - count];
    // entry (r, r + offset) is entry (r + offset, r) of the mirrored diagonal
    if (diagonals[d].offset > 0) diagonals[d].place = diagonals[2 * count - 1 - d].place + diagonals[d].offset;
  }
  PetscCall(diagonal_.Take(std::move(diagonals), space_));
  pattern_bytes_ = static_cast<PetscLogDouble>(diagonal_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

DiaLayout Dia::Layout() const
{
  DiaLayout layout = layout_;
  layout.halved    = omitted_ > 0;
  layout.diagonal  = diagonal_.data() + (layout.halved ? layout.diagonals : 0);
  layout.a         = EncodedLayout();
  return layout;
}

PetscErrorCode DiaSymmetric_Host(const DiaLayout &A, const Scalar *values, bool *symmetric)
{
  PetscFunctionBegin;
  *symmetric = true;
  for (PetscInt d = 0; *symmetric && A.diagonal[d].offset < 0; d++) {
    const Diagonal below = A.diagonal[d], above = A.diagonal[A.diagonals - 1 - d];
    const size_t   bytes = static_cast<size_t>(A.rows - above.offset) * sizeof(Scalar);
    *symmetric           = !memcmp(values + below.place + above.offset, values + above.place, bytes);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without memory for another copy of the half that stays, all of them stay.
PetscErrorCode Dia::Shrink()
{
  const PetscInt  below = layout_.diagonals / 2, kept = (layout_.diagonals - below) * layout_.pitch;
  const DiaLayout all = AllDiagonals();
  bool            symmetric, lacks;
  Array<Scalar>   half;

  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaSymmetric_CUDA(all, values_.data(), &symmetric),
                             DiaSymmetric_Host(all, values_.data(), &symmetric)));
  if (!symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory([&] { return half.Allocate(kept, space_); }, &lacks));
  if (lacks) PetscFunctionReturn(PETSC_SUCCESS);
  if (space_ == Space::Host) {
    memcpy(half.data(), values_.data(), half.bytes());
  } else {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyWithin(half.data(), values_.data(), half.bytes(), stream));
    PetscCall(DeviceSynchronize(stream)); // what it read is freed next
  }
  values_  = std::move(half);
  omitted_ = stored_ - kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::MultDenseDots(const DenseColumns &d, const DenseDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaMultDenseDots_CUDA(Layout(), d, dots, stream),
                             Format::MultDenseDots(d, dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Dia::Details() const
{
  return omitted_ ? "symmetric values, stored once" : "";
}

/// place(e, slot) for each entry e of A.
template <class Place> void Dia::EachSlot(const CsrView &A, Place place) const
{
  std::vector<PetscInt> first(static_cast<size_t>(A.rows) + A.cols); // of the diagonal j - r, at j - r + rows
  for (size_t d = 0; d < offsets_.size(); d++)
    first[static_cast<size_t>(offsets_[d] + A.rows)] = static_cast<PetscInt>(d) * layout_.pitch;
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) place(e, first[static_cast<size_t>(A.j[e]) + (A.rows - r)] + r);
}

void Dia::Slots(const CsrView &A, PetscInt *slot) const
{
  EachSlot(A, [&](PetscInt e, PetscInt s) { slot[e] = s; });
}

bool Dia::PlaceValues(const CsrView &A, Scalar *values) const
{
  EachSlot(A, [&](PetscInt e, PetscInt s) { values[s] = StoredValue(A.a[e]); });
  return true;
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Dia::SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(DiaSlots_CUDA(AllDiagonals(), A.device, slot, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(DiaPlace_CUDA(AllDiagonals(), A.device, values, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Dia::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaMult_CUDA(Layout(), x, {y, z}, stream), DiaMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                             Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaMult_CUDA(Layout(), x, to, stream, exchange),
                             Format::MultInto(x, to, exchange, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaMultDots_CUDA(Layout(), dots, stream), Format::MultDots(dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::MultDense(const DenseColumns &d, DeviceMemory *, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaMultDense_CUDA(Layout(), d, stream), DiaMultDense_Kokkos(Layout(), d)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
