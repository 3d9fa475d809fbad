/// auto's choices: made once a pattern, handed on to copies, and carried out when select.cxx says that it pays. Until
/// then products run as csr, which adds in the same order, so that the conversion changes no bit.
#include <algorithm>
#include "mat/context.hpp"
#include "mat/formats/csr/csr.hpp"

namespace sparsegpu
{

PetscErrorCode GetChoice(const CsrView &A, const CsrView &view, const PatternKey &key, const Parameters &parameters,
                         bool trial, Space space, Waiting *waiting, std::shared_ptr<Choice> *choice)
{
  PetscFunctionBegin;
  if (waiting->choice) {
    bool        ok = waiting->pattern == key;
    std::string why;
    if (waiting->inherited) ok = waiting->choice->fingerprint == TakeFingerprint(A, space);
    if (ok) PetscCall(MakeFormat(waiting->choice->name)->Check(view, parameters, &ok, &why)); // values may matter
    if (!ok) waiting->choice.reset();
  }
  if (!waiting->choice) {
    bool lacks = false;
    PetscCallCXX(waiting->choice = std::make_shared<Choice>());
    PetscCall(PetscLogEventBegin(ChooseEvent, nullptr, nullptr, nullptr, nullptr));
    const auto choose = trial ? TryFormats : ChooseFormat;
    PetscCall(MayLackMemory([&] { return choose(view, parameters, space, waiting->choice.get()); }, &lacks));
    PetscCall(PetscLogEventEnd(ChooseEvent, nullptr, nullptr, nullptr, nullptr));
    if (lacks) {
      PetscCallCXX(*waiting->choice = Choice{"csr", "auto: no memory to look at the matrix"});
      waiting->choice->same_bits = space == Space::Host;
    }
    if (space == Space::Device) waiting->choice->fingerprint = TakeFingerprint(A, space);
  }
  waiting->pattern   = key;
  waiting->inherited = false;
  *choice            = waiting->choice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IsEarly(Mat A, Context *context, Side side, Space space, Use use, bool *early)
{
  Shadow                 *full       = &context->shadow[static_cast<int>(space)][static_cast<int>(side)];
  Shadow                 *csr_shadow = &context->early[static_cast<int>(space)];
  Waiting                *w          = &context->waiting[static_cast<int>(space)][static_cast<int>(side)];
  Parameters              parameters = context->settings.parameters;
  std::shared_ptr<Choice> choice;
  PetscObjectState        state;
  CsrView                 csr;
  PatternKey              key;

  PetscFunctionBegin;
  *early = false;
  if (context->settings.format != "auto" || !context->settings.lazy || side != Side::Normal || use == Use::Solve ||
      context->settings.trial)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetCsr(A, &csr, &key));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  const bool built = full->format && full->pattern == key;
  if (built && full->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Device) {
    if (built) PetscFunctionReturn(PETSC_SUCCESS); // new values go straight there
    PetscCall(DeviceFacts(nullptr, &parameters.multiprocessors, nullptr));
    if (!(w->pattern == key) && !CsrInOrder(csr, parameters, space)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!(w->pattern == key)) {
    w->since_pattern = w->since_values = 0;
    if (!w->inherited) w->choice.reset();
    w->pattern = key;
    *full      = Shadow(); // of another pattern
  }
  if (w->state != state) w->since_values = 0;
  w->state = state;
  if (use == Use::Tell || space == Space::Device || w->since_pattern >= Choice::LOOK || built) {
    if (!w->choice || w->inherited) PetscCall(GetChoice(csr, csr, key, parameters, false, space, w, &choice));
    choice = w->choice;
    const bool due =
        w->since_values >= choice->ProductsToUpdate() && (built || w->since_pattern >= choice->ProductsToConvert());
    if (choice->name == "csr" && csr_shadow->format && !full->format) { // it has arrived
      *full       = std::move(*csr_shadow);
      *csr_shadow = Shadow();
      PetscCallCXX(full->reason = choice->reason);
      if (context->last == csr_shadow) context->last = full;
    }
    if (!choice->same_bits || choice->name == "csr" || (due && use != Use::Tell)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *early = true;
  if (use == Use::Product) {
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

PetscErrorCode InheritChoices(Mat A, Mat B)
{
  PetscBool  seq, mpi, b_seq;
  Context   *from, *to;
  CsrView    csr;
  PatternKey key;

  PetscFunctionBegin;
  PetscCall(IsOurs(B, &b_seq, &mpi));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq || !b_seq) PetscFunctionReturn(PETSC_SUCCESS); // in parallel the blocks are copied one by one
  PetscCall(GetContext(A, &from));
  PetscCall(GetContext(B, &to));
  PetscCall(GetCsr(A, &csr, &key));
  for (int space = 0; space < 2; space++)
    for (int side = 0; side < 3; side++) {
      Waiting *w = &from->waiting[space][side];
      if (!w->choice || (!w->inherited && !(w->pattern == key))) continue;
      if (!w->choice->fingerprint) w->choice->fingerprint = TakeFingerprint(csr, static_cast<Space>(space));
      to->waiting[space][side].choice    = w->choice;
      to->waiting[space][side].inherited = true;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
