static const char help[] =
    "Entries that are set to zero, or dropped, for their values: MatSparseGPUFilter() and MatEliminateZeros(), of values\n"
    "that are away from the host.\n\n";

#include "hidden_pair.hpp"

using namespace testing;

namespace
{
constexpr PetscReal TOLERANCE = 0.75;

/// Entries of which some are zero and some small, on the diagonal, too, and one is no number if asked for.
Problem Sparse(bool nan)
{
  Problem p = WithValues(Coupled(), 0);

  for (size_t k = 0; k < p.entries.size(); ++k) {
    if (k % 5 == 0) p.entries[k].v = 0;
    if (k % 7 == 0) p.entries[k].v = (PetscReal)-0.625;
  }
  if (nan) p.entries[12].v = std::numeric_limits<PetscReal>::quiet_NaN();
  return p;
}

/// What is to be left of p: those below `tolerance` zero, and without zeros if `drop`, but on the diagonal if `keep`.
Problem Filtered(const Problem &p, PetscReal tolerance, bool drop, bool keep)
{
  Problem left = p;

  left.entries.clear();
  for (conformance::Entry e : p.entries) {
    if (PetscAbsScalar(e.v) <= tolerance) e.v = 0;
    if (!drop || e.v != (PetscScalar)0 || (keep && e.i == e.j)) left.entries.push_back(e);
  }
  return left;
}

/// The blocks of A on this rank, the second null for one of one process.
PetscErrorCode Blocks(Mat A, Mat blocks[2])
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  blocks[0] = A;
  blocks[1] = nullptr;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Has A as many entries as p, in this rank's rows?
PetscErrorCode CheckCount(Mat A, const Problem &p, const std::string &what)
{
  PetscInt begin, end;
  MatInfo  info;
  double   expected = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (const conformance::Entry &e : p.entries) expected += e.i >= begin && e.i < end;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCheck(info.nz_used == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g entries, not %g", what.c_str(),
             (double)info.nz_used, expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The host's arrays of values, null where there are none; `begun` false: they must hide their first one.
PetscErrorCode LookAtArrays(Mat A, bool begun, const PetscScalar *arrays[2], const std::string &what)
{
  Mat blocks[2];

  PetscFunctionBeginUser;
  PetscCall(Blocks(A, blocks));
  for (int b = 0; b < 2; ++b) {
    MatInfo info;
    if (begun) arrays[b] = nullptr;
    if (!blocks[b]) continue;
    PetscCall(MatGetInfo(blocks[b], MAT_LOCAL, &info));
    if (begun && info.nz_used > 0) {
      const PetscScalar *a;
      PetscCall(MatSeqAIJGetArrayRead(blocks[b], &a));
      arrays[b] = a;
      PetscCall(MatSeqAIJRestoreArrayRead(blocks[b], &a));
    }
    PetscCheck(begun || info.nz_used == 0 || arrays[b][0] != arrays[b][0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: the values of the %s block are on the host", what.c_str(), b ? "off-diagonal" : "diagonal");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `call`(A) leaves p of A, whose values a product has hidden, and brings none to the host. Everything that reads or
/// writes them afterwards is right.
template <class Call>
PetscErrorCode CheckLeft(const std::string &name, Layout layout, bool nan, const Problem &p, Call call)
{
  const std::string  what = name + ", " + Name(layout);
  const PetscScalar *arrays[2];
  Mat                A, B;
  Numbers            unused;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Sparse(nan), MATSPARSEGPU, "auto", layout, &A));
  PetscCall(LookAtArrays(A, true, arrays, what));
  PetscCall(Multiply(A, &unused));
  PetscCall(LookAtArrays(A, false, arrays, what + ", before"));
  PetscCall(call(A));
  PetscCall(CheckCount(A, p, what));
  PetscCall(LookAtArrays(A, false, arrays, what));
  PetscCall(MatScale(A, -2));
  PetscCall(MatScale(A, -0.5));
  PetscCall(LookAtArrays(A, false, arrays, what + ", scaled"));
  PetscCall(CheckProducts(A, p, what));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B)); // the host's values
  PetscCall(CheckProducts(B, p, what + ", as aij"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Layout SQUARE[] = {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast};

PetscErrorCode Zeroed()
{
  PetscFunctionBeginUser;
  for (Layout layout : SQUARE)
    for (bool nan : {false, true})
      for (PetscReal tolerance : {(PetscReal)0, TOLERANCE})
        PetscCall(CheckLeft("zeroed", layout, nan, Filtered(Sparse(nan), tolerance, false, false),
                            [tolerance](Mat A) { return MatSparseGPUFilter(A, tolerance, PETSC_FALSE, PETSC_FALSE); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 20, 0)
PetscErrorCode Dropped()
{
  PetscFunctionBeginUser;
  for (Layout layout : SQUARE)
    for (bool nan : {false, true})
      for (PetscBool keep : {PETSC_FALSE, PETSC_TRUE}) {
        PetscCall(CheckLeft("dropped", layout, nan, Filtered(Sparse(nan), TOLERANCE, true, keep),
                            [keep](Mat A) { return MatSparseGPUFilter(A, TOLERANCE, PETSC_TRUE, keep); }));
        PetscCall(CheckLeft("zeros", layout, nan, Filtered(Sparse(nan), 0, true, keep), [keep](Mat A) {
          PetscFunctionBeginUser;
          for (int times = 0; times < 2; ++times) PetscCall(MatEliminateZeros(A, keep)); // the second finds none
          PetscFunctionReturn(PETSC_SUCCESS);
        }));
      }
  PetscCall(CheckLeft("all", Layout::Even, false, Filtered(Sparse(false), 1000, true, false),
                      [](Mat A) { return MatSparseGPUFilter(A, 1000, PETSC_TRUE, PETSC_FALSE); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is viewed when the pattern has changed are the values; preconditioners hear of the change.
PetscErrorCode Told()
{
  std::string      text;
  Mat              A;
  Numbers          unused;
  PetscObjectState before, after;
  PetscBool        set, is;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Sparse(false), MATSPARSEGPU, "auto", Layout::Even, &A));
  PetscCall(MatSetOption(A, MAT_STRUCTURALLY_SYMMETRIC, PETSC_TRUE));
  PetscCall(Multiply(A, &unused));
  PetscCall(MatGetNonzeroState(A, &before));
  PetscCall(TextOf(PETSC_COMM_SELF, "filter" + std::to_string(PetscGlobalRank), &text, [A](PetscViewer viewer) {
    const char *name;
    PetscFunctionBeginUser;
    PetscCall(PetscViewerFileGetName(viewer, &name));
    const Option option("-mat_view", std::string("ascii:") + name + ":ascii_matlab:append");
    PetscCall(MatEliminateZeros(A, PETSC_FALSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (PetscGlobalRank == 0) PetscCall(CheckText("viewed", text, {"zzz"})); // the values, as Matlab reads them
  PetscCheck(text.find("nan") == std::string::npos && text.find("NaN") == std::string::npos, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "The host's stand-ins are viewed:\n%s", text.c_str());
  PetscCall(MatGetNonzeroState(A, &after));
  PetscCheck(after != before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The nonzero state has stayed");
  PetscCall(MatIsStructurallySymmetricKnown(A, &set, &is));
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size > 1 || !set, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Still known to be structurally symmetric");
  PetscCall(CheckProducts(A, Filtered(Sparse(false), 0, true, false), "told"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode Dropped()
{
  return Skip("MatEliminateZeros() is of PETSc 3.20 and later");
}
PetscErrorCode Told()
{
  return Dropped();
}
#endif

/// Bad input.
PetscErrorCode Refused()
{
  Mat         A, B;
  std::string message;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Sparse(false), MATSPARSEGPU, "auto", Layout::Even, &A));
  PetscCall(ExpectError(
      "tolerance", [A] { return MatSparseGPUFilter(A, (PetscReal)-0.5, PETSC_FALSE, PETSC_FALSE); }, &message,
      PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("tolerance", message, {"-0.5", "non-negative"}));
#if PETSC_VERSION_LT(3, 20, 0)
  PetscCall(ExpectError(
      "compress", [A] { return MatSparseGPUFilter(A, 1, PETSC_TRUE, PETSC_FALSE); }, &message, PETSC_ERR_SUP));
  PetscCall(CheckText("compress", message, {"3.20"}));
#endif
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(ExpectError(
      "type", [B] { return MatSparseGPUFilter(B, 1, PETSC_FALSE, PETSC_FALSE); }, &message, PETSC_ERR_ARG_WRONG));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, PETSC_DECIDE, PETSC_DECIDE, 60, 60));
  PetscCall(MatSetType(B, MATSPARSEGPU));
  PetscCall(ExpectError(
      "assembly", [B] { return MatSparseGPUFilter(B, 1, PETSC_FALSE, PETSC_FALSE); }, &message,
      PETSC_ERR_ARG_WRONGSTATE));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"zeroed", Zeroed}, {"dropped", Dropped}, {"told", Told}, {"refused", Refused}});
}
