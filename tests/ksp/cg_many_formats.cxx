static const char help[] = "KSPMatSolve() of KSPSPARSEGPUCG with the products of every format.\n\n";

#include "columns.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
/// Every format; on the host of one rank with the bits of single solves, as products with several columns have those of
/// products with one.
PetscErrorCode Same()
{
  const char *const        jacobi = "-ksp_rtol 1e-5 -pc_type jacobi -ksp_sparsegpucg_persistent off";
  std::vector<std::string> formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  for (const Problem &p : {spd::Diffusion(7, 9, 8, 10, true), spd::Blocks(6, 5, 4), spd::Random(300)})
    for (const std::string &format : formats) {
      if (conformance::Refuses(p, format)) continue;
      System matrix;
      PetscCall(matrix.Create(p, format.c_str()));
      for (const std::string &type : DenseTypes())
        for (PetscInt count : {8, 9}) { // as many as a kernel takes at a time, and one more
          Columns s;
          PetscCall(s.Create(matrix.A, count, type));
          PetscCall(s.Fill());
          PetscCall(Compare(s, jacobi, s.Serves("jacobi")));
          if (PetscGlobalSize > 1 || DenseTypes().size() > 1) continue;
          const Options set(jacobi);
          Together      all;
          PetscCall(SolveTogether(s, &all));
          for (PetscInt c = 0; c < s.count; ++c) PetscCall(CheckColumn(s, all, c, p.name + " in " + format));
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More thread blocks than there are groups of them for inner products.
PetscErrorCode Large()
{
  PetscBool device;
  System    matrix;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(matrix.Create(spd::Diffusion(5, 520, 520, 1, true), "dia"));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 8, type));
    PetscCall(s.Fill());
    PetscCall(Compare(s, "-ksp_rtol 1e-2 -pc_type jacobi", s.Serves("jacobi")));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"large", Large}});
}
