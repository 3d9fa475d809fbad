static const char help[] =
    "PETSc's point-block Jacobi with our matrices: on a GPU in tiles there, elsewhere as PETSc does it.\n\n";

#include "nodes.hpp"

using namespace testing;

namespace
{
const std::vector<Nodes> CASES = {{40, {1}}, {40, {2}}, {40, {3}}, {12, {6}}, {5, {17}}, {10, {1, 4, 2, 9, 3}}};

const char *TypeOf(const Nodes &nodes)
{
  return nodes.sizes.size() > 1 ? PCVPBJACOBI : PCPBJACOBI;
}
std::string NameOf(const Nodes &nodes, const std::string &backend, bool turned)
{
  return std::string(TypeOf(nodes)) + " with blocks of " + std::to_string(nodes.sizes[0]) +
         (nodes.sizes.size() > 1 ? " and other" : "") + " rows on " + backend + (turned ? ", turned" : "");
}

/// The preconditioner of A, applied to 1, 2, 3 ... as it is or transposed.
PetscErrorCode Applied(PC pc, Mat A, bool transpose, std::vector<PetscScalar> *entries)
{
  const PetscScalar *array;
  PetscScalar       *to;
  PetscInt           n, first;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetOwnershipRange(b, &first, nullptr));
  PetscCall(VecGetArrayWrite(b, &to));
  for (PetscInt i = 0; i < n; ++i) to[i] = (PetscReal)(first + i + 1) / 16;
  PetscCall(VecRestoreArrayWrite(b, &to));
  PetscCall(transpose ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x));
  PetscCall(VecGetArrayRead(x, &array));
  entries->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The blocks are diagonally dominant, or are so turned: their condition is below 8, so that both solutions are within
