/// Runs sequences, and finds the shortest that still fails.
#pragma once

#include "model.hpp"

namespace sequences
{

struct Sequence {
  unsigned long long    seed;
  std::string           format;      ///< for matrices that are not told another one
  std::vector<PetscInt> items;       ///< ascending; the end is followed by a check of everything
  PetscInt              broken = -1; ///< after this item ours is changed secretly
};

struct Outcome {
  bool                     failed = false;
  std::string              fault;    ///< what is wrong, on the lowest rank that knows
  size_t                   ran  = 0; ///< items that began
  size_t                   done = 0; ///< items that fitted
  std::vector<std::string> words;    ///< of each item that did something, "k: ..."
};

/// Fresh matrices, all items, the end. An error code here is one of the test itself.
PetscErrorCode Run(const Sequence &sequence, Outcome *outcome);
/// Leaves items out as long as the rest fails.
PetscErrorCode Shrink(Sequence *sequence, Outcome *outcome);
/// Prints what a sequence does and the options that repeat it.
PetscErrorCode Report(const Sequence &sequence, const Outcome &outcome);
/// What a signal finds running, for its handler.
const Outcome  *Running();
const Sequence *RunningSequence();

} // namespace sequences
