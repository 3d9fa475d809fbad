static const char help[] = "Products with dense matrices, A B and A^T B, in one format on one backend.\n\
  -format NAME  -backend NAME\n\n";

#include "../family.hpp"

using namespace testing;

static const PetscInt COLUMNS[] = {0, 1, 2, 3, 7, 8, 9, 16, 33};

static std::string Wanted(const char option[], const char otherwise[])
{
  char      value[64] = "";
  PetscBool set;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetString(nullptr, nullptr, option, value, sizeof(value), &set));
  return set ? value : otherwise;
}

/// The types of dense matrices that can be used here: that of the host always.
static PetscErrorCode DenseTypes(std::vector<std::string> *types)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  types->assign(1, MATSEQDENSE);
#if defined(PETSC_HAVE_CUDA)
  if (device) types->push_back(MATSEQDENSECUDA);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column c of every dense operand; some have an Inf or NaN, which must stay in their own columns.
static std::vector<PetscScalar> Column(PetscInt rows, PetscInt c)
{
  return Input(rows, (unsigned long long)(1000 * c),
               c % 8 == 3   ? Poison::First
               : c % 8 == 6 ? Poison::Inside
                            : Poison::None);
}

/// A dense matrix of these columns; `gap` entries lie between one and the next, and hold `filling`.
static const PetscReal filling = 77;
static PetscErrorCode  CreateDense(PetscInt rows, PetscInt cols, PetscInt gap, const std::string &type, bool filled,
                                   Mat *B)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, B));
  PetscCall(MatSetSizes(*B, rows, cols, rows, cols));
  PetscCall(MatSetType(*B, MATSEQDENSE));
  if (gap) PetscCall(MatDenseSetLDA(*B, rows + gap));
  PetscCall(MatSetUp(*B));
  PetscCall(MatDenseGetArrayWrite(*B, &a));
  for (PetscInt c = 0; c < cols; ++c) {
    const std::vector<PetscScalar> column = Column(rows, c);
    for (PetscInt r = 0; r < rows + gap; ++r)
      a[c * (rows + gap) + r] = r < rows && filled ? column[(size_t)r] : PetscScalar(filling);
  }
  PetscCall(MatDenseRestoreArrayWrite(*B, &a));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  if (type != MATSEQDENSE) PetscCall(MatConvert(*B, type.c_str(), MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All entries of C by columns, gaps left out.
static PetscErrorCode Entries(Mat C, std::vector<PetscScalar> *entries)
{
  const PetscScalar *a;
  PetscInt           m, n, ld;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(C, &m, &n));
  PetscCall(MatDenseGetLDA(C, &ld));
  PetscCall(MatDenseGetArrayRead(C, &a));
  entries->clear();
  for (PetscInt c = 0; c < n; ++c) entries->insert(entries->end(), a + c * ld, a + c * ld + m);
  PetscCall(MatDenseRestoreArrayRead(C, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is C op(A) times the columns of CreateDense()?
static PetscErrorCode CheckDense(Mat C, const Problem &p, Op op, PetscInt cols, const std::string &what)
{
  const PetscInt           in = op == Op::Plain ? p.cols : p.rows, out = op == Op::Plain ? p.rows : p.cols;
  std::vector<PetscScalar> entries;
  PetscInt                 m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(C, &m, &n));
  PetscCheck(m == out && n == cols, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: is %" PetscInt_FMT " x %" PetscInt_FMT,
             what.c_str(), m, n);
  PetscCall(Entries(C, &entries));
  for (PetscInt c = 0; c < cols; ++c) {
    const std::vector<oracle::Expected> expected = oracle::Product(p, op, Column(in, c), {});
    for (PetscInt r = 0; r < out; ++r) {
      const std::string fault = oracle::Fault(entries[(size_t)(c * out + r)], expected[(size_t)r]);
      PetscCheck(fault.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, row %" PetscInt_FMT ", column %" PetscInt_FMT ": %s", what.c_str(), r, c, fault.c_str());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The product twice, the second time into the matrix of the first, with the same bits.
static PetscErrorCode CheckTwice(Mat A, Mat B, const Problem &p, Op op, PetscInt cols, const std::string &what)
{
  auto *const              multiply = op == Op::Plain ? MatMatMult : MatTransposeMatMult;
  std::vector<PetscScalar> first, again;
  MatType                  type;
  Mat                      C;
  PetscBool                same;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(B, &type));
  PetscCall(multiply(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscObjectTypeCompare((PetscObject)C, type, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the result is not of type %s", what.c_str(), type);
  PetscCall(CheckDense(C, p, op, cols, what));
  PetscCall(Entries(C, &first));
  PetscCall(MatZeroEntries(C));
  PetscCall(multiply(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Entries(C, &again));
  PetscCheck(first.empty() || !memcmp(first.data(), again.data(), first.size() * sizeof(PetscScalar)), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: the second product has other bits than the first", what.c_str());
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows for one thread, a warp, one thread block and three of them.
static Problem LongRows()
{
  conformance::Builder b("long_rows", 70, 5200);
  for (PetscInt i = 0; i < 70; ++i) b.AddRow(i, i == 3 ? 5000 : i == 20 ? 1500 : i == 21 ? 300 : i % 7, i);
  return b;
}

/// Every number of columns, in either direction, for operands of every type, with and without gaps.
static PetscErrorCode CheckProblem(const Problem &p, const std::string &format, const std::string &backend)
{
  std::vector<std::string> types;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(DenseTypes(&types));
  PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  for (const std::string &type : types)
    for (Op op : {Op::Plain, Op::Transpose})
      for (PetscInt cols : COLUMNS) {
        const std::string what = p.name + " in " + format + " on " + backend + ", " + std::to_string(cols) +
                                 " columns of " + type + (op == Op::Plain ? "" : ", transposed");
        Mat B;
        PetscCall(CreateDense(op == Op::Plain ? p.cols : p.rows, cols, cols % 3, type, true, &B));
        PetscCall(CheckTwice(A, B, p, op, cols, what));
        PetscCall(MatDestroy(&B));
      }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The format and the backend asked for; *run is false where there is no such backend.
static PetscErrorCode Asked(std::string *format, std::string *backend, bool *run)
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  *format  = Wanted("-format", "auto");
  *backend = Wanted("-backend", "kokkos");
  PetscCall(Backends(&backends));
  *run = std::find(backends.begin(), backends.end(), *backend) != backends.end();
  if (!*run) PetscCall(Skip("there is no device for -backend " + *backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Suite()
{
  std::string          format, backend;
  bool                 run;
  std::vector<Problem> all = conformance::All();

  PetscFunctionBeginUser;
  PetscCall(Asked(&format, &backend, &run));
  if (!run) PetscFunctionReturn(PETSC_SUCCESS);
  if (format != "dia" && format != "ell") all.push_back(LongRows());
  for (const Problem &p : all)
    if (!conformance::Refuses(p, format)) PetscCall(CheckProblem(p, format, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values in the old pattern, then a new pattern, with the results of the first product used again.
static PetscErrorCode Changes()
{
  const PetscInt cols = 9;
  std::string    format, backend;
  bool           run;
  Mat            A, B, C[2];

  PetscFunctionBeginUser;
  PetscCall(Asked(&format, &backend, &run));
  if (!run) PetscFunctionReturn(PETSC_SUCCESS);
  Problem p = conformance::Banded("banded", 200, 200, {-30, -1, 0, 1, 30});
  PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(CreateDense(200, cols, 0, MATSEQDENSE, true, &B));
  for (int turn = 0; turn < 3; ++turn) {
    const MatReuse reuse = turn ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;
    if (turn == 1) PetscCall(MatScale(A, -3));
    if (turn == 2) {
      for (PetscInt i = 0; i < 100; ++i) PetscCall(MatSetValue(A, i, i + 100, conformance::Value(i), INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(Gather(A, &p));
    PetscCall(MatMatMult(A, B, reuse, PETSC_DEFAULT, &C[0]));
    PetscCall(MatTransposeMatMult(A, B, reuse, PETSC_DEFAULT, &C[1]));
    PetscCall(CheckDense(C[0], p, Op::Plain, cols, format + ", changed"));
    PetscCall(CheckDense(C[1], p, Op::Transpose, cols, format + ", changed, transposed"));
  }
  for (Mat *M : {&A, &B, &C[0], &C[1]}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Into a matrix of the caller's, of either type, whose gaps between the columns must stay as they are.
static PetscErrorCode Given()
{
  const PetscInt           cols = 5, gap = 4;
  const Problem            p = conformance::Banded("wide", 40, 200, {-39, -3, 0, 2, 90, 199});
  std::vector<std::string> types;
  std::string              format, backend;
  bool                     run;
  const PetscScalar       *a;
  Mat                      A, B, C;

  PetscFunctionBeginUser;
  PetscCall(Asked(&format, &backend, &run));
  if (!run) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DenseTypes(&types));
  PetscCall(CreateMatrix(p, MATSPARSEGPU, nullptr, &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  for (const std::string &from : types)
    for (const std::string &to : types)
      for (Op op : {Op::Plain, Op::Transpose}) {
        const PetscInt    out  = op == Op::Plain ? p.rows : p.cols;
        const std::string what = "given a matrix of " + to + " for one of " + from;
        PetscCall(CreateDense(op == Op::Plain ? p.cols : p.rows, cols, 0, from, true, &B));
        PetscCall(CreateDense(out, cols, gap, to, false, &C));
        PetscCall((op == Op::Plain ? MatMatMult : MatTransposeMatMult)(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
        PetscCall(CheckDense(C, p, op, cols, what));
        if (to == MATSEQDENSE) {
          PetscCall(MatDenseGetArrayRead(C, &a));
          for (PetscInt c = 0; c < cols; ++c)
            for (PetscInt r = out; r < out + gap; ++r)
              PetscCheck(a[c * (out + gap) + r] == PetscScalar(filling), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                         "%s: wrote behind column %" PetscInt_FMT, what.c_str(), c);
          PetscCall(MatDenseRestoreArrayRead(C, &a));
        }
        PetscCall(MatDestroy(&B));
        PetscCall(MatDestroy(&C));
      }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is it converted for the product, once, and does no more happen until it changes?
static PetscErrorCode Ours()
{
  const Problem p = conformance::Grid("grid", 20, 20, false);
  PetscInt      before, after;
  Mat           A, B, C;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(CreateMatrix(p, MATSPARSEGPU, "sell", &A));
  PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
  PetscCall(CreateDense(p.cols, 4, 0, MATSEQDENSE, true, &B));
  PetscCall(EventCount("SparseGPUConv", &before));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  for (int k = 0; k < 3; ++k) PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(EventCount("SparseGPUConv", &after));
  PetscCheck(after == before + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " conversions in four products",
             after - before);
  for (Mat *M : {&A, &B, &C}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's own products of ours and dense matrices, some of which end in one of ours: the same as plain AIJ's. An entry
/// is a sum of at most 20 sums of 3 products, each of three numbers and below 5 in magnitude.
static PetscErrorCode Others()
{
  const PetscReal          bound = 2 * (20 + 3 + 2 * 2) * PETSC_MACHINE_EPSILON * 20 * 3 * 5;
  const Problem            p     = conformance::Banded("banded", 20, 20, {-2, 0, 1});
  std::vector<PetscScalar> result[2];
  Mat                      A[2], B, C;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, nullptr, &A[0]));
  PetscCall(CreateMatrix(p, MATAIJ, nullptr, &A[1]));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 20, 20, nullptr, &B));
  PetscCall(MatSetRandom(B, nullptr));
  for (int kind = 0; kind < 4; ++kind) {
    for (int plain = 0; plain < 2; ++plain) {
      const Mat M = A[plain];
      for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX})
        PetscCall(kind == 0   ? MatMatTransposeMult(M, B, reuse, PETSC_DEFAULT, &C)
                  : kind == 1 ? MatPtAP(M, B, reuse, PETSC_DEFAULT, &C)
                  : kind == 2 ? MatMatMatMult(M, M, B, reuse, PETSC_DEFAULT, &C)
                              : MatMatMult(B, M, reuse, PETSC_DEFAULT, &C));
      PetscCall(Entries(C, &result[plain]));
      PetscCall(MatDestroy(&C));
    }
    for (size_t k = 0; k < result[1].size(); ++k) {
      const PetscReal error = PetscAbsScalar(result[0][k] - result[1][k]);
      PetscCheck(error <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "product %d, entry %zu is %g away from aij's", kind,
                 k, (double)error);
    }
  }
  for (Mat *M : {&A[0], &A[1], &B}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"suite", Suite}, {"changes", Changes}, {"given", Given}, {"ours", Ours}, {"others", Others}});
}
