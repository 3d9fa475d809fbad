/// The converted copy: built lazily, refreshed when the matrix's version has moved, rebuilt when its pattern has.
#include <petsctime.h>
#include "device/scatter.hpp"
#include "mat/context.hpp"
#include "mat/fingerprint.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/csr/transposed.hpp"
#include "mat/transpose.hpp"

namespace sparsegpu
{

PetscErrorCode GetCsr(Mat A, CsrView *view, PatternKey *key)
{
  PetscScalar *a;
  PetscMemType where;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &view->i, &view->j, &a, &where));
  view->a          = reinterpret_cast<const Scalar *>(a);
  view->rows       = A->rmap->n;
  view->cols       = A->cmap->n;
  view->nonzeros   = view->rows ? view->i[view->rows] : 0;
  view->block_size = A->rmap->bs == A->cmap->bs ? A->rmap->bs : 1;
  if (key) {
    Context *context;
    PetscCall(GetContext(A, &context));
    key->epoch = context->epoch;
    key->data  = A->data;
    key->i     = view->i;
    key->j     = view->j;
    PetscCall(MatGetNonzeroState(A, &key->nonzero));
    key->nonzeros = view->nonzeros;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble Shadow::BytesForUpdates() const
{
  const bool borrowed = format && format->Borrows();
  return (format ? format->BytesForUpdates() : 0) + tperm.size() * sizeof(PetscInt) +
         (borrowed ? 0 : (ti.size() + tj.size()) * sizeof(PetscInt) + ta.size() * sizeof(Scalar));
}

void Shadow::Release()
{
  released += BytesForUpdates();
  tperm = std::vector<PetscInt>();
  if (!format) return;
  format->Release();
  if (format->Borrows()) return;
  ti = tj = std::vector<PetscInt>();
  ta      = std::vector<Scalar>();
}

/// The view that the shadow's format is built from: A itself, or its transpose with values refreshed.
static PetscErrorCode SideView(const CsrView &A, Side side, Shadow *shadow, CsrView *view)
{
  PetscFunctionBegin;
  *view = A;
  if (side == Side::Normal) PetscFunctionReturn(PETSC_SUCCESS);
  if (shadow->ti.empty() || shadow->tperm.size() != static_cast<size_t>(A.nonzeros))
    PetscCall(TransposePattern(A, &shadow->ti, &shadow->tj, &shadow->tperm)); // released
  PetscCallCXX(shadow->ta.resize(A.nonzeros));
  for (PetscInt t = 0; t < A.nonzeros; t++) {
    const Scalar v = A.a[shadow->tperm[t]];
    shadow->ta[t]  = side == Side::Hermitian ? Conj(v) : v;
  }
  *view = CsrView{A.cols, A.rows, A.nonzeros, shadow->ti.data(), shadow->tj.data(), shadow->ta.data(), A.block_size};
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DropDeviceRows(Context *context)
{
  context->rows         = DeviceRows();
  context->rows_version = 0;
  context->found.reset();
}

PetscErrorCode GetDeviceRows(Mat A, Context *context, CsrView *view)
{
  const Shadow &early = context->early[static_cast<int>(Space::Device)][static_cast<int>(Side::Normal)];
  Version       version;
  bool          lacks = false;

  PetscFunctionBegin;
  if (view->device.i || view->nonzeros < context->settings.parameters.device_conversion)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetVersion(A, context, &version));
  if (context->rows_version != version) DropDeviceRows(context); // of an earlier failure
  if (early.format && early.version == version) {
    const CsrLayout csr = static_cast<const Csr &>(*early.format).OnDevice();
    view->device        = CsrArrays{csr.i, csr.j, csr.a};
  } else {
    if (!context->rows.View().a) PetscCall(MayLackMemory([&] { return context->rows.Upload(*view, true); }, &lacks));
    if (lacks) {
      DropDeviceRows(context);
      PetscFunctionReturn(PETSC_SUCCESS); // the host has the time
    }
    view->device = context->rows.View();
  }
  context->rows_version = version;
  if (!context->found) PetscCallCXX(context->found = std::make_shared<RowFindings>());
  view->found = context->found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The format to build: the one asked for; csr for an off-diagonal block or a transpose that it refuses; the rule for
/// auto, and csr before its time.
static PetscErrorCode PickFormat(const CsrView &A, const CsrView &view, const PatternKey &key, Context *context,
                                 const Parameters &parameters, Side side, Space space, bool early, std::string *name,
                                 std::string *reason)
{
  const Settings &settings = context->settings;

  PetscFunctionBegin;
  if (early) {
    PetscCallCXX(*name = "csr");
    PetscCallCXX(*reason = "auto: early");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (settings.format == "auto") {
    std::shared_ptr<Choice> choice;
    PetscCall(GetChoice(A, view, key, parameters, settings.trial, space,
                        &context->waiting[static_cast<int>(space)][static_cast<int>(side)], &choice));
    PetscCallCXX(*name = choice->name);
    PetscCallCXX(*reason = choice->reason);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(*name = settings.format);
  PetscCallCXX(*reason = "asked for");
  if (!settings.strict || settings.off_diagonal || side != Side::Normal) {
    bool        ok;
    std::string why;
    PetscCall(CheckFormat(*name, view, parameters, &ok, &why));
    if (!ok) {
      PetscCallCXX(*reason = *name + " refuses this " +
                             (settings.off_diagonal  ? "off-diagonal block: "
                              : side != Side::Normal ? "transpose: "
                                                     : "matrix: ") +
                             why);
      PetscCallCXX(*name = "csr");
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does building the shadow begin with the rows on the device?
static bool ReadsDeviceRows(const Settings &settings)
{
  return settings.format == "auto" || MakeFormat(settings.format)->ConvertsOnDevice();
}

static bool IsEarlyOne(const Context &context, const Shadow *shadow, Side side, Space space)
{
  return shadow == &context.early[static_cast<int>(space)][static_cast<int>(side)];
}

/// op(A) on the device, made there: of it the host sees where rows begin, and neither columns nor values. *made is
/// false where memory lacks.
static PetscErrorCode TransposeOnDevice(const CsrView &A, Side side, Shadow *shadow, DeviceRows *transposed,
                                        CsrView *view, bool *made)
{
  bool       lacks = false;
  const auto make  = [&]() -> PetscErrorCode {
    DeviceRows rows;
    CsrView    there = A;

    PetscFunctionBegin;
    PetscCall(rows.Upload(A, true));
    there.device = rows.View();
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall(transposed->Transpose_CUDA(there, side == Side::Hermitian));
#endif
    PetscCall(PatternFingerprint(there, &shadow->fingerprint));
    PetscCall(transposed->Download(&shadow->ti)); // waits, too: the rows end here
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(MayLackMemory(make, &lacks));
  *made = !lacks;
  if (lacks) *transposed = DeviceRows();
  shadow->tperm.clear(); // SideView() makes these when values change
  shadow->tj.clear();
  shadow->ta.clear();
  if (lacks) PetscFunctionReturn(PETSC_SUCCESS);
  *view        = CsrView{A.cols, A.rows, A.nonzeros, shadow->ti.data(), nullptr, nullptr, A.block_size};
  view->device = transposed->View();
  PetscCallCXX(view->found = std::make_shared<RowFindings>());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuildShadow(Mat A, Context *context, const CsrView &csr, const PatternKey &key, Side side,
                                  Space space, Shadow *shadow)
{
  Parameters     parameters = context->settings.parameters;
  const bool     early      = IsEarlyOne(*context, shadow, side, space);
  const Side     of         = early ? Side::Normal : side; // what is early reads the rows of A itself
  CsrView        view;
  DeviceRows     transposed;
  bool           made = false;
  std::string    name;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(ConvertEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  if (space == Space::Device) PetscCall(DeviceFacts(nullptr, &parameters.multiprocessors, nullptr));
  shadow->format.reset();
  shadow->version  = 0;
  shadow->space    = space;
  const bool there = space == Space::Device && ReadsDeviceRows(context->settings) && !context->settings.trial;
  if (there && of != Side::Normal && csr.nonzeros >= parameters.device_conversion)
    PetscCall(TransposeOnDevice(csr, of, shadow, &transposed, &view, &made));
  if (!made) {
    if (of != Side::Normal) PetscCall(TransposePattern(csr, &shadow->ti, &shadow->tj, &shadow->tperm));
    PetscCall(SideView(csr, of, shadow, &view));
  }
  if (of == Side::Normal && space == Space::Device && ReadsDeviceRows(context->settings))
    PetscCall(GetDeviceRows(A, context, &view));
  PetscCall(PickFormat(csr, view, key, context, parameters, side, space, early, &name, &shadow->reason));
  if (!view.a && name != "csr" && !MakeFormat(name)->ConvertsOnDevice()) // csr needs the beginnings of rows alone
    PetscCall(SideView(csr, of, shadow, &view));
  const auto make = [&]() -> std::unique_ptr<Format> {
    if (early && side != Side::Normal) return std::make_unique<CsrTransposed>(side == Side::Hermitian);
    return MakeFormat(name);
  };
  std::unique_ptr<Format> format;
  PetscCallCXX(format = make());
  bool host = !view.device.i;
  if (!host) PetscCall(TryOnDevice([&] { return format->Build(view, parameters, space); }, &host));
  if (host) { // needs no rows on the device
    DropDeviceRows(context);
    transposed  = DeviceRows();
    view.device = CsrArrays();
    view.found.reset();
    if (!view.a) PetscCall(SideView(csr, of, shadow, &view));
    PetscCallCXX(format = make());
    PetscCall(format->Build(view, parameters, space));
  }
  shadow->format = std::move(format);
  PetscCallCXX(shadow->details = shadow->format->Details());
  shadow->pattern = key;
  if (!made && (of != Side::Normal || !shadow->format->FollowsPattern()))
    PetscCall(PatternFingerprint(of == Side::Normal ? view : csr, &shadow->fingerprint));
  PetscCall(PetscTime(&end));
  shadow->convert_seconds = end - begin;
  shadow->update_seconds  = 0;
  if (space == Space::Device && !view.device.i)
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(shadow->format->BytesStored())));
  PetscCall(PetscLogEventEnd(ConvertEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateShadow(Mat A, const CsrView &csr, Side side, Space space, Shadow *shadow, bool *fits)
{
  CsrView        view;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  PetscCall(SideView(csr, side, shadow, &view));
  PetscCall(shadow->format->Update(view, view.a, Space::Host, fits));
  PetscCallCXX(shadow->details = shadow->format->Details());
  PetscCall(PetscTime(&end));
  shadow->update_seconds = end - begin;
  if (space == Space::Device) PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(csr.nonzeros) * sizeof(Scalar)));
  PetscCall(PetscLogEventEnd(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is the shadow's pattern, of A itself or of its transpose, A's? The key alone cannot tell.
static PetscErrorCode SamePattern(const CsrView &csr, const PatternKey &key, Side of, const Shadow &shadow, bool *same)
{
  std::uint64_t fingerprint;

  PetscFunctionBegin;
  *same = shadow.format && shadow.pattern == key;
  if (!*same || (of == Side::Normal && shadow.format->FollowsPattern())) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PatternFingerprint(csr, &fingerprint));
  *same = shadow.fingerprint == fingerprint;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Brings the shadow to A's pattern and version.
static PetscErrorCode Refresh(Mat A, Context *context, Side side, Space space, Version version, Shadow *shadow)
{
  const Side of   = IsEarlyOne(*context, shadow, side, space) ? Side::Normal : side;
  bool       fits = shadow->format && shadow->version == version;
  CsrView    csr;
  PatternKey key;

  PetscFunctionBegin;
  PetscCall(GetCsr(A, &csr, &key));
  if (!fits) {
    shadow->released = 0;
    PetscCall(SamePattern(csr, key, of, *shadow, &fits));
    if (fits) PetscCall(UpdateShadow(A, csr, of, space, shadow, &fits));
  }
  if (!fits) PetscCall(BuildShadow(A, context, csr, key, side, space, shadow));
  if (context->settings.release_csr) shadow->Release();
  if (of == Side::Normal) shadow->format->Borrow(csr); // AIJ may have moved its arrays
  shadow->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The conversion that products have waited for. Nobody expects it to fail in their midst, in parallel on one rank
/// alone: where there is no memory for it csr stays.
static PetscErrorCode ConvertOrStay(Mat A, Context *context, Side side, Space space, Version version, Shadow **shadow)
{
  Waiting *waiting = &context->waiting[static_cast<int>(space)][static_cast<int>(side)];
  bool     lacks   = false;

  PetscFunctionBegin;
  PetscCall(MayLackMemory([&] { return Refresh(A, context, side, space, version, *shadow); }, &lacks));
  if (!lacks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventEnd((*shadow)->format ? UpdateEvent : ConvertEvent, A, nullptr, nullptr, nullptr));
  std::shared_ptr<Choice> stay;
  PetscCallCXX(stay = std::make_shared<Choice>());
  if (waiting->choice)
    PetscCallCXX(stay->reason = waiting->choice->reason + "; no memory for " + waiting->choice->name);
  PetscCallCXX(stay->name = side == Side::Normal ? "csr" : CsrTransposed::NAME);
  stay->same_bits = true;
  waiting->choice = stay;
  **shadow        = Shadow();
  *shadow         = &context->early[static_cast<int>(space)][static_cast<int>(side)];
  PetscCall(Refresh(A, context, side, space, version, *shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetShadow(Mat A, Context *context, Side side, Space space, Use use, Shadow **out)
{
  Shadow *shadow = &context->shadow[static_cast<int>(space)][static_cast<int>(side)];
  Shadow *early  = &context->early[static_cast<int>(space)][static_cast<int>(side)];
  bool    is_early;
  Version version;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, context, &version));
  if (space == Space::Host || !shadow->format ||
      shadow->version != version) { // else the hot path: nothing of the host is looked at
    PetscCall(IsEarly(A, context, side, space, use, &is_early));
    if (is_early) shadow = early;
    if (use == Use::Product && !is_early && early->format)
      PetscCall(ConvertOrStay(A, context, side, space, version, &shadow));
    else if (space == Space::Host || !shadow->format || shadow->version != version)
      PetscCall(Refresh(A, context, side, space, version, shadow));
    if (shadow != early && early->format) *early = Shadow();
    DropDeviceRows(context);
  }
  if (side == Side::Normal) context->last = shadow;
  *out = shadow;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateShadowFromDevice(Mat A, Context *context, const Scalar *a)
{
  const int  device = static_cast<int>(Space::Device);
  CsrView    csr;
  PatternKey key;
  Version    before;

  PetscFunctionBegin;
  PetscCall(GetCsr(A, &csr, &key));
  PetscCall(GetVersion(A, context, &before));
  context->version = NextVersion();
  context->owner.state++; // MatSetValuesCOO() moves the state once more when it returns
  for (Shadow *shadow : {&context->shadow[device][static_cast<int>(Side::Normal)],
                         &context->early[device][static_cast<int>(Side::Normal)]}) {
    bool fits = shadow->format && shadow->pattern == key, lacks;
    if (fits && shadow->version != before) PetscCall(SamePattern(csr, key, Side::Normal, *shadow, &fits));
    if (!fits) continue;
    PetscCall(MayLackMemory([&] { return shadow->format->Update(csr, a, Space::Device, &fits); }, &lacks));
    shadow->released = 0;
    if (fits && !lacks)
      PetscCallCXX(shadow->details = shadow->format->Details());
    else
      shadow->format.reset(); // the next product builds another one
    if (context->settings.release_csr) shadow->Release();
    shadow->version = context->version;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
