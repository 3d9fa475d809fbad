static const char help[] = "-mat_sparsegpu_auto_trial: the fastest of several formats, told with its time.\n\n";

#include "expected.hpp"

#include <sstream>

using namespace testing;

/// The formats and times that a reason tells: "...: dia 12.3 us, csr 20 us".
struct Timed {
  std::string format;
  double      us;
};
static std::vector<Timed> Parse(const std::string &reason)
{
  std::vector<Timed> all;
  const size_t       colon = reason.rfind(": ");
  std::istringstream text(colon == std::string::npos ? "" : reason.substr(colon + 2));
  std::string        unit;
  Timed              one;
  while (text >> one.format >> one.us >> unit && unit.compare(0, 2, "us") == 0) all.push_back(one);
  return all;
}

static PetscErrorCode CheckChoice(Mat A, const std::string &what)
{
  MatSparseGPUInfo info;
  PetscBool        accepts;
  double           chosen = -1, least = std::numeric_limits<double>::infinity();

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCall(CheckText(what, info.reason, {"timed", "another run may choose another"}));
  for (const Timed &t : Parse(info.reason)) {
    PetscCall(MatSparseGPUCheckFormat(A, t.format.c_str(), &accepts, nullptr));
    PetscCheck(accepts && t.us > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s took %g us", what.c_str(),
               t.format.c_str(), t.us);
    if (t.format == info.format) chosen = t.us;
    least = std::min(least, t.us);
  }
  PetscCheck(Parse(info.reason).size() >= 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: few were timed: %s", what.c_str(),
             info.reason);
  PetscCheck(chosen > 0 && chosen == least, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s took %g us, not %g: %s",
             what.c_str(), info.format, chosen, least, info.reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimedOn(MPI_Comm comm)
{
  const Option             on("-mat_sparsegpu_auto_trial", "");
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Expectation &e : Expectations()) {
      const std::string what = e.p.name + " on " + backend;
      Mat               A;
      PetscCall(CreateMatrix(comm, e.p, MATSPARSEGPU, "auto", Layout::Even, &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(CheckProducts(A, e.p, what));
      PetscCall(CheckChoice(A, what));
      PetscCall(MatScale(A, 2)); // exact
      Problem p = e.p;
      for (conformance::Entry &entry : p.entries) entry.v *= 2;
      PetscCall(CheckProducts(A, p, what + ", other values"));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Alone()
{
  return TimedOn(PETSC_COMM_SELF);
}
static PetscErrorCode Parallel()
{
  return TimedOn(PETSC_COMM_WORLD);
}

/// No format is timed unless the trial is on.
static PetscErrorCode Default()
{
  PetscFunctionBeginUser;
  for (const Expectation &e : Expectations()) {
    Mat              A;
    MatSparseGPUInfo info;
    PetscCall(CreateMatrix(e.p, MATSPARSEGPU, "auto", &A));
    PetscCall(CheckProducts(A, e.p, e.p.name));
    PetscCall(MatSparseGPUGetInfo(A, &info));
    PetscCheck(!strstr(info.reason, "timed"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", e.p.name.c_str(), info.reason);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A copy takes its original's choice, so that its products have the same bits.
static PetscErrorCode Copies()
{
  const Option  on("-mat_sparsegpu_auto_trial", "");
  const Problem p      = Stencil();
  PetscInt      before = 0, after = 0;
  Run           first, second;
  Mat           A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(CreateMatrix(p, MATSPARSEGPU, "auto", &A));
  PetscCall(Products(A, p, &first));
  PetscCall(EventCount("SparseGPUChoose", &before));
  PetscCheck(before == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " choices", before); // and the transpose's
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Products(B, p, &second));
  PetscCall(EventCount("SparseGPUChoose", &after));
  PetscCheck(after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " choices for a copy", after - before);
  PetscCall(CheckBits(second, first, true, "copy"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"timed", Alone}, {"parallel", Parallel}, {"default", Default}, {"copies", Copies}});
}
