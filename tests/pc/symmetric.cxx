static const char help[] =
    "Preconditioning from both sides, -ksp_pc_side symmetric, by ICC(k) of ours and of PETSc.\n\n";

#include "factors.hpp"
#include <petscksp.h>

using namespace testing;

/// Real, symmetric and positive definite: the pivots have roots.
static Problem Definite(const Problem &square)
{
  Problem p = square;
  for (Entry &e : p.entries) e.v = PetscRealPart(e.v);
  return Symmetric(p);
}

/// x of one half of F; of both, one after the other, where `both`.
static PetscErrorCode HalfWith(Mat A, Mat F, const std::string &type, bool upper, bool both,
                               std::vector<PetscScalar> *solution)
{
  Vec                b, w, x;
  const PetscScalar *array;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, nullptr));
  PetscCall(CreateVector(A, Op::Plain, false, type, &b));
  PetscCall(VecDuplicate(b, &w));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SetVector(b, Input(n, 7, Poison::None)));
  PetscCall(VecSet(x, 77));
  PetscCall(VecSet(w, 77));
  if (!upper || both) PetscCall(MatForwardSolve(F, b, both ? w : x));
  if (upper || both) PetscCall(MatBackwardSolve(F, both ? w : b, x));
  PetscCall(VecGetArrayRead(x, &array));
  solution->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(x, &array));
  for (Vec *v : {&b, &w, &x}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each half is PETSc's, and both make a solve. With N = D^-1/2 (L - I) D^1/2, whose 2-norm is at most that of the
/// diagonally scaled matrix without its diagonal, 1/2, the halves' condition in the 2-norm is at most 3, as
/// CheckClose() has it in the largest norm: sqrt(n) lies between the norms.
static PetscErrorCode Halves()
{
  std::vector<std::string> backends, types;
  std::vector<PetscScalar> ours, again, petsc;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  PetscCall(VectorTypes(&types));
  for (const Problem &square : Problems())
    for (PetscInt levels : {0, 2})
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM})
        for (const std::string &backend : backends)
          for (const char *engine : {"auto", "syncfree", "level"}) {
            const Option   solve("-mat_sparsegpu_trisolve", engine);
            const Problem  p      = Definite(square);
            const PetscInt root   = static_cast<PetscInt>(PetscSqrtReal((PetscReal)p.rows)) + 1;
            const PetscInt length = (40 + p.rows / 4) * root;
            Mat            A, F, G;
            if (p.rows == 0) continue; // PETSc's ICC takes none
            PetscCall(CreateOn(backend, p, &A));
            PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ICC, Info((PetscReal)levels), ordering, &F));
            PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ICC, Info((PetscReal)levels), ordering, &G));
            for (int round = 0; round < 2; ++round) { // the second with new values
              const std::string what = p.name + ", ICC(" + std::to_string(levels) + "), " + ordering + ", " + backend +
                                       ", " + engine + (round ? ", new values" : "");
              for (const std::string &type : types) {
                for (bool upper : {false, true}) {
                  PetscCall(HalfWith(A, F, type, upper, false, &ours));
                  PetscCall(HalfWith(A, F, type, upper, false, &again));
                  PetscCall(HalfWith(A, G, VECSTANDARD, upper, false, &petsc));
                  PetscCall(CheckClose(ours, petsc, length, what + (upper ? ", upper, " : ", lower, ") + type));
                  PetscCall(CheckSameBits(ours, again, what));
                }
                PetscCall(HalfWith(A, F, type, false, true, &ours));
                PetscCall(SolveWith(A, F, type, false, &again));
                PetscCall(CheckClose(ours, again, length, what + ", both, " + type));
              }
              PetscCall(MatScale(A, 3));
              for (Mat factor : {F, G}) {
                const MatFactorInfo info = Info((PetscReal)levels);
                PetscCall(MatCholeskyFactorNumeric(factor, A, &info));
              }
            }
            PetscCall(MatDestroy(&F));
            PetscCall(MatDestroy(&G));
            PetscCall(MatDestroy(&A));
          }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Problem Laplacian(PetscInt side)
{
  conformance::Builder b("laplacian", side * side, side * side);

  for (PetscInt r = 0; r < side * side; ++r) {
    b.Add(r, r, 4);
    for (PetscInt step : {(PetscInt)1, side}) {
      if (r % (side * step) + step >= side * step) continue; // the end of a line, of the grid
      b.Add(r, r + step, -1);
      b.Add(r + step, r, -1);
    }
  }
  return b;
}

