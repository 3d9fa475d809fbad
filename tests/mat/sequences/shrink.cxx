/// The shortest sequence: parts are left out, halves first, single items last, as long as what remains fails, as in
/// Zeller and Hildebrandt, IEEE Trans. Softw. Eng. 28(2), 2002.
#include "run.hpp"

#include <petsctime.h>

namespace sequences
{

PetscErrorCode Shrink(Sequence *sequence, Outcome *outcome)
{
  constexpr double limit = 60; // seconds; a shorter sequence is a convenience
  PetscLogDouble   begin, now;
  Outcome          tried;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  sequence->items.resize(outcome->ran);
  for (size_t part = std::max<size_t>(1, sequence->items.size() / 2); part > 0;) {
    bool shorter = false;
    for (size_t at = 0; at < sequence->items.size();) {
      PetscCall(PetscTime(&now));
      int late = now - begin > limit;
      PetscCallMPI(MPI_Bcast(&late, 1, MPI_INT, 0, PETSC_COMM_WORLD));
      if (late) PetscFunctionReturn(PETSC_SUCCESS);
      Sequence   without = *sequence;
      const auto from    = without.items.begin() + (std::ptrdiff_t)at;
      without.items.erase(from, from + (std::ptrdiff_t)std::min(part, without.items.size() - at));
      PetscCall(Run(without, &tried));
      if (tried.failed) {
        without.items.resize(tried.ran);
        *sequence = without;
        *outcome  = tried;
        shorter   = true;
      } else
        at += part;
    }
    if (part > 1)
      part /= 2;
    else if (!shorter)
      break; // no single item can be left out
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report(const Sequence &q, const Outcome &o)
{
  PetscMPIInt size;
  std::string items;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const std::string &words : o.words) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", words.c_str()));
  for (PetscInt k : q.items) items += (items.empty() ? "" : ",") + std::to_string(k);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  fails: %s\n", o.fault.c_str()));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "repeat on %d ranks with: -seed %llu -format %s -items %s\n", (int)size,
                        q.seed, q.format.c_str(), items.empty() ? "none" : items.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
