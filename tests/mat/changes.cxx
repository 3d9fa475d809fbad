static const char help[] = "Changes of values and pattern between products: the next product must be right, in every format.\n\n";

#include "../family.hpp"

using namespace testing;
using battery::Entry;
using battery::Value;

/// One change, made twice: to a Mat by PETSc and to the model by a plain loop.
struct Change {
  const char *name;
  PetscErrorCode (*mat)(Mat *A);
  void (*model)(Problem &p);
};

static Entry *Find(Problem &p, PetscInt i, PetscInt j)
{
  for (Entry &e : p.entries)
    if (e.i == i && e.j == j) return &e;
  return nullptr;
}
static void Set(Problem &p, PetscInt i, PetscInt j, PetscScalar v, bool add)
{
  Entry *const e = Find(p, i, j);
  if (!e) p.entries.push_back({i, j, v});
  else e->v = add ? e->v + v : v;
}

// Halves and quarters: multiplying by them is exact, so that a fused multiply-add gives the model's result too.
static const PetscReal HALF = 0.5, QUARTER = -0.25;

/// Another matrix of A's layout: that of `p`, of A's type or aij.
static PetscErrorCode Other(Mat A, const Problem &p, const char type[], Mat *X)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PetscObjectComm((PetscObject)A), p, type, nullptr, Layout::Even, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static Problem Start()
{
  return battery::Grid("grid_17x13", 17, 13, false);
}
static Problem SamePattern() // other values in the pattern of Start()
{
  Problem p = Start();
  for (size_t k = 0; k < p.entries.size(); ++k) p.entries[k].v = Value(5000 + k);
  return p;
}
static Problem Subset()
{
  return battery::Banded("diagonal", 221, 221, {0});
}
static Problem Different()
{
  return battery::Banded("far_bands", 221, 221, {-100, 0, 3, 90});
}

static PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Sets entry (i, i + offset) of every `step`-th own row to Value(i + seed).
static PetscErrorCode SetSome(Mat A, PetscInt offset, PetscInt step, unsigned long long seed, InsertMode mode)
{
  PetscInt begin, end, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetSize(A, &n, nullptr));
  for (PetscInt i = begin; i < end; ++i)
    if (i % step == 0 && i + offset >= 0 && i + offset < n)
      PetscCall(MatSetValue(A, i, i + offset, Value((unsigned long long)i + seed), mode));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static void SetSome(Problem &p, PetscInt offset, PetscInt step, unsigned long long seed, bool add)
{
  for (PetscInt i = 0; i < p.rows; i += step)
    if (i + offset >= 0 && i + offset < p.cols) Set(p, i, i + offset, Value((unsigned long long)i + seed), add);
}

