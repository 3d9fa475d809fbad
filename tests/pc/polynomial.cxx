static const char help[] = "Polynomial preconditioners, -pc_sparsegpu_factor polynomial, against plain loops.\n\n";

#include "factors.hpp"
#include <petscksp.h>
#include <cmath>
#include <cstring>

using namespace testing;

namespace
{
using Values            = std::vector<PetscScalar>;
constexpr PetscReal LOW = 0.3, HIGH = 1.9;

/// D^-1 A, or D^-1 A^T, by its entries.
struct Scaled {
  std::vector<Entry>    entries;
  std::vector<PetscInt> length;

  Scaled(const Problem &p, bool transpose) : length((size_t)p.rows, 0)
  {
    Values diagonal((size_t)p.rows, 0);
    for (const Entry &e : p.entries)
      if (e.i == e.j) diagonal[(size_t)e.i] += e.v;
    for (const Entry &e : p.entries) {
      const PetscInt i = transpose ? e.j : e.i, j = transpose ? e.i : e.j;
      entries.push_back({i, j, e.v / diagonal[(size_t)i]});
      length[(size_t)i]++;
    }
  }
  /// x - D^-1 A x / t; `size`: the sum of the magnitudes of all terms.
  void Step(PetscReal t, Values *x, std::vector<PetscReal> *size) const
  {
    const Values                 old       = *x;
    const std::vector<PetscReal> magnitude = *size;
    for (const Entry &e : entries) {
      (*x)[(size_t)e.i] -= e.v * old[(size_t)e.j] / t;
      (*size)[(size_t)e.i] += PetscAbsScalar(e.v) * magnitude[(size_t)e.j] / t;
    }
  }
};

/// x - r(D^-1 A) x with the residual polynomial r, the product of (1 - t / root): of Chebyshev's the roots are those of
/// the Chebyshev polynomial on the interval, of the Neumann series all 1 / w.
Values Expected(const Problem &p, bool transpose, bool chebyshev, PetscInt degree, const Values &x,
                std::vector<PetscReal> *bound)
{
  const Scaled           scaled(p, transpose);
  Values                 rest = x;
  std::vector<PetscReal> size;

  for (const PetscScalar v : x) size.push_back(PetscAbsScalar(v));
  for (PetscInt k = 0; k <= degree; ++k) {
    const PetscReal angle = PETSC_PI * (PetscReal)(2 * k + 1) / (PetscReal)(2 * degree + 2);
    const PetscReal root  = (HIGH + LOW) / 2 - (HIGH - LOW) / 2 * PetscCosReal(angle);
    scaled.Step(chebyshev ? root : PetscMax(1, HIGH / 2), &rest, &size);
  }
  bound->clear();
  for (size_t r = 0; r < x.size(); ++r) {
    // both ways are degree + 1 steps whose terms are within `size`; each step rounds as often as a row is long
    bound->push_back(8 * (PetscReal)((degree + 1) * (scaled.length[r] + 6)) * PETSC_MACHINE_EPSILON *
                     (size[r] + PetscAbsScalar(x[r])));
    rest[r] = x[r] - rest[r];
  }
  return rest;
}

PetscErrorCode CheckApply(const Problem &p, bool chebyshev, PetscInt degree, const std::string &backend)
{
  const std::string what = p.name + ", " + backend + (chebyshev ? ", chebyshev of degree " : ", neumann of degree ") +
                           std::to_string(degree);
  const Option kind("-pc_sparsegpu_polynomial", chebyshev ? "chebyshev" : "neumann"),
      factor("-pc_sparsegpu_factor", "polynomial"), degrees("-pc_sparsegpu_polynomial_degree", std::to_string(degree)),
      interval("-pc_sparsegpu_polynomial_eigenvalues", "0.3,1.9");
  const Values x = Input(p.rows, 7, Poison::None);
  Problem      q = p;
  Mat          A;
  Vec          exact, b, y, again;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  PetscCall(MatCreateVecs(A, &exact, &b));
  for (Vec *v : {&y, &again}) PetscCall(VecDuplicate(b, v));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPARSEGPU));
  PetscCall(PCSetFromOptions(pc));
  for (int round = 0; round < 2; ++round) {
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    for (bool transpose : {false, true}) {
      std::vector<PetscReal> bound;
      const Values           expected = Expected(q, transpose, chebyshev, degree, x, &bound);
      const PetscScalar     *ys;
      PetscInt               first, end;
      PetscBool              same;
      PetscCall(VecGetOwnershipRange(exact, &first, &end));
      PetscCall(SetVector(exact, x));
      PetscCall(transpose ? MatMultTranspose(A, exact, b) : MatMult(A, exact, b));
      PetscCall(transpose ? PCApplyTranspose(pc, b, y) : PCApply(pc, b, y));
      PetscCall(transpose ? PCApplyTranspose(pc, b, again) : PCApply(pc, b, again));
      PetscCall(VecEqual(y, again, &same));
      PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: two applications differ", what.c_str());
      PetscCall(VecGetArrayRead(y, &ys));
      for (PetscInt r = first; r < end; ++r)
        PetscCheck(PetscAbsScalar(ys[r - first] - expected[(size_t)r]) <= bound[(size_t)r], PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s%s, round %d, row %d: %g away, %g allowed", what.c_str(),
                   transpose ? ", transposed" : "", round, (int)r,
                   (double)PetscAbsScalar(ys[r - first] - expected[(size_t)r]), (double)bound[(size_t)r]);
      PetscCall(VecRestoreArrayRead(y, &ys));
    }
    PetscCall(MatShift(A, (PetscReal)0.5)); // new values in the same pattern
    for (Entry &e : q.entries)
      if (e.i == e.j) e.v += (PetscReal)0.5;
  }
  PetscCall(PCDestroy(&pc));
  for (Vec *v : {&exact, &b, &y, &again}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Apply()
{
  const Problem            grid = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  const Problem            few  = Dominant(conformance::Grid("grid_2x1", 2, 1, false)); // a process without rows
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Problem &p : {grid, few})
      for (bool chebyshev : {false, true})
        for (PetscInt degree : {0, 1, 2, 5}) PetscCall(CheckApply(p, chebyshev, degree, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Iterations of a solve of A x = b, b = 1.
PetscErrorCode Iterations(const Problem &p, const std::string &backend, const char ksp_type[], const char pc_type[],
                          KSPConvergedReason *reason, PetscInt *count, std::string *view)
{
  Mat A;
  Vec b, x;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPSetTolerances(ksp, PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPGetIterationNumber(ksp, count));
  PetscCall(TextOf(PETSC_COMM_WORLD, "polynomial_view", view, [&](PetscViewer viewer) { return PCView(pc, viewer); }));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With estimated eigenvalues: a polynomial of degree 4 makes of conjugate gradients with Jacobi, GMRES and the
/// biconjugate gradients with the transpose at most half of the iterations. The grid is the Laplacian; the other one
/// has convection along both axes.
PetscErrorCode Krylov()
{
  Problem                  laplacian = conformance::Grid("grid_40x37", 40, 37, true);
  const Option             factor("-pc_sparsegpu_factor", "polynomial");
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  for (Entry &e : laplacian.entries)
    if (e.i != e.j) e.v = -1;
  for (Entry &e : laplacian.entries)
    if (e.i == e.j) e.v = 4;
  Problem general = laplacian;
  for (Entry &e : general.entries)
    if (e.i != e.j) e.v = e.j > e.i ? -1.2 : -0.8;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *kind : {"chebyshev", "neumann"})
      for (const char *ksp : {KSPCG, KSPGMRES, KSPBICG}) {
        const Option       polynomial("-pc_sparsegpu_polynomial", kind);
        const Problem     &p    = strcmp(ksp, KSPCG) ? general : laplacian;
        const std::string  what = p.name + ", " + backend + ", " + kind + ", " + ksp;
        KSPConvergedReason reason;
        PetscInt           count, jacobi;
        std::string        view;
        PetscCall(Iterations(p, backend, ksp, PCJACOBI, &reason, &jacobi, &view));
        PetscCall(Iterations(p, backend, ksp, PCSPARSEGPU, &reason, &count, &view));
        PetscCheck(reason > 0 && 2 * count <= jacobi + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s: reason %d, %d iterations, %d with Jacobi", what.c_str(), (int)reason, (int)count, (int)jacobi);
        PetscMPIInt rank;
        PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
        if (rank == 0)
          PetscCall(CheckText(what, view, {std::string("polynomial: ") + kind + " of degree 4", "as estimated"}));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Faults()
{
  const Option factor("-pc_sparsegpu_factor", "polynomial");
  const struct {
    const char *option, *value;
  } cases[] = {{"-pc_sparsegpu_polynomial_degree", "-1"},
               {"-pc_sparsegpu_polynomial_ratio", "1"},
               {"-pc_sparsegpu_polynomial_eigenvalues", "0,1"},
               {"-pc_sparsegpu_polynomial_eigenvalues", "2,1"},
               {"-pc_sparsegpu_polynomial_eigenvalues", "1"}};
  std::vector<std::string> backends;
  std::string              message, view;
  PC                       pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPARSEGPU));
  for (const auto &c : cases) {
    const Option option(c.option, c.value);
    PetscCall(ExpectError(
        c.option, [&] { return PCSetFromOptions(pc); }, &message));
    PetscCall(CheckText(c.option, message, {c.option}));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Problem            p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
    KSPConvergedReason reason;
    PetscInt           count;
    for (Entry &e : p.entries)
      if (e.i == 5 && e.j == 5) e.v = NAN;
    PetscCall(Iterations(p, backend, KSPGMRES, PCSPARSEGPU, &reason, &count, &view));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED || reason == KSP_DIVERGED_NANORINF, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, a matrix with a NaN: reason %d", backend.c_str(), (int)reason);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"apply", Apply}, {"krylov", Krylov}, {"faults", Faults}});
}
