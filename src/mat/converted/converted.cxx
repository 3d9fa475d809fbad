/// The converted copy: built lazily, refreshed when the matrix's version has moved, rebuilt when its pattern has.
#include <petsctime.h>
#include "device/scatter.hpp"
#include "mat/face/context.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/csr/transposed.hpp"
#include "mat/rows/transpose.hpp"

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

PetscLogDouble ConvertedMatrix::BytesForUpdates() const
{
  const bool borrowed = format && format->Borrows();
  return (format ? format->BytesForUpdates() : 0) + tperm.size() * sizeof(PetscInt) +
         (borrowed ? 0 : (ti.size() + tj.size()) * sizeof(PetscInt) + ta.size() * sizeof(Scalar));
}

void ConvertedMatrix::Release()
{
  released += BytesForUpdates();
  tperm = std::vector<PetscInt>();
  if (!format) return;
  format->Release();
  if (format->Borrows()) return;
  ti = tj = std::vector<PetscInt>();
  ta      = std::vector<Scalar>();
}

/// The view that the converted's format is built from: A itself, or its transpose with values refreshed.
static PetscErrorCode OperationView(const CsrView &A, Operation operation, ConvertedMatrix *converted, CsrView *view)
{
  PetscFunctionBegin;
  *view = A;
  if (operation == Operation::Normal) PetscFunctionReturn(PETSC_SUCCESS);
  if (converted->ti.empty() || converted->tperm.size() != static_cast<size_t>(A.nonzeros))
    PetscCall(TransposePattern(A, &converted->ti, &converted->tj, &converted->tperm)); // released
  PetscCallCXX(converted->ta.resize(A.nonzeros));
  for (PetscInt t = 0; t < A.nonzeros; t++) {
    const Scalar v   = A.a[converted->tperm[t]];
    converted->ta[t] = operation == Operation::ConjugateTranspose ? Conj(v) : v;
  }
  *view = CsrView{A.cols,      A.rows, A.nonzeros, converted->ti.data(), converted->tj.data(), converted->ta.data(),
                  A.block_size};
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DropDeviceRows(Context *context)
{
  context->rows         = DeviceRows();
  context->rows_version = 0;
  context->plans.reset();
}

PetscErrorCode GetDeviceRows(Mat A, Context *context, CsrView *view)
{
  const ConvertedMatrix &early = context->early[static_cast<int>(Space::Device)][static_cast<int>(Operation::Normal)];
  Version                version;
  bool                   lacks = false;

  PetscFunctionBegin;
  if (view->device.i || view->nonzeros < context->settings.options.Get<CommonOptions>().device_conversion)
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetPlans(Context *context, const CsrView &view, Space space, std::shared_ptr<Plans> *plans)
{
  const FormatOptions &options = context->settings.options;

  PetscFunctionBegin;
  *plans = context->plans;
  if (*plans && (*plans)->AreOf(view, options, space)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(*plans = std::make_shared<Plans>(view, options, space));
  if (view.device.i) context->plans = *plans;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The format to build: the one asked for; csr for an off-diagonal block or a transpose that it refuses; the rule for
/// auto, and csr before its time.
static PetscErrorCode PickFormat(const CsrView &A, Plans *plans, const PatternKey &key, Context *context,
                                 Operation operation, Space space, bool early, std::string *name, std::string *reason)
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
    PetscCall(GetChoice(A, plans, key, settings.trial,
                        &context->waiting[static_cast<int>(space)][static_cast<int>(operation)], &choice));
    PetscCallCXX(*name = choice->name);
    PetscCallCXX(*reason = choice->reason);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(*name = settings.format);
  PetscCallCXX(*reason = "asked for");
  if (!settings.strict || settings.off_diagonal || operation != Operation::Normal) {
    bool        ok;
    std::string why;
    PetscCall(plans->Check(*name, &ok, &why));
    if (!ok) {
      PetscCallCXX(*reason = *name + " refuses this " +
                             (settings.off_diagonal            ? "off-diagonal block: "
                              : operation != Operation::Normal ? "transpose: "
                                                               : "matrix: ") +
                             why);
      PetscCallCXX(*name = "csr");
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does building the converted begin with the rows on the device?
static bool ReadsDeviceRows(const Settings &settings)
{
  return settings.format == "auto" || MakeFormat(settings.format)->ConvertsOnDevice();
}

static bool IsEarlyOne(const Context &context, const ConvertedMatrix *converted, Operation operation, Space space)
{
  return converted == &context.early[static_cast<int>(space)][static_cast<int>(operation)];
}

/// op(A) on the device, made there: of it the host sees where rows begin, and neither columns nor values. *made is
/// false where memory lacks.
static PetscErrorCode TransposeOnDevice(const CsrView &A, Operation operation, ConvertedMatrix *converted,
                                        DeviceRows *transposed, CsrView *view, bool *made)
{
  bool       lacks = false;
  const auto make  = [&]() -> PetscErrorCode {
    DeviceRows rows;
    CsrView    there = A;

    PetscFunctionBegin;
    PetscCall(rows.Upload(A, true));
    there.device = rows.View();
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall(transposed->Transpose_CUDA(there, operation == Operation::ConjugateTranspose));
#endif
    PetscCall(PatternFingerprint(there, &converted->fingerprint));
    PetscCall(transposed->Download(&converted->ti)); // waits, too: the rows end here
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(MayLackMemory(make, &lacks));
  *made = !lacks;
  if (lacks) *transposed = DeviceRows();
  converted->tperm.clear(); // OperationView() makes these when values change
  converted->tj.clear();
  converted->ta.clear();
  if (lacks) PetscFunctionReturn(PETSC_SUCCESS);
  *view        = CsrView{A.cols, A.rows, A.nonzeros, converted->ti.data(), nullptr, nullptr, A.block_size};
  view->device = transposed->View();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuildConverted(Mat A, Context *context, const CsrView &csr, const PatternKey &key,
                                     Operation operation, Space space, ConvertedMatrix *converted)
{
  const bool      early = IsEarlyOne(*context, converted, operation, space);
  const Operation of    = early ? Operation::Normal : operation; // what is early reads the rows of A itself
  CsrView         view;
  DeviceRows      transposed;
  bool            made = false;

  const FormatOptions   &options = context->settings.options;
  std::shared_ptr<Plans> plans;
  std::string            name;
  PetscLogDouble         begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(ConvertEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  converted->format.reset();
  converted->version = 0;
  converted->space   = space;
  const bool there   = space == Space::Device && ReadsDeviceRows(context->settings) && !context->settings.trial;
  if (there && of != Operation::Normal && csr.nonzeros >= options.Get<CommonOptions>().device_conversion)
    PetscCall(TransposeOnDevice(csr, of, converted, &transposed, &view, &made));
  if (!made) {
    if (of != Operation::Normal) PetscCall(TransposePattern(csr, &converted->ti, &converted->tj, &converted->tperm));
    PetscCall(OperationView(csr, of, converted, &view));
  }
  if (of == Operation::Normal && space == Space::Device && ReadsDeviceRows(context->settings))
    PetscCall(GetDeviceRows(A, context, &view));
  if (of == Operation::Normal)
    PetscCall(GetPlans(context, view, space, &plans));
  else
    PetscCallCXX(plans = std::make_shared<Plans>(view, options, space));
  PetscCall(PickFormat(csr, plans.get(), key, context, operation, space, early, &name, &converted->reason));
  if (!view.a && name != "csr" && !MakeFormat(name)->ConvertsOnDevice()) // csr needs the beginnings of rows alone
    PetscCall(OperationView(csr, of, converted, &view));
  std::unique_ptr<Format> format;
  const auto              build = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (early && operation != Operation::Normal) {
      PetscCallCXX(format = std::make_unique<CsrTransposed>(operation == Operation::ConjugateTranspose));
      PetscCall(format->Build(view, options, space));
    } else {
      PetscCall(plans->Build(name, &format));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  bool host = !view.device.i;
  if (!host) PetscCall(TryOnDevice(build, &host));
  if (host) { // needs no rows on the device
    format.reset();
    DropDeviceRows(context);
    transposed  = DeviceRows();
    view.device = CsrArrays();
    if (!view.a) PetscCall(OperationView(csr, of, converted, &view));
    if (!plans->AreOf(view, options, space)) PetscCallCXX(plans = std::make_shared<Plans>(view, options, space));
    PetscCall(build());
  }
  converted->format = std::move(format);
  PetscCallCXX(converted->details = converted->format->Details());
  converted->pattern = key;
  if (!made && (of != Operation::Normal || !converted->format->FollowsPattern()))
    PetscCall(PatternFingerprint(of == Operation::Normal ? view : csr, &converted->fingerprint));
  PetscCall(PetscTime(&end));
  converted->convert_seconds = end - begin;
  converted->update_seconds  = 0;
  if (space == Space::Device && !view.device.i)
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(converted->format->BytesStored())));
  PetscCall(PetscLogEventEnd(ConvertEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateConverted(Mat A, const CsrView &csr, Operation operation, Space space,
                                      ConvertedMatrix *converted, bool *fits)
{
  CsrView        view;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  PetscCall(OperationView(csr, operation, converted, &view));
  PetscCall(converted->format->Update(view, view.a, Space::Host, fits));
  PetscCallCXX(converted->details = converted->format->Details());
  PetscCall(PetscTime(&end));
  converted->update_seconds = end - begin;
  if (space == Space::Device) PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(csr.nonzeros) * sizeof(Scalar)));
  PetscCall(PetscLogEventEnd(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is the converted's pattern, of A itself or of its transpose, A's? The key alone cannot tell.
static PetscErrorCode SamePattern(const CsrView &csr, const PatternKey &key, Operation of,
                                  const ConvertedMatrix &converted, bool *same)
{
  std::uint64_t fingerprint;

  PetscFunctionBegin;
  *same = converted.format && converted.pattern == key;
  if (!*same || (of == Operation::Normal && converted.format->FollowsPattern())) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PatternFingerprint(csr, &fingerprint));
  *same = converted.fingerprint == fingerprint;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Brings the converted to A's pattern and version.
static PetscErrorCode Refresh(Mat A, Context *context, Operation operation, Space space, Version version,
                              ConvertedMatrix *converted)
{
  const Operation of   = IsEarlyOne(*context, converted, operation, space) ? Operation::Normal : operation;
  bool            fits = converted->format && converted->version == version;
  CsrView         csr;
  PatternKey      key;

  PetscFunctionBegin;
  PetscCall(GetCsr(A, &csr, &key));
  if (!fits) {
    converted->released = 0;
    PetscCall(SamePattern(csr, key, of, *converted, &fits));
    if (fits) PetscCall(UpdateConverted(A, csr, of, space, converted, &fits));
  }
  if (!fits) PetscCall(BuildConverted(A, context, csr, key, operation, space, converted));
  if (context->settings.release_csr) converted->Release();
  if (of == Operation::Normal) converted->format->Borrow(csr); // AIJ may have moved its arrays
  converted->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The conversion that products have waited for. Nobody expects it to fail in their midst, in parallel on one rank
/// alone: where there is no memory for it csr stays.
static PetscErrorCode ConvertOrStay(Mat A, Context *context, Operation operation, Space space, Version version,
                                    ConvertedMatrix **converted)
{
  Waiting *waiting = &context->waiting[static_cast<int>(space)][static_cast<int>(operation)];
  bool     lacks   = false;

  PetscFunctionBegin;
  PetscCall(MayLackMemory([&] { return Refresh(A, context, operation, space, version, *converted); }, &lacks));
  if (!lacks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventEnd((*converted)->format ? UpdateEvent : ConvertEvent, A, nullptr, nullptr, nullptr));
  std::shared_ptr<Choice> stay;
  PetscCallCXX(stay = std::make_shared<Choice>());
  if (waiting->choice)
    PetscCallCXX(stay->reason = waiting->choice->reason + "; no memory for " + waiting->choice->name);
  PetscCallCXX(stay->name = operation == Operation::Normal ? "csr" : CsrTransposed::NAME);
  stay->same_bits = true;
  waiting->choice = stay;
  **converted     = ConvertedMatrix();
  *converted      = &context->early[static_cast<int>(space)][static_cast<int>(operation)];
  PetscCall(Refresh(A, context, operation, space, version, *converted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetConverted(Mat A, Context *context, Operation operation, Space space, Use use, ConvertedMatrix **out)
{
  ConvertedMatrix *converted = &context->converted[static_cast<int>(space)][static_cast<int>(operation)];
  ConvertedMatrix *early     = &context->early[static_cast<int>(space)][static_cast<int>(operation)];
  bool             is_early;
  Version          version;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, context, &version));
  if (space == Space::Host || !converted->format ||
      converted->version != version) { // else the hot path: nothing of the host is looked at
    PetscCall(IsEarly(A, context, operation, space, use, &is_early));
    if (is_early) converted = early;
    if (use == Use::Product && !is_early && early->format)
      PetscCall(ConvertOrStay(A, context, operation, space, version, &converted));
    else if (space == Space::Host || !converted->format || converted->version != version)
      PetscCall(Refresh(A, context, operation, space, version, converted));
    if (converted != early && early->format) *early = ConvertedMatrix();
    DropDeviceRows(context);
  }
  if (operation == Operation::Normal) context->last = converted;
  *out = converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateConvertedFromDevice(Mat A, Context *context, const Scalar *a)
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
  for (ConvertedMatrix *converted : {&context->converted[device][static_cast<int>(Operation::Normal)],
                                     &context->early[device][static_cast<int>(Operation::Normal)]}) {
    bool fits = converted->format && converted->pattern == key, lacks;
    if (fits && converted->version != before) PetscCall(SamePattern(csr, key, Operation::Normal, *converted, &fits));
    if (!fits) continue;
    PetscCall(MayLackMemory([&] { return converted->format->Update(csr, a, Space::Device, &fits); }, &lacks));
    converted->released = 0;
    if (fits && !lacks)
      PetscCallCXX(converted->details = converted->format->Details());
    else
      converted->format.reset(); // the next product builds another one
    if (context->settings.release_csr) converted->Release();
    converted->version = context->version;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
