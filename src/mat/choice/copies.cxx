/// The converted copies of a matrix: built lazily, refreshed when the matrix's version has moved, rebuilt when its
/// pattern has, in the format that was asked for or that auto chooses.
#include "mat/choice/local_matrix.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::choice
{

static bool IsEarlyOne(const LocalMatrix &matrix, const ConvertedMatrix *converted, Operation operation, Space space)
{
  return converted == &matrix.early[static_cast<int>(space)][static_cast<int>(operation)];
}

PetscErrorCode GetDeviceRows(Mat A, LocalMatrix *matrix, CsrView *view)
{
  bool current;

  PetscFunctionBegin;
  const bool small = view->nonzeros < matrix->settings.options.Get<CommonOptions>().device_conversion;
  if (view->device.i || (small && !matrix->rows.pattern_away())) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix->rows.DeviceIsCurrent(A, &current));
  if (!current) matrix->plans.reset(); // of an earlier failure
  PetscCall(matrix->rows.BringToDevice(A, view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The format to build: the one asked for; csr for an off-diagonal block or a transpose that it refuses; the rule for
/// auto, and csr before its time.
static PetscErrorCode PickFormat(Mat owner, const CsrView &A, Plans *plans, const PatternKey &key, LocalMatrix *matrix,
                                 Operation operation, Space space, bool early, std::string *name, std::string *reason)
{
  const Settings &settings = matrix->settings;

  PetscFunctionBegin;
  if (early) {
    PetscCallCXX(*name = Baseline());
    PetscCallCXX(*reason = "auto: early");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (settings.format == "auto") {
    std::shared_ptr<Choice> choice;
    PetscCall(GetChoice(owner, A, plans, key, settings.trial,
                        &matrix->waiting[static_cast<int>(space)][static_cast<int>(operation)], &choice));
    PetscCallCXX(*name = choice->name);
    PetscCallCXX(*reason = choice->reason);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(*name = settings.format);
  PetscCallCXX(*reason = "asked for");
  if (!settings.strict || settings.off_diagonal || operation != Operation::Normal) {
    bool        ok;
    std::string why;
    PetscCall(plans->Check(*name, &ok, &why, settings.off_diagonal && operation == Operation::Normal));
    if (!ok) {
      PetscCallCXX(*reason = *name + " refuses this " +
                             (settings.off_diagonal            ? "off-diagonal block: "
                              : operation != Operation::Normal ? "transpose: "
                                                               : "matrix: ") +
                             why);
      PetscCallCXX(*name = Baseline());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rebuilds the copy, in the format that PickFormat() names.
static PetscErrorCode Rebuild(Mat A, LocalMatrix *matrix, const CsrView &csr, const PatternKey &key,
                              Operation operation, Space space, ConvertedMatrix *converted)
{
  Conversion conversion;

  PetscFunctionBegin;
  conversion.operation = operation;
  conversion.space     = space;
  conversion.early     = IsEarlyOne(*matrix, converted, operation, space);
  conversion.settings  = &matrix->settings;
  conversion.kept      = &matrix->plans;
  conversion.pick      = [&](Plans *plans, std::string *name, std::string *reason) {
    return PickFormat(A, csr, plans, key, matrix, operation, space, conversion.early, name, reason);
  };
  PetscCall(BuildConverted(A, &matrix->rows, csr, key, conversion, converted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Brings the copy to A's pattern and version.
static PetscErrorCode Refresh(Mat A, LocalMatrix *matrix, Operation operation, Space space, Version version,
                              ConvertedMatrix *converted)
{
  const Operation of   = IsEarlyOne(*matrix, converted, operation, space) ? Operation::Normal : operation;
  bool            fits = converted->format && converted->version == version;
  CsrView         csr;
  PatternKey      key;

  PetscFunctionBegin;
  if (space == Space::Host)
    PetscCall(matrix->rows.GetHost(A, &csr, &key));
  else
    PetscCall(matrix->rows.GetShape(A, &csr, &key));
  if (!fits) {
    converted->released = 0;
    PetscCall(SamePattern(matrix->rows, csr, key, of, converted, &fits));
    const bool borrows = fits && of == Operation::Normal && converted->format->Borrows(); // see below
    if (fits && !borrows) PetscCall(UpdateConverted(A, &matrix->rows, csr, of, converted, &fits));
  }
  if (!fits) PetscCall(Rebuild(A, matrix, csr, key, operation, space, converted));
  if (matrix->settings.release_csr) {
    PetscCall(converted->format->Settle());
    converted->Release();
    converted->released += matrix->rows.BytesOfValues();
    matrix->rows.DropValues();
  }
  if (of == Operation::Normal) converted->format->Borrow(csr); // AIJ may have moved its arrays
  converted->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether csr may multiply in the place of what auto has chosen, on the host, where it takes no memory that it cannot
/// do without: a change of values must not fail on one rank alone either.
static bool CanStay(const Settings &settings, Operation operation, Space space)
{
  return space == Space::Host && operation == Operation::Normal && settings.format == "auto" && settings.lazy &&
         !settings.trial;
}

/// The conversion that products have waited for. It must not fail in the middle of a solve, in parallel on one rank
/// alone: where there is no memory for it csr stays.
static PetscErrorCode ConvertOrStay(Mat A, LocalMatrix *matrix, Operation operation, Space space, Version version,
                                    ConvertedMatrix **converted)
{
  Waiting *waiting = &matrix->waiting[static_cast<int>(space)][static_cast<int>(operation)];
  bool     lacks   = false;

  PetscFunctionBegin;
  PetscCall(MayLackMemory([&] { return Refresh(A, matrix, operation, space, version, *converted); }, &lacks));
  if (!lacks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventEnd((*converted)->format ? UpdateEvent : ConvertEvent, A, nullptr, nullptr, nullptr));
  std::shared_ptr<Choice> stay;
  PetscCallCXX(stay = std::make_shared<Choice>());
  if (waiting->choice)
    PetscCallCXX(stay->reason = waiting->choice->reason + "; no memory for " + waiting->choice->name);
  PetscCallCXX(stay->name = operation == Operation::Normal ? Baseline() : BaselineTransposed());
  stay->same_bits = true;
  waiting->choice = stay;
  **converted     = ConvertedMatrix();
  *converted      = &matrix->early[static_cast<int>(space)][static_cast<int>(operation)];
  PetscCall(Refresh(A, matrix, operation, space, version, *converted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetConverted(Mat A, LocalMatrix *matrix, Operation operation, Space space, Use use,
                            ConvertedMatrix **out)
{
  ConvertedMatrix *converted = &matrix->converted[static_cast<int>(space)][static_cast<int>(operation)];
  ConvertedMatrix *early     = &matrix->early[static_cast<int>(space)][static_cast<int>(operation)];
  bool             is_early, encoded = false;
  Version          version;

  PetscFunctionBegin;
  PetscCall(matrix->rows.GetVersion(A, &version));
  if (space == Space::Host || !converted->format ||
      converted->version != version) { // else the hot path: nothing of the host is looked at
    PetscCall(IsEarly(A, matrix, operation, space, use, &is_early));
    if (is_early) converted = early;
    const bool stale = !converted->format || converted->version != version;
    if (use == Use::Product && !is_early && (early->format || (stale && CanStay(matrix->settings, operation, space))))
      PetscCall(ConvertOrStay(A, matrix, operation, space, version, &converted));
    else if (space == Space::Host || stale)
      PetscCall(Refresh(A, matrix, operation, space, version, converted));
    if (converted != early && early->format) *early = ConvertedMatrix();
    matrix->plans.reset();
    // Who multiplies with a transpose, as multigrid does, may want the matrix next.
    const bool soon = space == Space::Device && operation != Operation::Normal &&
                      !matrix->converted[static_cast<int>(space)][static_cast<int>(Operation::Normal)].format;
    matrix->idle = 0;
    if (!soon) matrix->rows.DropFromDevice();
  } else if (matrix->rows.HasCopy() && ++matrix->idle == 4) {
    matrix->rows.DropFromDevice();
  }
  if (use == Use::Product || use == Use::Solve)
    PetscCall(converted->format->Expect(use == Use::Solve ? 1000 : 1, &encoded));
  if (encoded) PetscCallCXX(converted->details = converted->format->Details());
  if (operation == Operation::Normal) matrix->last = converted;
  *out = converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ForgetCopies(LocalMatrix *matrix)
{
  for (auto &space : matrix->converted)
    for (ConvertedMatrix &converted : space) converted = ConvertedMatrix();
  for (auto &space : matrix->early)
    for (ConvertedMatrix &converted : space) converted = ConvertedMatrix();
  for (auto &space : matrix->waiting)
    for (Waiting &waiting : space) waiting = Waiting();
  matrix->last = nullptr;
  matrix->rows.DropFromDevice();
  matrix->plans.reset();
}

} // namespace sparsegpu::choice
