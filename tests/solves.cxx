static const char help[] =
    "PETSc's preconditioners and solvers on our type give the results that they give on aij.\n\n";

#include "family.hpp"

using namespace testing;

struct Solve {
  PetscInt           iterations;
  KSPConvergedReason reason;
  Vec                x;
};

/// Solves A x = b, b = A 1, with the options under the prefix solve_.
static PetscErrorCode Run(const char type[], bool symmetric, Solve *solve)
{
  const Problem p = conformance::Grid("grid_24x23", 24, 23, symmetric);
  Mat           A;
  Vec           b;
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, type, nullptr, Layout::Even, &A));
  PetscCall(MatSetOption(A, MAT_SPD, symmetric ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatCreateVecs(A, &solve->x, &b));
  PetscCall(VecSet(solve->x, 1));
  PetscCall(MatMult(A, solve->x, b));
  PetscCall(VecSet(solve->x, 0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "solve_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 100 * PETSC_SQRT_MACHINE_EPSILON, 0, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, solve->x));
  PetscCall(KSPGetIterationNumber(ksp, &solve->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &solve->reason));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ours and aij: both converge, in the same number of iterations but for rounding, to x = 1 as far as the tolerance
/// reaches.
static PetscErrorCode Compare(const std::string &ksp, const std::string &pc, bool symmetric,
                              const std::string &sub = "")
{
  const Option      ksp_option("-solve_ksp_type", ksp), pc_option("-solve_pc_type", pc);
  const Option      sub_option("-solve_sub_pc_type", sub.empty() ? "ilu" : sub);
  const std::string what = ksp + " with " + pc + " " + sub;
  Solve             solve[2];
  PetscReal         error;

  PetscFunctionBeginUser;
  PetscCall(Run(MATSPARSEGPU, symmetric, &solve[0]));
  PetscCall(Run(MATAIJ, symmetric, &solve[1]));
  for (const Solve &s : solve)
    PetscCheck(s.reason > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "%s: reason %d", what.c_str(), (int)s.reason);
  // On a GPU dot products are summed in another order: a residual near the tolerance may pass it one step sooner or
  // later, and methods that lose orthogonality drift a little further.
  const PetscInt slack = 1 + solve[1].iterations / 50, difference = std::abs(solve[0].iterations - solve[1].iterations);
  PetscCheck(difference <= slack, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " iterations, aij %" PetscInt_FMT, what.c_str(), solve[0].iterations,
             solve[1].iterations);
  PetscCall(VecAXPY(solve[0].x, -1, solve[1].x));
  PetscCall(VecNorm(solve[0].x, NORM_2, &error));
  // Either solve ends at |residual| <= rtol |b|; the symmetric part of the matrix has no eigenvalue under
  // 8 sin^2(pi / 50) > 1/32 and |A| < 8.2: each is off by 32 * 8.2 rtol |1| at most, |1| being sqrt(24 * 23) < 24.
  const PetscReal bound = 2 * 32 * (PetscReal)8.2 * 24 * 100 * PETSC_SQRT_MACHINE_EPSILON;
  PetscCheck(error <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g away from aij's solution, %g allowed",
             what.c_str(), (double)error, (double)bound);
  for (Solve &s : solve) PetscCall(VecDestroy(&s.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Krylov()
{
  PetscFunctionBeginUser;
  PetscCall(Compare("cg", "jacobi", true));
  PetscCall(Compare("cg", "none", true));
  PetscCall(Compare("gmres", "jacobi", false));
  PetscCall(Compare("bcgs", "jacobi", false));
  PetscCall(Compare("bicg", "jacobi", false)); // uses the transpose
  PetscCall(Compare("cgne", "none", false));
  PetscCall(Compare("chebyshev", "jacobi", true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Factor()
{
  PetscFunctionBeginUser;
  PetscCall(Compare("gmres", "bjacobi", false, "ilu"));
  PetscCall(Compare("gmres", "bjacobi", false, "lu"));
  PetscCall(Compare("cg", "bjacobi", true, "icc"));
  PetscCall(Compare("cg", "bjacobi", true, "cholesky"));
  PetscCall(Compare("gmres", "asm", false, "ilu"));
  PetscCall(Compare("cg", "sor", true));
  if (PetscGlobalSize == 1)
    for (const char *pc : {"ilu", "lu", "icc", "cholesky"})
      PetscCall(Compare("gmres", pc, strlen(pc) > 3 || !strcmp(pc, "icc")));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Multigrid()
{
  PetscFunctionBeginUser;
  PetscCall(Compare("cg", "gamg", true));
  PetscCall(Compare("gmres", "gamg", false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"krylov", Krylov}, {"factor", Factor}, {"multigrid", Multigrid}});
}
