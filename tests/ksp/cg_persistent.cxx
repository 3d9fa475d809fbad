static const char help[] = "KSPSPARSEGPUCG: many iterations in one launch.\n\n";

#include "persistent.hpp"
#include "spd.hpp"

using namespace testing;

/// A chain, of which the solution from one end to the other takes as many iterations as it has rows.
static Problem Chain(PetscInt n)
{
  conformance::Builder b("chain", n, n);
  for (PetscInt r = 0; r < n; ++r) {
    if (r > 0) spd::AddCoupling(&b, r, r - 1, 1);
    b.Add(r, r, 2);
    if (r + 1 < n) spd::AddCoupling(&b, r, r + 1, 1);
  }
  return b;
}

/// The iterations are those of launches one by one, and so are the ends: matrices that fit in shared memory and that do
/// not, of other formats, one row, rows that several threads share, more iterations than one launch has records for.
static PetscErrorCode Same()
{
  std::vector<PersistentCase> cases = {
      {spd::Diffusion(5, 50, 50, 1, false), "auto", "-pc_type jacobi -ksp_rtol 1e-6"},
      {spd::Diffusion(5, 50, 50, 1, true), "dia", "-pc_type jacobi -ksp_norm_type unpreconditioned -ksp_rtol 1e-6"},
      {spd::Diffusion(5, 250, 250, 1, true), "auto", "-pc_type jacobi -ksp_norm_type natural -ksp_rtol 1e-4"},
      {spd::Diffusion(7, 20, 21, 22, true), "sell", "-pc_type none -ksp_rtol 1e-6"},
      {spd::Diffusion(27, 40, 30, 20, true), "csr", "-pc_type jacobi -ksp_rtol 1e-6"},
      {spd::Blocks(10, 9, 8), "bsr", "-pc_type jacobi -ksp_rtol 1e-6 -ksp_check_norm_iteration 5"},
      {spd::Spectrum(80, 2), "auto", "-pc_type jacobi -ksp_rtol 1e-4"},
      {conformance::Builder("1 x 1", 1, 1).Add(0, 0, 4), "csr", "-pc_type none"},
      {spd::Diffusion(5, 60, 61, 1, true), "auto", "-pc_type jacobi -ksp_norm_type none -ksp_max_it 40"},
      {spd::Diffusion(5, 60, 61, 1, true), "auto", "-pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 33"},
  };

  PetscFunctionBeginUser;
  if (PetscGlobalSize == 1) // several ranks have no such launches
    cases.push_back(
        {Chain(4300), "auto", "-pc_type none -ksp_norm_type unpreconditioned -ksp_rtol 1e-9 -ksp_max_it 6000", 50});
  PetscCall(ComparePersistent(cases, KSPSPARSEGPUCG, "-ksp_sparsegpucg_persistent"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One KSP of which the matrix gets new values, and another pattern, between solves.
static PetscErrorCode Changed()
{
  const Options options("-pc_type jacobi -ksp_rtol 1e-6");
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetType(ksp, KSPSPARSEGPUCG));
  for (int k = 0; k < 3; ++k) {
    System s;
    Vec    x;
    PetscCall(s.Create(k < 2 ? spd::Diffusion(5, 40, 45, 1, true) : spd::Diffusion(7, 12, 10, 15, true)));
    PetscCall(VecDuplicate(s.b, &x));
    PetscCall(KSPSetOperators(ksp, s.A, s.A));
    for (int times = 0; times < 3; ++times) {
      Outcome   alone;
      PetscBool same;
      PetscCall(VecSet(x, 0));
      PetscCall(KSPSolve(ksp, s.b, x));
      PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &alone));
      PetscCall(VecEqual(x, alone.x, &same));
      PetscCheck(same && alone.reason > 0 && alone.residual <= (PetscReal)1e-4 * alone.rhs, PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB, "Solve %d.%d: reason %d, residual %g of %g%s", k, times, (int)alone.reason,
                 (double)alone.residual, (double)alone.rhs, same ? "" : ", other bits than a new solver's");
      if (times == 0) PetscCall(MatShift(s.A, 1));
      if (times == 1) PetscCall(MatScale(s.A, 2));
    }
    PetscCall(VecDestroy(&x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"changed", Changed}});
}
