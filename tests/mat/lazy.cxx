static const char help[] = "auto converts once that pays; the bits of products stay the same.\n\n";

#include "memory_limit.hpp"
#include "lazy_pair.hpp"

using namespace testing;

static PetscErrorCode Bits()
{
  PetscFunctionBeginUser;
  if (!DIA_PAYS) return Skip("dia is not faster here");
  for (const Expectation &e : Expectations()) {
    LazyPair pair;
    PetscCall(pair.Create(PETSC_COMM_SELF, e.p, "kokkos"));
    PetscCall(CheckChange(&pair, e.host, e.p.name));
    PetscCall(pair.Destroy());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One product neither looks at the matrix nor converts it; unless that is asked for.
static PetscErrorCode Off()
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  for (bool lazy : {true, false}) {
    const Option option("-mat_sparsegpu_auto_lazy", lazy ? "1" : "0");
    Counts       counts;
    Mat          A;
    Vec          x, y;
    PetscCall(CreateMatrix(Stencil(), MATSPARSEGPU, "auto", &A));
    PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(Count(&counts));
    PetscCall(MatMult(A, x, y));
    PetscCall(Count(&counts));
    PetscCheck(counts.choices == (lazy ? 0 : 1) && counts.conversions == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " choices, %" PetscInt_FMT " conversions", lazy ? "lazy" : "not lazy",
               counts.choices, counts.conversions);
    PetscCall(CheckRanOn(A, lazy ? "csr" : "stencil", lazy ? "lazy" : "not lazy"));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values in a converted matrix: csr again until bringing them up to date pays. Values that the choice cannot hold
/// lead to another one.
static PetscErrorCode Values()
{
  PetscFunctionBeginUser;
  if (!DIA_PAYS) return Skip("dia is not faster here");
  for (const Expectation &e : Expectations()) {
    LazyPair pair;
    if (!strcmp(e.host, "csr")) continue;
    PetscCall(pair.Create(PETSC_COMM_SELF, e.p, "kokkos"));
    PetscCall(CheckChange(&pair, e.host, e.p.name));
    for (PetscReal factor : {0.3, 1.7}) {
      PetscCall(pair.Both([&](Mat A) { return MatScale(A, (PetscScalar)factor); }));
      PetscCall(CheckChange(&pair, e.host, e.p.name + ", other values"));
    }
    PetscCall(pair.Destroy());
  }
  LazyPair    pair;
  PetscInt    products = 0;
  std::string reason;
  PetscCall(pair.Create(PETSC_COMM_SELF, Stencil(), "kokkos"));
  for (bool converted : {false, true}) {
    PetscCall(pair.Multiply(converted ? 300 : 1, "constant rows"));
    PetscCall(pair.Announced(&products, &reason)); // now the choice is made
    PetscCheck(converted == (products == 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", reason.c_str());
    PetscCall(pair.Both([](Mat A) {
      Vec d;
      PetscFunctionBeginUser;
      PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &d));
      PetscCall(SetVector(d, Input(20000, 77, Poison::None)));
      PetscCall(MatDiagonalScale(A, d, nullptr));
      PetscCall(VecDestroy(&d));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(pair.Multiply(300, "rows that differ"));
    PetscCall(CheckRanOn(pair.lazy(), "dia", "rows that differ"));
    if (converted) break;
    PetscCall(pair.Destroy());
    PetscCall(pair.Create(PETSC_COMM_SELF, Stencil(), "kokkos"));
  }
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Few products an assembly: bringing values up to date never pays, whatever their sum; nor does the conversion.
static PetscErrorCode Few()
{
  LazyPair pair;
  Counts   counts;

  PetscFunctionBeginUser;
  if (!DIA_PAYS) return Skip("dia is not faster here");
  PetscCall(PetscLogDefaultBegin());
  PetscCall(pair.Create(PETSC_COMM_SELF, Expectations()[1].p, "kokkos"));
  PetscCall(pair.Multiply(1, "few"));
  PetscCall(Count(&counts));
  for (int assembly = 0; assembly < 100; ++assembly) {
    PetscCall(pair.Both([](Mat A) { return MatScale(A, (PetscReal)0.9); }));
    PetscCall(pair.Multiply(2, "few"));
  }
  PetscCall(Count(&counts));
  PetscCheck(counts.conversions == 0 && counts.choices == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " conversions, %" PetscInt_FMT " choices", counts.conversions, counts.choices);
  PetscCall(CheckRanOn(pair.lazy(), "csr", "two products an assembly"));
  PetscCall(pair.Multiply(100, "few"));
  PetscCall(CheckRanOn(pair.lazy(), "dia", "many in the end"));
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A new pattern starts the wait again.
static PetscErrorCode Pattern()
{
  LazyPair pair;

  PetscFunctionBeginUser;
  if (!DIA_PAYS) return Skip("dia is not faster here");
  PetscCall(pair.Create(PETSC_COMM_SELF, WithHoles(), "kokkos"));
  for (PetscInt k = 0; k < 3; ++k) {
    PetscCall(CheckChange(&pair, "dia", "pattern " + std::to_string(k)));
    PetscCall(pair.Both([&](Mat A) { return FillHole(A, k); }));
  }
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On a GPU: only where csr has one thread a row by itself, and of real numbers.
static PetscErrorCode Device()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  LazyPair         pair;
  MatSparseGPUInfo info;
  PetscCall(pair.Create(PETSC_COMM_SELF, conformance::Banded("tridiagonal", 300000, 300000, {-1, 0, 1}), "cuda"));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(pair.Multiply(1, "tridiagonal"));
  PetscCall(CheckRanOn(pair.lazy(), "dia", "tridiagonal"));
#else
  PetscCall(CheckChange(&pair, "dia", "tridiagonal"));
  PetscCall(pair.Both([](Mat A) { return MatScale(A, (PetscReal)0.7); }));
  PetscCall(pair.Multiply(2, "tridiagonal, other values"));
  PetscCall(CheckRanOn(pair.lazy(), "dia", "tridiagonal, other values"));
#endif
  PetscCall(pair.Destroy());
  PetscCall(
      pair.Create(PETSC_COMM_SELF, conformance::Banded("five diagonals", 300000, 300000, {-9, -1, 0, 1, 9}), "cuda"));
  PetscCall(pair.Multiply(1, "five diagonals"));
  PetscCall(MatSparseGPUGetInfo(pair.lazy(), &info));
  PetscCheck(strcmp(info.format, "csr"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "csr first, though its bits differ: %s",
             info.reason);
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A conversion in the midst of a solve that finds no memory leaves csr.
static PetscErrorCode NoMemory()
{
  LazyPair    pair;
  PetscInt    products = 0;
  std::string reason;

  PetscFunctionBeginUser;
  if (!DIA_PAYS) return Skip("dia is not faster here");
  PetscCall(
      pair.Create(PETSC_COMM_SELF, conformance::Banded("large", 1000000, 1000000, {-100, -1, 0, 1, 100}), "kokkos"));
  PetscCall(pair.Multiply(1, "large"));
  PetscCall(pair.Announced(&products, &reason));
  PetscCheck(products > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", reason.c_str());
  PetscCall(pair.Multiply(products - 1, "large"));
  {
    const MemoryLimit limit(4000000); // dia takes ten times that
    if (!limit.works()) PetscCall(Skip("no limit to memory here"));
    if (limit.works()) PetscCall(pair.Multiply(3, "large, without memory"));
  }
  if (SkipReason().empty()) {
    PetscCall(CheckRanOn(pair.lazy(), "csr", "large, without memory"));
    PetscCall(pair.Announced(&products, &reason));
    PetscCall(CheckText("reason", reason, {"no memory for dia"}));
  }
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"bits", Bits},
               {"off", Off},
               {"values", Values},
               {"few", Few},
               {"pattern", Pattern},
               {"device", Device},
               {"no_memory", NoMemory}});
}
