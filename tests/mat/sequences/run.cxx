/// One sequence on fresh matrices: each item is applied to the plain matrix, then to ours.
#include "run.hpp"

namespace sequences
{

namespace
{
const Sequence *running_sequence = nullptr;
const Outcome  *running          = nullptr;

/// MAIN of both sides must start or go on: after an error in both, or where values have left all bounds.
PetscErrorCode StartBoth(Side sides[2], Draw d, std::string *words, bool leave)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Side &s = sides[k];
    if (leave) { // an error inside an operation leaves objects that cannot even be destroyed
      s.serial = nullptr;
      std::fill(std::begin(s.slot), std::end(s.slot), nullptr);
    }
    PetscCall(Start(s, d, words));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The text of the lowest rank that has one, on all; *any is false where none has.
PetscErrorCode Agree(const std::string &mine, std::string *text, bool *any)
{
  PetscMPIInt rank, size;
  int         first, lowest, length;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  first = mine.empty() ? size : rank;
  PetscCallMPI(MPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  *any = lowest < size;
  if (!*any) PetscFunctionReturn(PETSC_SUCCESS);
  *text  = "rank " + std::to_string(rank) + ": " + mine;
  length = (int)text->size();
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, lowest, PETSC_COMM_WORLD));
  text->resize((size_t)length);
  PetscCallMPI(MPI_Bcast(&(*text)[0], length, MPI_CHAR, lowest, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Operation &DrawOperation(Draw &d)
{
  static std::vector<const Operation *> all;
  if (all.empty())
    for (const auto *list : {&ValueOperations(), &PatternOperations(), &IdentityOperations(), &DerivedOperations()})
      for (const Operation &o : *list) all.insert(all.end(), (size_t)o.weight, &o);
  return *all[(size_t)d.Below((PetscInt)all.size())];
}

struct Runner {
  Side     sides[2]; ///< plain, ours
  Facts    f;
  Outcome *out;
  bool     leave = false; ///< an error has left objects in the midst of something

  void Fail(const std::string &what)
  {
    out->failed = true;
    out->fault  = what;
  }
  PetscErrorCode Verify(int slot, bool all, Draw d, const std::string &label)
  {
    std::string words, fault, message, text;
    int         code;
    bool        any;

    PetscFunctionBeginUser;
    out->words.push_back(label + "check " + Name(slot));
    PetscCall(Quietly([&] { return Check(sides[0], sides[1], slot, all, d, &words, &fault); }, &message, &code));
    out->words.back() = label + words;
    if (code && fault.empty()) fault = message;
    PetscCall(Agree(fault, &text, &any));
    if (code && any) text += " (error " + std::to_string(code) + ")";
    if (any || code) Fail(std::string(Name(slot)) + ", " + text);
    leave |= code != 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Operate(const Operation &o, Draw d, const std::string &label, Draw fresh)
  {
    std::string words[2], message[2], text;
    int         code[2];
    bool        any;

    PetscFunctionBeginUser;
    bool out_of_it = false;
    PetscCall(LeftOut(o.name, &out_of_it));
    if (out_of_it || !o.fits(sides[0], f)) PetscFunctionReturn(PETSC_SUCCESS);
    out->done++;
    out->words.push_back(label + o.name);
    for (int k = 0; k < 2; ++k) {
      Side &s = sides[k];
      if (o.pattern) {
        if (s.shared) PetscCall(Replace(s, SECOND, nullptr)); // PETSc frees the arrays under it
        s.version++;
      }
      PetscCall(Quietly([&] { return o.run(s, f, d, &words[k]); }, &message[k], &code[k]));
      if (k == 0) out->words.back() = label + words[k];
    }
    if (words[0].empty() && words[1].empty()) out->words.pop_back();
    if (code[0] && code[1]) { // both refuse
      out->words.back() += " (refused by both), then anew:";
      PetscCall(StartBoth(sides, fresh, &text, true));
      out->words.back() += " " + text;
    } else if (code[0] || code[1]) {
      PetscCall(Agree(message[code[0] ? 0 : 1], &text, &any));
      Fail(std::string(code[0] ? "error of AIJ alone" : "error of ours alone") + " in " + o.name + ", " + text);
      leave = true;
    } else if (words[0].empty() != words[1].empty()) {
      Fail(std::string("a fault of the test: only one side has done ") + o.name);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Item(const Sequence &q, PetscInt k)
  {
    const std::string label = std::to_string(k) + ": ";
    Draw              d(q.seed, (unsigned long long)k * 1000003 + 17), fresh(q.seed, (unsigned long long)k + 999331);

    PetscFunctionBeginUser;
    if (d.Below(5) < 2) {
      int slot = d.Below(3) ? MAIN : (int)d.Below(SLOTS);
      if (!sides[0].slot[slot]) slot = MAIN;
      out->done++;
      PetscCall(Verify(slot, false, d, label));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const Operation &o = DrawOperation(d);
    PetscCall(Operate(o, d, label, fresh));
    if (out->failed) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetFacts(sides[0].slot[MAIN], &f));
    if (!f.tame) {
      std::string words;
      PetscCall(StartBoth(sides, fresh, &words, false));
      out->words.push_back(label + words + ", as values or sizes had grown");
      PetscCall(GetFacts(sides[0].slot[MAIN], &f));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

const Outcome *Running()
{
  return running;
}
const Sequence *RunningSequence()
{
  return running_sequence;
}

PetscErrorCode Run(const Sequence &q, Outcome *out)
{
  char        type[64] = MATSPARSEGPU;
  std::string words;
  Runner      r;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-type", type, sizeof(type), nullptr));
  *out             = Outcome();
  running          = out;
  running_sequence = &q;
  const testing::Option format("-mat_sparsegpu_format", q.format);
  r.out           = out;
  r.sides[0].ours = false;
  r.sides[0].type = MATAIJ;
  r.sides[1].ours = true;
  r.sides[1].type = type;
  PetscCall(StartBoth(r.sides, Draw(q.seed, 1), &words, false));
  out->words.push_back("start: " + words + ", format " + q.format);
  PetscCall(GetFacts(r.sides[0].slot[MAIN], &r.f));
  for (PetscInt k : q.items) {
    out->ran++;
    PetscCall(r.Item(q, k));
    if (out->failed) break;
    if (k == q.broken) {
      PetscCall(MatScale(r.sides[1].slot[MAIN], 2));
      out->words.push_back(std::to_string(k) + ": and, as -break asks, MatScale of ours alone");
    }
  }
  for (int slot = 0; slot < SLOTS && !out->failed; ++slot)
    if (r.sides[0].slot[slot]) PetscCall(r.Verify(slot, true, Draw(q.seed, 7 + (unsigned long long)slot), "end: "));
  if (!r.leave)
    for (Side &s : r.sides) PetscCall(DestroyAll(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
