/// A parallel matrix of ours, whose values a product has hidden from the host, and plain AIJ: with
/// -sparsegpu_test_away.
#pragma once

#include <cmath>
#include "../family.hpp"

namespace testing
{

using Numbers = std::vector<PetscScalar>;

/// Entries that differ from each other, of one's own for `which`; multiples of 1/64.
inline Problem WithValues(Problem p, int which)
{
  for (size_t k = 0; k < p.entries.size(); ++k) {
    p.entries[k].v = (PetscScalar)(0.5 + (PetscReal)((37 * k + 11 * (size_t)which) % 101) / 64 +
                                   (p.entries[k].i == p.entries[k].j ? 16 : 0)); // dominant, for solvers
#if defined(PETSC_USE_COMPLEX)
    p.entries[k].v += PETSC_i * (PetscReal)((17 * k) % 13) / 8;
#endif
  }
  return p;
}

/// The block's array on the host, as it is: nothing comes home for it. Null where there are no values.
inline PetscErrorCode HostArrays(Mat A, const PetscScalar *arrays[2])
{
  Mat blocks[2];

  PetscFunctionBeginUser;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (int b = 0; b < 2; ++b) {
    MatInfo            info;
    const PetscScalar *a;
    PetscCall(MatGetInfo(blocks[b], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArrayRead(blocks[b], &a));
    arrays[b] = info.nz_used > 0 ? a : nullptr;
    PetscCall(MatSeqAIJRestoreArrayRead(blocks[b], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Are the values hidden? `arrays`: those of HostArrays() before they were.
inline PetscErrorCode CheckHidden(const PetscScalar *const arrays[2], const std::string &what)
{
  PetscFunctionBeginUser;
  for (int b = 0; b < 2; ++b)
    PetscCheck(!arrays[b] || arrays[b][0] != arrays[b][0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: the values of the %s block are on the host", what.c_str(), b ? "off-diagonal" : "diagonal");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The local values of a product with A are appended; it hides the values of ours.
inline PetscErrorCode Multiply(Mat A, Numbers *values)
{
  Vec                x, y;
  PetscInt           begin, end, n;
  const PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt k = begin; k < end; ++k) PetscCall(VecSetValue(x, k, (PetscScalar)(1 + k % 7), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &array));
  values->insert(values->end(), array, array + n);
  PetscCall(VecRestoreArrayRead(y, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sums of products may round in another order, by some ulp of the largest one.
inline PetscErrorCode Compare(const std::string &what, const Numbers &ours, const Numbers &theirs)
{
  PetscReal largest = 0, off = 0;

  PetscFunctionBeginUser;
  PetscCheck(ours.size() == theirs.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu numbers, not %zu", what.c_str(),
             ours.size(), theirs.size());
  for (size_t k = 0; k < theirs.size(); ++k) {
    largest = PetscMax(largest, PetscAbsScalar(theirs[k]));
    off     = PetscMax(off, PetscAbsScalar(ours[k] - theirs[k]));
    PetscCheck(ours[k] == ours[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: number %zu is none", what.c_str(), k);
  }
  PetscCheck(off <= 100 * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is off by %g of %g",
             what.c_str(), (double)off, (double)largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row of all columns on each of some, so that each rank has ghosts of all others.
inline Problem Coupled()
{
  Problem p = conformance::Banded("coupled", 60, 60, {-20, -1, 0, 1, 20});
  for (PetscInt i : {0, 29, 59})
    for (PetscInt j = 0; j < 60; j += 3)
      if (std::abs(i - j) > 1 && std::abs(i - j) != 20) p.entries.push_back({i, j, 1});
  return p;
}

/// How pairs of matrices whose patterns are away, too, get so (hidden_rows.hpp); null: values alone are.
struct Hiding {
  PetscErrorCode (*hide)(Mat *A)                          = nullptr; ///< *A becomes a matrix with the same rows
  PetscErrorCode (*check)(Mat A, const std::string &what) = nullptr; ///< are they away?
};
inline Hiding hiding;

/// Applies `call`(A, other, numbers) to ours and to plain AIJ, A's values hidden by a product, or A's rows, and scaled
/// since, and compares the numbers that it gives and products afterwards. `stays`: ours must not come to the host for
/// it.
template <class Call> PetscErrorCode CheckPair(const std::string &what, Layout layout, bool stays, Call call)
{
  Numbers            numbers[2];
  const PetscScalar *arrays[2];

  PetscFunctionBeginUser;
  for (int ours : {1, 0}) { // ours first: after a MAIJ no values leave
    Mat         A, other;
    const char *type   = ours ? MATMPIAIJSPARSEGPU : MATMPIAIJ;
    const char *format = ours ? "auto" : nullptr;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, WithValues(Coupled(), 0), type, format, layout, &A));
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, WithValues(Coupled(), 1), type, format, layout, &other));
    if (ours && !hiding.hide) PetscCall(HostArrays(A, arrays));
    if (!hiding.hide) {
      PetscCall(Multiply(other, &numbers[ours]));
      PetscCall(Multiply(A, &numbers[ours]));
    } else if (ours) {
      PetscCall((*hiding.hide)(&A));
      PetscCall((*hiding.hide)(&other));
    }
    PetscCall(MatScale(A, 0.5));
    if (ours) PetscCall(hiding.hide ? (*hiding.check)(A, what + ", before") : CheckHidden(arrays, what + ", before"));
    PetscCall(call(A, other, &numbers[ours]));
    if (ours && stays) PetscCall(hiding.hide ? (*hiding.check)(A, what) : CheckHidden(arrays, what));
    PetscCall(Multiply(A, &numbers[ours]));
    PetscCall(Multiply(other, &numbers[ours]));
    PetscReal norm; // and once they are home
    PetscCall(MatNorm(A, NORM_1, &norm));
    numbers[ours].push_back(norm);
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&other));
  }
  PetscCall(Compare(what + ", " + Name(layout), numbers[1], numbers[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
