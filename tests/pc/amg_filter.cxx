static const char help[] =
    "A matrix without its weak couplings against its definition, on any number of processes.\n\n";

#include "node_matrix.hpp"
#include "pc/amg/filter.hpp"

using namespace testing;
using sparsegpu::amg::WithoutWeak;

namespace
{
/// Row r of F. Sums are of fewer than 100 terms below 3.
PetscErrorCode CheckRow(const Known &known, PetscReal threshold, Mat F, PetscInt r, PetscInt *left)
{
  constexpr PetscReal      TERMS = 100, LARGEST = 3;
  std::vector<PetscInt>    columns;
  std::vector<PetscScalar> values, leaving((size_t)known.size, 0);
  PetscInt                 n;
  const PetscInt          *j;
  const PetscScalar       *a;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < known.rows(); ++c) {
    if (!known.Has(r, c)) continue;
    if (known.Stays(threshold, r, c)) {
      columns.push_back(c);
      values.push_back(known.Value(r, c));
    } else {
      leaving[(size_t)(c % known.size)] += known.Value(r, c);
      ++*left;
    }
  }
  const PetscScalar diagonal = known.Has(r, r) ? known.Value(r, r) : 0;
  const bool        adds = PetscAbsScalar(diagonal + leaving[(size_t)(r % known.size)]) > PetscAbsScalar(diagonal) / 4;
  for (size_t e = 0; e < columns.size(); ++e)
    if (adds && columns[e] / known.size == r / known.size) values[e] += leaving[(size_t)(columns[e] % known.size)];
  PetscCall(MatGetRow(F, r, &n, &j, &a));
  PetscCheck(n == (PetscInt)columns.size() && std::equal(columns.begin(), columns.end(), j), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has %" PetscInt_FMT " columns instead of %zu, or others", r, n,
             columns.size());
  for (PetscInt e = 0; e < n; ++e)
    PetscCheck(PetscAbsScalar(a[e] - values[(size_t)e]) <= 4 * TERMS * LARGEST * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is %g instead of %g", r, j[e],
               (double)PetscRealPart(a[e]), (double)PetscRealPart(values[(size_t)e]));
  PetscCall(MatRestoreRow(F, r, &n, &j, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(const Known &known, MatType type, PetscReal threshold, bool weak)
{
  Mat       A, F;
  PetscInt  begin, end, left = 0, size;
  MatType   wanted, found;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Create(known, type, &A));
  PetscCall(WithoutWeak(A, threshold, &F));
  PetscCheck(weak == (F != A), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, blocks of %" PetscInt_FMT ", threshold %g: %s",
             type, known.size, (double)threshold, weak ? "nothing was weak" : "a matrix without need");
  PetscCall(MatGetOwnershipRange(F, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) PetscCall(CheckRow(known, threshold, F, r, &left));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck((left > 0) == weak, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The case is not what it is to test");
  PetscCall(MatGetBlockSize(F, &size));
  PetscCall(MatGetType(A, &wanted));
  PetscCall(MatGetType(F, &found));
  PetscCall(PetscStrcmp(wanted, found, &same));
  PetscCheck(size == known.size && same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s with blocks of %" PetscInt_FMT, found,
             size);
  if (F != A) PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDefinition()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (PetscInt size : {1, 2, 3, 5})
      for (PetscReal threshold : {(PetscReal)0.02, (PetscReal)0.9, (PetscReal)10}) {
        if (size > 1 && threshold < (PetscReal)0.9) continue; // one of a block's entries is larger
        for (PetscBool zeros : {PETSC_FALSE, PETSC_TRUE})
          PetscCall(Check(Known{41, size, zeros, static_cast<unsigned>(size)}, type, threshold, true));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A threshold that no coupling is below: diagonal blocks are not zero.
PetscErrorCode TestNothingWeak()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (PetscInt size : {2, 3}) PetscCall(Check(Known{41, size, PETSC_FALSE, 7}, type, (PetscReal)1e-6, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"definition", TestDefinition}, {"nothing_weak", TestNothingWeak}});
}
