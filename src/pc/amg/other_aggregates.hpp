/// Aggregates of other processes that a process's rows reach to.
#pragma once

#include <algorithm>
#include "mat/face/numbers.hpp"
#include "pc/amg/names.hpp"

namespace sparsegpu::amg
{

/// Aggregates of other processes: those before and behind the own ones, and their members among the ghosts.
struct OtherAggregates {
  std::vector<PetscInt> number; ///< in the whole matrix, each once, ascending
  size_t                below = 0;
  std::vector<PetscInt> of;               ///< [ghost nodes] place in `number`, -1: none
  std::vector<PetscInt> begin{0}, member; ///< [number.size() + 1], ghost nodes, ascending in each aggregate

  /// theirs [ghost unknowns]: number of the aggregate, -1: none. `size`: unknowns of a node; `first`: own aggregates.
  void Sort(const std::vector<PetscInt> &theirs, size_t size, PetscInt first)
  {
    std::vector<PetscInt> given;
    face::Numbers         distinct;
    for (PetscInt aggregate : theirs)
      if (aggregate >= 0) given.push_back(aggregate);
    distinct.Assign(given);
    number = distinct.list();
    below  = static_cast<size_t>(std::lower_bound(number.begin(), number.end(), first) - number.begin());
    begin.assign(number.size() + 1, 0);
    for (size_t k = 0; k < theirs.size(); k += size) {
      of.push_back(theirs[k] < 0 ? -1 : distinct.Place(theirs[k]));
      if (of.back() >= 0) begin[static_cast<size_t>(of.back()) + 1]++;
    }
    for (size_t k = 1; k < begin.size(); k++) begin[k] += begin[k - 1];
    std::vector<PetscInt> next = begin;
    member.resize(static_cast<size_t>(begin.back()));
    for (size_t node = 0; node < of.size(); node++)
      if (of[node] >= 0)
        member[static_cast<size_t>(next[static_cast<size_t>(of[node])]++)] = static_cast<PetscInt>(node);
  }
};

} // namespace sparsegpu::amg
