/// Regular grids, recognised in patterns.
#pragma once

#include "device/device.hpp"
#include "pc/ordering/names.hpp"

namespace sparsegpu::ordering
{

/// The pattern of a square matrix in one space; columns in any order, none twice.
struct RowPattern {
  Space           space    = Space::Host;
  PetscInt        rows     = 0;
  PetscInt        nonzeros = 0;
  const PetscInt *i = nullptr, *j = nullptr; ///< [rows + 1], [nonzeros]
  PetscInt        unknowns = 1;              ///< of a node, neighbouring rows; divides `rows`
};

constexpr int DIMENSIONS = 3;

/// *found: whether sampled rows are those of a stencil on a grid whose nodes are numbered x first, then y, then z;
/// sides [DIMENSIONS]: its nodes in each direction, x first. Rows that were not sampled may still be others'.
PetscErrorCode FindGrid(const RowPattern &A, PetscInt *sides, bool *found);

} // namespace sparsegpu::ordering
