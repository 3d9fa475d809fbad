static const char help[] =
    "When unknowns are paired in symmetric direct factorizations, and what such factors tell.\n\n";

#include "hollow.hpp"
#include "inertia.hpp"

#include <cmath>

using namespace testing;

/// A, with the entries of p, is factored with pairs, the view has the fact, and nothing is replaced.
static PetscErrorCode CheckPaired(Mat A, const Problem &p, const char ordering[], const char fact[])
{
  std::vector<PetscScalar> x;
  Mat                      F;

  PetscFunctionBeginUser;
  PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &F));
  PetscCall(CheckView(F, p.name, PAIRS));
  PetscCall(CheckView(F, p.name, fact, PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscCall(CheckView(F, p.name, "\n    0 pivots replaced", PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
  PetscCall(CheckBackward(p, x, false, p.name));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Saddle points of so many constraints are paired at once, without an option.
static PetscErrorCode AtOnce()
{
  const Problem p = Constraints(40);
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(CheckPaired(A, p, nullptr, "rows paired and scaled by a matching"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Forward, then backward, is the solve: of positive definite matrices, whose pivots change places.
static PetscErrorCode Halves()
{
  const bool complex = PetscDefined(USE_COMPLEX); // of Hermitian matrices alone

  PetscFunctionBeginUser;
  for (const Problem &p : {Mirrored(Arrow({}, 70), complex, true), Mirrored(Arrow({40, 70, 200}, 30), complex, true),
                           Mirrored(Cube(8), complex, true)}) {
    const Option             refine("-mat_sparsegpu_lu_refine", "0"), matching("-mat_sparsegpu_lu_matching", "on");
    std::vector<PetscScalar> x, exact;
    PetscReal                largest = 0, away = 0;
    Mat                      A, F;
    Vec                      b, y, z;
    PetscCall(CreateOn(on, p, &A));
    PetscCall(MatSetOption(A, complex ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGND, &F));
    PetscCall(CheckView(F, p.name, PAIRS));
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &exact));
    PetscCall(MatCreateVecs(A, &y, &b));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(SetVector(b, Input(p.rows, 7, Poison::None)));
    PetscCall(MatForwardSolve(F, b, y));
    PetscCall(MatBackwardSolve(F, y, z));
    PetscCall(LocalEntries(z, &x));
    for (size_t k = 0; k < x.size(); ++k) {
      largest = std::max(largest, PetscAbsScalar(exact[k]));
      away    = std::max(away, PetscAbsScalar(x[k] - exact[k]));
    }
    PetscCheck(away <= 100 * (PetscReal)p.rows * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s on %s: %g away of %g", p.name.c_str(), on.c_str(), (double)away, (double)largest);
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The signs of the dense matrix's eigenvalues.
static PetscErrorCode Inertia()
{
#if defined(PETSC_USE_COMPLEX)
  return Skip("skipped: complex scalars");
#else
  PetscFunctionBeginUser;
  for (const Problem &p : {Hollow(Arrow({}, 33), false), Hollow(Arrow({}, 100), false),
                           Hollow(Arrow({40, 70, 35}, 30), false), Constraints(8), Constraints(13)}) {
    PetscInt expected;
    Mat      A, F;
    PetscCall(CountNegative(p, (PetscReal)1e-5, &expected));
    for (const char *matching : {"auto", "on", "off"}) {
      const Option option("-mat_sparsegpu_lu_matching", matching);
      PetscCall(CreateOn(on, p, &A));
      PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGND, &F));
      PetscCall(CheckInertia(F, p, expected, p.name + " on " + on + ", matching " + matching));
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

/// Blocks [0 B; B^T 0] whose B has a diagonal that dominates; or, within a tile, two equal rows; or parts of ones.
enum class Poor {
  None,
  Few,
  Many
};
static Problem Blocks(Poor poor, PetscInt blocks)
{
  constexpr PetscInt   ORDER = 64, PART = 16;
  const char *const    names[] = {"open", "few", "hidden"};
  conformance::Builder b(names[(int)poor], 2 * ORDER * blocks, 2 * ORDER * blocks);
  for (PetscInt block = 0; block < blocks; ++block)
    for (PetscInt i = 0; i < ORDER; ++i)
      for (PetscInt j = 0; j < ORDER; ++j) {
        const PetscInt  first = 2 * ORDER * block, second = first + ORDER;
        const PetscInt  row    = poor == Poor::Few && i == 1 && j < PART ? 0 : i; // as the row before
        const unsigned  any    = (unsigned)(row + 1000 * j + 100000 * block) * 2654435761u + 12345u;
        const PetscReal random = (PetscReal)((any >> 8) % 65536) / 32768 - 1;
        const bool      one =
            poor == Poor::Many ? i / PART == j / PART : row == j || (poor == Poor::Few && row == 0 && j == 1);
        const PetscScalar v = one ? (poor == Poor::None ? 100 : 1) : random * (PetscReal)0.9;
        b.Add(first + i, second + j, v);
        b.Add(second + j, first + i, v);
      }
  return b;
}

/// Pairs whose pivots are poor come last: that is enough where they are few.
static PetscErrorCode Waiting()
{
  const Option  matching("-mat_sparsegpu_lu_matching", "on");
  const Problem p = Blocks(Poor::Few, 1);
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(CheckPaired(A, p, MATORDERINGNATURAL, " columns moved to the end of the order"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// LU, whose rows are free of their columns, takes over, says so, and gives way again.
static PetscErrorCode TakesOver()
{
  constexpr PetscInt BLOCKS = 12; // more poor pivots than can wait
  const Problem      hidden = Blocks(Poor::Many, BLOCKS), open = Blocks(Poor::None, BLOCKS);
  std::string        text;
  Mat                A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, hidden, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGNATURAL, &F));
  for (const bool poor : {true, false, true, true, false}) {
    const Problem &p = poor ? hidden : open;
    PetscCall(CheckNewValues(F, A, p));
    if (!poor) continue;
    PetscCall(CheckView(F, p.name, "sparsegpu LU"));
    PetscCall(CheckView(F, p.name, "instead of Cholesky"));
    Vec b, y;
    PetscCall(MatCreateVecs(A, &y, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(ExpectError(
        "halves", [&] { return MatForwardSolve(F, b, y); }, &text, PETSC_ERR_SUP));
    PetscCall(CheckText("halves", text, {"LU with matched rows took over"}));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// NaN among the values is told, and gone with them; a matrix of zeros fails softly. Fronts of odd and even orders, and
/// of one pivot.
static PetscErrorCode Bad()
{
  const Option   matching("-mat_sparsegpu_lu_matching", "on");
  MatFactorError error;
  Mat            A, F;

  PetscFunctionBeginUser;
  for (const Problem &p : {Hollow(Arrow({20, 40}, 50), false), Hollow(Arrow({1, 1, 3, 35}, 33), false),
                           Hollow(Arrow({}, 65), false), Mirrored(Arrow({1, 1}, 1), false, false)}) {
    PetscCall(CreateOn(on, p, &A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGNATURAL, &F));
    for (const char *bad : {"zeros", "a NaN", "NaN"}) {
      Problem q = p;
      for (Entry &e : q.entries)
        if (bad[0] == 'z')
          e.v = 0;
        else if (bad[0] == 'N' || (e.i == e.j && e.i == p.rows - 1))
          e.v = (PetscScalar)NAN;
      PetscCall(FactorValues(F, A, q, &error));
      PetscCheck(error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s on %s: no error", p.name.c_str(), bad, on.c_str());
      PetscCall(FactorValues(F, A, p, &error));
      PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s after %s on %s: error %d", p.name.c_str(), bad,
                 on.c_str(), (int)error);
    }
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"at_once", OnEach<AtOnce>},
               {"halves", OnEach<Halves>},
               {"inertia", OnEach<Inertia>},
               {"waiting", OnEach<Waiting>},
               {"takes_over", OnEach<TakesOver>},
               {"bad", OnEach<Bad>}});
}
