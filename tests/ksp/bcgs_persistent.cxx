static const char help[] = "KSPSPARSEGPUBCGS: many iterations in one launch.\n\n";

#include "nonsymmetric.hpp"
#include "persistent.hpp"

using namespace testing;

/// The iterations are those of launches one by one, and so are the ends: matrices that fit in shared memory and that do
/// not, of other formats, one row, rows that several threads share, both sides.
static PetscErrorCode Same()
{
  using nonsymmetric::Convection;
  const std::vector<PersistentCase> cases = {
      {Convection(5, 50, 50, 1, 0.3, false), "auto", "-pc_type jacobi"},
      {Convection(5, 50, 50, 1, 0.3, true), "dia", "-pc_type jacobi -ksp_pc_side right"},
      {Convection(5, 250, 250, 1, 0.3, true), "auto", "-pc_type jacobi"},
      {Convection(7, 20, 21, 22, 0.3, true), "sell", "-pc_type none"},
      {Convection(7, 40, 30, 20, 0.3, false), "csr", "-pc_type none -ksp_pc_side right"},
      {nonsymmetric::Blocks(10, 9, 8), "bsr", "-pc_type jacobi -ksp_check_norm_iteration 3"},
      {nonsymmetric::Random(700), "auto", "-pc_type jacobi"},
      {conformance::Builder("1 x 1", 1, 1).Add(0, 0, 4), "csr", "-pc_type none"},
      {Convection(5, 60, 61, 1, 0.3, true), "auto", "-pc_type jacobi -ksp_norm_type none -ksp_max_it 20"},
      {Convection(5, 60, 61, 1, 0.3, true), "auto", "-pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 13"},
  };
  const Option tolerance("-ksp_rtol", "1e-4");

  PetscFunctionBeginUser;
  PetscCall(ComparePersistent(cases, KSPSPARSEGPUBCGS, "-ksp_sparsegpubcgs_persistent"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}});
}
