/// What a part of a graph tells of orderings of the whole.
#pragma once

#include "pc/ordering/libraries.hpp"

namespace sparsegpu::ordering
{

/// Operations with AMD's order, those with an order by levels being 1, of the nodes that a breadth-first search reaches
/// first, a 32nd of all but 10,000 at least; 1 where it reaches fewer, or AMD is not there. Throws std::bad_alloc.
PetscLogDouble DegreeAgainstLevels(const WeightedGraph &graph);

} // namespace sparsegpu::ordering
