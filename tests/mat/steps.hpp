/// What tests of products share whose sums are used at once.
#pragma once

#include "../family.hpp"

#include "mat/face/solver_access.hpp"

namespace steps
{

using sparsegpu::face::MultStep;
using sparsegpu::face::StepFactors;

struct Vectors {
  Vec x = nullptr, f = nullptr, d = nullptr, z = nullptr, q = nullptr;

  PetscErrorCode Create(Mat A, const std::string &type)
  {
    PetscRandom random;

    PetscFunctionBeginUser;
    PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &random));
    for (Vec *v : {&x, &f, &d, &z, &q}) {
      PetscCall(testing::CreateVector(A, testing::Op::Plain, true, type, v));
      PetscCall(VecSetRandom(*v, random));
    }
    PetscCall(PetscRandomDestroy(&random));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    for (Vec *v : {&x, &f, &d, &z, &q}) PetscCall(VecDestroy(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// What a step must give, entry by entry from the stored product, each with a bound of its rounding: a few operations,
/// and the product is the same sum but for `apart`, what a sum in another order may differ by; empty: nothing.
inline PetscErrorCode CheckStep(Mat A, const StepFactors &by, bool diagonal, const Vectors &v, bool *done,
                                const std::string &what, const std::vector<PetscReal> &apart = {})
{
  const PetscScalar *x, *f, *d, *q, *z, *before;
  PetscInt           n;
  Vec                old;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(v.z, &old));
  if (by.before == 0) PetscCall(VecSet(v.z, std::numeric_limits<PetscReal>::quiet_NaN())); // must not be read
  PetscCall(VecCopy(v.z, old));
  PetscCall(MatMult(A, v.x, v.q));
  PetscCall(MultStep(A, by, diagonal ? v.d : nullptr, v.f, v.x, v.z, done));
  PetscCall(VecGetLocalSize(v.z, &n));
  PetscCall(VecGetArrayRead(v.x, &x));
  PetscCall(VecGetArrayRead(v.f, &f));
  PetscCall(VecGetArrayRead(v.d, &d));
  PetscCall(VecGetArrayRead(v.q, &q));
  PetscCall(VecGetArrayRead(v.z, &z));
  PetscCall(VecGetArrayRead(old, &before));
  for (PetscInt k = 0; *done && k < n; ++k) {
    const PetscScalar factor = by.residual * (diagonal ? d[k] : PetscScalar(1)), r = f[k] - q[k];
    const PetscScalar last     = by.before != 0 ? by.before * before[k] : PetscScalar(0);
    const PetscScalar expected = last + by.now * x[k] + factor * r;
    const PetscReal   sizes    = PetscAbsScalar(last) + PetscAbsScalar(by.now * x[k]) +
                            PetscAbsScalar(factor) * (PetscAbsScalar(f[k]) + PetscAbsScalar(q[k]));
    const PetscReal bound =
        16 * PETSC_MACHINE_EPSILON * sizes + (apart.empty() ? 0 : PetscAbsScalar(factor) * apart[(size_t)k]);
    PetscCheck(PetscAbsScalar(z[k] - expected) <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " is %.17g, not %.17g", what.c_str(), k, (double)PetscRealPart(z[k]),
               (double)PetscRealPart(expected));
  }
  PetscCheck(*done || !memcmp(z, before, (size_t)n * sizeof(PetscScalar)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: changed the vector, but says that it did not", what.c_str());
  PetscCall(VecRestoreArrayRead(v.x, &x));
  PetscCall(VecRestoreArrayRead(v.f, &f));
  PetscCall(VecRestoreArrayRead(v.d, &d));
  PetscCall(VecRestoreArrayRead(v.q, &q));
  PetscCall(VecRestoreArrayRead(v.z, &z));
  PetscCall(VecRestoreArrayRead(old, &before));
  PetscCall(VecDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline constexpr StepFactors FACTORS[] = {
    {0, 0, 1}, {0, 1, (PetscReal)0.3}, {(PetscReal)-0.4, (PetscReal)1.4, (PetscReal)0.5}};

inline std::vector<testing::Problem> Problems()
{
  std::vector<testing::Problem> problems;
  problems.push_back(conformance::Banded("banded", 2000, 2000, {-40, -1, 0, 1, 40}));
  conformance::Builder uneven("uneven", 700, 700); // rows of no entry, of few, and of all columns
  for (PetscInt i = 0; i < 700; ++i)
    for (PetscInt k = 0; k < (i == 300 ? 700 : i % 9); ++k)
      uneven.Add(i, i == 300 ? k : (i * 7 + k * 31) % 700, conformance::Value((unsigned long long)(i * 1000 + k)));
  problems.push_back(uneven);
  return problems;
}

} // namespace steps