/// A vector of A's rows with the entries Value(i + seed) / 2^0.
static PetscErrorCode DiagonalVector(Mat A, unsigned long long seed, Vec *v)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, v));
  PetscCall(VecGetSize(*v, &n));
  PetscCall(SetVector(*v, Input(n, seed, Poison::None)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Combine>
static PetscErrorCode WithOther(Mat A, const Problem &other, Combine combine)
{
  Mat X;

  PetscFunctionBeginUser;
  for (const char *type : {MATSPARSEGPU, MATAIJ}) { // both in turn: the model applies it twice
    PetscCall(Other(A, other, type, &X));
    PetscCall(combine(X));
    PetscCall(MatDestroy(&X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static void Axpy(Problem &p, const Problem &x)
{
  for (int twice = 0; twice < 2; ++twice)
    for (const Entry &e : x.entries) Set(p, e.i, e.j, HALF * e.v, true);
}

/// Own rows among 3, 50, 51, 120, 220.
static std::vector<PetscInt> SomeRows()
{
  return {3, 50, 51, 120, 220};
}
static bool IsSome(PetscInt i)
{
  const std::vector<PetscInt> rows = SomeRows();
  return std::find(rows.begin(), rows.end(), i) != rows.end();
}

static const Change CHANGES[] = {
  {"set_values", [](Mat *A) { return SetSome(*A, 1, 2, 7, INSERT_VALUES); }, [](Problem &p) { SetSome(p, 1, 2, 7, false); }},
  {"add_values", [](Mat *A) { return SetSome(*A, 0, 3, 8, ADD_VALUES); }, [](Problem &p) { SetSome(p, 0, 3, 8, true); }},
  {"zero_entries", [](Mat *A) { return MatZeroEntries(*A); }, [](Problem &p) { for (Entry &e : p.entries) e.v = 0; }},
  {"scale", [](Mat *A) { return MatScale(*A, (PetscReal)0.3); },
   [](Problem &p) { for (Entry &e : p.entries) e.v *= (PetscReal)0.3; }},
  {"shift", [](Mat *A) { return MatShift(*A, QUARTER); },
   [](Problem &p) { for (PetscInt i = 0; i < p.rows; ++i) Set(p, i, i, QUARTER, true); }},
  {"diagonal_scale",
   [](Mat *A) {
     Vec left, right;
     PetscFunctionBeginUser;
     PetscCall(DiagonalVector(*A, 70, &left));
     PetscCall(DiagonalVector(*A, 700, &right));
     PetscCall(MatDiagonalScale(*A, left, right));
     PetscCall(MatDiagonalScale(*A, nullptr, right));
     PetscCall(VecDestroy(&left));
     PetscCall(VecDestroy(&right));
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) {
     for (Entry &e : p.entries) {
       const PetscScalar right = Value(700 + (unsigned long long)e.j);
       e.v = e.v * Value(70 + (unsigned long long)e.i) * right * right;
     }
   }},
  {"axpy_same",
   [](Mat *A) { return WithOther(*A, SamePattern(), [A](Mat X) { return MatAXPY(*A, HALF, X, SAME_NONZERO_PATTERN); }); },
   [](Problem &p) { Axpy(p, SamePattern()); }},
  {"axpy_subset",
   [](Mat *A) { return WithOther(*A, Subset(), [A](Mat X) { return MatAXPY(*A, HALF, X, SUBSET_NONZERO_PATTERN); }); },
   [](Problem &p) { Axpy(p, Subset()); }},
  {"axpy_different",
   [](Mat *A) { return WithOther(*A, Different(), [A](Mat X) { return MatAXPY(*A, HALF, X, DIFFERENT_NONZERO_PATTERN); }); },
   [](Problem &p) { Axpy(p, Different()); }},
  {"aypx",
   [](Mat *A) { return WithOther(*A, SamePattern(), [A](Mat X) { return MatAYPX(*A, QUARTER, X, SAME_NONZERO_PATTERN); }); },
   [](Problem &p) {
     const Problem x = SamePattern();
     for (int twice = 0; twice < 2; ++twice)
       for (const Entry &e : x.entries) Set(p, e.i, e.j, QUARTER * Find(p, e.i, e.j)->v + e.v, false);
   }},
  {"copy_same", [](Mat *A) { return WithOther(*A, SamePattern(), [A](Mat X) { return MatCopy(X, *A, SAME_NONZERO_PATTERN); }); },
   [](Problem &p) { p = SamePattern(); }},
  {"copy_different",
   [](Mat *A) {
     PetscFunctionBeginUser;
     PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
     PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
     PetscCall(WithOther(*A, Different(), [A](Mat X) { return MatCopy(X, *A, DIFFERENT_NONZERO_PATTERN); }));
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) {
     for (Entry &e : p.entries) e.v = 0;
     for (const Entry &e : Different().entries) Set(p, e.i, e.j, e.v, false);
   }},
  {"new_nonzeros",
   [](Mat *A) {
     PetscFunctionBeginUser;
     PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
     PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
     PetscCall(SetSome(*A, 60, 5, 11, INSERT_VALUES));
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) { SetSome(p, 60, 5, 11, false); }},
  {"zero_rows",
   [](Mat *A) {
     PetscMPIInt                 rank;
     const std::vector<PetscInt> rows = SomeRows();
     PetscFunctionBeginUser;
     PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)*A), &rank));
     PetscCall(MatZeroRows(*A, rank == 0 ? (PetscInt)rows.size() : 0, rows.data(), 2, nullptr, nullptr));
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) {
     p.entries.erase(std::remove_if(p.entries.begin(), p.entries.end(), [](const Entry &e) { return IsSome(e.i); }),
                     p.entries.end());
     for (PetscInt i : SomeRows()) Set(p, i, i, 2, false);
   }},
  {"zero_rows_columns",
   [](Mat *A) {
     PetscMPIInt                 rank;
     const std::vector<PetscInt> rows = SomeRows();
     PetscFunctionBeginUser;
     PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)*A), &rank));
     PetscCall(MatZeroRowsColumns(*A, rank == 0 ? (PetscInt)rows.size() : 0, rows.data(), 2, nullptr, nullptr));
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) {
     for (Entry &e : p.entries)
       if (IsSome(e.i) || IsSome(e.j)) e.v = e.i == e.j ? 2 : 0;
   }},
  {"diagonal_set",
   [](Mat *A) {
     Vec d;
     PetscFunctionBeginUser;
     PetscCall(DiagonalVector(*A, 31, &d));
     PetscCall(MatDiagonalSet(*A, d, INSERT_VALUES));
     PetscCall(VecDestroy(&d));
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) { for (PetscInt i = 0; i < p.rows; ++i) Set(p, i, i, Value(31 + (unsigned long long)i), false); }},
  {"conjugate", [](Mat *A) { return MatConjugate(*A); }, [](Problem &p) { for (Entry &e : p.entries) e.v = PetscConj(e.v); }},
  {"real_part", [](Mat *A) { return MatRealPart(*A); }, [](Problem &p) { for (Entry &e : p.entries) e.v = PetscRealPart(e.v); }},
  {"array",
   [](Mat *A) { // the blocks' arrays, written behind the matrix's back as PETSc's array access allows
     Mat          blocks[2] = {*A, nullptr};
     PetscBool    parallel;
     PetscInt     m, n;
     MatInfo      info;
     PetscScalar *a;
     PetscFunctionBeginUser;
     PetscCall(PetscObjectBaseTypeCompare((PetscObject)*A, MATMPIAIJ, &parallel));
     if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(*A, &blocks[0], &blocks[1], nullptr));
     for (Mat block : blocks) {
       if (!block) continue;
       PetscCall(MatGetLocalSize(block, &m, &n));
       PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
       PetscCall(MatSeqAIJGetArray(block, &a));
       for (PetscInt k = 0; k < (PetscInt)info.nz_used; ++k) a[k] *= QUARTER;
       PetscCall(MatSeqAIJRestoreArray(block, &a));
     }
     PetscFunctionReturn(PETSC_SUCCESS);
   },
   [](Problem &p) { for (Entry &e : p.entries) e.v *= QUARTER; }},
  {"transpose_in_place", [](Mat *A) { return MatTranspose(*A, MAT_INPLACE_MATRIX, A); },
   [](Problem &p) { for (Entry &e : p.entries) std::swap(e.i, e.j); }},
  {"assembly_alone", [](Mat *A) { return Assemble(*A); }, [](Problem &) { }},
};

