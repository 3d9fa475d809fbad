static const char help[] = "One rank's block refuses the format: every rank must get the error, and none may hang.\n\n";

#include "../family.hpp"

using namespace testing;

/// The diagonal, and one full row in the diagonal block of rank `absurd` only.
static Problem Subject(int absurd)
{
  const PetscInt       share = 3000, n = share * PetscGlobalSize;
  conformance::Builder b("one_absurd_rank", n, n);
  for (PetscInt i = 0; i < n; ++i) {
    b.Add(i, i);
    if (i >= share) b.Add(i, i - share); // coupling between the ranks
  }
  for (PetscInt j = 1; j < share; ++j) b.Add(absurd * share, absurd * share + j);
  return b;
}

/// Calls `op` on fresh vectors; every rank must see it fail.
template <class Call> static PetscErrorCode AllFail(Mat A, const std::string &what, Call op)
{
  Vec         x, y;
  std::string message;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
  PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 1));
  PetscCall(ExpectError(
      what, [&] { return op(A, x, y); }, &message)); // here each rank checks its own return code
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));       // and here none is stuck inside
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OneAbsurdRank()
{
  PetscFunctionBeginUser;
  for (const char *format : {"dia", "ell"})
    for (int absurd : {0, PetscGlobalSize - 1}) {
      const Problem     p    = Subject(absurd);
      const std::string what = std::string(format) + ", absurd on rank " + std::to_string(absurd);
      std::string       text;
      Mat               A;
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, Layout::Even, &A));
      PetscCall(AllFail(A, what + ", MatMult", MatMult));
      PetscCall(AllFail(A, what + ", MatMult again", MatMult));
      PetscCall(AllFail(A, what + ", MatMultAdd", [](Mat M, Vec x, Vec y) { return MatMultAdd(M, x, y, y); }));
      PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, "one_absurd_rank", &text));
      if (PetscGlobalRank == 0)
        PetscCall(CheckText(what, text, {std::string(format) + ", which was asked for, refuses 1 block)"}));
      PetscCall(MatSparseGPUSetFormat(A, "hyb"));
      PetscCall(CheckProducts(A, p, what + ", then hyb"));
      PetscCall(CheckRanOn(A, "hyb", what));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The refused backend is an error on every rank, too.
static PetscErrorCode NoDevice()
{
  PetscBool device;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (device) {
    PetscCall(Skip("there is a device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Option option("-sparsegpu_backend", "cuda");
  std::string  message;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 5, 5, PETSC_DETERMINE, PETSC_DETERMINE));
  const auto use = [A] {
    Vec x, y;
    PetscFunctionBeginUser;
    PetscCall(MatSetType(A, MATSPARSEGPU));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSetUp(A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatShift(A, 1));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(MatMult(A, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(ExpectError("-sparsegpu_backend cuda", use, &message));
  PetscCall(CheckText("-sparsegpu_backend cuda", message, {"-sparsegpu_backend cuda", "GPU"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"format", OneAbsurdRank}, {"no_device", NoDevice}});
}
