static const char help[] = "What auto chooses on the CPU, and that the choice does not show in the bits.\n\n";

#include "expected.hpp"

using namespace testing;

static PetscErrorCode Host()
{
  const Option eager("-mat_sparsegpu_auto_lazy", "0");

  PetscFunctionBeginUser;
  for (const Expectation &e : Expectations()) {
    Run chosen, csr;
    Mat A;
    PetscCall(CreateMatrix(e.p, MATSPARSEGPU, "auto", &A));
    PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
    PetscCall(Products(A, e.p, &chosen));
    PetscCall(CheckRanOn(A, e.host, e.p.name));
    PetscCall(MatDestroy(&A));
    PetscCall(Multiply(e.p, Coding{"csr", "full", 4, 1}, "kokkos", &csr));
    PetscCall(CheckBits(chosen, csr, true, e.p.name + ", auto against csr"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"host", Host}});
}
