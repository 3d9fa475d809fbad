static const char help[] = "The rows of a matrix of any type, where preconditioners take them.\n\n";

#include "aggregate_cases.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"

using namespace testing;
using namespace sparsegpu;

namespace
{
/// Entries 1, 2, ... of every period-th of n rows: one left of the diagonal, the diagonal, one far off.
PetscErrorCode CreateSparse(const char type[], PetscInt n, PetscInt period, Mat *A)
{
  PetscScalar value = 1;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, nullptr));
  for (PetscInt r = period - 1; r < n; r += period)
    for (PetscInt c : {PetscMax(r - 1, 0), r, (r + n / 2) % n}) {
      PetscCall(MatSetValue(*A, r, c, value, INSERT_VALUES));
      value += 1;
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows in `space` against those that MatGetRow() gives.
PetscErrorCode CheckRows(const std::string &what, Mat A, Space space)
{
  aggregate::Source     source;
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;
  PetscInt              n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(source.Take(A, space));
  const auto &rows = source.rows;
  PetscCheck(rows.rows == n && rows.cols == n, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " x %" PetscInt_FMT, what.c_str(), rows.rows, rows.cols);
  PetscCall(ToHost(rows.arrays.i, (size_t)n + 1, space, &i));
  PetscCheck(i[0] == 0 && i[(size_t)n] == rows.nonzeros, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: rows from %" PetscInt_FMT " to %" PetscInt_FMT " of %" PetscInt_FMT " entries", what.c_str(), i[0],
             i[(size_t)n], rows.nonzeros);
  PetscCall(ToHost(rows.arrays.j, (size_t)rows.nonzeros, space, &j));
  PetscCall(ToHost(rows.arrays.a, (size_t)rows.nonzeros, space, &a));
  const PetscScalar *const own = reinterpret_cast<const PetscScalar *>(a.data());
  for (PetscInt r = 0; r < n; ++r) {
    const PetscInt    *columns, begin = i[(size_t)r];
    const PetscScalar *values;
    PetscInt           count;
    PetscCall(MatGetRow(A, r, &count, &columns, &values));
    bool same = i[(size_t)r + 1] - begin == count;
    for (PetscInt k = 0; same && k < count; ++k)
      same = j[(size_t)(begin + k)] == columns[k] && own[begin + k] == values[k];
    PetscCall(MatRestoreRow(A, r, &count, &columns, &values));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: another row %" PetscInt_FMT, what.c_str(), r);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices most of whose rows are empty: PETSc's type for cuSPARSE keeps the others' beginnings alone.
PetscErrorCode TestEmptyRows()
{
  std::vector<const char *> types = {MATSEQAIJ, MATSEQAIJSPARSEGPU};
  PetscBool                 found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
#if defined(SPARSEGPU_CUSPARSE_TELLS_ROWS)
  if (found) types.push_back(MATSEQAIJCUSPARSE);
#endif
  for (const char *type : types)
    for (PetscInt period : {1, 2, 5, 97, 1000})
      for (Space space : {Space::Host, Space::Device}) {
        Mat A;
        if (space == Space::Device && !found) continue;
        PetscCall(CreateSparse(type, 701, period, &A));
        const std::string what = std::string(type) + ", a row of " + std::to_string(period) +
                                 (space == Space::Device ? ", on the device" : ", on the host");
        PetscCall(CheckRows(what, A, space));
        PetscCall(MatScale(A, 2));
        PetscCall(CheckRows(what + ", new values", A, space));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"empty_rows", TestEmptyRows}});
}
