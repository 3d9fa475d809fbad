/// How every format is built from its plan, and its values with it.
#include "mat/formats/format.hpp"
#include "device/scatter.hpp"
#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"
#include "mat/rows/device_rows.hpp"
#include "petsc/may_lack_memory.hpp"
#include "petsc/compat.hpp"
#include "mat/formats/dots.hpp"

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
  omitted_ = 0;
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
  if (!EncodesValues() || !look.NoCodecHolds()) PetscCall(Encode());
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
  if (MayShrink()) PetscCall(Shrink());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::Shrink()
{
  PetscFunctionBegin;
  PetscCall(encoded_.Encode(&values_, wanted_, space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::MultDense(const DenseColumns &d, DeviceMemory *, Stream stream)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < d.count; c++) PetscCall(Mult(d.X(c), nullptr, d.Z(c), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                Stream stream)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCheck(!to.f, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s makes no steps of smoothers", Name());
  if (exchange) PetscCall(comm::BeginExchange_CUDA(*exchange, x, stream));
  PetscCall(Mult(x, to.y, to.z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This build has no CUDA");
#endif
}

PetscErrorCode Format::TakesGhosts(const Format &, std::uint64_t, bool *takes, bool *changed)
{
  PetscFunctionBegin;
  *takes = *changed = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Format::AddArriving(const comm::DeviceExchange &exchange, const SumTarget &to, Stream stream)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCheck(!to.d && to.factor == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s adds no scaled products", Name());
  PetscCall(comm::EndExchange_CUDA(exchange, stream));
  PetscCall(Mult(exchange.side.received[comm::HalfOf(exchange.k)], to.z, to.z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This build has no CUDA");
#endif
}

PetscErrorCode Format::MultDenseDots(const DenseColumns &, const DenseDots &, Stream)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s forms no inner products of several columns", Name());
}

PetscErrorCode Format::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(MultInto(dots.x, {nullptr, dots.z}, dots.exchange, stream));
  PetscCall(DotsOfProduct_CUDA(rows_, dots, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This build has no CUDA, and %s no inner products on the host", Name());
#endif
}

} // namespace sparsegpu::formats
