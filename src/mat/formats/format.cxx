/// How every format is built from its plan, and how its values are put in place, replaced and encoded.
#include "mat/formats/format.hpp"
#include <algorithm>
#include "device/scatter.hpp"
#include "mat/formats/plan.hpp"
#include "mat/rows/device_rows.hpp"
#include "petsc/may_lack_memory.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

std::unique_ptr<Plan> Format::NewPlan(Look *look) const
{
  return std::make_unique<Plan>(look);
}

PetscErrorCode Format::Build(const CsrView &A, const FormatOptions &options, Space space)
{
  Look                  look(A, options, space);
  std::unique_ptr<Plan> plan;

  PetscFunctionBegin;
  PetscCallCXX(plan = NewPlan(&look));
  PetscCall(Build(plan.get()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::Build(Plan *plan)
{
  const CsrView &A = plan->rows();
  bool           fits;
  std::string    why;

  PetscFunctionBegin;
  PetscCall(plan->Fits(&fits, &why));
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Format %s refuses this matrix: %s", Name(), why.c_str());
  space_    = plan->space();
  rows_     = A.rows;
  cols_     = A.cols;
  nonzeros_ = A.nonzeros;
  borrowed_ = nullptr;
  owner_.reset();
  Release();
  encoded_ = EncodedValues();
  PetscCallCXX(wanted_ = plan->options<CommonOptions>().values);
  if (FromDevice(A))
    PetscCall(BuildPatternOnDevice(plan));
  else
    PetscCall(BuildPattern(plan));
  PetscCall(BuildValues(plan->look()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::BuildValues(const Look &look)
{
  const CsrView &A = look.rows();

  PetscFunctionBegin;
  if (CsrOrder()) {
    Borrow(A);
    if (space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
    bool shared;
    ShareValues(A, &shared);
    if (shared) values_ = Array<Scalar>();
    if (!shared) PetscCall(values_.CopyFrom(A.device.a, A.a, A.nonzeros));
  } else if (FromDevice(A)) {
    PetscCall(BuildValuesOnDevice(A));
  } else {
    PetscCall(BuildValuesOnHost(A));
  }
  if (!look.NoCodecHolds()) PetscCall(Encode());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Format::ShareValues(const CsrView &A, bool *shared)
{
  *shared   = space_ == Space::Device && A.device.a && A.owners.values;
  borrowed_ = *shared ? A.device.a : nullptr;
  owner_    = *shared ? A.owners.values : nullptr;
}

/// Values are put in place on the host and uploaded once; the slots are kept only when values change later.
PetscErrorCode Format::BuildValuesOnHost(CsrView A)
{
  std::vector<PetscInt> slot;
  std::vector<Scalar>   values, copy;

  PetscFunctionBegin;
  if (!A.a && A.device.a) { // the device has the newest values, but the rows are converted on the host
    Stream stream;
    PetscCallCXX(copy.resize(A.nonzeros));
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(copy.data(), A.device.a, copy.size() * sizeof(Scalar), stream));
    A.a = copy.data();
  }
  const bool   canonical = PadsByValue();
  const Scalar padding   = canonical ? PadValue() : EncodesValues() && A.nonzeros ? A.a[0] : Scalar(0);
  PetscCallCXX(values.assign(stored_, padding));
  if (!PlaceValues(A, values.data())) {
    PetscCallCXX(slot.resize(A.nonzeros));
    Slots(A, slot.data());
    for (PetscInt e = 0; e < A.nonzeros; e++) values[slot[e]] = canonical ? StoredValue(A.a[e]) : A.a[e];
  }
  PetscCall(values_.Take(std::move(values), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::BuildValuesOnDevice(const CsrView &A)
{
  Stream stream;

  PetscFunctionBegin;
  if (stored_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(values_.Allocate(stored_, space_));
#if defined(SPARSEGPU_HAVE_CUDA)
  if (EncodesValues() && A.nonzeros && !PlacesByRows())
    PetscCall(FillFrom_CUDA(A.device.a, stored_, values_.data()));
  else if (!PlacesByRows())
    PetscCall(FillValues_CUDA(stored_, PadsByValue() ? PadValue() : Scalar(0), values_.data(), stream));
#endif
  PetscCall(PlaceOnDevice(A, values_.data(), stream));
  PetscCall(DeviceSynchronize(stream)); // the caller may free A.device
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::Encode()
{
  PetscFunctionBegin;
  waits_ = false;
  if (EncodesValues()) PetscCall(encoded_.Encode(&values_, wanted_, space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::Expect(PetscCount products, bool *encoded)
{
  bool lacks = false;

  PetscFunctionBegin;
  *encoded = false;
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
      &lacks)); // without memory the values stay where and as they are
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
  // entry.
  if (values_.size() != static_cast<size_t>(stored_)) PetscCall(values_.Allocate(stored_, space_));
  if (space_ == Space::Host) {
    const PetscInt *slot      = slot_.data();
    Scalar         *values    = values_.data();
    const bool      canonical = PadsByValue();
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
#endif
    PetscCall(ScatterValues_CUDA(nonzeros_, CsrOrder() ? nullptr : slot_.data(), from, PadsByValue(), values_.data(),
                                 stream));
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
  waits_    = EncodesValues();
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

PetscErrorCode Format::MultDense(const DenseColumns &d, DeviceMemory *, Stream stream)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < d.count; c++) PetscCall(Mult(d.X(c), nullptr, d.Z(c), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