/// As many iterations as with PETSc's ICC: by PCICC, in parallel within PCBJACOBI, and by PCSPARSEGPU.
static PetscErrorCode Iterations()
{
  const Problem     p   = Laplacian(40);
  const std::string icc = PetscGlobalSize > 1 ? "-pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type "
                                              : "-pc_type icc -pc_factor_mat_solver_type ";
  const std::string own = "-pc_type sparsegpu -pc_sparsegpu_factor icc -pc_sparsegpu_ordering natural";
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *type : {"gmres", "sparsegpugmres"}) {
      PetscInt expected = -1;
      for (const std::string &pc : {icc + "petsc", icc + "sparsegpu", own}) {
        const Options      options(pc + " -ksp_pc_side symmetric -ksp_rtol 1e-10 -ksp_type " + type);
        const std::string  what = pc + ", " + type + " on " + backend;
        KSPConvergedReason reason;
        PetscInt           iterations;
        Mat                A;
        Vec                b, x;
        KSP                ksp;
        PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
        PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
        PetscCall(MatCreateVecs(A, &x, &b));
        PetscCall(SetVector(b, Input(p.rows, 3, Poison::None)));
        PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSetFromOptions(ksp));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        PetscCall(KSPGetIterationNumber(ksp, &iterations));
        if (expected < 0) expected = iterations;
        PetscCheck(reason > 0 && iterations == expected && iterations > 20, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: %d after %" PetscInt_FMT " iterations, not %" PetscInt_FMT, what.c_str(), (int)reason,
                   iterations, expected);
        PetscCall(KSPDestroy(&ksp));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&b));
        PetscCall(MatDestroy(&A));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ILU has no halves, PETSc's neither; nor has a matrix with a negative pivot.
static PetscErrorCode Refused()
{
  std::vector<std::string> backends, types;
  std::string              message;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    conformance::Builder b("indefinite_30", 30, 30);
    Mat                  A, F;
    Vec                  x, y;
    for (PetscInt r = 0; r < 30; ++r) b.Add(r, r, r == 17 ? -4 : 4);
    PetscCall(CreateOn(backend, b, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    for (const char *solver : {MATSOLVERSPARSEGPU, MATSOLVERPETSC})
      for (MatFactorType kind : {MAT_FACTOR_ILU, MAT_FACTOR_ICC}) {
        PetscCall(FactorOf(A, solver, kind, Info(0), MATORDERINGNATURAL, &F));
        for (auto *half : {MatForwardSolve, MatBackwardSolve}) {
          PetscCall(ExpectError(
              std::string(solver) + ", " + MatFactorTypes[kind], [=] { return half(F, x, y); }, &message,
              PETSC_ERR_SUP));
          if (kind == MAT_FACTOR_ICC && !strcmp(solver, MATSOLVERSPARSEGPU))
            PetscCall(CheckText("negative pivot", message, {"step 17", "positive"}));
        }
        PetscCall(MatDestroy(&F));
      }
    for (const char *factor : {"ilu", "none", "blocks"}) {
      const Option option("-pc_sparsegpu_factor", factor);
      PC           pc;
      PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
      PetscCall(PCSetType(pc, PCSPARSEGPU));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(ExpectError(
          factor, [=] { return PCApplySymmetricLeft(pc, x, y); }, &message, PETSC_ERR_SUP));
      PetscCall(CheckText(factor, message, {"-pc_sparsegpu_factor icc", factor}));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"halves", Halves}, {"iterations", Iterations}, {"refused", Refused}});
}
