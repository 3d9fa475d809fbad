static const char help[] = "What auto chooses on the CPU, and that the choice does not show in the bits.\n\n";

#include "codecs.hpp"

using namespace testing;

/// Nodes of three unknowns, each coupled to itself and to eleven others that are not the same distance away: no
/// diagonals, but blocks.
static Problem Blocks(bool few)
{
  const PetscInt   nodes = 3000;
  battery::Builder b(few ? "blocks of few values" : "blocks", 3 * nodes, 3 * nodes);
  for (PetscInt i = 0; i < nodes; ++i)
    for (PetscInt k = 0; k < 12; ++k) {
      const PetscInt other = k ? (i + k * 211 + i * k % 97) % nodes : i;
      for (PetscInt p = 0; p < 3; ++p)
        for (PetscInt q = 0; q < 3; ++q)
          if (few)
            b.Add(3 * i + p, 3 * other + q, (PetscReal)(p - q) / 3);
          else
            b.Add(3 * i + p, 3 * other + q);
    }
  return b;
}
static Problem Stencil()
{
  Problem p = battery::Banded("constant rows", 20000, 20000, {-100, -1, 0, 1, 100});
  for (battery::Entry &e : p.entries) e.v = e.i == e.j ? PetscScalar(4) : PetscScalar((PetscReal)-1 / 3);
  return p;
}

static PetscErrorCode Host()
{
  struct Expectation {
    Problem     p;
    const char *format;
  };
  PetscFunctionBeginUser;
  for (const Expectation &e : {Expectation{Stencil(), "stencil"},
                               {battery::Banded("diagonals", 20000, 20000, {-100, -1, 0, 1, 100}), "dia"},
                               {Blocks(false), "bsr"},
                               {Blocks(true), "bsr"},
                               {battery::PowerLaw(600), "csr"}}) {
    Run chosen, csr;
    Mat A;
    PetscCall(CreateMatrix(e.p, MATSPARSEGPU, "auto", &A));
    PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
    PetscCall(Products(A, e.p, &chosen));
    PetscCall(CheckRanOn(A, e.format, e.p.name));
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
