static const char help[] = "Blocks of entries: sizes found, given by MATBAIJ and asked for.\n\n";

#include "../family.hpp"

#include <array>

using namespace testing;

/// Runs of `size` unknowns, each coupled to the run before and after it; of a matrix type that knows blocks of `block`.
static PetscErrorCode CreateBlocked(PetscInt size, PetscInt block, Problem *p, Mat *A)
{
  const PetscInt       nodes = 120, n = nodes * size;
  conformance::Builder b("blocked", n, n);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j)
      if (std::abs(i / size - j / size) < 2) b.Add(i, j);
  *p = b;
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, block, n, n, 3 * size / block, nullptr, A));
  for (const conformance::Entry &e : p->entries) PetscCall(MatSetValue(*A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBlocks(Mat A, const Problem &p, const std::string &sizes, const std::string &what)
{
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(CheckProductsPoisoned(A, p, what));
  PetscCall(CheckRanOn(A, "bsr", what));
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCall(CheckText(what, info.details, {"blocks of " + sizes, " 0.0 % of them partial"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix that was MATBAIJ keeps its block size where another would save little, and gets a better one where not.
static PetscErrorCode Born()
{
  constexpr PetscInt       PER_SIX = sizeof(PetscScalar) > 4 ? 3 : 6; // columns weigh more beside values of four bytes
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const auto &sizes : {std::array<PetscInt, 3>{6, 3, PER_SIX}, {6, 2, 6}, {3, 3, 3}, {4, 1, 4}, {5, 5, 5}})
    for (const std::string &backend : backends) {
      Problem p;
      Mat     A, B;
      PetscCall(CreateBlocked(sizes[0], sizes[1], &p, &B));
      PetscCall(MatConvert(B, MATSPARSEGPU, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatSparseGPUSetFormat(A, "bsr"));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(CheckBlocks(A, p, std::to_string(sizes[2]) + " x " + std::to_string(sizes[2]),
                            "nodes of " + std::to_string(sizes[0]) + " as MATBAIJ of " + std::to_string(sizes[1])));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -mat_sparsegpu_bsr_block: any size from 2 to 6, or 0: what makes the fewest bytes.
static PetscErrorCode Asked()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (PetscInt size : {0, 2, 3, 4, 5, 6})
    for (const std::string &backend : backends) {
      const Option      option("-mat_sparsegpu_bsr_block", std::to_string(size));
      const Problem     p        = conformance::Nodes(4);
      const std::string what     = p.name + " in blocks of " + std::to_string(size) + " on " + backend;
      const std::string expected = std::to_string(size);
      MatSparseGPUInfo  info;
      Mat               A;
      PetscCall(CreateMatrix(p, MATSPARSEGPU, "bsr", &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(CheckProductsPoisoned(A, p, what));
      PetscCall(MatSparseGPUGetInfo(A, &info));
      PetscCall(CheckText(what, info.details, {size ? "blocks of " + expected + " x " + expected : "blocks of "}));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"born", Born}, {"asked", Asked}});
}
