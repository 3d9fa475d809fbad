/// Boxes of a grid whose nodes are numbered x first, then y, then z. Its sides are read off sampled rows: with the
/// distances |column - row| of a stencil in ascending order, those above half of the largest lie round the largest
/// stride, nx ny in three dimensions, and the others are those of the grid with one dimension less.
#include <algorithm>
#include <array>
#include "pc/subdomains/cut.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

namespace
{
constexpr int      DIMENSIONS = 3;
constexpr PetscInt SAMPLES    = 64;  ///< rows that are looked at
constexpr size_t   MOST       = 512; ///< distances that a stencil may have

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

/// Distances of coupled nodes, ascending, without 0; empty: too many for a stencil.
std::vector<PetscInt> Distances(const CsrView &A, PetscInt unknowns)
{
  const PetscInt        nodes = A.rows / unknowns;
  std::vector<PetscInt> all;
  for (PetscInt k = 0; k < SAMPLES; k++) {
    // rows at irregular places, so that not all of them lie on the boundary
    const PetscInt node = static_cast<PetscInt>((static_cast<PetscInt64>(nodes) * k / SAMPLES + 61 * k) % nodes);
    const PetscInt r    = node * unknowns;
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++)
      if (A.j[e] / unknowns != node) all.push_back(std::abs(A.j[e] / unknowns - node));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() > MOST) return {};
  }
  return all;
}

/// The sides of the grid, x first; false: there is none.
bool FindSides(const CsrView &A, PetscInt unknowns, Corner *sides)
{
  const PetscInt        nodes    = A.rows / unknowns;
  std::vector<PetscInt> distance = Distances(A, unknowns), strides;
  if (distance.empty()) return false;
  while (!distance.empty()) {
    const auto     upper = std::find_if(distance.begin(), distance.end(),
                                        [&](PetscInt d) { return 2 * static_cast<PetscInt64>(d) > distance.back(); });
    const PetscInt sum   = *upper + distance.back();
    if (sum % 2) return false;
    strides.push_back(sum / 2);
    distance.erase(upper, distance.end());
  }
  if (strides.back() != 1) strides.push_back(1); // nothing couples neighbours
  if (strides.size() > DIMENSIONS) return false;
  std::reverse(strides.begin(), strides.end());
  sides->fill(1);
  for (size_t d = 0; d < strides.size(); d++) {
    const PetscInt above = d + 1 < strides.size() ? strides[d + 1] : nodes;
    if (above % strides[d] || above == strides[d]) return false;
    (*sides)[d] = above / strides[d];
  }
  return true;
}

/// Two parts with a share of the subdomains each, across the longest side, the last one of equal ones: levels of
/// factors are the fewer the shorter that is.
std::pair<Box, Box> Bisect(const Box &box)
{
  int longest = 0;
  for (int d = 1; d < DIMENSIONS; d++)
    if (box.high[d] - box.low[d] >= box.high[longest] - box.low[longest]) longest = d;
  const PetscInt length = box.high[longest] - box.low[longest], nodes = box.Nodes(), across = nodes / length;
  const double   at   = static_cast<double>(length) * (box.count / 2) / box.count;
  const PetscInt left = std::clamp<PetscInt>(static_cast<PetscInt>(at + 0.5), 1, length - 1);
  Box            a = box, b = box;
  a.high[longest] = b.low[longest] = box.low[longest] + left;
  // in proportion to the nodes, and as many as there are nodes at most
  const PetscInt least = std::max<PetscInt>(1, box.count - (nodes - across * left));
  const PetscInt most  = std::min(box.count - 1, across * left);
  a.count = std::clamp(static_cast<PetscInt>(static_cast<double>(box.count) * left / length + 0.5), least, most);
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
  *found = A.rows > 0;
  if (*found) PetscCallCXX(*found = FindSides(A, unknowns, &sides));
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
