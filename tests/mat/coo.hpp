/// A matrix set by MatSetPreallocationCOO() and MatSetValuesCOO() from repeated, ignored and off-process entries.
#pragma once

#include "../device_array.hpp"
#include "../family.hpp"

namespace testing
{

/// The entries that the calling process gives: any of the matrix (so most are off-process on several ranks), some
/// twice, and some with a negative index, which are to be ignored.
struct Coo {
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;

  void Add(PetscInt row, PetscInt col, PetscScalar value)
  {
    i.push_back(row);
    j.push_back(col);
    v.push_back(value);
  }
};

/// `round` varies the values. A repeated entry comes as a value and its half: their sum rounds once, in either order.
inline Problem Model(PetscInt round, Coo *mine)
{
  const size_t rank = (size_t)PetscGlobalRank, size = (size_t)PetscGlobalSize;
  Problem      p = conformance::Grid("coo_grid_13x9", 13, 9, false);

  for (size_t k = 0; k < p.entries.size(); ++k) {
    conformance::Entry &e = p.entries[k];
    e.v = conformance::Value(k + 10000 * (size_t)round) + (PetscScalar)(e.i == e.j ? 8 : 0); // dominant, for ILU
    if (k % size == rank) mine->Add(e.i, e.j, e.v);
    if (k % 5 == 0) {
      const PetscScalar half = (PetscReal)0.5 * e.v;
      if (k / 5 % size == rank) mine->Add(e.i, e.j, half);
      e.v += half;
    }
    if (k % 7 == 0) mine->Add(-1, e.j, 1000);
    if (k % 9 == 0) mine->Add(e.i, -3, 1000);
  }
  return p;
}

inline bool OnDevice()
{
  PetscBool device = PETSC_FALSE;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetBool(nullptr, nullptr, "-device", &device, nullptr));
  return device;
}
inline PetscErrorCode NoDevice(bool *none)
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
  *none = OnDevice() && !found;
  if (*none) PetscCall(Skip("there is no device for -device"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix with the pattern set; no values yet.
inline PetscErrorCode CreatePattern(const char type[], const char *format, Mat *A)
{
  Coo           coo;
  const Problem p = Model(0, &coo);

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, p.rows, p.cols));
  PetscCall(MatSetType(*A, type));
  if (format) PetscCall(MatSparseGPUSetFormat(*A, format));
  PetscCall(MatSetPreallocationCOO(*A, (PetscCount)coo.i.size(), coo.i.data(), coo.j.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode SetValues(Mat A, PetscInt round, InsertMode mode, bool device, Problem *p)
{
  Coo coo;

  PetscFunctionBeginUser;
  *p = Model(round, &coo);
  PetscCall(MatSetValuesCOO(A, ScalarArray(coo.v, device).Get(), mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
