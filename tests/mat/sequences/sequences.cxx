static const char help[] =
    "Random sequences of operations on a matrix of ours and on PETSc's AIJ: every product must stay AIJ's.\n"
    "  -seed S          the first sequence's seed; by default the clock. It is printed first\n"
    "  -length L        items of a sequence (default 40)\n"
    "  -sequences N     so many, with the seeds S, S + 1, ... (default 1)\n"
    "  -seconds T       or as many as T seconds take\n"
    "  -format F        of the matrices; any: drawn for each sequence (default)\n"
    "  -items 0,3,5     only these items, as a failure prints them; none: the check at the end alone\n"
    "  -vectors V       host, device or mixed\n"
    "  -break K         changes ours secretly after item K, so that the test must fail\n"
    "  -type T          in place of sparsegpu: aij compares AIJ with itself\n"
    "  -without a,b     leaves out operations, or solve\n"
    "  -keep_going      goes on after a failure\n"
    "  -patience T      seconds that a sequence may take before the test ends as stuck (default 60)\n"
    "  -no_shrink       reports the sequence that failed as it is\n\n";

#include "run.hpp"

#include <csignal>
#include <ctime>
#include <petsctime.h>
#include <unistd.h>

using namespace sequences;

/// What a crash or a rank that waits for ever was doing. The process ends here, shrinking is not possible.
static void Tell(int signal)
{
  const Outcome  *o = Running();
  const Sequence *q = RunningSequence();
  PetscMPIInt     rank;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: signal %d (%s)\n", (int)rank, signal, signal == SIGALRM ? "no progress" : "crash");
  if (LastMessage()) fprintf(stderr, "  rank %d's error: %s\n", (int)rank, LastMessage()->c_str());
  if (o && q && (rank == 0 || signal != SIGALRM)) {
    for (const std::string &words : o->words) fprintf(stderr, "  %s\n", words.c_str());
    fprintf(stderr, "repeat with: -seed %llu -format %s\n", q->seed, q->format.c_str());
  }
  fflush(stderr);
  if (signal == SIGALRM) sleep(1); // the other ranks have something to tell, too
  _exit(1);
}

/// -seed, or SPARSEGPU_TEST_SEED of the environment, by which a run can be repeated, or else another one each time.
static PetscErrorCode FirstSeed(unsigned long long *seed)
{
  const char *const fixed = getenv("SPARSEGPU_TEST_SEED");
  char              text[64];
  PetscBool         set;

  PetscFunctionBeginUser;
  *seed = (unsigned long long)time(nullptr) * 1000 + (unsigned long long)getpid() % 1000;
  if (fixed) *seed = strtoull(fixed, nullptr, 10);
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-seed", text, sizeof(text), &set));
  if (set) *seed = strtoull(text, nullptr, 10);
  PetscCallMPI(MPI_Bcast(seed, 1, MPI_UNSIGNED_LONG_LONG, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Settings {
  char      format[64] = "any", vectors[16] = "host", list[4096] = "";
  PetscInt  length = 40, count = 1, broken = -1, patience = 60;
  PetscReal seconds = 0;
  PetscBool timed = PETSC_FALSE, selected = PETSC_FALSE, as_it_is = PETSC_FALSE, keep_going = PETSC_FALSE;
};
static PetscErrorCode GetSettings(Settings *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-format", s->format, sizeof(s->format), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-vectors", s->vectors, sizeof(s->vectors), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-items", s->list, sizeof(s->list), &s->selected));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-length", &s->length, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-sequences", &s->count, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-break", &s->broken, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-patience", &s->patience, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-seconds", &s->seconds, &s->timed));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-no_shrink", &s->as_it_is, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-keep_going", &s->keep_going, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CanRun(const Settings &s, PetscBool *can)
{
  PetscFunctionBeginUser;
  *can = PETSC_TRUE;
  if (strcmp(s.vectors, "host")) {
    *can = PETSC_FALSE;
#if defined(PETSC_HAVE_CUDA)
    PetscCall(SparseGPUHasDevice(can));
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Sequence MakeSequence(unsigned long long seed, const Settings &s, const std::vector<std::string> &formats)
{
  Sequence q{seed, s.format, {}, s.broken};
  if (q.format == "any") q.format = Draw(seed, 3).One(formats);
  for (PetscInt k = 0; k < s.length && !s.selected; ++k) q.items.push_back(k);
  for (const char *at = s.list; at && *at >= '0' && *at <= '9';) {
    q.items.push_back((PetscInt)strtol(at, nullptr, 10));
    at = strchr(at, ',');
    if (at) ++at;
  }
  return q;
}

/// Runs them all. *failures: of how many sequences.
static PetscErrorCode RunAll(unsigned long long seed, const Settings &s, PetscInt *failures)
{
  std::vector<std::string> formats;
  size_t                   items = 0;
  PetscInt                 ran   = 0;
  PetscLogDouble           begin, now;
  int                      last = 0;

  PetscFunctionBeginUser;
  PetscCall(testing::Formats(&formats));
  formats.push_back("auto");
  PetscCall(PetscTime(&begin));
  for (; !last; ++ran, ++seed) {
    Sequence q = MakeSequence(seed, s, formats);
    Outcome  o;
    (void)alarm((unsigned)s.patience);
    PetscCall(Run(q, &o));
    items += o.done;
    if (o.failed) {
      ++*failures;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "seed %llu fails: %s\n", seed, o.fault.c_str()));
      if (!s.as_it_is) PetscCall(Shrink(&q, &o));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s sequence:\n", s.as_it_is ? "the whole" : "shortest"));
      PetscCall(Report(q, o));
    }
    PetscCall(PetscTime(&now));
    last = s.timed ? now - begin >= s.seconds : ran + 1 >= s.count;
    if (s.selected || (o.failed && !s.keep_going)) last = 1;
    PetscCallMPI(MPI_Bcast(&last, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  }
  (void)alarm(0);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " sequences, %zu items, the last seed %llu, %" PetscInt_FMT " failures\n", ran,
                        items, seed - 1, *failures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sequences(int *status)
{
  Settings           s;
  PetscBool          can;
  unsigned long long seed;
  PetscInt           failures = 0;

  PetscFunctionBeginUser;
  PetscCall(GetSettings(&s));
  PetscCall(CanRun(s, &can));
  if (!can) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skipped: no GPU, or a PETSc without CUDA\n"));
    *status = testing::SKIPPED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int caught : {SIGALRM, SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) (void)signal(caught, Tell);
  PetscCall(FirstSeed(&seed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "seed %llu, length %" PetscInt_FMT ", format %s, vectors %s\n", seed,
                        s.length, s.format, s.vectors));
  // Formats that refuse a matrix fall back to csr where no program asked for them; padding is to be no reason here.
  const testing::Option padding("-mat_sparsegpu_max_padding", "1e6");
  PetscCall(RunAll(seed, s, &failures));
  *status = failures > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int status = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Sequences(&status));
  PetscCall(PetscFinalize());
  return status;
}
