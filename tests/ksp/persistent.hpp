/// Small systems: many iterations in one launch against launches one by one.
#pragma once

#include "against_petsc.hpp"

namespace testing
{

struct PersistentCase {
  Problem     problem;
  std::string format, options;
  PetscInt    apart = 0; ///< iterations by which the ends may differ: rounding errors decide the last of thousands
};

inline PetscErrorCode RunsInOneLaunch(const System &s, bool *so)
{
  PetscFunctionBeginUser;
  PetscCall(ViewTells(s.A, s.b, "persistent_view", "many iterations in one launch", so));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The iterations of the solver of type `ksp` are those of launches one by one, which option `off` says, and so are the
/// ends; with the same bits each time.
inline PetscErrorCode ComparePersistent(const std::vector<PersistentCase> &cases, const char ksp[], const char off[])
{
  const Option type("-ksp_type", ksp);
  PetscBool    device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  for (const PersistentCase &c : cases) {
    const std::string what = c.problem.name + " " + c.options;
    const Options     options(c.options);
    System            s;
    PetscCall(s.Create(c.problem, c.format.c_str()));
    for (Vec guess : {(Vec) nullptr, s.guess}) {
      Outcome whole, again, steps;
      bool    so;
      PetscCall(SolveWith(s.A, s.b, guess, &whole));
      PetscCall(SolveWith(s.A, s.b, guess, &again));
      PetscCall(RunsInOneLaunch(s, &so));
      PetscCheck(so == (device && PetscGlobalSize == 1) || PetscGlobalRank > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %s", what.c_str(), so ? "in one launch" : "one by one");
      PetscCheck(whole.history == again.history, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: other bits again",
                 what.c_str());
      {
        const Option one(off, "off");
        PetscCall(SolveWith(s.A, s.b, guess, &steps));
        PetscCall(RunsInOneLaunch(s, &so));
        PetscCheck(!so, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "off is not heard");
      }
      if (!c.apart) {
        PetscCall(CheckSame(what, whole, steps));
        continue;
      }
      PetscCheck(whole.reason == steps.reason && std::abs(whole.iterations - steps.iterations) <= c.apart,
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %d, %" PetscInt_FMT " iterations; one by one %d, %" PetscInt_FMT, what.c_str(), (int)whole.reason,
                 whole.iterations, (int)steps.reason, steps.iterations);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
