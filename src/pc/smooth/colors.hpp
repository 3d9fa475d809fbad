/// Colours of the rows of a square sequential matrix: rows that are coupled, in either direction, have different ones,
/// so that a Gauss-Seidel sweep relaxes all rows of a colour at once. Each row has the smallest colour that no coupled
/// row before it has, in an order of the rows by their reversed bits: even numbers before odd ones, of these multiples
/// of four, and so on, which gives few colours on grids that are numbered line by line and short chains of rows that
/// wait for each other. Rows whose predecessors have colours take theirs at the same time: Jones & Plassmann, SIAM J.
/// Sci. Comput. 14(3), 1993. Integers and the pattern alone decide: host and device agree.
#pragma once

#include <vector>
#include "device/buffer.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/smooth/names.hpp"

namespace sparsegpu::smooth
{

struct Colors {
  std::vector<PetscInt> begin; ///< [colours + 1] of each in `list`
  Array<PetscInt>       list;  ///< [rows] by colour, ascending in each
  PetscInt              rounds = 0;

  PetscInt count() const { return begin.empty() ? 0 : static_cast<PetscInt>(begin.size()) - 1; }
};

/// Of a matrix of so many rows, whose pattern lies in `space`; columns of a row in any order, none twice. Waits for the
/// device. Errors: PETSC_ERR_MEM.
PetscErrorCode FindColors(PetscInt rows, PetscInt nonzeros, const CsrArrays &pattern, Space space, Colors *colors);

} // namespace sparsegpu::smooth
