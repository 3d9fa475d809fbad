/// Matrices whose pattern is not on the host.
#pragma once

#include <cstring>
#include <set>
#include "../family.hpp"
#include "device/device.hpp"
#include "mat/face/context.hpp"
#include "mat/face/pattern.hpp"
#include "mat/face/value_place.hpp"
#include "mat/rows/value_operations.hpp"

namespace testing
{

using namespace sparsegpu;

inline PetscErrorCode NoDevice(bool *none)
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(DeviceFound(&found));
  *none = !found;
  if (*none) PetscCall(Skip("there is no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where patterns go away to: with -sparsegpu_test_away to a second array on the host.
inline Space Elsewhere()
{
  PetscBool tests = PETSC_FALSE;

  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &tests, nullptr));
  return tests ? Space::Host : Space::Device;
}

/// *A has p's pattern and values, both away.
inline PetscErrorCode CreateAway(const Problem &p, Mat *A)
{
  const face::PatternsStayAway stay;
  const Space                  space = Elsewhere();
  std::vector<PetscInt>        i((size_t)p.rows + 1, 0), j;
  std::vector<Scalar>          v;
  Array<PetscInt>              begin, columns;
  Array<Scalar>                values;
  face::Context               *context;
  Scalar                      *a;

  PetscFunctionBeginUser;
  for (const conformance::Entry &e : p.entries) {
    i[(size_t)e.i + 1]++;
    j.push_back(e.j);
    v.push_back(face::there::Ours(e.v));
  }
  for (size_t r = 0; r < (size_t)p.rows; r++) i[r + 1] += i[r];
  PetscCall(begin.Take(std::move(i), space));
  PetscCall(columns.Take(std::move(j), space));
  PetscCall(values.Take(std::move(v), space));
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, p.rows, p.cols, p.rows, p.cols));
  PetscCall(MatSetType(*A, MATSEQAIJSPARSEGPU));
  PetscCall(MatSparseGPUSetBackend(*A, space == Space::Device ? "cuda" : "kokkos"));
  PetscCall(face::GetContext(*A, &context));
  context->read_here = true;
  PetscCall(face::TakePattern(*A, std::move(begin), std::move(columns), space));
  PetscCheck(context->rows.pattern_away(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The pattern is at home");
  PetscCall(context->rows.RoomForValues(*A, space, &a));
  PetscCall(rows::values::ForEach(space, (PetscCount)p.entries.size(), rows::values::Copy{values.data(), a}));
  PetscCall(face::ValuesWrittenThere(*A, context));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCheck(context->rows.pattern_away(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Assembly brought the pattern home");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each operation of A is another one than `parent`'s, but for those at the offsets `safe`.
inline PetscErrorCode CheckOperations(Mat A, const struct _MatOps *parent, const std::set<size_t> &safe)
{
  PetscFunctionBeginUser;
  for (size_t at = 0; at < sizeof(struct _MatOps); at += sizeof(void *)) {
    void *ours, *theirs;
    memcpy(&ours, reinterpret_cast<const char *>(A->ops) + at, sizeof(ours));
    memcpy(&theirs, reinterpret_cast<const char *>(parent) + at, sizeof(theirs));
    PetscCheck(!theirs || ours != theirs || safe.count(at), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Operation %zu of AIJ is called on a matrix without a pattern", at / sizeof(void *));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
