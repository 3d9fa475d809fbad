static const char help[] = "Which solver factors a matrix on a GPU whose user has named none.\n\n";

#include "../device_limit.hpp"
#include "direct.hpp"
#include "mirrored.hpp"

#include <petscksp.h>

#include <cstring>

using namespace testing;

namespace
{
constexpr PetscInt SMALL = 8, LARGE = 16; ///< cubes with fewer rows than the least of our default, and more

template <PetscErrorCode (*test)()> PetscErrorCode OnGPU()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  PetscCall(test());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Symmetric: PETSc's Cholesky factor knows no Hermitian matrices.
Problem Definite(PetscInt n)
{
  return Mirrored(Cube(n), !PetscDefined(USE_COMPLEX), true);
}

/// Which is known to be symmetric.
PetscErrorCode CreateKnown(const std::string &backend, const Problem &p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateOn(backend, p, A));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// F of A by `solver`, null: by default, which is `expected` after the symbolic factorization, solves.
PetscErrorCode Check(const Problem &p, Mat A, const char solver[], MatFactorType kind, MatFactorShiftType shift,
                     const char expected[], const std::string &what)
{
  MatFactorInfo            info = Info(0);
  std::vector<PetscScalar> x;
  MatSolverType            found;
  IS                       rows, columns;
  Mat                      F;
  PetscInt                 references[2];
  PetscBool                same;

  PetscFunctionBeginUser;
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = PETSC_SQRT_MACHINE_EPSILON;
  PetscCall(PetscObjectGetReference((PetscObject)A, &references[0]));
  PetscCall(MatGetFactor(A, solver, kind, &F));
  PetscCall(MatGetOrdering(A, MATORDERINGND, &rows, &columns));
  for (int round = 0; round < 2; ++round) {
    PetscCall(Symbolic(F, A, kind, rows, columns, info));
    PetscCall(Numeric(F, A, kind, info));
    PetscCall(MatFactorGetSolverType(F, &found));
    PetscCall(PetscStrcmp(found, expected, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s, not %s", what.c_str(), found, expected);
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
    PetscCall(CheckBackward(p, x, false, what, strcmp(expected, MATSOLVERSPARSEGPU) ? 100 : 1)); // one is not refined
    if (strcmp(expected, MATSOLVERSPARSEGPU)) break; // PETSc's is not made for a second symbolic factorization
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&F));
  PetscCall(PetscObjectGetReference((PetscObject)A, &references[1]));
  PetscCheck(references[0] == references[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d references to A, not %d",
             what.c_str(), (int)references[1], (int)references[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// By the number of rows and of their entries, by where the matrix multiplies, and by name.
static PetscErrorCode Choice()
{
  const auto chain = [](PetscInt rows) {
    conformance::Builder b("tridiagonal", rows, rows);
    for (PetscInt r = 1; r < rows; ++r) {
      b.Add(r, r - 1);
      b.Add(r - 1, r);
    }
    return Symmetric(b);
  };

  PetscFunctionBeginUser;
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    for (const Problem &p : {Definite(SMALL), Definite(LARGE), chain(5000), chain(12000)})
      for (const char *backend : {"cuda", "kokkos"}) {
        const std::string what = p.name + " " + MatFactorTypes[kind] + " " + backend;
        const bool        ours = (p.rows == LARGE * LARGE * LARGE || p.rows == 12000) && !strcmp(backend, "cuda");
        Mat               A;
        PetscCall(CreateKnown(backend, p, &A));
        PetscCall(Check(p, A, nullptr, kind, MAT_SHIFT_NONE, ours ? MATSOLVERSPARSEGPU : MATSOLVERPETSC, what));
        for (const char *solver : {MATSOLVERSPARSEGPU, MATSOLVERPETSC})
          PetscCall(Check(p, A, solver, kind, MAT_SHIFT_NONE, solver, what + " by name"));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Shifts of pivots are PETSc's.
static PetscErrorCode Shifts()
{
  const Problem p = Definite(LARGE);
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateKnown("cuda", p, &A));
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    for (const MatFactorShiftType shift :
         {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS})
      PetscCall(Check(p, A, nullptr, kind, shift, shift == MAT_SHIFT_NONE ? MATSOLVERSPARSEGPU : MATSOLVERPETSC,
                      std::string(MatFactorTypes[kind]) + " " + MatFactorShiftTypes[shift]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Solves with A, by a factor of `expected`.
PetscErrorCode SolveBy(KSP ksp, Mat A, const char expected[], const std::string &what)
{
  Vec           b, x, r;
  PC            pc;
  Mat           F;
  MatSolverType found;
  PetscReal     norm, residual;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCheck(residual <= 1e4 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: residual %g",
             what.c_str(), (double)(residual / norm));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatFactorGetSolverType(F, &found));
  PetscCheck(!strcmp(found, expected), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s, not %s", what.c_str(), found,
             expected);
  for (Vec *v : {&b, &x, &r}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// A PC gets new values, another matrix, is emptied, and asks for a shift from the beginning or later.
static PetscErrorCode Solvers()
{
  PetscFunctionBeginUser;
  for (const char *type : {PCLU, PCCHOLESKY})
    for (const char *shift : {"none", "nonzero"}) {
      const Options     options(std::string("-ksp_type preonly -pc_factor_shift_type ") + shift);
      const char *const expected = strcmp(shift, "none") ? MATSOLVERPETSC : MATSOLVERSPARSEGPU;
      const std::string what     = std::string(type) + ", shift " + shift;
      KSP               ksp;
      PC                pc;
      Mat               A, B;
      PetscCall(CreateKnown("cuda", Definite(LARGE), &A));
      PetscCall(CreateKnown("cuda", Definite(LARGE + 1), &B));
      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, type));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(SolveBy(ksp, A, expected, what));
      PetscCall(MatScale(A, (PetscReal)1.5));
      PetscCall(SolveBy(ksp, A, expected, what + ", new values"));
      PetscCall(KSPReset(ksp));
      PetscCall(SolveBy(ksp, B, expected, what + ", another matrix"));
      PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
      PetscCall(MatScale(B, (PetscReal)1.5));
      if (!strcmp(expected, MATSOLVERPETSC)) PetscCall(SolveBy(ksp, B, MATSOLVERPETSC, what + ", shift again"));
      PetscCall(KSPDestroy(&ksp));

      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, type));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(SolveBy(ksp, A, expected, what));
      PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
      PetscCall(MatScale(A, (PetscReal)1.5));
      PetscCall(SolveBy(ksp, A, MATSOLVERPETSC, what + ", then a shift"));
      PetscCall(MatScale(A, (PetscReal)1.5));
      PetscCall(SolveBy(ksp, A, MATSOLVERPETSC, what + ", then a shift and new values"));
      PetscCall(KSPDestroy(&ksp));
      for (Mat *M : {&A, &B}) PetscCall(MatDestroy(M));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A singular coarse operator of PCMG, which asks for shifts: as PETSc's, no failure.
static PetscErrorCode Singular()
{
  const Options options("-ksp_type preonly -pc_factor_shift_type inblocks");
  Problem       p = Cube(LARGE);
  Mat           A;
  KSP           ksp;
  PC            pc;
  Vec           b, x;
  PetscReal     norm;

  PetscFunctionBeginUser;
  std::vector<PetscInt> neighbours((size_t)p.rows, 0);
  for (const Entry &e : p.entries) neighbours[(size_t)e.i] += e.i != e.j;
  for (Entry &e : p.entries) e.v = e.i == e.j ? (PetscReal)neighbours[(size_t)e.i] : -1;
  PetscCall(CreateKnown("cuda", p, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(x, nullptr));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCheck(!PetscIsInfOrNanReal(norm), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The solution is %g", (double)norm);
  PetscCall(KSPDestroy(&ksp));
  for (Vec *v : {&b, &x}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the device's memory does not suffice the host factors; named, ours is an error (lu_fronts memory).
static PetscErrorCode Memory()
{
  PetscFunctionBeginUser;
#if defined(SPARSEGPU_HAVE_CUDA)
  const Problem       p    = Definite(32);
  const MatFactorInfo info = Info(0);
  Mat                 A, F;
  IS                  rows, columns;
  PetscCall(CreateKnown("cuda", p, &A));
  PetscCall(MatGetOrdering(A, MATORDERINGND, &rows, &columns));
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    const size_t left = kind == MAT_FACTOR_LU ? 80 << 20 : 40 << 20; // less than the factors take: 130, 65 MB
    const auto   what = std::string(MatFactorTypes[kind]) + ", little memory";
    PetscCall(MatGetFactor(A, nullptr, kind, &F)); // the device's context is there
    {
      const DeviceLimit limit(left);
      PetscCheck(limit.works(), PETSC_COMM_SELF, PETSC_ERR_MEM, "cudaMalloc of all but %zu bytes", left);
      PetscCall(Check(p, A, nullptr, kind, MAT_SHIFT_NONE, MATSOLVERPETSC, what));
    }
    std::vector<PetscScalar> x;
    MatSolverType            found;
    PetscCall(Symbolic(F, A, kind, rows, columns, info));
    {
      const DeviceLimit limit(8 << 20); // no more after the symbolic factorization
      PetscCheck(limit.works(), PETSC_COMM_SELF, PETSC_ERR_MEM, "cudaMalloc of nearly all memory");
      PetscCall(Numeric(F, A, kind, info));
    }
    PetscCall(MatFactorGetSolverType(F, &found));
    PetscCheck(!strcmp(found, MATSOLVERPETSC), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s at last: %s", what.c_str(), found);
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
    PetscCall(CheckBackward(p, x, false, what + " at last", 100)); // not refined
    PetscCall(MatDestroy(&F));
  }
  PetscCall(Check(p, A, nullptr, MAT_FACTOR_LU, MAT_SHIFT_NONE, MATSOLVERSPARSEGPU, "enough memory"));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&A));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"choice", OnGPU<Choice>},
               {"shifts", OnGPU<Shifts>},
               {"solvers", OnGPU<Solvers>},
               {"singular", OnGPU<Singular>},
               {"memory", OnGPU<Memory>}});
}
