static const char help[] =
    "Operations on matrices that live on a GPU, each followed by a product, copy no values to the host or from there.\n\n";

#include "../device_array.hpp"
#include "../family.hpp"

#include <device/copied.hpp>

using namespace testing;

namespace
{
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_LOG)
constexpr PetscInt N = 16; ///< points in each direction

/// Bytes that have crossed the bus so far: our own copies, and those that PETSc's log has seen.
double Crossed()
{
  const sparsegpu::DeviceCopies ours = sparsegpu::CopiesSoFar();
  return ours.in + ours.out + petsc_ctog_sz + petsc_gtoc_sz;
}

/// A 7-point matrix from coordinates and values that lie on the device.
PetscErrorCode Assemble(ScalarArray *values, Mat *A, PetscInt *nonzeros)
{
  std::vector<PetscInt> i, j;
  const PetscInt        steps[] = {1, N, N * N}, rows = N * N * N;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < rows; ++r) {
    i.push_back(r);
    j.push_back(r);
    for (const PetscInt s : steps)
      for (const PetscInt c : {r - s, r + s})
        if (c >= 0 && c < rows) {
          i.push_back(r);
          j.push_back(c);
        }
  }
  std::vector<PetscScalar> v(i.size());
  for (size_t e = 0; e < v.size(); ++e) v[e] = i[e] == j[e] ? (PetscReal)8 + (PetscReal)(e % 97) / 128 : (PetscReal)-1;
  *nonzeros = (PetscInt)v.size();
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, rows, rows, rows, rows));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetBlockSize(*A, 2));
  PetscCall(MatSetPreallocationCOO(*A, (PetscCount)i.size(), i.data(), j.data()));
  PetscCall(MatSetValuesCOO(*A, values->Get(), INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is done to the matrix, over and over.
class Loop
{
public:
  explicit Loop(PetscInt nonzeros) : values_(std::vector<PetscScalar>((size_t)nonzeros, (PetscScalar)1.25), true) {}

  PetscErrorCode Create()
  {
    PetscInt nonzeros;

    PetscFunctionBeginUser;
    PetscCall(Assemble(&values_, &A_, &nonzeros));
    PetscCall(MatDuplicate(A_, MAT_COPY_VALUES, &B_));
    PetscCall(MatCreateVecs(A_, &x_, &y_));
    PetscCall(VecDuplicate(x_, &d_));
    PetscCall(VecSet(x_, 1));
    PetscCall(VecSet(d_, (PetscScalar)1.5));
    PetscCall(MatCreateDense(PETSC_COMM_SELF, N * N * N, 4, N * N * N, 4, nullptr, &dense_));
    PetscCall(MatConvert(dense_, MATDENSECUDA, MAT_INPLACE_MATRIX, &dense_));
    PetscCall(MatAssemblyBegin(dense_, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(dense_, MAT_FINAL_ASSEMBLY));
    PetscCall(MatMatMult(A_, A_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &square_));
    PetscCall(MatPtAP(A_, B_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &triple_));
    PetscCall(MatMatMult(A_, dense_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &columns_));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc_));
    PetscCall(PCSetOperators(pc_, A_, A_));
    PetscCall(PCSetType(pc_, PCPBJACOBI));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Calls each operation, a product after it, and checks that fewer than `allowed` bytes have crossed, if >= 0.
  PetscErrorCode Run(double allowed)
  {
    PetscFunctionBeginUser;
    const auto each = [&](const char name[], auto operation) {
      PetscFunctionBeginUser;
      const double before = Crossed();
      PetscCall(operation());
      PetscCall(MatMult(A_, x_, y_));
      const double bytes = Crossed() - before;
      PetscCheck(allowed < 0 || bytes < allowed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %.0f bytes, %.0f allowed", name,
                 bytes, allowed);
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscReal norm;
    PetscCall(
        each("MatSetValuesCOO, INSERT_VALUES", [&] { return MatSetValuesCOO(A_, values_.Get(), INSERT_VALUES); }));
    PetscCall(each("MatSetValuesCOO, ADD_VALUES", [&] { return MatSetValuesCOO(A_, values_.Get(), ADD_VALUES); }));
    PetscCall(each("MatScale", [&] { return MatScale(A_, (PetscScalar)1.5); }));
    PetscCall(each("MatShift", [&] { return MatShift(A_, 20); }));
    PetscCall(each("MatDiagonalSet", [&] { return MatDiagonalSet(A_, d_, ADD_VALUES); }));
    PetscCall(each("MatDiagonalScale", [&] { return MatDiagonalScale(A_, d_, d_); }));
    PetscCall(each("MatAXPY", [&] { return MatAXPY(A_, 2, B_, SAME_NONZERO_PATTERN); }));
    PetscCall(each("MatAYPX", [&] { return MatAYPX(A_, 2, B_, SAME_NONZERO_PATTERN); }));
    PetscCall(each("MatCopy", [&] { return MatCopy(A_, B_, SAME_NONZERO_PATTERN); }));
    PetscCall(each("MatConjugate", [&] { return MatConjugate(A_); }));
    PetscCall(each("MatGetDiagonal", [&] { return MatGetDiagonal(A_, y_); }));
    PetscCall(each("MatGetRowSum", [&] { return MatGetRowSum(A_, y_); }));
    PetscCall(each("MatNorm", [&] { return MatNorm(A_, NORM_FROBENIUS, &norm); }));
    PetscCall(each("A A", [&] { return MatMatMult(A_, A_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &square_); }));
    PetscCall(each("B^T A B", [&] { return MatPtAP(A_, B_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &triple_); }));
    PetscCall(each("A D", [&] { return MatMatMult(A_, dense_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &columns_); }));
    PetscCall(each("PCPBJACOBI", [&]() -> PetscErrorCode {
      PetscFunctionBeginUser;
      PetscCall(PCSetUp(pc_));
      PetscCall(PCApply(pc_, x_, y_));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(each("MatZeroEntries, MatSetValuesCOO", [&]() -> PetscErrorCode {
      PetscFunctionBeginUser;
      PetscCall(MatZeroEntries(A_));
      PetscCall(MatSetValuesCOO(A_, values_.Get(), ADD_VALUES));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    for (int k = 0; k < 30; ++k) PetscCall(each("thirty products", [] { return PETSC_SUCCESS; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    for (Mat *m : {&A_, &B_, &dense_, &square_, &triple_, &columns_}) PetscCall(MatDestroy(m));
    for (Vec *v : {&x_, &y_, &d_}) PetscCall(VecDestroy(v));
    PetscCall(PCDestroy(&pc_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  ScalarArray values_;
  Mat         A_ = nullptr, B_ = nullptr, dense_ = nullptr, square_ = nullptr, triple_ = nullptr, columns_ = nullptr;
  Vec         x_ = nullptr, y_ = nullptr, d_ = nullptr;
  PC          pc_ = nullptr;
};

constexpr PetscInt ROWS = 1 << 15, FAR = 8; ///< of a parallel matrix, whose rank has at most 2 FAR ghosts

/// Five diagonals, on all ranks.
PetscErrorCode CreateBand(PetscScalar v, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, MATMPIAIJSPARSEGPU));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, nullptr, 4, nullptr));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r)
    for (const PetscInt c : {r - FAR, r - 1, r, r + 1, r + FAR})
      if (c >= 0 && c < ROWS) PetscCall(MatSetValue(*A, r, c, v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products of parallel matrices, again with other values: what crosses is what ranks send each other.
PetscErrorCode ParallelProducts()
{
  Mat                 A, B, products[3];
  Vec                 x, y;
  PetscMPIInt         size;
  constexpr PetscReal MOST = 12.0 * FAR * 25 * sizeof(PetscScalar); ///< rows of ghosts, of the widest product

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateBand(1, &A));
  PetscCall(CreateBand((PetscScalar)0.25, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCheck(MOST < ROWS / size * sizeof(PetscScalar), PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "Too many ranks: %d", size);
  for (int round = 0; round < 4; ++round) {
    const MatReuse reuse  = round ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;
    const double   before = Crossed();
    PetscCall(MatScale(A, 2));
    PetscCall(MatMatMult(A, B, reuse, PETSC_DEFAULT, &products[0]));
    PetscCall(MatTransposeMatMult(A, B, reuse, PETSC_DEFAULT, &products[1]));
    PetscCall(MatPtAP(A, B, reuse, PETSC_DEFAULT, &products[2]));
    const double bytes = Crossed() - before;
    PetscCheck(round < 2 || bytes < 2 * 3 * MOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Products: %.0f bytes, %.0f allowed",
               bytes, 2 * 3 * MOST);
    for (Mat C : products) PetscCall(MatMult(C, x, y));
  }
  for (Mat *M : {&A, &B, &products[0], &products[1], &products[2]}) PetscCall(MatDestroy(M));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Whether there is what these tests need; why not, where they are skipped.
PetscErrorCode CanRun(bool *can)
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  *can = std::find(types.begin(), types.end(), "cuda") != types.end();
  if (!*can) SkipReason() = "needs a GPU and a PETSc with CUDA";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first round brings to the device what it needs; in later ones a call may move some numbers, as norms and words
/// of what happened, but no array with an entry for each row.
PetscErrorCode None()
{
  bool can = false;

  PetscFunctionBeginUser;
  PetscCall(CanRun(&can));
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_LOG)
  PetscCall(PetscLogDefaultBegin());
  Loop loop(7 * N * N * N);
  PetscCall(loop.Create());
  for (int round = 0; round < 4; ++round) PetscCall(loop.Run(round < 2 ? -1 : (double)N * N * N));
  PetscCall(loop.Destroy());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Parallel()
{
  bool can = false;

  PetscFunctionBeginUser;
  PetscCall(CanRun(&can));
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_LOG)
  PetscCall(PetscLogDefaultBegin());
  PetscCall(ParallelProducts());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"none", None}, {"parallel", Parallel}});
}
