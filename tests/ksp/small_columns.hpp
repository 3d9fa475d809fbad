/// Several right-hand sides of small systems in one launch against launches one by one.
#pragma once

#include "columns.hpp"

namespace testing
{

/// What a solver's view says of them, and the option by which there are none.
struct SmallWay {
  const char *launch, *by_step;
};
inline SmallWay Way = {}; // main() says which

/// Whether columns of this type are solved so.
inline bool Serves(const Columns &s)
{
  return !s.on_host && PetscGlobalSize == 1;
}

/// In one launch where that is possible, with the same bits again; as launches one by one end, and as single solves do.
/// `apart`: iterations by which the ends of a column may differ.
inline PetscErrorCode CompareSmall(const Columns &s, const std::string &what, const std::string &options,
                                   PetscInt apart = 0)
{
  Together      all, again, steps;
  const Options set(options);

  PetscFunctionBeginUser;
  PetscCall(SolveTogether(s, &all));
  PetscCall(SolveTogether(s, &again));
  PetscCheck(PetscGlobalRank > 0 || (all.view.find(Way.launch) != std::string::npos) == Serves(s), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s, %d columns of %s:\n%s", what.c_str(), (int)s.count, s.type.c_str(), all.view.c_str());
  PetscCall(CheckEqual(all.X, again.X, what));
  {
    const Options off(Way.by_step);
    PetscCall(SolveTogether(s, &steps));
    PetscCheck(steps.view.find(Way.launch) == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "off is not heard");
  }
  PetscCheck(all.reason == steps.reason && std::abs(all.iterations - steps.iterations) <= apart &&
                 std::abs(all.total - steps.total) <= apart * s.count,
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s, %d columns of %s: reason %d, %" PetscInt_FMT " iterations, %" PetscInt_FMT
             " in all; one by one %d, %" PetscInt_FMT ", %" PetscInt_FMT,
             what.c_str(), (int)s.count, s.type.c_str(), (int)all.reason, all.iterations, all.total, (int)steps.reason,
             steps.iterations, steps.total);
  if (apart == 0) PetscCall(Compare(s, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct SmallCase {
  Problem               problem;
  const char           *format; ///< null: any
  std::string           options;
  std::vector<PetscInt> counts; ///< of columns
};
/// Each case from zero and from a guess.
inline PetscErrorCode CompareSmall(const std::vector<SmallCase> &cases)
{
  PetscFunctionBeginUser;
  for (const SmallCase &c : cases) {
    System matrix;
    PetscCall(matrix.Create(c.problem, c.format));
    for (const std::string &type : DenseTypes())
      for (PetscInt count : c.counts) {
        Columns s;
        PetscCall(s.Create(matrix.A, count, type));
        PetscCall(s.Fill());
        PetscCall(CompareSmall(s, c.problem.name, c.options));
        PetscCall(s.Guess((PetscReal)0.5));
        PetscCall(CompareSmall(s, c.problem.name + " with a guess", c.options));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
