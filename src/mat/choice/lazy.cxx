/// auto's choices: made once a pattern, handed on to copies, and carried out when select.cxx says that it pays. Until
/// then products run as csr, which adds in the same order, so that the conversion changes no bit.
#include <petsc/private/petscimpl.h>
#include <algorithm>
#include "device/kokkos.hpp"
#include "mat/choice/local_matrix.hpp"
#include "mat/rows/fingerprint.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::choice
{

PetscErrorCode GetChoice(Mat matrix, const CsrView &A, Plans *plans, const PatternKey &key, bool trial,
                         Waiting *waiting, std::shared_ptr<Choice> *choice)
{
  const CsrView &view  = plans->look().rows();
  const Space    space = plans->look().space();

  PetscFunctionBegin;
  if (waiting->choice && waiting->choice->name == BaselineTransposed()) waiting->choice.reset();
  if (waiting->choice) {
    bool        ok = waiting->pattern == key;
    std::string why;
    if (waiting->inherited) PetscCall(StillInherits(matrix, A, space, *waiting, &ok));
    if (ok) PetscCall(plans->Check(waiting->choice->name, &ok, &why)); // values may matter
    if (!ok) waiting->choice.reset();
  }
  if (!waiting->choice) {
    bool lacks = false;
    PetscCallCXX(waiting->choice = std::make_shared<Choice>());
    PetscCall(PetscLogEventBegin(ChooseEvent, nullptr, nullptr, nullptr, nullptr));
    const auto choose = trial ? TryFormats : ChooseFormat;
    PetscCall(MayLackMemory([&] { return choose(plans, waiting->choice.get()); }, &lacks));
    if (lacks && view.device.i && view.a) { // the host's look needs none of the device's
      CsrView host = view;
      host.device  = CsrArrays();
      Plans others(host, plans->look().options(), space);
      PetscCall(MayLackMemory([&] { return choose(&others, waiting->choice.get()); }, &lacks));
    }
    PetscCall(PetscLogEventEnd(ChooseEvent, nullptr, nullptr, nullptr, nullptr));
    if (lacks) {
      PetscCallCXX(*waiting->choice = Choice{Baseline(), "auto: no memory to look at the matrix"});
      waiting->choice->same_bits = space == Space::Host;
    }
  }
  waiting->pattern   = key;
  waiting->inherited = false;
  *choice            = waiting->choice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Forgets what is of another pattern.
static void Follow(const PatternKey &key, Version version, Waiting *w, ConvertedMatrix *full)
{
  if (!(w->pattern == key)) {
    w->since_pattern = w->since_values = 0;
    if (!w->inherited) w->choice.reset();
    w->pattern = key;
    *full      = ConvertedMatrix();
  }
  if (w->version != version) w->since_values = 0;
  w->version = version;
}

/// Plans for A's rows, on the device where they are read there; *view: these rows.
static PetscErrorCode LookAtRows(Mat A, LocalMatrix *matrix, Space space, CsrView *view, std::shared_ptr<Plans> *plans)
{
  PetscFunctionBegin;
  if (space == Space::Device) PetscCall(GetDeviceRows(A, matrix, view));
  if (!view->a && !view->device.i) PetscCall(matrix->rows.GetHost(A, view, nullptr));
  PetscCall(GetPlans(*view, matrix->settings.options, space, &matrix->plans, plans));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsEarlyNormal(Mat A, LocalMatrix *matrix, const CsrView &csr, const PatternKey &key,
                                    Version version, Space space, Use use, bool built, bool *early)
{
  const int               s = static_cast<int>(space), normal = static_cast<int>(Operation::Normal);
  ConvertedMatrix        *full = &matrix->converted[s][normal], *csr_copy = &matrix->early[s][normal];
  Waiting                *w = &matrix->waiting[s][normal];
  std::shared_ptr<Choice> choice;
  std::shared_ptr<Plans>  plans;
  CsrView                 view     = csr;
  bool                    in_order = true, lacks = false;

  PetscFunctionBegin;
  if (space == Space::Device) {
    if (built) PetscFunctionReturn(PETSC_SUCCESS); // new values go straight there
    if (!(w->pattern == key)) {
      PetscCall(LookAtRows(A, matrix, space, &view, &plans));
      PetscCall(MayLackMemory([&] { return BaselineInOrder(plans.get(), &in_order); }, &lacks));
    }
    if (lacks || !in_order) PetscFunctionReturn(PETSC_SUCCESS);
  }
  Follow(key, version, w, full);
  if (use == Use::Tell || space == Space::Device || w->since_pattern >= Choice::LOOK || built) {
    if (!w->choice || w->inherited) {
      if (!plans) PetscCall(LookAtRows(A, matrix, space, &view, &plans));
      PetscCall(GetChoice(A, view, plans.get(), key, false, w, &choice));
    }
    choice = w->choice;
    const bool due =
        w->since_values >= choice->ProductsToUpdate() && (built || w->since_pattern >= choice->ProductsToConvert());
    if (choice->name == Baseline() && csr_copy->format && !full->format) { // it has arrived
      *full     = std::move(*csr_copy);
      *csr_copy = ConvertedMatrix();
      PetscCallCXX(full->reason = choice->reason);
      if (matrix->last == csr_copy) matrix->last = full;
    }
    if (!choice->same_bits || choice->name == Baseline() || (due && use != Use::Tell))
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  *early = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the CPU, of one thread: on a GPU, and where threads share the work, scattered sums would have no fixed order.
static PetscErrorCode IsEarlyTransposed(Mat A, LocalMatrix *matrix, const CsrView &csr, const PatternKey &key,
                                        Version version, Operation operation, bool built, bool *early)
{
  const int host = static_cast<int>(Space::Host), normal = static_cast<int>(Operation::Normal);
  Waiting  *w = &matrix->waiting[host][static_cast<int>(operation)], *plain = &matrix->waiting[host][normal];
  std::shared_ptr<Choice> choice;
  PetscInt                concurrency;
  bool                    due = false;

  PetscFunctionBegin;
  PetscCall(KokkosConcurrency(&concurrency));
  if (concurrency > 1) PetscFunctionReturn(PETSC_SUCCESS);
  Follow(key, version, w, &matrix->converted[host][static_cast<int>(operation)]);
  const bool stays = w->choice && w->choice->name == BaselineTransposed();
  if (!stays && (built || w->since_pattern >= Choice::LOOK)) {
    Follow(key, version, plain, &matrix->converted[host][normal]);
    if (!plain->choice || plain->inherited) {
      Plans plans(csr, matrix->settings.options, Space::Host);
      PetscCall(GetChoice(A, csr, &plans, key, false, plain, &choice));
    }
    due = w->since_values >= plain->choice->ProductsToUpdateTranspose() &&
          (built || w->since_pattern >= plain->choice->ProductsToTranspose());
  }
  *early = !due;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IsEarly(Mat A, LocalMatrix *matrix, Operation operation, Space space, Use use, bool *early)
{
  const Settings        &settings = matrix->settings;
  const ConvertedMatrix *full     = &matrix->converted[static_cast<int>(space)][static_cast<int>(operation)];
  Waiting               *w        = &matrix->waiting[static_cast<int>(space)][static_cast<int>(operation)];
  Version                version;
  CsrView                csr;
  PatternKey             key;

  PetscFunctionBegin;
  *early = false;
  if (settings.format != "auto" || !settings.lazy || settings.trial || use == Use::Solve ||
      (operation != Operation::Normal && space == Space::Device))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Host)
    PetscCall(matrix->rows.GetHost(A, &csr, &key));
  else
    PetscCall(matrix->rows.GetShape(A, &csr, &key));
  PetscCall(matrix->rows.GetVersion(A, &version));
  const bool built = full->format && full->pattern == key;
  if (built && full->version == version) PetscFunctionReturn(PETSC_SUCCESS);
  if (operation == Operation::Normal)
    PetscCall(IsEarlyNormal(A, matrix, csr, key, version, space, use, built, early));
  else
    PetscCall(IsEarlyTransposed(A, matrix, csr, key, version, operation, built, early));
  if (*early && use == Use::Product) {
    w->since_pattern++;
    w->since_values++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TellEarly(const Waiting &waiting, std::string *reason)
{
  const Choice    &choice  = *waiting.choice;
  const PetscCount convert = choice.ProductsToConvert(), update = choice.ProductsToUpdate();
  const bool       pattern = waiting.since_pattern < convert;
  char             text[128];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "csr until %lld products%s, %lld are done, then %s; ",
                          static_cast<long long>(pattern ? convert : update), pattern ? "" : " with the same values",
                          static_cast<long long>(pattern ? waiting.since_pattern : waiting.since_values),
                          choice.name.c_str()));
  PetscCallCXX(*reason = text + choice.reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TellTransposed(const LocalMatrix &matrix, const Choice *plain, std::string *text)
{
  PetscFunctionBegin;
  text->clear();
  for (Space space : {Space::Host, Space::Device})
    for (Operation operation : {Operation::Transpose, Operation::ConjugateTranspose}) {
      const ConvertedMatrix &full  = matrix.converted[static_cast<int>(space)][static_cast<int>(operation)],
                            &early = matrix.early[static_cast<int>(space)][static_cast<int>(operation)];
      const Waiting &w             = matrix.waiting[static_cast<int>(space)][static_cast<int>(operation)];
      char           until[96];
      if (early.format && plain) {
        const PetscCount due = plain->ProductsToTranspose();
        PetscCall(PetscSNPrintf(until, sizeof(until), " until %lld products, %lld are done",
                                static_cast<long long>(due), static_cast<long long>(w.since_pattern)));
        PetscCallCXX(*text = std::string(BaselineTransposed()) + (w.since_pattern < due ? until : ""));
      } else if (early.format) {
        PetscCallCXX(*text = BaselineTransposed());
      } else if (full.format) {
        PetscCallCXX(*text = std::string(full.format->Name()) + " on " +
                             BackendNames[static_cast<int>(space == Space::Device ? Backend::Cuda : Backend::Kokkos)] +
                             " (" + full.reason + ")");
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StillInherits(Mat A, const CsrView &csr, Space space, const Waiting &waiting, bool *still)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *still = state == waiting.copied || (space == Space::Host && waiting.choice->fingerprint == HostFingerprint(csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InheritChoices(Mat A, LocalMatrix *from, const CsrView &csr, const PatternKey &key, bool values,
                              PetscObjectState state, LocalMatrix *to)
{
  PetscObjectState now;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &now));
  for (int space = 0; space < 2; space++)
    for (int operation = 0; operation < 3; operation++) {
      Waiting *w = &from->waiting[space][operation];
      if (!w->choice || w->choice->name == BaselineTransposed() || (!w->inherited && !(w->pattern == key))) continue;
      const bool device = space == static_cast<int>(Space::Device), its = !w->inherited || w->copied == now;
      if (device && !(values && its)) continue; // they matter there
      if (!device && !w->choice->fingerprint) w->choice->fingerprint = HostFingerprint(csr);
      to->waiting[space][operation].choice    = w->choice;
      to->waiting[space][operation].inherited = true;
      to->waiting[space][operation].copied    = its ? state : -1;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::choice
