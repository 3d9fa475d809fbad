static const char help[] = "Diagonals of symmetric matrices, stored once: the bits of products with all of them.\n\n";

#include "codecs.hpp"

#include "mat/formats/codec/values.hpp"

using namespace testing;
using sparsegpu::formats::ProductsInSingle;

namespace
{
const char STORED_ONCE[] = "symmetric values, stored once";

/// Entry (i, j) has the value of (j, i); where `missing` is not zero, both of some pairs are missing.
Problem Symmetric(const char name[], PetscInt n, const std::vector<PetscInt> &offsets, PetscInt missing)
{
  conformance::Builder b(name, n, n);
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt o : offsets)
      for (int sign : {-1, 1}) {
        const PetscInt j = i + sign * o, low = std::min(i, j), high = std::max(i, j);
        if (j < 0 || j >= n || (o == 0 && sign > 0) || (missing && (low + 3 * high) % missing == 0)) continue;
        b.Add(i, j, conformance::Value((unsigned long long)(low * 1000 + high)));
      }
  return b;
}

void SetBoth(Problem *p, PetscInt i, PetscInt j, PetscReal v)
{
  for (conformance::Entry &e : p->entries)
    if ((e.i == i && e.j == j) || (e.i == j && e.j == i)) e.v = v;
}

struct Case {
  Problem p;
  bool    halved;
};
/// Matrices that are stored once, and others that miss it by one bit or by their shape.
std::vector<Case> Cases()
{
  const PetscReal   inf = std::numeric_limits<PetscReal>::infinity(), nan = std::numeric_limits<PetscReal>::quiet_NaN();
  std::vector<Case> cases;
  Problem           p = Symmetric("tridiagonal", 257, {0, 1}, 0);
  cases.push_back({p, true});
  SetBoth(&p, 8, 9, inf);
  SetBoth(&p, 100, 99, nan);
  SetBoth(&p, 50, 51, 0);
  p.name = "special values";
  cases.push_back({p, true});
  for (conformance::Entry &e : p.entries)
    if (e.i == 50 && e.j == 51) e.v = (PetscReal)-0.0;
  p.name = "zeros of both signs";
  cases.push_back({p, false});
  p = Symmetric("last entry differs", 300, {0, 1, 17}, 0);
  for (conformance::Entry &e : p.entries)
    if (e.i == 298 && e.j == 299) e.v += (PetscReal)1;
  cases.push_back({p, false});
  cases.push_back({Symmetric("with gaps", 1000, {0, 1, 30, 31}, 7), true});
  cases.push_back({Symmetric("no main diagonal", 400, {1, 20}, 0), true});
  cases.push_back({Symmetric("one diagonal", 100, {0}, 0), false});
  p = Symmetric("one of a pair missing", 300, {0, 1, 17}, 0);
  for (size_t e = 0; e < p.entries.size(); ++e)
    if (p.entries[e].i == 200 && p.entries[e].j == 217) p.entries.erase(p.entries.begin() + (std::ptrdiff_t)e);
  cases.push_back({p, false});
  cases.push_back({conformance::Banded("wide", 200, 230, {-1, 0, 1}), false});
  cases.push_back({conformance::Banded("upper", 200, 200, {0, 1, 5}), false});
  return cases;
}

PetscErrorCode Create(const Problem &p, const std::string &backend, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, "dia", A));
  PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A and, of a new matrix with all diagonals stored, the same products; and those with several columns.
