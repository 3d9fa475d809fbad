static const char help[] = "KSPMatSolve() of KSPSPARSEGPUCG: many iterations of small systems in one launch.\n\n";

#include "small_columns.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
/// Numbers of columns of each kernel and between; more than the shared memory has room for; matrices that fit in there
/// and that do not, in other formats; one row; blocks with a few rows.
PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  PetscCall(CompareSmall({
      {spd::Diffusion(5, 50, 50, 1, false), "auto", "-pc_type jacobi -ksp_rtol 1e-6", {2, 3, 8, 32}},
      {spd::Diffusion(5, 50, 50, 1, true), "dia", "-pc_type jacobi -ksp_norm_type unpreconditioned", {4, 5, 17}},
      {spd::Diffusion(5, 250, 250, 1, true), "auto", "-pc_type jacobi -ksp_norm_type natural -ksp_rtol 1e-2", {33}},
      {spd::Diffusion(27, 40, 30, 20, true), "csr", "-pc_type jacobi -ksp_rtol 1e-6", {7}},
      {spd::Blocks(10, 9, 8), "bsr", "-pc_type none -ksp_rtol 1e-6 -ksp_check_norm_iteration 5", {6}},
      {spd::Spectrum(80, 2), "auto", "-pc_type jacobi -ksp_rtol 1e-4", {9}},
      {conformance::Builder("1 x 1", 1, 1).Add(0, 0, 4), "csr", "-pc_type none", {2, 16}},
      {spd::Diffusion(5, 60, 61, 1, true), "auto", "-pc_type jacobi -ksp_norm_type none -ksp_max_it 40", {12}},
      {spd::Diffusion(5, 60, 61, 1, true), "auto", "-pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 33", {8}},
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns end one after the other, so that launches get narrower.
PetscErrorCode Leaving()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 45, 44, 1, true)));
  for (const std::string &type : DenseTypes())
    for (PetscInt count : {5, 11, 32}) {
      Columns s;
      PetscCall(s.Create(matrix.A, count, type));
      PetscCall(s.Fill());
      for (PetscInt c = 0; c < count; ++c) PetscCall(s.Scale(c, PetscPowReal(10, -(PetscReal)(c * 5 % 11) / 2)));
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"})
        PetscCall(CompareSmall(s, "leaving",
                               std::string("-ksp_rtol 1e-30 -ksp_atol 1e-6 -pc_type jacobi -ksp_norm_type ") + norm));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More iterations than a launch has records for: from one end of a chain to the other.
PetscErrorCode Long()
{
  constexpr PetscInt   n = 2300;
  conformance::Builder chain("chain", n, n);
  System               matrix;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    if (r > 0) spd::AddCoupling(&chain, r, r - 1, 1);
    chain.Add(r, r, 2);
    if (r + 1 < n) spd::AddCoupling(&chain, r, r + 1, 1);
  }
  PetscCall(matrix.Create(chain));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 3, type));
    PetscCall(s.Fill());
    PetscCall(
        CompareSmall(s, "chain", "-pc_type none -ksp_norm_type unpreconditioned -ksp_rtol 1e-9 -ksp_max_it 6000", 50));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Nobody has asked for columns together, nor would they gain but for the launches.
PetscErrorCode Chosen()
{
  System matrix, large;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 50, 50, 1, false)));
  PetscCall(large.Create(spd::Diffusion(5, 330, 330, 1, false)));
  for (const std::string &type : DenseTypes())
    for (const System *system : {&matrix, &large}) {
      const Options set("-ksp_sparsegpucg_together auto -pc_type jacobi -ksp_max_it 3 -ksp_norm_type none");
      Columns       s;
      Together      all;
      PetscCall(s.Create(system->A, 4, type));
      PetscCall(s.Fill());
      if (!Serves(s)) continue;
      PetscCall(SolveTogether(s, &all));
      PetscCheck((all.view.find(Way.launch) != std::string::npos && all.view.find(TOGETHER) != std::string::npos) ==
                     (system == &matrix),
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", all.view.c_str());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  Way = {"many iterations in one launch", "-ksp_sparsegpucg_persistent off"};
  return Main(argc, argv, help, {{"same", Same}, {"leaving", Leaving}, {"long", Long}, {"chosen", Chosen}});
}
