static const char help[] =
    "One rank lacks memory of the GPU: every rank must get the error, or do the work in another way, and none may hang.\n"
    "\n";

#include "../family.hpp"

using namespace testing;

/// The last rank has memory for its block, and none for a copy of the vectors that lie on the host.
static PetscErrorCode Scratch()
{
  const PetscInt       rows = 50, cols = 50000; // of each rank: 400 KB of x
  conformance::Builder b("wide", rows * PetscGlobalSize, cols * PetscGlobalSize);
  PetscBool            device;
  std::string          message;
  Mat                  A;
  Vec                  x, y;

  PetscFunctionBeginUser;
  if (PetscGlobalRank == PetscGlobalSize - 1) // before the device is asked for the first time
    PetscCall(PetscOptionsSetValue(nullptr, "-sparsegpu_device_largest_array", "100000"));
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < rows * PetscGlobalSize; ++i)
    for (PetscInt k = 0; k < 4; ++k) b.Add(i, (i * 997 + k * cols) % (cols * PetscGlobalSize));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, b, MATSPARSEGPU, "csr", Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
  PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(ExpectError(
      "scratch", [&] { return MatMult(A, x, y); }, &message));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); // none is stuck inside
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The last rank has memory for its operands, and none for the columns of the terms of their product: the product is
/// the host's on all ranks, and right.
static PetscErrorCode Products()
{
  const PetscInt       rows = 4000, all = rows * PetscGlobalSize;
  conformance::Builder b("spread", all, all);
  PetscBool            device;
  Mat                  A, C;
  Vec                  x, y, z, w;
  PetscReal            off, size;

  PetscFunctionBeginUser;
  if (PetscGlobalRank == PetscGlobalSize - 1)
    PetscCall(PetscOptionsSetValue(nullptr, "-sparsegpu_device_largest_array", "1000000"));
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < all; ++i)
    for (PetscInt k = 0; k < 8; ++k) b.Add(i, (i * 997 + k * 1501) % all);
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, b, MATSPARSEGPU, "csr", Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(VecSetRandom(x, nullptr));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatSparseGPUSetBackend(C, "kokkos")); // a rank has no memory for C either
  for (PetscReal factor : {1.0, 2.0}) {           // again with new values
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(A, y, z));
    PetscCall(MatMult(C, x, w));
    PetscCall(VecNorm(z, NORM_2, &size));
    PetscCall(VecAXPY(w, -1, z));
    PetscCall(VecNorm(w, NORM_2, &off));
    PetscCheck(off <= 100 * 64 * PETSC_MACHINE_EPSILON * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Off by %g of %g",
               (double)off, (double)size);
    PetscCall(MatScale(A, factor * 2));
    PetscCall(MatMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  }
  for (Vec *v : {&x, &y, &z, &w}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"scratch", Scratch}, {"products", Products}});
}