/// Products, the change, products, the change again, products; and once the change before any product.
static PetscErrorCode CheckChange(const Change &change, const std::string &format, const std::string &backend)
{
  Mat               A;
  const std::string what = std::string(change.name) + " in " + format + " on " + backend;

  PetscFunctionBeginUser;
  for (bool product_before : {true, false}) {
    Problem p = Start();
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
    PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
    if (product_before) PetscCall(CheckProducts(A, p, what + ": before"));
    for (int times = 0; times < 2; ++times) {
      PetscCall(change.mat(&A));
      change.model(p);
      PetscCall(CheckProducts(A, p, what));
    }
    PetscCall(CheckIsOurs(A, what));
    PetscCall(CheckRanOn(A, format, what));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All changes one after the other on one matrix.
static PetscErrorCode CheckAll(const std::string &format, const std::string &backend)
{
  Mat     A;
  Problem p = Start();

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  for (const char *name : {"scale", "array", "shift", "transpose_in_place", "axpy_different", "conjugate", "new_nonzeros",
                           "add_values", "zero_rows", "diagonal_set", "zero_entries", "set_values"})
    for (const Change &change : CHANGES)
      if (!strcmp(change.name, name)) {
        PetscCall(change.mat(&A));
        change.model(p);
        PetscCall(CheckProducts(A, p, std::string("all in a row, after ") + name + " in " + format));
      }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The change that -test names; with -test all, or none, all of them.
static PetscErrorCode Changes()
{
  char                     name[64] = "all";
  std::vector<std::string> formats, backends;
  bool                     found = false;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-change", name, sizeof(name), nullptr));
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  for (const std::string &format : formats)
    for (const std::string &backend : backends) {
      for (const Change &change : CHANGES)
        if (!strcmp(name, "all") || !strcmp(name, change.name)) {
          PetscCall(CheckChange(change, format, backend));
          found = true;
        }
      if (!strcmp(name, "all")) PetscCall(CheckAll(format, backend));
    }
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "There is no change %s", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Conversions and refreshes since the last call.
static PetscErrorCode Counts(PetscInt *conversions, PetscInt *updates)
{
  static PetscInt last[2];
  PetscInt        now[2];

  PetscFunctionBeginUser;
  PetscCall(EventCount("SparseGPUConv", &now[0]));
  PetscCall(EventCount("SparseGPUUpdate", &now[1]));
  *conversions = now[0] - last[0];
  *updates     = now[1] - last[1];
  std::copy(now, now + 2, last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values in the old pattern are refreshed, not converted; no change does neither; a new pattern converts once.
static PetscErrorCode Work()
{
  std::vector<std::string> formats;
  Mat                      A;
  Vec                      x, y;
  PetscInt                 conversions, updates;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Formats(&formats));
  for (const std::string &format : formats) {
    const auto product = [&](const char *after, PetscInt conversions_due, PetscInt updates_due) {
      PetscFunctionBeginUser;
      for (PetscInt again = 0; again < 2; ++again) {
        PetscCall(MatMult(A, x, y));
        PetscCall(Counts(&conversions, &updates));
        PetscCheck(conversions == (again ? 0 : conversions_due) && updates == (again ? 0 : updates_due), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s, product %d after %s: %" PetscInt_FMT " conversions and %" PetscInt_FMT " updates",
                   format.c_str(), (int)again + 1, after, conversions, updates);
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(CreateMatrix(Start(), MATSPARSEGPU, format.c_str(), &A));
    PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(Counts(&conversions, &updates));
    PetscCheck(conversions == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: converted before the first product", format.c_str());
    PetscCall(product("assembly", 1, 0));
    PetscCall(MatScale(A, 2));
    PetscCall(product("MatScale", 0, 1));
    PetscCall(SetSome(A, 0, 1, 3, INSERT_VALUES));
    PetscCall(product("MatSetValues in the pattern", 0, 1));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(SetSome(A, 9, 20, 3, INSERT_VALUES));
    PetscCall(product("MatSetValues outside it", 1, 0));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"changes", Changes}, {"work", Work}});
}
