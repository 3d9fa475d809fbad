static const char help[] = "One rank lacks memory of the GPU: every rank must get the error, and none may hang.\n\n";

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
int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"scratch", Scratch}});
}
