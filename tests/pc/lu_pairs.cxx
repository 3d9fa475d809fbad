static const char help[] =
    "Symmetric direct factorizations with pivots of order 1 and 2, where the diagonal has none.\n\n";

#include "hollow.hpp"

#include <cmath>

using namespace testing;

/// The same pattern with entries, mirrored ones alike, times powers of two, and signs.
static Problem Uneven(const Problem &p)
{
  Problem q = p;
  q.name += "_uneven";
  for (Entry &e : q.entries) {
    const PetscInt  low = std::min(e.i, e.j), high = std::max(e.i, e.j);
    const unsigned  any = (unsigned)(low * 7919 + high) * 2654435761u + 12345u;
    const PetscReal by  = (any >> 9 & 1 ? -1 : 1) * std::ldexp((PetscReal)1, (int)(any >> 12) % 4);
    e.v *= by;
  }
  return q;
}

/// Solves, plain and transposed, of one column and several: of `growth` times what the rounding of stable factors
/// leaves without refinement; the same bits from the same values; new values, also in a new factor.
static PetscErrorCode Check(const Problem &p, bool hermitian, const char ordering[], PetscReal growth = 100)
{
  const MatFactorInfo info = Info(0);
  const Option        matching("-mat_sparsegpu_lu_matching", "on");

  PetscFunctionBeginUser;
  PetscBool single;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-mat_sparsegpu_lu_precision", &single));
  for (const char *refine : {"0", "10"}) {
    if (single && refine[0] == '0') continue;
    const Option             option("-mat_sparsegpu_lu_refine", refine);
    const std::string        what  = p.name + ", " + ordering + " on " + on + ", refine " + refine;
    const PetscReal          slack = refine[0] == '0' ? growth * (PetscReal)p.rows : 1;
    std::vector<PetscScalar> x;
    Mat                      A, F, G;
    PetscCall(CreateOn(on, p, &A));
    PetscCall(MatSetOption(A, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &F));
    PetscCall(CheckView(F, what, PAIRS));
    PetscCall(CheckSolves(A, F, p, slack, what));
    for (const PetscInt columns : {3, 17})
      for (const bool transpose : {false, true}) PetscCall(CheckColumns(F, p, columns, transpose, slack, what));
    const Problem q = Uneven(p); // other pivots, other pairs
    PetscCall(SetValues(A, q));
    PetscCall(MatSetOption(A, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE)); // new values have none
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
    if (refine[0] != '0') PetscCall(CheckBackward(q, x, false, what + ", new values"));
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &G));
    PetscCall(CheckView(G, what, PAIRS));
    PetscCall(SolveWith(A, G, VECSTANDARD, false, &x));
    PetscCall(CheckBackward(q, x, false, what + ", a new factor", slack));
    PetscCall(MatDestroy(&G));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kinds(bool hermitian)
{
  PetscFunctionBeginUser;
  for (const PetscInt n : {2, 3, 5, 31, 32, 33, 64, 65, 97, 160, 161, 300}) // one dense front
    PetscCall(Check(Hollow(Arrow({}, n), hermitian), hermitian, MATORDERINGNATURAL));
  for (const PetscInt border : {20, 130})
    PetscCall(Check(Hollow(Arrow({40, 70, 130, 5, 33, 64}, border), hermitian), hermitian, MATORDERINGNATURAL));
  PetscCall(Check(Hollow(Arrow({50, 200}, 790), hermitian), hermitian, MATORDERINGNATURAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Tiles of pivots, complete and not; small and large fronts; others by products of our own and by cuBLAS's.
static PetscErrorCode Fronts()
{
  PetscFunctionBeginUser;
  PetscCall(Kinds(false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Hermitian()
{
  if (!PetscDefined(USE_COMPLEX)) return Skip("skipped: real scalars");
  PetscFunctionBeginUser;
  PetscCall(Kinds(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Trees of fronts, in orders that bring constraints first.
static PetscErrorCode Saddle()
{
  PetscFunctionBeginUser;
  for (const PetscInt n : {3, 8, 24, 50})
    for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGND, MATORDERINGLEASTFILL})
      if (n <= 24 || ordering != std::string(MATORDERINGNATURAL)) PetscCall(Check(Constraints(n), false, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same bits from each new factor, and from each solve with it; -repeats of them, many to look for rare faults.
static PetscErrorCode Repeats()
{
  const Option             refine("-mat_sparsegpu_lu_refine", "0"), matching("-mat_sparsegpu_lu_matching", "on");
  const Problem            p       = Constraints(50);
  PetscInt                 repeats = 3;
  std::vector<PetscScalar> first, x;
  Mat                      A, F;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeats", &repeats, nullptr));
  PetscCall(CreateOn(on, p, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  for (PetscInt k = 0; k < repeats; ++k) {
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGND, &F));
    for (const char *solve : {"first", "second"}) {
      const std::string what = p.name + " on " + on + ", factor " + std::to_string(k) + ", " + solve + " solve";
      PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
      if (first.empty()) {
        PetscCall(CheckView(F, what, PAIRS));
        PetscCall(CheckBackward(p, x, false, what, 100 * (PetscReal)p.rows));
        first = x;
      }
      PetscCall(CheckSameBits(first, x, what));
    }
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"fronts", OnEach<Fronts>},
               {"hermitian", OnEach<Hermitian>},
               {"saddle", OnEach<Saddle>},
               {"repeats", OnEach<Repeats>}});
}
