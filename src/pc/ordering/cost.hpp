/// What an order makes a factorization cost, and what finding an order costs.
#pragma once

#include <algorithm>
#include "device/device.hpp"
#include "pc/ordering/libraries.hpp"

namespace sparsegpu::ordering
{

/// Of a graph or of a component of it.
struct Cost {
  PetscLogDouble flops  = 0;
  PetscInt       height = 0; ///< unknowns of the longest chain of eliminations that wait for each other

  /// Of another component, which waits for nothing of this one.
  void Add(const Cost &other)
  {
    flops += other.flops;
    height = std::max(height, other.height);
  }
};

/// Of each component, with component [graph.pattern.n] of 0 .. components - 1. Throws std::bad_alloc.
std::vector<Cost> CostsOf(const WeightedGraph &graph, const Indices &component, PetscInt components,
                          const Indices &order);

/// Predicted seconds of a factorization and a solve: of all operations, of the longest chain (none on the host), and
/// their sum.
double FlopSeconds(Space space, PetscLogDouble flops);
double ChainSeconds(Space space, PetscInt height);
double Seconds(Space space, const Cost &cost);
/// Of dissection by a library, for a node or an edge in one direction.
double DissectionSeconds(Space space);

} // namespace sparsegpu::ordering
