static const char help[] = "KSPSPARSEGPUBCGS: many iterations in one launch.\n\n";

#include "against_petsc.hpp"
#include "nonsymmetric.hpp"

using namespace testing;

static PetscErrorCode RunsSo(const System &s, bool *so)
{
  PetscFunctionBeginUser;
  PetscCall(ViewTells(s.A, s.b, "bcgs_persistent_view", "many iterations in one launch", so));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The iterations are those of launches one by one, and so are the ends: matrices that fit in shared memory and that do
/// not, of other formats, one row, rows that several threads share, both sides.
static PetscErrorCode Same()
{
  using nonsymmetric::Convection;
  struct Case {
    Problem     problem;
    std::string format, options;
  };
  const Case cases[] = {
      {Convection(5, 50, 50, 1, 0.3, false), "auto", "-pc_type jacobi"},
      {Convection(5, 50, 50, 1, 0.3, true), "dia", "-pc_type jacobi -ksp_pc_side right"},
      {Convection(5, 250, 250, 1, 0.3, true), "auto", "-pc_type jacobi"},
      {Convection(7, 20, 21, 22, 0.3, true), "sell", "-pc_type none"},
      {Convection(7, 40, 30, 20, 0.3, false), "csr", "-pc_type none -ksp_pc_side right"},
      {nonsymmetric::Blocks(10, 9, 8), "bsr", "-pc_type jacobi -ksp_check_norm_iteration 3"},
      {nonsymmetric::Random(700), "auto", "-pc_type jacobi"},
      {conformance::Builder("1 x 1", 1, 1).Add(0, 0, 4), "csr", "-pc_type none"},
      {Convection(5, 60, 61, 1, 0.3, true), "auto", "-pc_type jacobi -ksp_norm_type none -ksp_max_it 20"},
      {Convection(5, 60, 61, 1, 0.3, true), "auto", "-pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 13"},
  };
  const Option type("-ksp_type", KSPSPARSEGPUBCGS), tolerance("-ksp_rtol", "1e-4");
  PetscBool    device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  for (const Case &c : cases) {
    const Options options(c.options);
    System        s;
    PetscCall(s.Create(c.problem, c.format.c_str()));
    for (Vec guess : {(Vec) nullptr, s.guess}) {
      Outcome whole, again, steps;
      bool    so;
      PetscCall(SolveWith(s.A, s.b, guess, &whole));
      PetscCall(SolveWith(s.A, s.b, guess, &again));
      PetscCall(RunsSo(s, &so));
      PetscCheck(so == (device && PetscGlobalSize == 1) || PetscGlobalRank > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s %s: %s", c.problem.name.c_str(), c.options.c_str(), so ? "in one launch" : "one by one");
      PetscCheck(whole.history == again.history, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: other bits again",
                 c.problem.name.c_str(), c.options.c_str());
      const Option off("-ksp_sparsegpubcgs_persistent", "off");
      PetscCall(SolveWith(s.A, s.b, guess, &steps));
      PetscCall(RunsSo(s, &so));
      PetscCheck(!so, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "off is not heard");
      PetscCall(CheckSame(c.problem.name + " " + c.options, whole, steps));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}});
}