PetscErrorCode CheckNow(Mat A, const Problem &p, const std::string &backend, bool halved, const std::string &what)
{
  const Option     full("-mat_sparsegpu_values", "full");
  MatSparseGPUInfo once, all;
  Run              run, expected;
  Mat              F;

  PetscFunctionBeginUser;
  PetscCall(Create(p, backend, &F));
  PetscCall(Products(F, p, &expected));
  PetscCall(Products(A, p, &run));
  PetscCall(CheckBits(run, expected, true, what));
  PetscCall(MatSparseGPUGetInfo(A, &once));
  PetscCall(MatSparseGPUGetInfo(F, &all));
  const bool is = run.details.find(STORED_ONCE) != std::string::npos;
  PetscCheck(is == halved && expected.details.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: \"%s\", in full \"%s\"",
             what.c_str(), run.details.c_str(), expected.details.c_str());
  const double part = once.bytes_stored / all.bytes_stored; // the main diagonal and the list of diagonals stay
  PetscCheck(halved ? part < 0.75 : part > 0.95, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: stores %g of %g bytes",
             what.c_str(), (double)once.bytes_stored, (double)all.bytes_stored);
  for (PetscInt columns : {1, 2, 5, 9}) {
    Mat                B, C, D;
    const PetscScalar *c, *d;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.cols, columns, nullptr, &B));
    PetscCall(MatSetRandom(B, nullptr));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatMatMult(F, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
    PetscCall(MatDenseGetArrayRead(C, &c));
    PetscCall(MatDenseGetArrayRead(D, &d));
    PetscCheck(!memcmp(c, d, (size_t)(p.rows * columns) * sizeof(PetscScalar)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: other bits with %" PetscInt_FMT " columns", what.c_str(), columns);
    PetscCall(MatDenseRestoreArrayRead(C, &c));
    PetscCall(MatDenseRestoreArrayRead(D, &d));
    for (Mat *M : {&B, &C, &D}) PetscCall(MatDestroy(M));
  }
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

static PetscErrorCode Same()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Case &c : Cases()) {
      Mat A;
      PetscCall(Create(c.p, backend, &A));
      PetscCall(CheckNow(A, c.p, backend, c.halved, c.p.name + " on " + backend));
      PetscCall(CheckProductsPoisoned(A, c.p, c.p.name + " on " + backend));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Symmetric, not any more, and again, by single entries, by a scaling of rows and of both sides.
static PetscErrorCode Changes()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Problem p = Symmetric("changes", 600, {0, 1, 24}, 11);
    Mat     A;
    Vec     d;
    PetscCall(Create(p, backend, &A));
    PetscCall(CheckNow(A, p, backend, true, "at first, on " + backend));
    const conformance::Entry entry = p.entries[40];
    for (PetscReal v : {1000., 0.}) {
      const PetscScalar value = v != 0 ? PetscScalar(v) : entry.v;
      p.entries[40].v         = value;
      PetscCall(MatSetValue(A, entry.i, entry.j, value, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(CheckNow(A, p, backend, false, "just changed, on " + backend));
      PetscCall(AwaitEncoding(A));
      PetscCall(CheckNow(A, p, backend, v == 0 && entry.i != entry.j, "changed, on " + backend));
    }
    PetscCall(MatCreateVecs(A, nullptr, &d));
    for (PetscInt i = 0; i < p.rows; ++i) PetscCall(VecSetValue(d, i, i % 2 ? 2 : 1, INSERT_VALUES)); // exact
    PetscCall(VecAssemblyBegin(d));
    PetscCall(VecAssemblyEnd(d));
    for (bool right : {false, true}) { // the second makes it symmetric again
      PetscCall(MatDiagonalScale(A, right ? nullptr : d, right ? d : nullptr));
      for (conformance::Entry &e : p.entries) e.v *= (PetscReal)((right ? e.j : e.i) % 2 ? 2 : 1);
      PetscCall(AwaitEncoding(A));
      PetscCall(CheckNow(A, p, backend, right, std::string(right ? "both sides" : "rows") + " scaled, on " + backend));
    }
    PetscCall(VecDestroy(&d));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products in single precision have the bits of a matrix of rounded values, whose gaps are gaps.
static PetscErrorCode Rounded()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Case &c : Cases()) {
      const Problem     r    = RoundedProblem(c.p);
      const std::string what = c.p.name + " on " + backend;
      Mat               A, B;
      Run               full[2], single, expected;
      PetscCall(Create(c.p, backend, &A));
      PetscCall(Create(r, backend, &B));
      PetscCall(Products(A, c.p, &full[0]));
      PetscCall(Products(B, r, &expected));
      {
        const ProductsInSingle in_single(true);
        PetscCall(Products(A, c.p, &single));
        PetscCall(CheckProductsPoisoned(A, r, what + ", in single precision"));
      }
      PetscCall(Products(A, c.p, &full[1]));
      PetscCall(CheckBits(single, expected, true, what + ", in single precision"));
      PetscCall(CheckBits(full[1], full[0], true, what + ", in full again"));
      for (Mat *M : {&A, &B}) PetscCall(MatDestroy(M));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"changes", Changes}, {"rounded", Rounded}});
}
