static const char help[] =
    "Matrices made from ours: sub-matrices, duplicates, products, nests; their vectors; binding to the CPU.\n\n";

#include "../family.hpp"

using namespace testing;

static Problem Subject()
{
  return conformance::Grid("grid_12x11", 12, 11, false);
}
static PetscErrorCode Create(const char *format, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Subject(), MATSPARSEGPU, format, Layout::Even, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Every second own row (or column) of A.
static PetscErrorCode SecondRows(Mat A, IS *rows)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin + 1) / 2, begin, 2, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A's own rows, read one by one, say what its products must be.
static PetscErrorCode CheckAgainstRows(Mat A, const std::string &what)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(Gather(A, &p));
  PetscCall(CheckProducts(A, p, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sub-matrices and duplicates have their parent's format, set by a function or by a prefixed option.
static PetscErrorCode Inherit()
{
  Mat A, sub, *subs;
  IS  rows, all;

  PetscFunctionBeginUser;
  PetscCall(Create("hyb", &A));
  PetscCall(CheckProducts(A, Subject(), "parent"));
  PetscCall(SecondRows(A, &rows));
  for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX}) {
    if (reuse == MAT_REUSE_MATRIX) PetscCall(MatScale(A, 2));
    PetscCall(MatCreateSubMatrix(A, rows, rows, reuse, &sub));
    PetscCall(CheckIsOurs(sub, "sub-matrix"));
    PetscCall(CheckAgainstRows(sub, "sub-matrix"));
    PetscCall(CheckRanOn(sub, "hyb", "sub-matrix"));
  }
  PetscCall(MatDestroy(&sub));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &sub));
  PetscCall(CheckIsOurs(sub, "duplicate"));
  PetscCall(CheckAgainstRows(sub, "duplicate"));
  PetscCall(CheckRanOn(sub, "hyb", "duplicate"));
  PetscCall(MatDestroy(&sub));
  for (MatDuplicateOption option : {MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN}) {
    PetscCall(MatDuplicate(A, option, &sub));
    PetscCall(MatCopy(A, sub, SAME_NONZERO_PATTERN));
    PetscCall(MatScale(sub, 3));
    PetscCall(CheckAgainstRows(sub, "duplicate of the pattern"));
    PetscCall(CheckRanOn(sub, "hyb", "duplicate of the pattern"));
    PetscCall(MatDestroy(&sub));
  }
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 20, 3, 5, &all)); // rows of any rank, gathered on each
  PetscCall(MatCreateSubMatrices(A, 1, &all, &all, MAT_INITIAL_MATRIX, &subs));
  PetscCall(CheckAgainstRows(subs[0], "sequential sub-matrix"));
  PetscCall(MatDestroySubMatrices(1, &subs));
  PetscCall(ISDestroy(&all));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products and transposes were never given MatSetFromOptions(): where they are ours, the options rule at first use.
