/// Boxes of a grid whose nodes are numbered x first, then y, then z, by bisection.
#include <algorithm>
#include <array>
#include <cmath>
#include "pc/ordering/grid.hpp"
#include "pc/subdomains/cut.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

namespace
{
using ordering::DIMENSIONS;
using Corner = std::array<PetscInt, DIMENSIONS>;

struct Box {
  Corner   low, high; ///< nodes low <= node < high
  PetscInt first, count;

  PetscInt Nodes() const
  {
    PetscInt nodes = 1;
    for (int d = 0; d < DIMENSIONS; d++) nodes *= high[d] - low[d];
    return nodes;
  }
};

/// Two parts with a share of the subdomains each, across the longest side, the last one of equal ones: levels of
/// factors are the fewer the shorter that is.
std::pair<Box, Box> Bisect(const Box &box)
{
  int longest = 0;
  for (int d = 1; d < DIMENSIONS; d++)
    if (box.high[d] - box.low[d] >= box.high[longest] - box.low[longest]) longest = d;
  const PetscInt length = box.high[longest] - box.low[longest], nodes = box.Nodes(), across = nodes / length;
  const double   at   = static_cast<double>(length) * (box.count / 2) / box.count;
  const PetscInt left = std::clamp<PetscInt>(static_cast<PetscInt>(std::lround(at)), 1, length - 1);
  Box            a = box, b = box;
  a.high[longest] = b.low[longest] = box.low[longest] + left;
  // in proportion to the nodes, and as many as there are nodes at most
  const PetscInt least = std::max<PetscInt>(1, box.count - (nodes - across * left));
  const PetscInt most  = std::min(box.count - 1, across * left);
  a.count = std::clamp(static_cast<PetscInt>(std::lround(static_cast<double>(box.count) * left / length)), least, most);
  b.count = box.count - a.count;
  b.first = box.first + a.count;
  return {a, b};
}
} // namespace

PetscErrorCode FindBoxes(const CsrView &A, PetscInt count, GridCut *grid, bool *found)
{
  const PetscInt   unknowns = A.block_size > 0 && A.rows % A.block_size == 0 ? A.block_size : 1;
  Corner           sides;
  std::vector<Box> boxes;
  PetscInt         begin = 0;

  PetscFunctionBegin;
  PetscCall(ordering::FindGrid(ordering::RowPattern{Space::Host, A.rows, A.nonzeros, A.i, A.j, unknowns}, sides.data(),
                               found));
  if (!*found || count > A.rows / unknowns) {
    *found = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  grid->unknowns = unknowns;
  grid->rows     = A.rows;
  std::copy(sides.begin(), sides.end(), grid->sides);
  PetscCallCXX(grid->boxes.assign(count, GridCut::Box()));
  PetscCallCXX(boxes.push_back(Box{{0, 0, 0}, sides, 0, count}));
  while (!boxes.empty()) {
    const Box box = boxes.back();
    boxes.pop_back();
    if (box.count > 1) {
      const auto [a, b] = Bisect(box);
      PetscCallCXX(boxes.push_back(a));
      PetscCallCXX(boxes.push_back(b));
      continue;
    }
    std::copy(box.low.begin(), box.low.end(), grid->boxes[box.first].low);
    std::copy(box.high.begin(), box.high.end(), grid->boxes[box.first].high);
  }
  for (GridCut::Box &box : grid->boxes) {
    PetscInt rows = unknowns;
    for (int d = 0; d < DIMENSIONS; d++) rows *= box.high[d] - box.low[d];
    box.begin = begin;
    begin += rows;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CutBoxes(const CsrView &A, PetscInt count, std::vector<PetscInt> *of, bool *found)
{
  GridCut grid;

  PetscFunctionBegin;
  PetscCall(FindBoxes(A, count, &grid, found));
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(of->resize(A.rows));
  for (size_t s = 0; s < grid.boxes.size(); s++) {
    const GridCut::Box &box = grid.boxes[s];
    for (PetscInt z = box.low[2]; z < box.high[2]; z++)
      for (PetscInt y = box.low[1]; y < box.high[1]; y++) {
        const PetscInt line = (z * grid.sides[1] + y) * grid.sides[0];
        std::fill(of->begin() + (line + box.low[0]) * grid.unknowns, of->begin() + (line + box.high[0]) * grid.unknowns,
                  static_cast<PetscInt>(s));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
