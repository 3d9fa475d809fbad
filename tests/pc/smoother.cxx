static const char help[] = "PCSPARSEGPUSMOOTHER: sweeps by colours and l1-Jacobi against loops over the rows.\n\n";

#include "amg.hpp"
#include "smoother_reference.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
/// Richardson's method with the preconditioner, from a guess or from zero, and the preconditioner by itself. Rows are
/// dominated by their diagonals, so that an error of one row is no larger in the next: each of `turns` adds its own.
PetscErrorCode Compare(const std::string &what, Mat A)
{
  const Case cases[] = {{"gauss_seidel", "forward", 1},   {"gauss_seidel", "backward", 2},
                        {"gauss_seidel", "symmetric", 1}, {"gauss_seidel", "symmetric", 3},
                        {"l1jacobi", "symmetric", 1},     {"l1jacobi", "forward", 3}};
  Rows       rows;
  PetscInt   longest = 0, colors, counts[2];

  PetscFunctionBeginUser;
  PetscCall(Read(A, &rows));
  const std::vector<PetscInt> color = ColorsOf(rows);
  colors                            = color.empty() ? 0 : *std::max_element(color.begin(), color.end()) + 1;
  for (const auto &j : rows.j) longest = PetscMax(longest, (PetscInt)j.size());
  counts[0] = longest;
  counts[1] = colors;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, counts, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  for (const Case &c : cases)
    for (bool zero : {false, true}) {
      const Options set(std::string("-pc_sparsegpusmoother_type ") + c.type + " -pc_sparsegpusmoother_sweep " +
                        c.sweep);
      KSP           ksp;
      Vec           x, b, exact;
      PetscReal     scale, error;
      std::string   text;

      PetscCall(CreateSolver(A, KSPRICHARDSON, PCSPARSEGPUSMOOTHER, nullptr, &ksp));
      PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
      PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, c.steps));
      PetscCall(KSPSetInitialGuessNonzero(ksp, zero ? PETSC_FALSE : PETSC_TRUE));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(x, &exact));
      PetscCall(SetNoise(b));
      PetscCall(VecCopy(b, x));
      PetscCall(VecShift(x, 1));
      if (zero)
        PetscCall(VecSet(exact, 0));
      else
        PetscCall(VecCopy(x, exact));
      PetscCall(Reference(rows, color, c, A, b, exact, &scale));
      PetscCall(KSPSolve(ksp, b, x));
      for (int once = 0; once < 2; ++once) {
        PetscCall(VecAXPY(x, -1, exact));
        PetscCall(VecNorm(x, NORM_INFINITY, &error));
        const PetscReal bound =
            4 * (PetscReal)(c.steps * 2 * PetscMax(counts[1], 1) * (counts[0] + 4)) * PETSC_MACHINE_EPSILON * scale;
        PetscCheck(error <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s, %s %s, %" PetscInt_FMT " steps%s: error %g > %g", what.c_str(), c.type, c.sweep, c.steps,
                   zero ? " from zero" : "", (double)error, (double)bound);
        if (!zero || c.steps > 1) break;
        PC pc; // one step from zero
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(PCApply(pc, b, x));
      }
      PetscCall(View(ksp, &text));
      const std::string told = strcmp(c.type, "l1jacobi")
                                   ? "Gauss-Seidel by " + std::to_string(counts[1]) + " colours, " + c.sweep
                                   : std::string("l1-Jacobi");
      if (!PetscGlobalRank) PetscCall(CheckText(what, text, {told}));
      for (Vec *v : {&x, &b, &exact}) PetscCall(VecDestroy(v));
      PetscCall(KSPDestroy(&ksp));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of random couplings, some in one direction alone, some of them complex; rows are dominated. `empty`: a row