static PetscErrorCode Products()
{
  const Option option("-mat_sparsegpu_format", "ell");
  Mat          A, made[4];
  Vec          d;

  PetscFunctionBeginUser;
  PetscCall(Create(nullptr, &A));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made[0]));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &made[1]));
  PetscCall(MatPtAP(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made[2]));
  PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made[3]));
  for (int which = 0; which < 4; ++which) {
    const std::string what = "product " + std::to_string(which);
    PetscBool         ours;
    PetscCall(CheckAgainstRows(made[which], what));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)made[which], &ours, MATSEQAIJSPARSEGPU, MATMPIAIJSPARSEGPU, ""));
    PetscCheck(ours, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is not of our type", what.c_str());
    PetscCall(CheckRanOn(made[which], "ell", what));
  }
  PetscCall(MatCreateVecs(A, &d, nullptr)); // new values in A: products made again in place must follow
  PetscCall(VecSet(d, 2));
  PetscCall(MatDiagonalScale(A, d, nullptr));
  PetscCall(VecDestroy(&d));
  PetscCall(MatMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &made[0]));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &made[1]));
  PetscCall(MatPtAP(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &made[2]));
  PetscCall(MatTransposeMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &made[3]));
  for (Mat &product : made) {
    PetscCall(CheckAgainstRows(product, "product made again"));
    PetscCall(MatDestroy(&product));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A Kronecker product of two of ours, and again after new values: every entry is A(i, j) B(k, l).
static PetscErrorCode Kron()
{
  constexpr PetscInt n = 3, m = 2;
  Mat                A, B, C = nullptr;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, n, n, n));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatCreate(PETSC_COMM_SELF, &B));
  PetscCall(MatSetSizes(B, m, m, m, m));
  PetscCall(MatSetType(B, MATSPARSEGPU));
  for (Mat M : {A, B}) {
    PetscCall(MatSetUp(M));
    for (PetscInt r = 0; r < (M == A ? n : m); r++) {
      PetscCall(MatSetValue(M, r, r, r + 2.0, INSERT_VALUES));
      if (r > 0) PetscCall(MatSetValue(M, r, r - 1, -0.5, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX}) {
    if (reuse == MAT_REUSE_MATRIX) PetscCall(MatScale(B, 4));
    PetscCall(MatSeqAIJKron(A, B, reuse, &C));
    PetscCall(CheckIsOurs(B, "second factor of a Kronecker product"));
    for (PetscInt i = 0; i < n * m; i++)
      for (PetscInt j = 0; j < n * m; j++) {
        PetscScalar a, b, c;
        PetscCall(MatGetValue(A, i / m, j / m, &a));
        PetscCall(MatGetValue(B, i % m, j % m, &b));
        PetscCall(MatGetValue(C, i, j, &c));
        PetscCheck(c == a * b, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "Kronecker product, entry %" PetscInt_FMT ", %" PetscInt_FMT ": %g instead of %g", i, j,
                   (double)PetscRealPart(c), (double)PetscRealPart(a * b));
      }
  }
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// [A B; 0 A] as a MatNest on nested vectors, against the plain loop over the whole.
static PetscErrorCode Nest()
{
  const Problem                  p = Subject(), q = conformance::Banded("off_diagonal", p.rows, p.cols, {-3, 5});
  const PetscInt                 n = p.rows;
  const std::vector<PetscScalar> x = Input(n, 1, Poison::None), second = Input(n, 999, Poison::None);
  Mat                            blocks[4] = {}, nest;
  Vec                            xs, ys, part;

  PetscFunctionBeginUser;
  PetscCall(Create("ell", &blocks[0]));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, q, MATSPARSEGPU, "dia", Layout::Even, &blocks[1]));
  PetscCall(Create("merge", &blocks[3]));
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, nullptr, 2, nullptr, blocks, &nest));
  PetscCall(MatNestSetVecType(nest, VECNEST));
  PetscCall(MatCreateVecs(nest, &xs, &ys));
  PetscCall(VecNestGetSubVec(xs, 0, &part));
  PetscCall(SetVector(part, x));
  PetscCall(VecNestGetSubVec(xs, 1, &part));
  PetscCall(SetVector(part, second));
  PetscCall(MatMult(nest, xs, ys));
  Problem top = p; // [A B]: the columns of B come behind those of A
  top.cols    = 2 * n;
  for (const conformance::Entry &e : q.entries) top.entries.push_back({e.i, e.j + n, e.v});
  std::vector<PetscScalar> both = x;
  both.insert(both.end(), second.begin(), second.end());
  PetscCall(VecNestGetSubVec(ys, 0, &part));
  PetscCall(CheckResult(part, oracle::Product(top, Op::Plain, both, {}), "nest, upper half"));
  PetscCall(VecNestGetSubVec(ys, 1, &part));
  PetscCall(CheckResult(part, oracle::Product(p, Op::Plain, second, {}), "nest, lower half"));
  PetscCall(MatMultTranspose(nest, ys, xs));
  PetscCall(VecDestroy(&xs));
  PetscCall(VecDestroy(&ys));
  PetscCall(MatDestroy(&nest));
  for (Mat &block : blocks) PetscCall(MatDestroy(&block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatCreateVecs() gives device vectors where PETSc has them and products run on the device, else PETSc's default.
static PetscErrorCode Vectors()
{
  Mat       A;
  Vec       right, left;
  VecType   type;
  PetscBool device, cuda;
  PetscInt  m, n, nr, nl;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  for (const char *backend : {"auto", "kokkos", "cuda"}) {
    if (!device && !strcmp(backend, "cuda")) continue;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, conformance::Banded("wide", 40, 60, {0, 9}), MATSPARSEGPU, nullptr,
                           Layout::Even, &A));
    PetscCall(MatSparseGPUSetBackend(A, backend));
    PetscCall(MatCreateVecs(A, &right, &left));
    PetscCall(MatGetLocalSize(A, &m, &n));
    PetscCall(VecGetLocalSize(right, &nr));
    PetscCall(VecGetLocalSize(left, &nl));
    PetscCheck(nr == n && nl == m, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Vectors of sizes %" PetscInt_FMT ", %" PetscInt_FMT, nr, nl);
#if defined(PETSC_HAVE_CUDA)
    const bool expected = device && strcmp(backend, "kokkos");
#else
    const bool expected = false;
#endif
    PetscCall(VecGetType(right, &type));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)right, &cuda, "seqcuda", "mpicuda", ""));
    PetscCheck((cuda == PETSC_TRUE) == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Backend %s: vectors of type %s",
               backend, type);
    PetscCall(MatMult(A, right, left));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&left));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bound to the CPU and back, products run right every time, and on the CPU while bound.
