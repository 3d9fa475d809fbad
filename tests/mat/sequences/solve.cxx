/// Direct solves of both matrices: on one process with LU, in parallel with a redundant LU on every process.
#include "model.hpp"

namespace sequences
{

namespace
{
struct Solution {
  std::string        message;
  int                code     = 0; ///< of PETSc's error, on any rank
  KSPConvergedReason reason   = KSP_CONVERGED_ITERATING;
  PetscReal          backward = PETSC_MAX_REAL, growth = PETSC_MAX_REAL; ///< growth: ||A|| ||x|| / ||b||
};

/// The backward error in the largest norm, by PETSc's product with the plain matrix.
PetscErrorCode Solve(Mat plain, Mat A, const char solver[], Vec b, Solution *s)
{
  KSP         ksp;
  PC          pc;
  Vec         x, r;
  PetscReal   norm_A, norm_x, norm_b, norm_r;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, size == 1 ? PCLU : PCREDUNDANT));
  if (solver && size == 1) PetscCall(PCFactorSetMatSolverType(pc, solver));
  const auto solve = [&]() -> PetscErrorCode {
    PetscFunctionBeginUser;
    if (solver && size > 1) {
      PC  inner;
      KSP inner_ksp;
      PetscCall(PCRedundantGetKSP(pc, &inner_ksp));
      PetscCall(KSPGetPC(inner_ksp, &inner));
      PetscCall(PCFactorSetMatSolverType(inner, solver));
    }
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &s->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(Quietly(solve, &s->message, &s->code));
  if (s->code) PetscFunctionReturn(PETSC_SUCCESS); // what the error left is best not touched
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(plain, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(MatNorm(plain, NORM_INFINITY, &norm_A));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm_x));
  PetscCall(VecNorm(b, NORM_INFINITY, &norm_b));
  PetscCall(VecNorm(r, NORM_INFINITY, &norm_r));
  s->backward = norm_r / (norm_A * norm_x + norm_b);
  s->growth   = norm_A * norm_x / norm_b;
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CheckSolve(Mat plain, Mat ours, const Problem &p, Draw &d, std::string *words, std::string *fault)
{
  std::vector<PetscInt> length((size_t)p.rows, 0);
  Solution              theirs, own;
  Vec                   b;
  PetscReal             longest = 0;

  PetscFunctionBeginUser;
  *words += ", LU of sparsegpu";
  for (const Entry &e : p.entries) longest = std::max(longest, (PetscReal)++length[(size_t)e.i]);
  // What the solver promises (32 eps, or eps times the longest row) and the rounding of the residual that tells it.
  const PetscReal bound = (std::max((PetscReal)32, longest) + longest + 2) * PETSC_MACHINE_EPSILON;
  PetscCall(testing::CreateVector(plain, oracle::Op::Plain, false, VECSTANDARD, &b));
  PetscCall(testing::SetVector(b, testing::Input(p.rows, d.Next() >> 8, testing::Poison::None)));
  // A fresh copy: PETSc's own LU reads past the inodes that a matrix had before its pattern changed.
  PetscInt m, n;
  Mat      copy;
  PetscCall(MatGetLocalSize(plain, &m, &n));
  PetscCall(Create(MATAIJ, m, n, 1, p, &copy));
  PetscCall(Solve(plain, copy, MATSOLVERPETSC, b, &theirs));
  if (!theirs.code) PetscCall(MatDestroy(&copy));
  PetscCall(Solve(plain, ours, MATSOLVERSPARSEGPU, b, &own));
  PetscCall(VecDestroy(&b));
  const bool well = !theirs.code && theirs.reason > 0 && theirs.backward <= bound &&
                    theirs.growth <= 1 / PETSC_SQRT_MACHINE_EPSILON; // else both may call it singular to rounding
  if (own.message.find("Missing Inode Structure") != std::string::npos)
    PetscFunctionReturn(PETSC_SUCCESS); // MatGetOrdering() of the plain matrix, not of its copy, says so as well
  if (own.code && !theirs.code)
    *fault = "LU: error " + std::to_string(own.code) + " where AIJ has none: " + own.message;
  else if (own.code)
    PetscFunctionReturn(PETSC_SUCCESS); // both refuse, for example a missing diagonal entry
  else if (own.reason > 0 && !(own.backward <= bound))
    *fault =
        "LU: said to be solved, backward error " + std::to_string((double)(own.backward / bound)) + " times its bound";
  else if (own.reason <= 0 && well)
    *fault = std::string("LU: ") + KSPConvergedReasons[own.reason] + " where PETSc's LU solves it, growth " +
             std::to_string((double)theirs.growth);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
