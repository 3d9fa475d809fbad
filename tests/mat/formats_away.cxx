static const char help[] = "Products of a matrix whose pattern is on the device alone, in every format.\n\n";

#include "away.hpp"
#include "expected.hpp"

using namespace testing;

static PetscErrorCode Scale(Mat A, Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(A, -3));
  for (conformance::Entry &e : p->entries) e.v *= -3;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products with the values that a matrix is made with, and with others in the same pattern. What is converted on the
/// device leaves the pattern there: `stays`.
static PetscErrorCode CheckFormat(Problem p, const std::string &format, bool stays, const std::string &what)
{
  Mat            A;
  face::Context *context;
  PetscBool      accepts = PETSC_TRUE;

  PetscFunctionBeginUser;
  std::sort(p.entries.begin(), p.entries.end(), [](const conformance::Entry &a, const conformance::Entry &b) {
    return a.i < b.i || (a.i == b.i && a.j < b.j);
  });
  PetscCall(CreateAway(p, &A));
  PetscCall(MatSparseGPUSetFormat(A, format.c_str()));
  PetscCall(face::GetContext(A, &context));
  if (format != "auto") { // another matrix is asked, as answers may bring the pattern home
    Mat B;
    PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &B));
    PetscCall(MatSparseGPUCheckFormat(B, format.c_str(), &accepts, nullptr));
    PetscCall(MatDestroy(&B));
  }
  for (int change = 0; accepts && change < 3; change++) {
    const std::string now = what + (change ? ", changed" : "");
    if (change) PetscCall(Scale(A, &p));
    for (Op op : OPS) // as on the device, where vectors are asked to be
      PetscCall(CheckOneProduct(A, p, op, Poison::None, Elsewhere() == Space::Device ? VECCUDA : VECSTANDARD,
                                Elsewhere() == Space::Device ? VECCUDA : VECSTANDARD, now));
    PetscCheck(!stays || context->rows.pattern_away(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: the pattern has come to the host", now.c_str());
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAll(const Problem &p, const std::string &what)
{
  const std::vector<std::string> there = {"auto", "csr", "sell", "dia", "stencil"};
  std::vector<std::string>       formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  formats.push_back("auto");
  for (const std::string &format : formats) {
    const bool stays = Elsewhere() == Space::Device && std::find(there.begin(), there.end(), format) != there.end();
    PetscCall(CheckFormat(p, format, stays, what + ", " + p.name + ", " + format));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of all kinds: of some diagonals, many alike, in blocks, long, none.
static PetscErrorCode Same()
{
  const Option lazy("-mat_sparsegpu_auto_lazy", "0");
  bool         none = false;

  PetscFunctionBeginUser;
  if (Elsewhere() == Space::Device) PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  for (const Expectation &e : Expectations()) PetscCall(CheckAll(e.p, "away"));
  PetscCall(CheckAll(conformance::Banded("one far diagonal", 400, 900, {700}), "away"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products that wait for the conversion to pay, and those of a trial of formats.
static PetscErrorCode Chosen()
{
  bool none = false;

  PetscFunctionBeginUser;
  if (Elsewhere() == Space::Device) PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  for (const Expectation &e : Expectations()) {
    PetscCall(CheckFormat(e.p, "auto", Elsewhere() == Space::Device, "lazily, " + e.p.name));
    const Option trial("-mat_sparsegpu_auto_trial", "");
    PetscCall(CheckFormat(e.p, "auto", false, "tried, " + e.p.name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"chosen", Chosen}});
}
