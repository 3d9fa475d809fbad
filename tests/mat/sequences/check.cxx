/// Compares a matrix of ours with the plain one: products against a loop over the plain matrix's entries, within the
/// bound of tests/oracle.hpp; diagonals and rows exactly, as no rounding takes part.
#include "model.hpp"

#include <algorithm>
#include <cmath>

namespace sequences
{

namespace
{
using oracle::Op;

struct Comparison {
  Mat         A;
  Problem     p;
  Draw       *d;
  PetscReal   error; ///< by which an entry of A may differ
  std::string fault;

  void Found(const std::string &what)
  {
    if (fault.empty()) fault = what;
  }
  PetscErrorCode Vector(Op op, bool input, Vec *v)
  {
    const char *type = VECSTANDARD;

    PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
    if (OnDevice(*d)) type = VECCUDA;
#endif
    PetscCall(testing::CreateVector(A, op, input, type, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// `error` meets each entry of x, whose magnitudes are below 3.
  std::vector<oracle::Expected> Expect(Op op, const std::vector<PetscScalar> &x, const std::vector<PetscScalar> &z)
  {
    std::vector<oracle::Expected> y = oracle::Product(p, op, x, z);
    for (oracle::Expected &e : y) e.bound += error * 3 * (PetscReal)x.size();
    return y;
  }
  PetscErrorCode Compare(Vec y, const std::vector<oracle::Expected> &expected, const std::string &what)
  {
    PetscInt           begin, end;
    const PetscScalar *a;

    PetscFunctionBeginUser;
    PetscCall(VecGetOwnershipRange(y, &begin, &end));
    PetscCall(VecGetArrayRead(y, &a));
    for (PetscInt i = begin; i < end; ++i) {
      const std::string wrong = oracle::Fault(a[i - begin], expected[(size_t)i]);
      if (!wrong.empty()) Found(what + ", row " + std::to_string(i) + ": " + wrong);
    }
    PetscCall(VecRestoreArrayRead(y, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// op(A) x `times` times, then op(A) x + z with z apart and in place.
  PetscErrorCode Products(Op op, PetscInt times)
  {
    const PetscInt           in = op == Op::Plain ? p.cols : p.rows, out = op == Op::Plain ? p.rows : p.cols;
    const unsigned long long seed = d->Next() >> 8;
    const auto               xs   = testing::Input(in, seed, testing::Poison::None),
               zs                 = testing::Input(out, seed + 77, testing::Poison::None);
    const std::string name        = std::string("MatMult") + oracle::Name(op);
    const bool        add         = d->OneIn(2);
    auto *const mult = op == Op::Plain ? MatMult : op == Op::Transpose ? MatMultTranspose : MatMultHermitianTranspose;
    auto *const mult_add = op == Op::Plain       ? MatMultAdd
                           : op == Op::Transpose ? MatMultTransposeAdd
                                                 : MatMultHermitianTransposeAdd;
    const auto  expected = Expect(op, xs, {});
    Vec         x, y, z;

    PetscFunctionBeginUser;
    PetscCall(Vector(op, true, &x));
    PetscCall(Vector(op, false, &y));
    PetscCall(Vector(op, false, &z));
    PetscCall(testing::SetVector(x, xs));
    for (PetscInt k = 0; k < times; ++k) {
      PetscCall(VecSet(y, std::numeric_limits<PetscReal>::quiet_NaN()));
      PetscCall(mult(A, x, y));
      if (k < 2 || k == times - 1) PetscCall(Compare(y, expected, name + " number " + std::to_string(k + 1)));
    }
    if (add) {
      const auto sum = Expect(op, xs, zs);
      PetscCall(testing::SetVector(z, zs));
      PetscCall(mult_add(A, x, z, y));
      PetscCall(Compare(y, sum, name + "Add"));
      PetscCall(mult_add(A, x, z, z));
      PetscCall(Compare(z, sum, name + "Add in place"));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// op(A) B for a dense B of `cols` columns, twice. On the device on one rank alone.
  PetscErrorCode Dense(Op op, PetscInt cols)
  {
    auto *const              multiply = op == Op::Plain ? MatMatMult : MatTransposeMatMult;
    const PetscInt           in       = op == Op::Plain ? p.cols : p.rows;
    const unsigned long long seed     = d->Next() >> 8;
    PetscInt                 m, n;
    Mat                      B, C;

    PetscFunctionBeginUser;
    PetscCall(MatGetLocalSize(A, &m, &n));
    PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), op == Op::Plain ? n : m, PETSC_DECIDE, PETSC_DETERMINE,
                             cols, nullptr, &B));
    for (PetscInt c = 0; c < cols; ++c) {
      Vec v;
      PetscCall(MatDenseGetColumnVecWrite(B, c, &v));
      PetscCall(testing::SetVector(v, testing::Input(in, seed + 1000 * (unsigned long long)c, testing::Poison::None)));
      PetscCall(MatDenseRestoreColumnVecWrite(B, c, &v));
    }
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
#if defined(PETSC_HAVE_CUDA)
    if (PetscGlobalSize == 1 && OnDevice(*d)) PetscCall(MatConvert(B, MATDENSECUDA, MAT_INPLACE_MATRIX, &B));
#endif
    PetscCall(multiply(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatZeroEntries(C));
    PetscCall(multiply(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    for (PetscInt c = 0; c < cols; ++c) {
      const auto expected =
          Expect(op, testing::Input(in, seed + 1000 * (unsigned long long)c, testing::Poison::None), {});
      Vec y;
      PetscCall(MatDenseGetColumnVecRead(C, c, &y));
      PetscCall(Compare(y, expected,
                        std::string(op == Op::Plain ? "MatMatMult" : "MatTransposeMatMult") + ", column " +
                            std::to_string(c)));
      PetscCall(MatDenseRestoreColumnVecRead(C, c, &y));
    }
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Diagonal()
  {
    std::vector<oracle::Expected> expected((size_t)p.rows, oracle::Expected{0, error, false});
    Vec                           v;

    PetscFunctionBeginUser;
    for (const Entry &e : p.entries)
      if (e.i == e.j) expected[(size_t)e.i].value = e.v;
    PetscCall(Vector(Op::Plain, false, &v));
    PetscCall(MatGetDiagonal(A, v));
    PetscCall(Compare(v, expected, "MatGetDiagonal"));
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Norms and the largest magnitude of each row.
  PetscErrorCode Norms()
  {
    std::vector<PetscReal>        rows((size_t)p.rows, 0), cols((size_t)p.cols, 0);
    std::vector<oracle::Expected> largest((size_t)p.rows, oracle::Expected{0, error, false});
    const PetscReal               count  = (PetscReal)p.entries.size() + 1;
    PetscReal                     square = 0, norm;
    Vec                           v;

    PetscFunctionBeginUser;
    for (const Entry &e : p.entries) {
      const PetscReal a = PetscAbsScalar(e.v);
      if (PetscIsInfOrNanReal(a * a)) PetscFunctionReturn(PETSC_SUCCESS); // which of them is reported is not specified
      rows[(size_t)e.i] += a;
      cols[(size_t)e.j] += a;
      square += a * a;
      if (a > PetscRealPart(largest[(size_t)e.i].value)) largest[(size_t)e.i].value = a;
    }
    const struct {
      NormType    type;
      PetscReal   expected;
      const char *name;
    } norms[] = {{NORM_FROBENIUS, PetscSqrtReal(square), "Frobenius"},
                 {NORM_INFINITY, rows.empty() ? 0 : *std::max_element(rows.begin(), rows.end()), "infinity"},
                 {NORM_1, cols.empty() ? 0 : *std::max_element(cols.begin(), cols.end()), "1"}};
    for (const auto &n : norms) {
      PetscCall(MatNorm(A, n.type, &norm));
      if (!(PetscAbsReal(norm - n.expected) <= count * (PETSC_MACHINE_EPSILON * n.expected + error)))
        Found(std::string("MatNorm ") + n.name + " is " + std::to_string(norm) + ", not " + std::to_string(n.expected));
    }
    for (oracle::Expected &e : largest) e.bound += 4 * PETSC_MACHINE_EPSILON * PetscAbsScalar(e.value);
    PetscCall(Vector(Op::Plain, false, &v));
    PetscCall(MatGetRowMaxAbs(A, v, nullptr));
    PetscCall(Compare(v, largest, "MatGetRowMaxAbs"));
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Rows()
  {
    PetscInt           begin, end, n;
    const PetscInt    *j;
    const PetscScalar *v;
    size_t             e = 0;

    PetscFunctionBeginUser;
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    while (e < p.entries.size() && p.entries[e].i < begin) ++e;
    for (PetscInt i = begin; i < end; ++i) {
      PetscCall(MatGetRow(A, i, &n, &j, &v));
      bool same = true;
      for (PetscInt k = 0; k < n && same; ++k, ++e)
        same = e < p.entries.size() && p.entries[e].i == i && p.entries[e].j == j[k] &&
               PetscAbsScalar(p.entries[e].v - v[k]) <= error;
      same &= e == p.entries.size() || p.entries[e].i > i;
      if (!same) Found("MatGetRow, row " + std::to_string(i) + " has other entries than AIJ's");
      PetscCall(MatRestoreRow(A, i, &n, &j, &v));
      while (e < p.entries.size() && p.entries[e].i <= i) ++e;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

PetscErrorCode Check(Side &plain, Side &ours, int slot, bool all, Draw d, std::string *words, std::string *fault)
{
  static const Op ops[] = {Op::Plain, Op::Transpose, Op::Hermitian};
  Comparison      c{ours.slot[slot], {}, &d, slot == PRODUCT ? plain.product_error : 0, ""};
  PetscBool       congruent = PETSC_FALSE;
  PetscInt        m, n, M, N;

  PetscFunctionBeginUser;
  *words = std::string("check ") + Name(slot) + ":";
  PetscCall(testing::Gather(plain.slot[slot], &c.p));
  PetscCall(MatGetSize(plain.slot[slot], &M, &N));
  PetscCall(MatGetLocalSize(c.A, &m, &n));
  PetscInt mine = m == n, every; // the diagonal's vector and a solve need rows and columns laid out alike
  PetscCallMPI(MPI_Allreduce(&mine, &every, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)c.A)));
  congruent       = (PetscBool)every;
  const bool mult = d.Below(4) > 0, many = d.OneIn(8), aij = slot != SECOND; // SECOND may be dense
  for (Op op : ops) {
    const PetscInt times = many ? 10 + d.Below(30) : 1 + d.Below(3);
    const bool     drawn = op == Op::Plain ? mult : d.OneIn(3);
    if (!drawn && !all) continue;
    *words += " MatMult" + std::string(oracle::Name(op)) + " x" + std::to_string(times);
    PetscCall(c.Products(op, times));
  }
  for (Op op : {Op::Plain, Op::Transpose}) {
    const PetscInt cols  = d.Below(12);
    const bool     drawn = d.OneIn(4);
    PetscBool      is_ours;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)c.A, &is_ours, MATSEQAIJSPARSEGPU, MATMPIAIJSPARSEGPU, ""));
    if (!drawn || !aij || (!cols && !is_ours)) continue; // PETSc's transposed product has an error for no columns
    *words += std::string(op == Op::Plain ? " MatMatMult of " : " MatTransposeMatMult of ") + std::to_string(cols);
    PetscCall(c.Dense(op, cols));
  }
  if (congruent && (d.OneIn(4) || all)) {
    *words += " MatGetDiagonal";
    PetscCall(c.Diagonal());
  }
  if (aij && d.OneIn(4)) {
    *words += " MatNorm";
    PetscCall(c.Norms());
  }
  if (aij && (d.OneIn(4) || all)) {
    *words += " MatGetRow";
    PetscCall(c.Rows());
  }
  const bool solve = d.OneIn(8) && !all && congruent && aij && slot != SERIAL && M > 0 && M <= 100;
  bool       out   = false;
  PetscCall(LeftOut("solve", &out));
  PetscInt wrong = !c.fault.empty(), any = 0;
  PetscCallMPI(MPI_Allreduce(&wrong, &any, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (solve && !out && !any) PetscCall(CheckSolve(plain.slot[slot], c.A, c.p, d, words, &c.fault));
  *fault = c.fault;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
