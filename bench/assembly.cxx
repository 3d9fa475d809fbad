static char help[] =
    "Parallel assembly, on any number of ranks and with every -mat_type: 27 points on a grid of n x n x (planes a rank)\n"
    "nodes, each rank with the entries of its rows and those of its last plane's nodes in the rows of the next rank's first\n"
    "plane, which are added there. Milliseconds, the slowest rank's.\n"
    "  -n, -planes    : nodes in a plane's two directions, planes of a rank\n"
    "  -repeat k      : matrices; of one, so many times new values\n"
    "  -rows          : MatSetValues() row by row, too, with the right preallocation\n";

#include <petscmat.h>
#include <petsctime.h>
#include <algorithm>
#include <functional>
#include <vector>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace
{
struct Entries {
  std::vector<PetscInt> i, j;
  PetscInt              rows, first;
};

PetscErrorCode Build(PetscInt n, PetscInt planes, Entries *e)
{
  PetscMPIInt rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  const PetscInt depth = planes * ranks, plane = n * n;
  e->rows             = plane * planes;
  e->first            = e->rows * rank;
  const PetscInt more = rank < ranks - 1 ? plane : 0; // rows of the next rank
  PetscCallCXX(e->i.reserve(static_cast<size_t>(e->rows + more) * 27));
  PetscCallCXX(e->j.reserve(static_cast<size_t>(e->rows + more) * 27));
  for (PetscInt r = e->first; r < e->first + e->rows + more; r++) {
    const PetscInt x = r % n, y = r / n % n, z = r / plane;
    for (PetscInt c = PetscMax(z - 1, 0); c <= PetscMin(z + 1, depth - 1); c++)
      for (PetscInt b = PetscMax(y - 1, 0); b <= PetscMin(y + 1, n - 1); b++)
        for (PetscInt a = PetscMax(x - 1, 0); a <= PetscMin(x + 1, n - 1); a++) {
          const PetscInt j = (c * n + b) * n + a;
          if (r >= e->first + e->rows && j / plane != z - 1) continue;
          e->i.push_back(r);
          e->j.push_back(j);
        }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(const Entries &e, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, e.rows, e.rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds the time of `step`, the slowest rank's; `wait` is a vector of the space in which it works.
PetscErrorCode Add(Vec wait, const std::function<PetscErrorCode()> &step, std::vector<double> *times)
{
  PetscLogDouble begin, end;
  PetscScalar    dot;
  double         mine, slowest;

  PetscFunctionBegin;
  PetscCall(VecDot(wait, wait, &dot)); // which PETSc does not remember, as it does norms
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(step());
  PetscCall(VecDot(wait, wait, &dot));
  PetscCall(PetscTime(&end));
  mine = 1e3 * (end - begin);
  PetscCallMPI(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCallCXX(times->push_back(slowest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report(const char what[], std::vector<double> times)
{
  PetscFunctionBegin;
  if (times.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::sort(times.begin(), times.end());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %d ranks: median %.2f ms (%.2f to %.2f)\n", what, (int)PetscGlobalSize,
                        times[times.size() / 2], times.front(), times.back()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values where the matrix's vectors are.
PetscErrorCode Values(Mat A, size_t count, Vec *values)
{
  Vec     x;
  VecType type;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, nullptr));
  PetscCall(VecGetType(x, &type));
  PetscCall(VecCreate(PETSC_COMM_WORLD, values));
  PetscCall(VecSetSizes(*values, static_cast<PetscInt>(count), PETSC_DETERMINE));
  PetscCall(VecSetType(*values, type));
  PetscCall(VecSet(*values, (PetscReal)1 / 3));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowByRow(const Entries &e, Mat A)
{
  const std::vector<PetscScalar> ones(27, 1);

  PetscFunctionBegin;
  PetscCall(MatSeqAIJSetPreallocation(A, 27, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(A, 27, nullptr, 18, nullptr));
  for (size_t begin = 0, end; begin < e.i.size(); begin = end) {
    for (end = begin; end < e.i.size() && e.i[end] == e.i[begin]; end++) continue;
    PetscCall(
        MatSetValues(A, 1, &e.i[begin], static_cast<PetscInt>(end - begin), &e.j[begin], ones.data(), ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  PetscInt            n = 64, planes = 64, repeat = 5;
  PetscBool           rows = PETSC_FALSE;
  std::vector<double> pattern, first, again, by_rows;
  Entries             e;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-planes", &planes, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &repeat, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-rows", &rows, nullptr));
  PetscCheck(n > 0 && planes > 0 && repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ", -planes %" PetscInt_FMT " and -repeat %" PetscInt_FMT " must be positive", n,
             planes, repeat);
  PetscCall(Build(n, planes, &e));
  for (PetscInt k = 0; k <= repeat; k++) { // the first loads kernels
    std::vector<double> none;
    const bool          keep = k > 0;
    Entries             copy = e; // MatSetPreallocationCOO() may change what it gets
    PetscMemType        type;
    const PetscScalar  *v;
    Vec                 values, wait;
    Mat                 A;
    PetscCall(Create(e, &A));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 1, PETSC_DETERMINE, &wait));
    PetscCall(Add(
        wait,
        [&] { return MatSetPreallocationCOO(A, static_cast<PetscCount>(copy.i.size()), copy.i.data(), copy.j.data()); },
        keep ? &pattern : &none));
    PetscCall(Values(A, e.i.size(), &values));
    PetscCall(VecGetArrayReadAndMemType(values, &v, &type));
    PetscCall(VecDestroy(&wait));
    PetscCall(MatCreateVecs(A, &wait, nullptr));
    PetscCall(VecSet(wait, 1));
    PetscCall(Add(
        wait, [&] { return MatSetValuesCOO(A, v, INSERT_VALUES); }, keep ? &first : &none));
    for (PetscInt t = 0; t < repeat && keep; t++)
      PetscCall(Add(
          wait, [&] { return MatSetValuesCOO(A, v, INSERT_VALUES); }, &again));
    PetscCall(VecRestoreArrayReadAndMemType(values, &v));
    PetscCall(VecDestroy(&values));
    PetscCall(VecDestroy(&wait));
    PetscCall(MatDestroy(&A));
    if (!rows || !keep) continue;
    PetscCall(Create(e, &A));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 1, PETSC_DETERMINE, &wait));
    PetscCall(Add(
        wait, [&] { return RowByRow(e, A); }, &by_rows));
    PetscCall(VecDestroy(&wait));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Report("MatSetPreallocationCOO", pattern));
  PetscCall(Report("first MatSetValuesCOO", first));
  PetscCall(Report("MatSetValuesCOO", again));
  PetscCall(Report("MatSetValues", by_rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