/// some hundred roundings of the exact one.
PetscErrorCode CheckClose(const std::vector<PetscScalar> &ours, const std::vector<PetscScalar> &petsc,
                          const std::string &what)
{
  PetscReal largest = 0;

  PetscFunctionBeginUser;
  for (const PetscScalar &v : petsc) largest = PetscMax(largest, PetscAbsScalar(v));
  for (size_t i = 0; i < petsc.size(); ++i)
    PetscCheck(PetscAbsScalar(ours[i] - petsc[i]) <= 512 * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: entry %d is off by %g", what.c_str(), (int)i,
               (double)PetscAbsScalar(ours[i] - petsc[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakePC(Mat A, const char type[], PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetUp(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Against the same preconditioner of a plain matrix, for values that change and a type that does.
PetscErrorCode Same()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Nodes &nodes : CASES)
      for (const bool turned : {false, true}) {
        Mat A[2];
        PC  pc[2];
        PetscCall(CreateNodes(nodes, MATAIJ, "", turned, &A[0]));
        PetscCall(CreateNodes(nodes, MATSPARSEGPU, backend, turned, &A[1]));
        for (int k = 0; k < 2; ++k) PetscCall(MakePC(A[k], TypeOf(nodes), &pc[k]));
        for (const char *step : {"", ", new values", ", jacobi between"}) {
          for (int k = 0; k < 2; ++k) {
            if (!strcmp(step, ", new values")) PetscCall(MatScale(A[k], 3));
            if (!strcmp(step, ", jacobi between")) {
              PetscCall(PCSetType(pc[k], PCJACOBI));
              PetscCall(PCSetUp(pc[k]));
              PetscCall(PCSetType(pc[k], TypeOf(nodes)));
            }
            PetscCall(PCSetUp(pc[k]));
          }
          for (const bool transpose : {false, true}) {
            std::vector<PetscScalar> entries[2];
            PetscBool                has;
            PetscCall(PCApplyTransposeExists(pc[0], &has)); // older releases lack that of PCVPBJACOBI
            if (transpose && !has) continue;
            for (int k = 0; k < 2; ++k) PetscCall(Applied(pc[k], A[k], transpose, &entries[k]));
            PetscCall(CheckClose(entries[1], entries[0],
                                 NameOf(nodes, backend, turned) + (transpose ? ", transposed" : "") + step));
          }
        }
        for (int k = 0; k < 2; ++k) {
          PetscCall(PCDestroy(&pc[k]));
          PetscCall(MatDestroy(&A[k]));
        }
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Against a plain matrix again, when the pattern or the sizes of the blocks change while PETSc's nonzero state does
/// not: after a sum with another pattern, an exchange of the matrix's insides, and other sizes.
PetscErrorCode Changed()
{
  std::vector<std::string> backends;
  const Nodes              first = CASES.back(), nodes = {10, {3, 1, 9, 4, 2}};

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const std::string change : {"other sizes", "MatAXPY", "MatHeaderReplace"}) {
      std::vector<PetscScalar> entries[2];
      for (int ours = 0; ours < 2; ++ours) {
        Mat             A, B;
        PC              pc;
        PetscInt        count;
        const PetscInt *sizes;
        PetscCall(CreateNodes(first, ours ? MATSPARSEGPU : MATAIJ, backend, false, &A));
        PetscCall(CreateNodes(nodes, ours ? MATSPARSEGPU : MATAIJ, backend, false, &B));
        PetscCall(MakePC(A, PCVPBJACOBI, &pc));
        PetscCall(MatGetVariableBlockSizes(B, &count, &sizes));
        if (change == "MatAXPY") PetscCall(MatAXPY(A, 4, B, DIFFERENT_NONZERO_PATTERN));
        if (change == "MatHeaderReplace") PetscCall(MatHeaderReplace(A, &B));
        if (change != "MatHeaderReplace") PetscCall(MatSetVariableBlockSizes(A, count, const_cast<PetscInt *>(sizes)));
        PetscCall(MatScale(A, 2));
        PetscCall(PCSetUp(pc));
        PetscCall(Applied(pc, A, false, &entries[ours]));
        PetscCall(PCDestroy(&pc));
        PetscCall(MatDestroy(&A));
        PetscCall(MatDestroy(&B));
      }
      PetscCall(CheckClose(entries[1], entries[0], change + " on " + backend));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The view says where the blocks are, and is PETSc's where PETSc does the work.
PetscErrorCode Told()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Nodes &nodes : {CASES[2], CASES.back()}) {
      Mat         A;
      PC          pc;
      std::string text;
      PetscCall(CreateNodes(nodes, MATSPARSEGPU, backend, false, &A));
      PetscCall(MakePC(A, TypeOf(nodes), &pc));
      PetscCall(
          TextOf(PETSC_COMM_WORLD, "point_blocks", &text, [&](PetscViewer viewer) { return PCView(pc, viewer); }));
      if (PetscGlobalRank > 0) text = backend == "cuda" ? "rows on cuda" : "";
      const bool there = text.find("rows on cuda") != std::string::npos;
      PetscCheck(there == (backend == "cuda"), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s:\n%s",
                 NameOf(nodes, backend, false).c_str(), text.c_str());
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A singular block ends the solve softly, with PETSc's reason.
PetscErrorCode Singular()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    const Nodes        nodes = CASES[2];
    PetscInt           first;
    KSP                ksp;
    PC                 pc;
    Vec                x, b;
    Mat                A;
    KSPConvergedReason reason;
    PetscCall(CreateNodes(nodes, MATSPARSEGPU, backend, false, &A));
    PetscCall(MatGetOwnershipRange(A, &first, nullptr));
    for (PetscInt i = first; i < first + 3; ++i)
      for (PetscInt j = first; j < first + 3; ++j) PetscCall(MatSetValue(A, i, j, 0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCPBJACOBI));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED || reason == KSP_DIVERGED_NANORINF, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "A block of zeros on %s: %s", backend.c_str(), KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"changed", Changed}, {"told", Told}, {"singular", Singular}});
}
