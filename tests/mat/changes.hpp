/// Changes of values and pattern, each in two forms: on a Mat through PETSc, and on the triplets by a plain loop.
#pragma once

#include "../family.hpp"

namespace testing
{

using conformance::Entry;
using conformance::Value;

struct Change {
  const char *name;
  PetscErrorCode (*mat)(Mat *A);
  void (*model)(Problem &p);
};

inline Entry *Find(Problem &p, PetscInt i, PetscInt j)
{
  for (Entry &e : p.entries)
    if (e.i == i && e.j == j) return &e;
  return nullptr;
}
inline void Set(Problem &p, PetscInt i, PetscInt j, PetscScalar v, bool add)
{
  Entry *const e = Find(p, i, j);
  if (!e)
    p.entries.push_back({i, j, v});
  else
    e->v = add ? e->v + v : v;
}

// Halves and quarters: multiplying by them is exact, so that a fused multiply-add gives the model's result too.
static const PetscReal HALF = 0.5, QUARTER = -0.25;

/// Another matrix of A's layout: that of `p`, of A's type or aij.
inline PetscErrorCode Other(Mat A, const Problem &p, const char type[], Mat *X)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PetscObjectComm((PetscObject)A), p, type, nullptr, Layout::Even, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline Problem Start() ///< the matrix that the changes start from
{
  return conformance::Grid("grid_17x13", 17, 13, false);
}
inline Problem SamePattern() // other values in the pattern of Start()
{
  Problem p = Start();
  for (size_t k = 0; k < p.entries.size(); ++k) p.entries[k].v = Value(5000 + k);
  return p;
}
inline Problem Subset()
{
  return conformance::Banded("diagonal", 221, 221, {0});
}
inline Problem Different()
{
  return conformance::Banded("far_bands", 221, 221, {-100, 0, 3, 90});
}

inline PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Sets entry (i, i + offset) of every `step`-th own row to Value(i + seed).
inline PetscErrorCode SetSome(Mat A, PetscInt offset, PetscInt step, unsigned long long seed, InsertMode mode)
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
inline void SetSome(Problem &p, PetscInt offset, PetscInt step, unsigned long long seed, bool add)
{
  for (PetscInt i = 0; i < p.rows; i += step)
    if (i + offset >= 0 && i + offset < p.cols) Set(p, i, i + offset, Value((unsigned long long)i + seed), add);
}

/// A vector of A's rows with the entries Value(i + seed) / 2^0.
inline PetscErrorCode DiagonalVector(Mat A, unsigned long long seed, Vec *v)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, v));
  PetscCall(VecGetSize(*v, &n));
  PetscCall(SetVector(*v, Input(n, seed, Poison::None)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Combine> inline PetscErrorCode WithOther(Mat A, const Problem &other, Combine combine)
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
inline void Axpy(Problem &p, const Problem &x)
{
  for (int twice = 0; twice < 2; ++twice)
    for (const Entry &e : x.entries) Set(p, e.i, e.j, HALF * e.v, true);
}

constexpr PetscInt SOME_ROWS[] = {3, 50, 51, 120, 220}; ///< those that are zeroed
inline bool        IsSome(PetscInt i)
{
  return std::find(std::begin(SOME_ROWS), std::end(SOME_ROWS), i) != std::end(SOME_ROWS);
}

static const Change CHANGES[] = {
    {"set_values", [](Mat *A) { return SetSome(*A, 17, 2, 7, INSERT_VALUES); },
     [](Problem &p) { SetSome(p, 17, 2, 7, false); }},
    {"add_values", [](Mat *A) { return SetSome(*A, 0, 3, 8, ADD_VALUES); },
     [](Problem &p) { SetSome(p, 0, 3, 8, true); }},
    {"zero_entries", [](Mat *A) { return MatZeroEntries(*A); },
     [](Problem &p) {
       for (Entry &e : p.entries) e.v = 0;
     }},
    {"scale", [](Mat *A) { return MatScale(*A, (PetscReal)0.3); },
     [](Problem &p) {
       for (Entry &e : p.entries) e.v *= (PetscReal)0.3;
     }},
    {"shift", [](Mat *A) { return MatShift(*A, QUARTER); },
     [](Problem &p) {
       for (PetscInt i = 0; i < p.rows; ++i) Set(p, i, i, QUARTER, true);
     }},
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
         e.v                     = e.v * Value(70 + (unsigned long long)e.i) * right * right;
       }
     }},
    {"axpy_same",
     [](Mat *A) {
       return WithOther(*A, SamePattern(), [A](Mat X) { return MatAXPY(*A, HALF, X, SAME_NONZERO_PATTERN); });
     },
     [](Problem &p) { Axpy(p, SamePattern()); }},
    {"axpy_subset",
     [](Mat *A) {
       return WithOther(*A, Subset(), [A](Mat X) { return MatAXPY(*A, HALF, X, SUBSET_NONZERO_PATTERN); });
     },
     [](Problem &p) { Axpy(p, Subset()); }},
    {"axpy_different",
     [](Mat *A) {
       return WithOther(*A, Different(), [A](Mat X) { return MatAXPY(*A, HALF, X, DIFFERENT_NONZERO_PATTERN); });
     },
     [](Problem &p) { Axpy(p, Different()); }},
    {"aypx",
     [](Mat *A) {
       return WithOther(*A, SamePattern(), [A](Mat X) { return MatAYPX(*A, QUARTER, X, SAME_NONZERO_PATTERN); });
     },
     [](Problem &p) {
       const Problem x = SamePattern();
       for (int twice = 0; twice < 2; ++twice)
         for (const Entry &e : x.entries) Set(p, e.i, e.j, QUARTER * Find(p, e.i, e.j)->v + e.v, false);
     }},
    {"copy_same",
     [](Mat *A) { return WithOther(*A, SamePattern(), [A](Mat X) { return MatCopy(X, *A, SAME_NONZERO_PATTERN); }); },
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
       PetscMPIInt rank;
       PetscFunctionBeginUser;
       PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)*A), &rank));
       PetscCall(MatZeroRows(*A, rank == 0 ? (PetscInt)std::size(SOME_ROWS) : 0, SOME_ROWS, 2, nullptr, nullptr));
       PetscFunctionReturn(PETSC_SUCCESS);
     },
     [](Problem &p) {
       p.entries.erase(std::remove_if(p.entries.begin(), p.entries.end(), [](const Entry &e) { return IsSome(e.i); }),
                       p.entries.end());
       for (PetscInt i : SOME_ROWS) Set(p, i, i, 2, false);
     }},
    {"zero_rows_columns",
     [](Mat *A) {
       PetscMPIInt rank;
       PetscFunctionBeginUser;
       PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)*A), &rank));
       PetscCall(
           MatZeroRowsColumns(*A, rank == 0 ? (PetscInt)std::size(SOME_ROWS) : 0, SOME_ROWS, 2, nullptr, nullptr));
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
     [](Problem &p) {
       for (PetscInt i = 0; i < p.rows; ++i) Set(p, i, i, Value(31 + (unsigned long long)i), false);
     }},
    {"conjugate", [](Mat *A) { return MatConjugate(*A); },
     [](Problem &p) {
       for (Entry &e : p.entries) e.v = PetscConj(e.v);
     }},
    {"real_part", [](Mat *A) { return MatRealPart(*A); },
     [](Problem &p) {
       for (Entry &e : p.entries) e.v = PetscRealPart(e.v);
     }},
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
     [](Problem &p) {
       for (Entry &e : p.entries) e.v *= QUARTER;
     }},
    {"transpose_in_place", [](Mat *A) { return MatTranspose(*A, MAT_INPLACE_MATRIX, A); },
     [](Problem &p) {
       for (Entry &e : p.entries) std::swap(e.i, e.j);
     }},
    {"same_arrays",
     [](Mat *A) { // another pattern in the very same arrays: neighbouring columns change places
       PetscInt begin, end;
       PetscFunctionBeginUser;
       PetscCall(MatGetOwnershipRange(*A, &begin, &end));
       Problem p;
       PetscCall(Gather(*A, &p));
       PetscCall(MatResetPreallocation(*A));
       PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); // newer PETSc may take new arrays
       for (const Entry &e : p.entries)
         if (e.i >= begin && e.i < end) PetscCall(MatSetValue(*A, e.i, e.j < 220 ? e.j ^ 1 : e.j, e.v, INSERT_VALUES));
       PetscCall(Assemble(*A));
       PetscFunctionReturn(PETSC_SUCCESS);
     },
     [](Problem &p) {
       for (Entry &e : p.entries) e.j = e.j < 220 ? e.j ^ 1 : e.j;
     }},
    {"assembly_alone", [](Mat *A) { return Assemble(*A); }, [](Problem &) {}},
};

} // namespace testing
