static const char help[] =
    "Block Jacobi with small blocks under KSP: the iterations of PETSc's point-block Jacobi, in parallel, too.\n\n";

#include "nodes.hpp"

using namespace testing;

static PetscErrorCode CheckIterations(const Nodes &nodes, const char baseline[], const char ksp_type[], bool turned,
                                      const std::string &what)
{
  std::vector<std::string> backends;
  PetscInt                 petsc[2], ours[2];
  KSPConvergedReason       reason[2];
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(CreateNodes(nodes, MATAIJ, "", turned, &A));
  PetscCall(Solve(A, baseline, ksp_type, petsc, reason));
  PetscCheck(reason[0] > 0 && reason[1] > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s, %s: reasons %d, %d",
             what.c_str(), baseline, (int)reason[0], (int)reason[1]);
  PetscCall(MatDestroy(&A));
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    PetscCall(CreateNodes(nodes, MATSPARSEGPU, backend, turned, &A));
    PetscCall(Solve(A, PCSPARSEGPU, ksp_type, ours, reason));
    for (int round = 0; round < 2; ++round)
      PetscCheck(reason[round] > 0 && std::abs(ours[round] - petsc[round]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s on %s: %d iterations (reason %d), %s takes %d", what.c_str(), backend.c_str(), (int)ours[round],
                 (int)reason[round], baseline, (int)petsc[round]);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations()
{
  const Option factor("-pc_sparsegpu_factor", "blocks");

  PetscFunctionBeginUser;
  for (PetscInt size : {1, 2, 3, 5, 8, 13, 33})
    for (const char *ksp : {KSPGMRES, KSPBICG}) // the latter applies the transpose
      for (const char *pivot : {"partial", "none"}) {
        const Option      pivoting("-pc_sparsegpu_block_pivot", pivot);
        const std::string what = "blocks of " + std::to_string(size) + ", " + ksp + ", pivoting " + pivot;
        PetscCall(CheckIterations(Nodes{40, {size}}, PCPBJACOBI, ksp, false, what));
        if (pivot[0] == 'p') PetscCall(CheckIterations(Nodes{40, {size}}, PCPBJACOBI, ksp, true, what + ", turned"));
      }
  for (bool turned : {false, true})
    PetscCall(CheckIterations(Nodes{50, {1, 4, 2, 7, 3}}, PCVPBJACOBI, KSPGMRES, turned, "variable blocks"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of blocks alone is solved at once, by the block size of the option against that of the matrix, with a
/// shorter block at the end; and the blocks are found once for all values.
static PetscErrorCode Exact()
{
  const Option             factor("-pc_sparsegpu_factor", "blocks"), size("-pc_sparsegpu_block_size", "6");
  const PetscInt           n = 20; // rows of a process: 6 + 6 + 6 + 2
  std::vector<std::string> backends;
  PetscInt                 iterations[2], before = 0, after = 0;
  KSPConvergedReason       reason[2];

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    conformance::Builder b("blocks", n * PetscGlobalSize, n * PetscGlobalSize);
    Mat                  A;
    for (PetscInt i = 0; i < n * PetscGlobalSize; ++i)
      for (PetscInt j = i / n * n + i % n / 6 * 6; j < PetscMin(i / n * n + n, i / n * n + i % n / 6 * 6 + 6); ++j)
        b.Add(i, j, conformance::Value((unsigned long long)(i * 71 + j)) + (PetscReal)(i == j ? 9 : 0));
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, b, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
    PetscCall(EventCount("SparseGPUAnalys", &before));
    PetscCall(Solve(A, PCSPARSEGPU, KSPRICHARDSON, iterations, reason));
    PetscCall(EventCount("SparseGPUAnalys", &after));
    PetscCheck(iterations[0] == 1 && iterations[1] == 1 && reason[0] > 0 && reason[1] > 0, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "%s: %d and %d iterations, reasons %d, %d", backend.c_str(), (int)iterations[0],
               (int)iterations[1], (int)reason[0], (int)reason[1]);
    PetscCheck(after == before + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %d analyses", backend.c_str(),
               (int)(after - before));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A zero pivot ends the solve with the reason PETSc's users know, the next values are a new chance; a row swap saves
/// the block that only pivoting can factor.
static PetscErrorCode ZeroPivot()
{
  const Option             factor("-pc_sparsegpu_factor", "blocks"), size("-pc_sparsegpu_block_size", "2");
  const PetscInt           n = 30 * PetscGlobalSize, last = n - 1;
  std::vector<std::string> backends;
  PetscInt                 iterations[2];
  KSPConvergedReason       reason[2];

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (bool swap : {false, true})
      for (const char *pivot : {"partial", "none"}) {
        const Option         pivoting("-pc_sparsegpu_block_pivot", pivot);
        const std::string    what = backend + (swap ? ", swap" : ", zero row") + ", pivoting " + pivot;
        conformance::Builder b("zero_pivot", n, n);
        Mat                  A;
        for (PetscInt r = 0; r < n; ++r) {
          b.Add(r, r, r < n - 2 ? 2 : r == last || swap ? 0 : 2);
          if (r >= n - 2) b.Add(r, 2 * n - 3 - r, swap ? 2 : 0);
        }
        PetscCall(CreateMatrix(PETSC_COMM_WORLD, b, MATSPARSEGPU, nullptr, Layout::Even, &A));
        PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
        PetscCall(Solve(A, PCSPARSEGPU, KSPRICHARDSON, iterations, reason));
        const bool fails = !swap || pivot[0] == 'n';
        PetscCheck(fails ? reason[0] == KSP_DIVERGED_PC_FAILED : reason[0] > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s: reason %d", what.c_str(), (int)reason[0]);
        PetscCheck(reason[1] > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, after the shift: reason %d", what.c_str(),
                   (int)reason[1]);
        PetscCall(MatShift(A, -1));
        if (fails && PetscGlobalSize == 1) { // one process alone would leave the others waiting
          const Option error("-ksp_error_if_not_converged", "1");
          std::string  message;
          PetscCall(ExpectError(
              what, [&] { return Solve(A, PCSPARSEGPU, KSPRICHARDSON, iterations, reason); }, &message));
          PetscCall(CheckText(what, message, {"row " + std::to_string(swap ? n - 2 : n - 1)}));
        }
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sizes that cannot be are errors that name them.
static PetscErrorCode BadSizes()
{
  const Option             factor("-pc_sparsegpu_factor", "blocks");
  const Problem            p = conformance::Grid("grid_40x37", 40, 37, false);
  std::vector<std::string> backends;
  std::string              message;
  PetscInt                 iterations[2];
  KSPConvergedReason       reason[2];
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    PetscCall(CreateOn(backend, p, &A));
    for (const char *size : {"0", "-4", "1300"}) {
      const Option      option("-pc_sparsegpu_block_size", size);
      const std::string what = std::string("block size ") + size + " on " + backend;
      PetscCall(ExpectError(
          what, [&] { return Solve(A, PCSPARSEGPU, KSPGMRES, iterations, reason); }, &message,
          PETSC_ERR_ARG_OUTOFRANGE));
      PetscCall(CheckText(what, message, {size, "-pc_sparsegpu_block_size"}));
    }
    const PetscInt sizes[] = {p.rows, 0};
    PetscCall(MatSetVariableBlockSizes(A, 2, const_cast<PetscInt *>(sizes)));
    PetscCall(ExpectError(
        "variable block of 0 rows", [&] { return Solve(A, PCSPARSEGPU, KSPGMRES, iterations, reason); }, &message,
        PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(CheckText("variable block of 0 rows", message, {"Block 1", "0 rows"}));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ranks without rows, other kinds of factors before and after on the same PC, and what the view tells.
static PetscErrorCode Changes()
{
  const Problem      p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  KSPConvergedReason reason;
  std::string        text;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::FirstEmpty, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  for (const char *factor : {"ilu", "blocks", "none", "blocks"})
    for (const char *size : {"4", "11"}) {
      const Option type("-pc_type", PCSPARSEGPU), kind("-pc_sparsegpu_factor", factor),
          rows("-pc_sparsegpu_block_size", size);
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(VecSet(x, 0));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s, %s: reason %d", factor, size, (int)reason);
      PetscCall(
          TextOf(PETSC_COMM_WORLD, "blocks_view", &text, [&](PetscViewer viewer) { return KSPView(ksp, viewer); }));
      if (factor[0] == 'b' && PetscGlobalRank == 0)
        PetscCall(CheckText(std::string("view of ") + size, text,
                            {"LU of small blocks, partial pivoting",
                             PetscGlobalSize == 1 ? std::string("to ") + size + " rows" : " 0 blocks"}));
    }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"iterations", Iterations},
               {"exact", Exact},
               {"zero_pivot", ZeroPivot},
               {"bad_sizes", BadSizes},
               {"changes", Changes}});
}