/// without entries, one with the diagonal alone and one without it.
PetscErrorCode CreateRandom(const char type[], PetscInt n, PetscInt each, bool special, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, n, 1, each + 2, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    PetscReal          sum = 1;
    unsigned long long h   = ((unsigned long long)r + 3) * 0x9e3779b97f4a7c15ull;
    if (special && r % 7 == 3) continue;
    for (PetscInt k = 0; k < each && !(special && r % 7 == 4); ++k) {
      h                     = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull + 1;
      const PetscInt column = (PetscInt)((h >> 20) % (unsigned long long)n);
      PetscScalar    v      = (PetscReal)((double)(h >> 12 & 0xffff) / 65536 - 0.5);
#if defined(PETSC_USE_COMPLEX)
      v += PETSC_i * (PetscReal)((double)(h & 0xfff) / 4096);
#endif
      if (column == r) continue;
      PetscCall(MatSetValue(*A, r, column, v, INSERT_VALUES)); // the last of two for one place
      sum += PetscAbsScalar(v);
    }
    if (!special || r % 7 != 5) PetscCall(MatSetValue(*A, r, r, (r % 2 ? sum : -sum), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

static PetscErrorCode TestSweeps()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU}) {
    Mat A;
    for (PetscInt n : {1, 2, 63, 300})
      for (PetscInt each : {1, 6}) {
        PetscCall(CreateRandom(type, n, each, n == 300, &A));
        PetscCall(Compare(std::string(type) + " random " + std::to_string(n) + " x " + std::to_string(each), A));
        PetscCall(MatDestroy(&A));
      }
    PetscCall(CreateRandom(type, 150, 100, false, &A)); // more than 64 colours
    PetscCall(Compare(std::string(type) + " dense", A));
    PetscCall(MatDestroy(&A));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {7, 6, 5, 1, false, All}, &A));
    PetscCall(Compare(std::string(type) + " grid", A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values keep the colours, a new pattern has others; a repeated solve has the same bits.
static PetscErrorCode TestChanges()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU}) {
    const Options set("-pc_sparsegpusmoother_sweep symmetric");
    Mat           A[2];
    PC            pc;
    Vec           b, x, again;
    PetscBool     same;

    PetscCall(CreateRandom(type, 200, 4, false, &A[0]));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {20, 10, 1, 1, false, Faces}, &A[1]));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPUSMOOTHER));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(MatCreateVecs(A[0], &x, &b));
    PetscCall(VecDuplicate(x, &again));
    PetscCall(SetNoise(b));
    for (int round = 0; round < 4; ++round) {
      Mat  at = A[round / 2];
      Rows rows;
      PC   fresh;
      if (round % 2) PetscCall(MatScale(at, 3));
      PetscCall(PCSetOperators(pc, at, at));
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, b, x));
      PetscCall(PCCreate(PETSC_COMM_WORLD, &fresh));
      PetscCall(PCSetType(fresh, PCSPARSEGPUSMOOTHER));
      PetscCall(PCSetOperators(fresh, at, at));
      PetscCall(PCSetUp(fresh));
      PetscCall(PCApply(fresh, b, again));
      PetscCall(PCDestroy(&fresh));
      PetscCall(VecEqual(x, again, &same));
      PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, round %d: not what a new one gives", type, round);
    }
    PetscCall(PCDestroy(&pc));
    for (Vec *v : {&b, &x, &again}) PetscCall(VecDestroy(v));
    for (Mat &a : A) PetscCall(MatDestroy(&a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// (B x, y) = (x, B^T y) for a symmetric matrix; the transpose of a sweep for another one is refused.
static PetscErrorCode TestTranspose()
{
  PetscFunctionBeginUser;
  for (const char *sweep : {"forward", "backward", "symmetric"}) {
    const Options set(std::string("-pc_sparsegpusmoother_sweep ") + sweep);
    Mat           A, R;
    PC            pc;
    std::string   message;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {9, 8, 3, 1, false, All}, &A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPUSMOOTHER));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckAdjoint(sweep, pc, A, PCApplyTranspose, VecTDot, 1000));
    PetscCall(CreateRandom(MATSPARSEGPU, 60, 3, false, &R));
    PetscCall(ExpectError(
        sweep,
        [&] {
          PC  p; // lost, as after any error
          Vec u, v;
          PetscFunctionBeginUser;
          PetscCall(MatCreateVecs(R, &u, &v));
          PetscCall(PCCreate(PETSC_COMM_WORLD, &p));
          PetscCall(PCSetType(p, PCSPARSEGPUSMOOTHER));
          PetscCall(PCSetOperators(p, R, R));
          PetscCall(PCSetUp(p));
          PetscCall(PCApplyTranspose(p, u, v));
          PetscFunctionReturn(PETSC_SUCCESS);
        },
        &message, PETSC_ERR_SUP));
    PetscCall(CheckText(sweep, message, {"known to be symmetric"}));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"sweeps", TestSweeps}, {"changes", TestChanges}, {"transpose", TestTranspose}});
}
