static const char help[] = "LU factorizations of matrices of real applications.\n\
  -file FILE : one of them; else all of the folder that the environment variable SPARSEGPU_MATRICES names\n\n";

#include "../real_matrices.hpp"
#include "factors.hpp"

using namespace testing;

/// Singular to rounding: other solvers give up, too, or give no number.
static bool IsSingular(const std::string &name)
{
  for (const char *known : {"rajat01", "dwt_992"})
    if (name.find(known) == 0) return true;
  return false;
}

/// Does every assignment of rows to columns with entries there leave a column out? By augmenting paths, breadth first.
static bool IsStructurallySingular(const Problem &p)
{
  std::vector<std::vector<PetscInt>> rows((size_t)p.cols);
  std::vector<PetscInt>              row_of((size_t)p.cols, -1), column_of((size_t)p.rows, -1);
  std::vector<PetscInt>              reached((size_t)p.rows, -1), from((size_t)p.rows), queue;
  for (const Entry &e : p.entries) rows[(size_t)e.j].push_back(e.i);
  for (PetscInt c = 0; c < p.cols; ++c)
    for (PetscInt r : rows[(size_t)c])
      if (row_of[(size_t)c] < 0 && column_of[(size_t)r] < 0) {
        row_of[(size_t)c]    = r;
        column_of[(size_t)r] = c;
      }
  for (PetscInt c = 0; c < p.cols; ++c) {
    if (row_of[(size_t)c] >= 0) continue;
    PetscInt last = -1;
    queue.assign(1, c);
    for (size_t q = 0; q < queue.size() && last < 0; ++q)
      for (PetscInt r : rows[(size_t)queue[q]]) {
        if (reached[(size_t)r] == c) continue;
        reached[(size_t)r] = c;
        from[(size_t)r]    = queue[q];
        if (column_of[(size_t)r] < 0) {
          last = r;
          break;
        }
        queue.push_back(column_of[(size_t)r]);
      }
    if (last < 0) return true;
    for (PetscInt r = last; r >= 0;) {
      const PetscInt j = from[(size_t)r], next = row_of[(size_t)j];
      row_of[(size_t)j]    = r;
      column_of[(size_t)r] = j;
      r                    = next;
    }
  }
  return false;
}

static PetscErrorCode CheckFile(const std::string &file)
{
  const MatFactorInfo info = Info(0);
  Problem             p;
  bool                loaded;
  MatFactorError      error;
  MatInfo             facts;
  IS                  rows, columns;
  Mat                 A, F;
  Vec                 b, x, r;
  PetscReal           norm, largest, rhs, residual;

  PetscFunctionBeginUser;
  PetscCall(LoadReal(file, &p, &loaded));
  if (!loaded) PetscFunctionReturn(PETSC_SUCCESS);
  if (p.rows != p.cols) {
    PetscCall(Skip(p.name + " is not square"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CreateOn("kokkos", p, &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_LU, &F));
  PetscCall(MatGetOrdering(A, MATORDERINGLEASTFILL, &rows, &columns));
  PetscCall(MatLUFactorSymbolic(F, A, rows, columns, &info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatFactorGetError(F, &error));
  const bool structure = IsStructurallySingular(p);
  if (error) {
    PetscCheck(error == MAT_FACTOR_STRUCT_ZEROPIVOT && structure, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: factor error %d", p.name.c_str(), (int)error);
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetInfo(F, MAT_LOCAL, &facts));
  if (facts.nz_used > 6e6) {
    PetscCall(Skip(p.name + ": its factors take a CPU too long"));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatFactorGetError(F, &error));
  const MatFactorError expected = structure            ? MAT_FACTOR_STRUCT_ZEROPIVOT
                                  : IsSingular(p.name) ? MAT_FACTOR_NUMERIC_ZEROPIVOT
                                                       : MAT_FACTOR_NOERROR;
  PetscCheck(error == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: factor error %d, not %d", p.name.c_str(),
             (int)error, (int)expected);
  if (error == MAT_FACTOR_NOERROR) {
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(SetVector(b, Input(p.rows, 7, Poison::None)));
    PetscCall(MatNorm(A, NORM_INFINITY, &norm));
    PetscCall(VecNorm(b, NORM_INFINITY, &rhs));
    PetscCall(MatSolve(F, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_INFINITY, &residual));
    PetscCall(VecNorm(x, NORM_INFINITY, &largest));
    // as the manual page of MATSOLVERSPARSEGPU says, and once more for this product
    std::vector<PetscInt> length((size_t)p.rows, 0);
    for (const Entry &e : p.entries) ++length[(size_t)e.i];
    const PetscInt  longest = *std::max_element(length.begin(), length.end());
    const PetscReal goal    = (PetscReal)(PetscMax(32, longest + 1) + longest + 2) * PETSC_MACHINE_EPSILON;
    PetscCheck(residual <= goal * (norm * largest + rhs), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: backward error %g, %g allowed", p.name.c_str(), (double)(residual / (norm * largest + rhs)),
               (double)goal);
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
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
