static char help[] =
    "Products of sparse matrices on any number of ranks: A A, A^T A, A P and P^T A P, where A is the 7-point stencil of a\n"
    "grid of n x n x n nodes, in slabs, and P interpolates from 2 x 2 x 2 nodes each, by one of them or linearly. Runs\n"
    "with every -mat_type, so that PETSc's own types are compared in runs of their own. For each product: the first one\n"
    "(pattern and values), the median of those again with new values of A, and what goes between host and GPU in these.\n"
    "  -n n       : nodes in each direction, even\n"
    "  -again n   : how often\n"
    "  -linear    : P has up to 8 entries a row\n";

#include <petscdevice.h>
#include <petscmat.h>
#include <petsctime.h>
#include <algorithm>
#include <vector>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace
{
/// Grid of n^3 nodes whose planes are dealt out to the ranks; coarse planes go with the first of their two.
struct Grid {
  PetscInt n, first, last; ///< planes of this rank
  PetscInt Node(PetscInt x, PetscInt y, PetscInt z) const { return (z * n + y) * n + x; }
};

PetscErrorCode Create(const Grid &rows, const Grid &cols, PetscInt width, Mat *A)
{
  const PetscInt m = (rows.last - rows.first) * rows.n * rows.n, n = (cols.last - cols.first) * cols.n * cols.n;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, width, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, width, nullptr, width, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil(const Grid &grid, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(Create(grid, grid, 7, A));
  for (PetscInt z = grid.first; z < grid.last; z++)
    for (PetscInt y = 0; y < grid.n; y++)
      for (PetscInt x = 0; x < grid.n; x++) {
        const PetscInt at[6][3] = {{x - 1, y, z}, {x + 1, y, z}, {x, y - 1, z},
                                   {x, y + 1, z}, {x, y, z - 1}, {x, y, z + 1}},
                       row      = grid.Node(x, y, z);
        PetscInt          j[7] = {row}, count = 1;
        const PetscScalar v[7] = {6, -1, -1, -1, -1, -1, -1};
        for (const PetscInt *p : at)
          if (std::min({p[0], p[1], p[2]}) >= 0 && std::max({p[0], p[1], p[2]}) < grid.n)
            j[count++] = grid.Node(p[0], p[1], p[2]);
        PetscCall(MatSetValues(*A, 1, &row, count, j, v, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A node of even coordinates is a coarse one; others interpolate between their two neighbours in each odd direction.
PetscErrorCode Interpolation(const Grid &fine, const Grid &coarse, bool linear, Mat *P)
{
  PetscFunctionBeginUser;
  PetscCall(Create(fine, coarse, linear ? 8 : 1, P));
  for (PetscInt z = fine.first; z < fine.last; z++)
    for (PetscInt y = 0; y < fine.n; y++)
      for (PetscInt x = 0; x < fine.n; x++) {
        const PetscInt row = fine.Node(x, y, z), at[3] = {x, y, z};
        for (int corner = 0; corner < (linear ? 8 : 1); corner++) {
          PetscInt    c[3];
          PetscScalar v    = 1;
          bool        here = true;
          for (int d = 0; d < 3; d++) {
            const bool odd = linear && at[d] % 2 && at[d] / 2 + 1 < coarse.n, upper = (corner >> d) & 1;
            here = here && (odd || !upper);
            c[d] = at[d] / 2 + upper;
            if (odd) v *= (PetscReal)0.5;
          }
          if (here) PetscCall(MatSetValue(*P, row, coarse.Node(c[0], c[1], c[2]), v, INSERT_VALUES));
        }
      }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds now, on all ranks, after all work; bytes that have crossed the bus so far.
PetscErrorCode Now(PetscLogDouble *time, PetscLogDouble *bytes)
{
  PetscFunctionBeginUser;
  *bytes = 0;
#if defined(PETSC_HAVE_DEVICE) && PETSC_VERSION_GE(3, 20, 0)
  PetscDeviceContext context;
  PetscBool          found;
  PetscCall(SparseGPUHasDevice(&found));
  if (found) {
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  #if defined(PETSC_USE_LOG)
  *bytes = petsc_ctog_sz + petsc_gtoc_sz;
  #endif
#endif
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Multiply(MatProductType type, Mat A, Mat B, MatReuse reuse, Mat *C)
{
  PetscFunctionBeginUser;
  if (type == MATPRODUCT_AB)
    PetscCall(MatMatMult(A, B, reuse, PETSC_DEFAULT, C));
  else if (type == MATPRODUCT_AtB)
    PetscCall(MatTransposeMatMult(A, B, reuse, PETSC_DEFAULT, C));
  else
    PetscCall(MatPtAP(A, B, reuse, PETSC_DEFAULT, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One line. The norm is of the last product, so that types can be compared.
PetscErrorCode Report(const char name[], MatProductType type, Mat A, Mat B, PetscInt again)
{
  Mat                         C;
  PetscReal                   norm;
  PetscLogDouble              begin, end, bytes, copied, first, crossed = 0;
  std::vector<PetscLogDouble> times;

  PetscFunctionBeginUser;
  PetscCall(Now(&begin, &bytes));
  PetscCall(Multiply(type, A, B, MAT_INITIAL_MATRIX, &C));
  PetscCall(Now(&end, &bytes));
  first = end - begin;
  for (PetscInt k = 0; k < again; k++) {
    PetscCall(MatScale(A, k % 2 ? 2 : (PetscReal)0.5));
    PetscCall(Now(&begin, &bytes));
    PetscCall(Multiply(type, A, B, MAT_REUSE_MATRIX, &C));
    PetscCall(Now(&end, &copied));
    times.push_back(end - begin);
    crossed = copied - bytes;
  }
  std::sort(times.begin(), times.end());
  PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-8s first %9.3f ms, again %9.3f ms, %8.3f MB cross, norm %.12g\n", name,
                        1e3 * first, times.empty() ? 0 : 1e3 * times[times.size() / 2], 1e-6 * crossed, (double)norm));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  PetscInt    n = 64, again = 5;
  PetscBool   linear = PETSC_FALSE;
  PetscMPIInt rank, size;
  Mat         A, P;
  MatType     type;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-again", &again, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-linear", &linear, nullptr));
  PetscCheck(n > 0 && n % 2 == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " must be even and positive", n);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const Grid coarse{n / 2, n / 2 * rank / size, n / 2 * (rank + 1) / size}, fine{n, 2 * coarse.first, 2 * coarse.last};
  PetscCall(Stencil(fine, &A));
  PetscCall(Interpolation(fine, coarse, linear, &P));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %" PetscInt_FMT " rows, %d ranks\n", type, n * n * n, (int)size));
  PetscCall(Report("A A", MATPRODUCT_AB, A, A, again));
  PetscCall(Report("A^T A", MATPRODUCT_AtB, A, A, again));
  PetscCall(Report("A P", MATPRODUCT_AB, A, P, again));
  PetscCall(Report("P^T A P", MATPRODUCT_PtAP, A, P, again));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(PetscLogDefaultBegin()); // counts copies
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
