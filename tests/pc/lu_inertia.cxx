static const char help[] = "The inertia of symmetric indefinite matrices whose diagonal has no pivots.\n\n";

#include "direct.hpp"
#include "eigenvalues.hpp"

#include <cmath>

using namespace testing;

#if !defined(PETSC_USE_COMPLEX)
/// A deterministic number in [-1, 1).
static PetscReal Any(PetscInt seed)
{
  const unsigned v = (unsigned)seed * 2654435761u + 12345u;
  return (PetscReal)((v >> 8) % 65536) / 32768 - 1;
}

static void AddBoth(conformance::Builder *b, PetscInt i, PetscInt j, PetscReal v)
{
  b->Add(i, j, v);
  if (i != j) b->Add(j, i, v);
}

/// [0 B; B^T H], the constraints first: without fill from H they have no pivots.
static Problem Constrained(PetscInt constraints, PetscInt unknowns, PetscReal shift)
{
  const PetscInt       n = constraints + unknowns;
  conformance::Builder b("constrained_" + std::to_string(constraints) + "_" + std::to_string(unknowns), n, n);
  for (PetscInt k = 0; k < constraints; ++k) {
    if (shift != 0) AddBoth(&b, k, k, -shift);
    AddBoth(&b, k, constraints + k % unknowns, 2 + Any(3 * k));
    AddBoth(&b, k,
            constraints + (5 * k + 1) % unknowns == constraints + k % unknowns ? constraints + (5 * k + 2) % unknowns
                                                                               : constraints + (5 * k + 1) % unknowns,
            Any(7 * k + 1));
  }
  for (PetscInt k = 0; k < unknowns; ++k) {
    AddBoth(&b, constraints + k, constraints + k, 1 + Any(11 * k) - shift);
    if (k > 0) AddBoth(&b, constraints + k - 1, constraints + k, Any(13 * k) / 2);
  }
  return b;
}

/// Random places off a diagonal of zeros.
static Problem Hollow(PetscInt n, PetscInt seed)
{
  conformance::Builder b("hollow_" + std::to_string(seed), n, n);
  std::vector<char>    taken((size_t)(n * n), 0);
  for (PetscInt k = 0; k < 2 * n; ++k) {
    const PetscInt i = (PetscInt)((Any(seed + 31 * k) + 1) / 2 * (PetscReal)n);
    const PetscInt j = k < n ? (k + 1) % n : (PetscInt)((Any(seed + 57 * k + 3) + 1) / 2 * (PetscReal)n);
    const PetscInt r = k < n ? k : i;
    if (r == j || taken[(size_t)(r * n + j)]) continue;
    taken[(size_t)(r * n + j)] = taken[(size_t)(j * n + r)] = 1;
    AddBoth(&b, r, j, 1 + Any(seed + 91 * k));
  }
  return b;
}

/// A line's Laplacian less its diagonal; pairs [1 1; 1 1], each with an eigenvalue of zero.
static Problem Line(PetscInt n)
{
  conformance::Builder b("line_" + std::to_string(n), n, n);
  for (PetscInt r = 0; r < n; ++r) {
    AddBoth(&b, r, r, 0);
    if (r > 0) AddBoth(&b, r, r - 1, -1);
  }
  return b;
}
static Problem Pairs(PetscInt n)
{
  conformance::Builder b("pairs_" + std::to_string(n), n, n);
  for (PetscInt r = 0; r < n; r += 2) {
    AddBoth(&b, r, r, 1);
    AddBoth(&b, r, r + 1, 1);
    AddBoth(&b, r + 1, r + 1, 1);
    if (r >= 2) AddBoth(&b, r, r - 2, 0);
  }
  return b;
}

/// The signs that a dense matrix's eigenvalues have, zero up to rounding; false where a sign is unsafe.
static bool Expected(const Problem &p, PetscInt signs[3])
{
  std::vector<PetscReal> dense((size_t)(p.rows * p.rows), 0);
  PetscReal              most = 0;
  for (const Entry &e : p.entries) dense[(size_t)(e.i + e.j * p.rows)] = e.v;
  const std::vector<PetscReal> values = Eigenvalues(dense, (size_t)p.rows);
  for (const PetscReal v : values) most = std::max(most, PetscAbsReal(v));
  std::fill_n(signs, 3, 0);
  for (const PetscReal v : values) {
    const bool zero = PetscAbsReal(v) <= 100 * (PetscReal)p.rows * PETSC_MACHINE_EPSILON * most;
    if (!zero && PetscAbsReal(v) < 1e-5 * most) return false;
    ++signs[zero ? 1 : v < 0 ? 0 : 2];
  }
  return true;
}

static PetscErrorCode Check(const std::string &backend, const Problem &p, const char ordering[])
{
  PetscInt       expected[3], found[3];
  Mat            A, F;
  MatFactorError error;

  PetscFunctionBeginUser;
  PetscCheck(Expected(p, expected), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: an eigenvalue without a sign",
             p.name.c_str());
  PetscCall(CreateOn(backend, p, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &F));
  PetscCall(MatFactorGetError(F, &error));
  if (error == MAT_FACTOR_NOERROR || expected[1] == 0) {
    PetscCall(MatGetInertia(F, &found[0], &found[1], &found[2]));
    PetscCheck(std::equal(found, found + 3, expected), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %s on %s: inertia %d %d %d, eigenvalues say %d %d %d", p.name.c_str(), ordering, backend.c_str(),
               (int)found[0], (int)found[1], (int)found[2], (int)expected[0], (int)expected[1], (int)expected[2]);
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Matrices of constrained systems, shifted ones, and hollow ones, in orders that meet zero pivots.
static PetscErrorCode Zeros()
{
#if defined(PETSC_USE_COMPLEX)
  return Skip("skipped: complex scalars");
#else
  std::vector<Problem>     problems{Line(40),
                                Line(70),
                                Pairs(30),
                                Constrained(1, 2, 0),
                                Constrained(40, 60, 0),
                                Constrained(60, 60, 0),
                                Constrained(70, 160, 0),
                                Constrained(40, 60, (PetscReal)0.37)};
  std::vector<std::string> backends;
  PetscInt                 checked = 0;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (PetscInt seed = 1; seed <= 25; ++seed) problems.push_back(Hollow(20 + 3 * seed, 1000 * seed));
  for (const Problem &p : problems) {
    PetscInt signs[3];
    if (!Expected(p, signs)) continue;
    ++checked;
    for (const std::string &backend : backends)
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGND, MATORDERINGLEASTFILL})
        PetscCall(Check(backend, p, ordering));
  }
  PetscCheck(checked >= 20, PETSC_COMM_SELF, PETSC_ERR_PLIB, "only %d matrices have safe signs", (int)checked);
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"zeros", Zeros}});
}
