static const char help[] =
    "Copies of a matrix inherit the count of products before a conversion, and the choice of the format.\n\n";

#include "lazy_pair.hpp"

using namespace testing;

/// Copies do not look again, whatever their values; but they do where their pattern has changed.
static PetscErrorCode Duplicate()
{
  PetscFunctionBeginUser;
  if (!INDICES_PAY) return Skip("skipped: complex numbers and short indices stay with csr on the CPU");
  PetscCall(PetscLogDefaultBegin());
  for (bool another_pattern : {false, true})
    for (MatDuplicateOption option : {MAT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN, MAT_DO_NOT_COPY_VALUES}) {
      const Problem     p = WithHoles();
      LazyPair          pair;
      Counts            counts;
      Mat               B;
      const std::string what =
          std::string(another_pattern ? "another" : "the same") + " pattern, copy " + std::to_string((int)option);
      if (another_pattern && option == MAT_SHARE_NONZERO_PATTERN) continue;
      PetscCall(pair.Create(PETSC_COMM_SELF, p, "kokkos"));
      PetscCall(pair.Multiply(200, what));
      PetscCall(CheckRanOn(pair.lazy(), "dia", what));
      PetscCall(MatDuplicate(pair.lazy(), option, &B));
      PetscCall(MatCopy(pair.lazy(), B, SAME_NONZERO_PATTERN));
      PetscCall(pair.Replace(B));
      if (another_pattern) PetscCall(pair.Both([](Mat A) { return FillHole(A, 3); }));
      PetscCall(Count(&counts));
      PetscCall(CheckChange(&pair, "dia", what));
      PetscCall(Count(&counts));
      const PetscInt choices     = another_pattern ? 2 : 0; // the eager surrogate's as well
      const PetscInt conversions = another_pattern ? 3 : 2; // csr and dia, and the eager surrogate's
      PetscCheck(counts.choices == choices && counts.conversions == conversions, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " choices, %" PetscInt_FMT " conversions", what.c_str(), counts.choices,
                 counts.conversions);
      PetscCall(pair.Destroy());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In parallel both blocks wait, and those of a copy do not look again.
static PetscErrorCode BothBlocks()
{
  const Problem p = conformance::Banded("diagonals", 60000, 60000, {-100, -1, 0, 1, 100});
  LazyPair      pair;
  Counts        counts;
  Mat           B;
  std::string   text;

  PetscFunctionBeginUser;
  if (!INDICES_PAY) return Skip("skipped: complex numbers and short indices stay with csr on the CPU");
  PetscCall(PetscLogDefaultBegin());
  PetscCall(pair.Create(PETSC_COMM_WORLD, p, "kokkos"));
  PetscCall(pair.Multiply(1, "blocks"));
  PetscCall(CheckRanOn(pair.lazy(), "csr", "blocks, one product"));
  PetscCall(pair.Multiply(200, "blocks"));
  PetscCall(CheckRanOn(pair.lazy(), "dia", "blocks"));
  PetscCall(MatDuplicate(pair.lazy(), MAT_COPY_VALUES, &B));
  PetscCall(pair.Replace(B));
  PetscCall(Count(&counts));
  PetscCall(pair.Multiply(1, "blocks of a copy"));
  PetscCall(CheckRanOn(B, "csr", "blocks of a copy, one product"));
  PetscCall(ViewText(B, PETSC_VIEWER_ASCII_INFO_DETAIL, "lazy_blocks", &text));
  if (PetscGlobalRank == 0) PetscCall(CheckText("view", text, {"csr until ", "1 are done, then dia"}));
  PetscCall(pair.Multiply(200, "blocks of a copy"));
  PetscCall(CheckRanOn(B, "dia", "blocks of a copy"));
  PetscCall(Count(&counts));
  PetscCheck(counts.choices == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " choices", counts.choices);
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the device a copy does not look again as long as nothing has been written to it.
static PetscErrorCode OnDevice()
{
  const Problem p = conformance::Banded("five diagonals", 300000, 300000, {-9, -1, 0, 1, 9});
  PetscBool     device;
  LazyPair      pair;
  Counts        counts;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogDefaultBegin());
  for (bool written : {false, true}) {
    Mat B;
    PetscCall(pair.Create(PETSC_COMM_SELF, p, "cuda"));
    PetscCall(pair.Multiply(1, "five diagonals"));
    PetscCall(MatDuplicate(pair.lazy(), MAT_COPY_VALUES, &B));
    PetscCall(pair.Replace(B));
    if (written) PetscCall(pair.Both([](Mat A) { return MatScale(A, (PetscReal)0.7); }));
    PetscCall(Count(&counts));
    PetscCall(pair.Multiply(1, "a copy of five diagonals"));
    PetscCall(Count(&counts));
    PetscCheck((counts.choices > 0) == written, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " choices of a copy%s", counts.choices, written ? " that has been written to" : "");
    PetscCall(pair.Destroy());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"duplicate", Duplicate}, {"blocks", BothBlocks}, {"copy_on_device", OnDevice}});
}
