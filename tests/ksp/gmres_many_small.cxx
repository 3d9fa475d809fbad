static const char help[] = "KSPMatSolve() of KSPSPARSEGPUGMRES: whole cycles of small systems in one launch.\n\n";

#include "nonsymmetric.hpp"
#include "small_columns.hpp"

using namespace testing;

namespace
{
/// Numbers of columns that are solved at a time, and more; both sides, restarts, limits, a guess, one row.
PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  PetscCall(CompareSmall({
      {nonsymmetric::Convection(5, 50, 50, 1, 0.2, true), nullptr, "-pc_type jacobi -ksp_rtol 1e-6", {2, 8, 33}},
      {nonsymmetric::Convection(5, 50, 50, 1, 0.2, true),
       nullptr,
       "-pc_type jacobi -ksp_pc_side right -ksp_rtol 1e-6",
       {5}},
      {nonsymmetric::Convection(7, 20, 21, 22, 0.1, false),
       nullptr,
       "-pc_type none -ksp_gmres_restart 7 -ksp_rtol 1e-4",
       {3, 6}},
      {nonsymmetric::Convection(5, 60, 61, 1, 0.3, true),
       nullptr,
       "-pc_type jacobi -ksp_norm_type none -ksp_max_it 40",
       {12}},
      {nonsymmetric::Convection(5, 60, 61, 1, 0.3, true),
       nullptr,
       "-pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 33",
       {8}},
      {conformance::Builder("1 x 1", 1, 1).Add(0, 0, 4), nullptr, "-pc_type none", {2, 16}},
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A cycle of more vectors than have room in shared memory, and little else, for the sanitizer.
PetscErrorCode Brief()
{
  const Option memory("-sparsegpu_device_shared_memory", "49152"); // which is read once

  PetscFunctionBeginUser;
  PetscCall(CompareSmall({{nonsymmetric::Convection(5, 24, 21, 1, 0.2, true),
                           nullptr,
                           "-pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 54 -ksp_gmres_restart 56",
                           {3}}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns end one after the other.
PetscErrorCode Leaving()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(nonsymmetric::Convection(5, 45, 44, 1, 0.2, true)));
  for (const std::string &type : DenseTypes())
    for (PetscInt count : {5, 11}) {
      Columns s;
      PetscCall(s.Create(matrix.A, count, type));
      PetscCall(FillApart(&s));
      PetscCall(CompareSmall(s, "leaving", "-ksp_rtol 1e-30 -ksp_atol 1e-6 -ksp_gmres_restart 11 -pc_type jacobi"));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More steps than a launch has records for, which every cycle needs one more of.
PetscErrorCode Long()
{
  System  matrix;
  Problem poisson = nonsymmetric::Convection(5, 110, 110, 1, 0, false);

  PetscFunctionBeginUser;
  for (conformance::Entry &e : poisson.entries) // complex couplings would make it easy
    if (e.i != e.j) e.v = -PetscAbsScalar(e.v);
  PetscCall(matrix.Create(poisson));
  for (const std::string &type : DenseTypes()) {
    const char *const options = "-pc_type jacobi -ksp_rtol 1e-5 -ksp_gmres_restart 6";
    Columns           s;
    Together          all;
    PetscCall(s.Create(matrix.A, 2, type));
    PetscCall(s.Fill());
    {
      const Options set(options);
      PetscCall(SolveTogether(s, &all));
      PetscCheck(all.reason > 0 && all.iterations > 1100, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "Reason %d after %" PetscInt_FMT " iterations: the test is not long", (int)all.reason, all.iterations);
    }
    PetscCall(CompareSmall(s, "long", options, all.iterations / 10)); // rounding errors decide when so many end
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  Solver = {KSPSPARSEGPUGMRES, KSPGMRES, "-ksp_sparsegpugmres_together"};
  Way    = {"whole cycles in one launch on the GPU", "-ksp_sparsegpugmres_persistent off"};
  return Main(argc, argv, help, {{"same", Same}, {"brief", Brief}, {"leaving", Leaving}, {"long", Long}});
}
