static const char help[] =
    "Products of grids so large that a thread of the stencil kernel walks over several rows: the bits of sell.\n\n";

#include "../testing.hpp"
#include "../matrices.hpp"
#include "sparsegpu.h"

using namespace testing;

namespace
{
/// A grid without the last CUT rows, so that no walk ends with a line: its matrix has fewer rows than columns. Rows are
/// cut at the boundary; `cross`: without diagonal neighbours.
constexpr PetscInt CUT = 37;
struct Grid {
  const char *name;
  PetscInt    x, y, z;
  bool        cross;
};

PetscErrorCode Create(const Grid &g, Mat *A)
{
  const PetscInt           cols = g.x * g.y * g.z, n = cols - CUT;
  std::vector<PetscInt>    i{0}, j;
  std::vector<PetscScalar> a;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    conformance::EachNeighbour(g.x, g.y, g.z, r, [&](PetscInt d, PetscInt column) {
      if (g.cross && (d % 3 != 1) + (d / 3 % 3 != 1) + (d / 9 != 1) > 1) return;
      j.push_back(column);
      a.push_back(conformance::Value((unsigned long long)d));
    });
    i.push_back((PetscInt)j.size());
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, cols, n, cols));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i.data(), j.data(), a.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A x, A x + y and the same in place in this format; one x is infinite.
PetscErrorCode Products(Mat A, const char format[], std::vector<PetscScalar> *product)
{
  Vec                x, y, z;
  PetscScalar       *array;
  const PetscScalar *result;
  PetscInt           n, cols;
  MatSparseGPUInfo   info;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, &cols));
  PetscCall(MatSparseGPUSetFormat(A, format));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecGetArrayWrite(x, &array));
  for (PetscInt c = 0; c < cols; ++c) array[c] = conformance::Value(1000 + (unsigned long long)c);
  array[n / 3] = std::numeric_limits<PetscReal>::infinity();
  PetscCall(VecRestoreArrayWrite(x, &array));
  PetscCall(VecSet(y, (PetscReal)0.7));
  product->clear();
  for (int add : {0, 1, 2}) {
    PetscCall(VecSet(z, (PetscReal)(add == 2 ? 0.7 : 77)));
    PetscCall(add ? MatMultAdd(A, x, add == 2 ? z : y, z) : MatMult(A, x, z));
    PetscCall(VecGetArrayRead(z, &result));
    product->insert(product->end(), result, result + n);
    PetscCall(VecRestoreArrayRead(z, &result));
  }
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCheck(!strcmp(info.format, format), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Multiplied as %s, not as %s", info.format,
             format);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Complex products may be contracted in more than one way; each of 28 terms is below 3.
static bool Same(PetscScalar a, PetscScalar b)
{
#if defined(PETSC_USE_COMPLEX)
  if (PetscIsInfOrNanScalar(a) || PetscIsInfOrNanScalar(b)) return PetscIsInfOrNanScalar(a) == PetscIsInfOrNanScalar(b);
  return PetscAbsScalar(a - b) <= 2 * 32 * PETSC_MACHINE_EPSILON * 28 * 3;
#else
  return !memcmp(&a, &b, sizeof(a));
#endif
}

/// Rows enough for walks on a GPU of 190 multiprocessors.
static PetscErrorCode Walks()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Grid &g : {Grid{"5 points", 1001, 903, 1, true}, Grid{"7 points", 96, 97, 98, true},
                        Grid{"27 points", 95, 96, 97, false}, Grid{"3 points", 900001, 1, 1, true}})
    for (const std::string &backend : backends) {
      std::vector<PetscScalar> stencil, sell;
      Mat                      A;
      PetscCall(Create(g, &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(Products(A, "sell", &sell));
      PetscCall(Products(A, "stencil", &stencil));
      for (size_t r = 0; r < sell.size(); ++r)
        PetscCheck(Same(sell[r], stencil[r]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s on %s, entry %zu of %zu: %g as sell, %g as stencil", g.name, backend.c_str(), r, sell.size(),
                   (double)PetscRealPart(sell[r]), (double)PetscRealPart(stencil[r]));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"walks", Walks}});
}
