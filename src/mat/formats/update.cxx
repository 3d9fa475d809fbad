/// New values in an old pattern: put in place at once, or multiplied where the matrix has them until enough products
/// share them, and encoded then.
#include <algorithm>
#include "device/scatter.hpp"
#include "mat/formats/format.hpp"
#include "mat/rows/device_rows.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::formats
{

/// Values that are not in full once they are encoded are not rounded. Without memory products have the full ones.
PetscErrorCode Format::Round(bool *encoded)
{
  const bool waited = waits_;
  bool       lacks;

  PetscFunctionBegin;
  if (!RoundsValues() || encoded_.TriedRounding()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory(
      [&]() -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCall(Settle());
        if (waits_) PetscCall(Encode());
        PetscCall(encoded_.Round(values_, space_));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      &lacks));
  if (lacks) encoded_.DoNotRound(); // these values
  *encoded = waited && !waits_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::Expect(PetscCount products, bool *encoded)
{
  bool lacks = false;

  PetscFunctionBegin;
  *encoded = false;
  if (ProductsInSingle::Any()) PetscCall(Round(encoded));
  if (!waits_) PetscFunctionReturn(PETSC_SUCCESS);
  expected_ += products;
  if (expected_ < ENCODING_PAYS) PetscFunctionReturn(PETSC_SUCCESS);
  if (products >= ENCODING_PAYS) PetscCall(Settle()); // a solver, whose kernels read them there
  PetscCall(MayLackMemory(
      [&]() -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCall(Settle());
        PetscCall(Encode());
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      &lacks)); // without memory the values stay where and as they are, for another while
  if (lacks) expected_ = 0;
  *encoded = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *found is false where the device lacks memory for that.
PetscErrorCode Format::FindSlots(const CsrView &A, bool *found)
{
  std::vector<PetscInt> slot;
  Stream                stream;
  bool                  lacks = false;

  const auto there = [&]() -> PetscErrorCode {
    DeviceRows      rows;
    Array<PetscInt> places;
    CsrView         B = A;

    PetscFunctionBegin;
    if (!A.device.i) PetscCall(rows.Upload(A, false));
    if (!A.device.i) B.device = rows.View();
    PetscCall(places.Allocate(nonzeros_, space_));
    PetscCall(SlotsOnDevice(B, places.data(), stream));
    PetscCall(DeviceSynchronize(stream)); // the rows are freed next
    slot_ = std::move(places);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionBegin;
  *found = true;
  if (NeedsRowsAlone()) {
    const size_t count = static_cast<size_t>(rows_) + 1;
    PetscCall(MayLackMemory([&] { return row_begin_.CopyFrom(A.device.i, A.i, count); }, &lacks));
    *found = !lacks;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (space_ == Space::Device && ConvertsOnDevice()) {
    PetscCall(DeviceStream(&stream));
    PetscCall(MayLackMemory(there, &lacks));
    *found = !lacks;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(slot.resize(nonzeros_));
  Slots(A, slot.data());
  PetscCall(slot_.Take(std::move(slot), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::CopyToSlots(const CsrView &A, const Scalar *a, Space where)
{
  Stream        stream;
  const Scalar *from = a;
  DeviceMemory  copy;

  PetscFunctionBegin;
  // Room for values that are stored encoded, or were read where the matrix has them; padding holds the value of an
  // entry, or PadValue().
  const bool canonical = PadsByValue(), room = values_.size() != static_cast<size_t>(stored_);
  if (room) PetscCall(values_.Allocate(stored_, space_));
  if (space_ == Space::Host) {
    const PetscInt *slot   = slot_.data();
    Scalar         *values = values_.data();
    if (room && canonical) std::fill(values, values + stored_, PadValue());
    if (EncodesValues() && nonzeros_) std::fill(values, values + stored_, a[0]);
    for (PetscInt e = 0; e < nonzeros_; e++) values[slot[e]] = canonical ? StoredValue(a[e]) : a[e];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  if (where == Space::Host && CsrOrder()) { // straight into place
    PetscCall(DeviceCopyIn(values_.data(), a, values_.bytes(), stream));
    PetscCall(DeviceSynchronize(stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (where == Space::Host) {
    const size_t bytes = static_cast<size_t>(nonzeros_) * sizeof(Scalar);
    PetscCall(copy.Reserve(bytes));
    PetscCall(DeviceCopyIn(copy.data(), a, bytes, stream));
    from = static_cast<const Scalar *>(copy.data());
  }
  if (PlacesByRows()) {
    CsrView rows = A;
    rows.device  = CsrArrays{row_begin_.data(), nullptr, from};
    if (nonzeros_) PetscCall(PlaceOnDevice(rows, values_.data(), stream));
  } else {
#if defined(SPARSEGPU_HAVE_CUDA)
    if (EncodesValues() && nonzeros_) PetscCall(FillFrom_CUDA(from, stored_, values_.data()));
    if (room && canonical) PetscCall(FillValues_CUDA(stored_, PadValue(), values_.data(), stream));
#endif
    PetscCall(
        ScatterValues_CUDA(nonzeros_, CsrOrder() ? nullptr : slot_.data(), from, canonical, values_.data(), stream));
  }
  if (where == Space::Host) PetscCall(DeviceSynchronize(stream)); // the caller may change `a` as soon as we return
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::Settle()
{
  CsrView rows = {};
  Stream  stream;

  PetscFunctionBegin;
  rows.device = CsrArrays{Unplaced().row_begin, nullptr, Unplaced().a};
  if (!rows.device.a) PetscFunctionReturn(PETSC_SUCCESS);
  if (values_.size() != static_cast<size_t>(stored_)) PetscCall(values_.Allocate(stored_, space_));
  PetscCall(DeviceStream(&stream));
  if (nonzeros_) PetscCall(PlaceOnDevice(rows, values_.data(), stream));
  borrowed_ = nullptr;
  owner_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Format::Release()
{
  slot_ = Array<PetscInt>();
  if (!Unplaced().a) row_begin_ = Array<PetscInt>();
}

PetscErrorCode Format::Update(const CsrView &A, const Scalar *a, Space where, bool *fits)
{
  PetscFunctionBegin;
  *fits = true;
  if (CsrOrder() && space_ == Space::Host) {
    Borrow(A);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool found = NeedsRowsAlone() ? row_begin_.size() == static_cast<size_t>(rows_) + 1
                                      : CsrOrder() || slot_.size() == static_cast<size_t>(nonzeros_);
  if (!found) PetscCall(FindSlots(A, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS); // the caller rebuilds, on the host if necessary
  encoded_  = EncodedValues();
  omitted_  = 0;
  waits_    = MayShrink();
  expected_ = 0;
  if (MultipliesUnplaced() || CsrOrder()) {
    CsrView view = A;
    bool    shared;
    view.device.a = where == Space::Device ? a : nullptr;
    ShareValues(view, &shared);
    if (shared && CsrOrder()) values_ = Array<Scalar>(); // else the room for Settle()
    if (shared) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CopyToSlots(A, a, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
