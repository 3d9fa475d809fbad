static const char help[] = "Incomplete factors of matrices of real applications against PETSc's own.\n\
  -file FILE : one of them; else all of the folder that the environment variable SPARSEGPU_MATRICES names\n\n";

#include "../real_matrices.hpp"
#include "factors.hpp"

using namespace testing;

/// ILU(0), and ICC(0) of a symmetric matrix, with the off-diagonal part that the file has and a dominant diagonal.
static PetscErrorCode CheckFile(const std::string &file)
{
  std::vector<std::string> backends;
  std::vector<PetscScalar> ours, petsc;
  std::vector<PetscInt>    lengths;
  Problem                  p;
  bool                     loaded;
  PetscBool                symmetric;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(LoadReal(file, &p, &loaded));
  if (!loaded) PetscFunctionReturn(PETSC_SUCCESS);
  if (p.rows != p.cols) {
    PetscCall(Skip(p.name + " is not square"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  p = Dominant(p, true);
  lengths.assign(2 * (size_t)p.rows + 1, 0);
  for (const Entry &e : p.entries) {
    ++lengths[(size_t)e.i];
    ++lengths[(size_t)(p.rows + e.j)];
  }
  const PetscInt length = *std::max_element(lengths.begin(), lengths.end());
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    PetscCall(CreateOn(backend, p, &A));
    PetscCall(MatIsSymmetric(A, 0, &symmetric));
    for (MatFactorType kind : {MAT_FACTOR_ILU, MAT_FACTOR_ICC}) {
      Mat F, G;
      if (kind == MAT_FACTOR_ICC && !symmetric) continue;
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, Info(0), MATORDERINGNATURAL, &F));
      PetscCall(FactorOf(A, MATSOLVERPETSC, kind, Info(0), MATORDERINGNATURAL, &G));
      for (bool transpose : {false, true}) {
        if (transpose && kind == MAT_FACTOR_ICC) continue;
        PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &ours));
        PetscCall(SolveWith(A, G, VECSTANDARD, transpose, &petsc));
        PetscCall(
            CheckClose(ours, petsc, length,
                       p.name + " on " + backend + ", " + MatFactorTypes[kind] + (transpose ? ", transposed" : "")));
      }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&G));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RealMatrices()
{
  PetscFunctionBeginUser;
  PetscCall(EachRealMatrix(CheckFile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"real_matrices", RealMatrices}});
}