static PetscErrorCode Bind()
{
  Mat              A;
  MatSparseGPUInfo info;
  PetscBool        device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(Create("csr", &A));
  if (device) PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  for (PetscBool bound : {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE}) {
    PetscCall(MatBindToCPU(A, bound));
    PetscCall(CheckProducts(A, Subject(), bound ? "bound to the CPU" : "not bound"));
    PetscCall(MatSparseGPUGetInfo(A, &info));
#if defined(PETSC_HAVE_CUDA) // elsewhere MatBindToCPU() is empty
    PetscCheck(!bound || !strcmp(info.backend, "kokkos"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Bound, but ran on %s",
               info.backend);
#endif
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc orders the rows of a parallel matrix only if its type is MATMPIAIJ itself: an error, no garbage.
static PetscErrorCode Ordering()
{
  Mat         A;
  IS          rows, cols;
  std::string message;

  PetscFunctionBeginUser;
  PetscCall(Create("csr", &A));
  const auto order = [&] { return MatGetOrdering(A, MATORDERINGND, &rows, &cols); };
  if (PetscGlobalSize > 1) {
    PetscCall(ExpectError("MatGetOrdering() in parallel", order, &message));
  } else {
    PetscCall(order());
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&cols));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -sparsegpu_backend cuda without a device is an error that says so; with one, host vectors are no obstacle.
static PetscErrorCode NoDevice()
{
  Mat         A;
  Vec         x, y;
  PetscBool   device;
  std::string message;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(Create("csr", &A));
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
  PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
  PetscCall(VecSet(x, 1));
  const auto product_on_cuda = [&] {
    PetscErrorCode code = MatSparseGPUSetBackend(A, "cuda");
    return code ? code : MatMult(A, x, y);
  };
  if (device)
    PetscCall(product_on_cuda());
  else {
    PetscCall(ExpectError("backend cuda without a device", product_on_cuda, &message));
    PetscCall(CheckText("backend cuda without a device", message, {"cuda"}));
    PetscCall(MatSparseGPUSetBackend(A, "auto"));
    PetscCall(CheckProducts(A, Subject(), "after the error, on backend auto"));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A device that is not there is an error that names the choice. First of all sub-tests: a device is chosen once.
static PetscErrorCode DeviceOption()
{
  const Option option("-sparsegpu_device", "4711");
  std::string  message;
  PetscBool    found = PETSC_FALSE;

  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(Skip("PETSc has CUDA, so it chooses the device"));
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
  PetscCall(PetscPushErrorHandler(CollectMessage, &message));
  const PetscErrorCode code = SparseGPUHasDevice(&found);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There is a device 4711");
  if (code == PETSC_SUCCESS)
    PetscCall(Skip("there is no device"));
  else
    PetscCall(CheckText("-sparsegpu_device 4711", message, {"-sparsegpu_device 4711", "visible devices"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"device_option", DeviceOption},
               {"inherit", Inherit},
               {"products", Products},
               {"kron", Kron},
               {"nest", Nest},
               {"vectors", Vectors},
               {"bind", Bind},
               {"ordering", Ordering},
               {"no_device", NoDevice}});
}
