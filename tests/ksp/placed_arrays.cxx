static const char help[] = "Solves whose vectors have arrays of the caller placed into them.\n\n";

#include "systems.hpp"

using namespace testing;

/// v shows `array`, not what it held, which is made unlike anything that belongs here.
static PetscErrorCode Place(Vec v, std::vector<PetscScalar> *array)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(v, -77));
  PetscCall(VecPlaceArray(v, array->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Twice with the same KSP and vectors, as PCREDUNDANT does: the solution arrives in the caller's array, with the bits
/// of `expected` (norms are taken of vectors of the solver's own, in an order of its own); the right-hand side stays.
static PetscErrorCode SolvePlaced(Mat A, Vec like, const std::vector<PetscScalar> &rhs, PetscScalar guess,
                                  const Outcome &expected, const std::string &what)
{
  std::vector<PetscScalar> wanted;
  Vec                      b, x;
  KSP                      ksp;
  KSPConvergedReason       reason;

  PetscFunctionBeginUser;
  PetscCall(LocalEntries(expected.x, &wanted));
  PetscCall(VecDuplicate(like, &b));
  PetscCall(VecDuplicate(like, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  for (int solve = 0; solve < 2; solve++) {
    std::vector<PetscScalar> given = rhs, found(rhs.size(), guess);
    PetscCall(Place(b, &given));
    PetscCall(Place(x, &found));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecResetArray(x));
    PetscCall(VecResetArray(b));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason == expected.reason, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, solve %d: reason %d, not %d",
               what.c_str(), solve, (int)reason, (int)expected.reason);
    PetscCheck(given == rhs, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, solve %d: changed the right-hand side", what.c_str(),
               solve);
    PetscCheck(found == wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, solve %d: another solution", what.c_str(), solve);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On vectors of A's own type, or on the host. Also a system with fewer rows on a process than a cycle has columns.
static PetscErrorCode Solves(bool host)
{
  constexpr PetscReal GUESS = 0.5;

  PetscFunctionBeginUser;
  for (PetscInt ny : {3, 30})
    for (const char *options : {"-pc_type jacobi", "-pc_type jacobi -ksp_pc_side right", "-pc_type sparsegpu"})
      for (const char *type : {KSPSPARSEGPUGMRES, KSPSPARSEGPUJACOBI}) {
        const bool sweeps = std::string(type) == KSPSPARSEGPUJACOBI;
        if (sweeps && std::string(options) != "-pc_type jacobi") continue;
        const std::string what = std::string(type) + " " + options + ", " + std::to_string(4 * ny) + " rows";
        const Options     set(std::string(options) + " -ksp_rtol 1e-4 -ksp_type " + type);
        Mat               A;
        Vec               b, guess;
        Outcome           expected;
        PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(4, ny), MATSPARSEGPU, nullptr, Layout::Even, &A));
        PetscCall(host ? HostVector(A, &b) : MatCreateVecs(A, nullptr, &b));
        PetscCall(VecDuplicate(b, &guess));
        PetscCall(VecSet(guess, GUESS));
        PetscCall(KnownRhs(A, b));
        PetscCall(SolveWith(A, b, guess, &expected));
        PetscCheck(expected.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: reason %d", what.c_str(),
                   (int)expected.reason);
        std::vector<PetscScalar> rhs;
        PetscCall(LocalEntries(b, &rhs));
        PetscCall(SolvePlaced(A, b, rhs, GUESS, expected, what));
        PetscCall(VecDestroy(&guess));
        PetscCall(VecDestroy(&b));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Host()
{
  PetscFunctionBeginUser;
  PetscCall(Solves(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A's own vectors lie on the GPU: what is placed is newer than what they have there, and x is to leave it.
static PetscErrorCode Device()
{
  PetscBool device;

  PetscFunctionBeginUser;
#if !defined(PETSC_HAVE_CUDA)
  return Skip("skipped: this PETSc has no vectors on a GPU");
#endif
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  PetscCall(Solves(false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors on the host, the solve on the GPU.
static PetscErrorCode Staged()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  const Options backend("-sparsegpu_backend cuda");
  PetscCall(Solves(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"host", Host}, {"device", Device}, {"staged", Staged}});
}
