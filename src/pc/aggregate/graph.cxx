/// Strong connections of nodes. Where all are strong, and each has one back, the graph is the pattern of the matrix
/// itself, read as it lies.
#include "pc/aggregate/graph.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "mat/rows/running_sum.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
PetscErrorCode Sum_Host(PetscInt count, const unsigned long long *value, unsigned long long *sum)
{
  PetscFunctionBegin;
  *sum = 0;
  for (PetscInt k = 0; k < count; k++) *sum += value[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns of a block row and the largest magnitude of each block are gathered in one pass over its rows.
PetscErrorCode FindBlocks_Host(const SparseRows &A, PetscInt size, NodePattern *pattern)
{
  const PetscInt         nodes = A.rows / size, others = A.cols / size;
  std::vector<PetscInt>  begin, columns, found;
  std::vector<PetscReal> blocks, largest;

  PetscFunctionBegin;
  PetscCallCXX(begin.assign(static_cast<size_t>(nodes) + 1, 0));
  PetscCallCXX(largest.assign(static_cast<size_t>(others), -1)); // not met
  for (PetscInt node = 0; node < nodes; node++) {
    found.clear();
    for (PetscInt e = A.arrays.i[node * size]; e < A.arrays.i[(node + 1) * size]; e++) {
      const PetscInt  to   = A.arrays.j[e] / size;
      const PetscReal v    = Size(A.arrays.a[e]);
      PetscReal      &most = largest[static_cast<size_t>(to)];
      if (most < 0) {
        PetscCallCXX(found.push_back(to));
        most = 0;
      }
      if (v > most) most = v;
    }
    std::sort(found.begin(), found.end());
    for (const PetscInt to : found) {
      PetscCallCXX(columns.push_back(to));
      PetscCallCXX(blocks.push_back(largest[static_cast<size_t>(to)]));
      largest[static_cast<size_t>(to)] = -1;
    }
    begin[static_cast<size_t>(node) + 1] = static_cast<PetscInt>(columns.size());
  }
  PetscCall(pattern->i.Take(std::move(begin), Space::Host));
  PetscCall(pattern->j.Take(std::move(columns), Space::Host));
  PetscCall(pattern->largest.Take(std::move(blocks), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Sum(Space space, PetscInt count, const unsigned long long *value, unsigned long long *sum)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, Sum_CUDA(count, value, sum), Sum_Host(count, value, sum)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindBlocks(Space space, const SparseRows &A, PetscInt block_size, NodePattern *pattern)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, FindBlocks_CUDA(A, block_size, pattern), FindBlocks_Host(A, block_size, pattern)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindNodePattern(Space space, const SparseRows &A, PetscInt block_size, NodePattern *pattern)
{
  PetscFunctionBegin;
  pattern->a     = A.arrays.a;
  pattern->graph = Graph{A.rows, A.nonzeros, A.arrays.i, A.arrays.j};
  if (block_size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindBlocks(space, A, block_size, pattern));
  pattern->graph =
      Graph{A.rows / block_size, static_cast<PetscInt>(pattern->j.size()), pattern->i.data(), pattern->j.data()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How large its entries are.
static Measure MeasureOf(const NodePattern &pattern)
{
  return Measure{pattern.largest.size() ? pattern.largest.data() : nullptr, pattern.a};
}

PetscErrorCode FindScales(Space space, const NodePattern &pattern, PetscReal *scale)
{
  PetscFunctionBegin;
  PetscCall(ForEach(space, pattern.graph.nodes, FindScale(pattern.graph, MeasureOf(pattern), scale)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mark(Space space, const SparseRows &A, PetscInt block_size, const Strength &strength,
                           Array<unsigned char> *strong)
{
  PetscFunctionBegin;
  PetscCall(strong->Allocate(static_cast<size_t>(A.nonzeros), space));
  PetscCall(ForEach(space, A.rows, MarkStrong{strength, block_size, A.arrays.i, A.arrays.j, strong->data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MarkStrongEntries(Space space, const SparseRows &A, PetscInt block_size, const NodePattern &pattern,
                                 PetscReal threshold, const PetscReal *scale, Array<unsigned char> *strong)
{
  const Strength  strength{pattern.graph, MeasureOf(pattern), threshold, scale};
  const PetscInt  nodes = pattern.graph.nodes;
  Array<PetscInt> weak;
  PetscInt        all = 0;

  PetscFunctionBegin;
  PetscCall(weak.Allocate(static_cast<size_t>(nodes) + 1, space));
  PetscCall(ForEach(space, nodes, CountWeak(strength, weak.data())));
  PetscCall(RunningSumIn(space, nodes, &weak, &all));
  if (all > 0) PetscCall(Mark(space, A, block_size, strength, strong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindStrongGraph(Space space, const SparseRows &A, const Options &options, const NodePattern &pattern,
                               StrongGraph *strong)
{
  const Graph               graph   = pattern.graph;
  const Measure             measure = MeasureOf(pattern);
  Array<PetscReal>          scale;
  Array<unsigned long long> hash;
  Array<int>                unordered;
  const int                 none   = 0;
  unsigned long long        unlike = 0;
  PetscInt                  kept   = 0;

  PetscFunctionBegin;
  if (options.threshold > 0) {
    PetscCall(scale.Allocate(static_cast<size_t>(graph.nodes), space));
    PetscCall(FindScales(space, pattern, scale.data()));
  }
  const Strength strength{graph, measure, options.threshold, scale.data()};
  PetscCall(strong->i.Allocate(static_cast<size_t>(graph.nodes) + 1, space));
  PetscCall(strong->alone.Allocate(static_cast<size_t>(graph.nodes), space));
  PetscCall(hash.Allocate(static_cast<size_t>(graph.nodes), space));
  PetscCall(unordered.Copy(&none, 1, space));
  PetscCall(ForEach(space, graph.nodes,
                    CountStrong(strength, strong->i.data(), strong->alone.data(), hash.data(), unordered.data())));
  PetscCall(RunningSumIn(space, graph.nodes, &strong->i, &kept));
  PetscCall(Sum(space, graph.nodes, hash.data(), &unlike));
  strong->graph = graph;
  if (kept < graph.entries) {
    PetscCall(strong->j.Allocate(static_cast<size_t>(kept), space));
    PetscCall(ForEach(space, graph.nodes,
                      KeepStrong{Connects{strength}, graph.i, graph.j, strong->i.data(), strong->j.data()}));
    PetscCall(Mark(space, A, options.block_size, strength, &strong->strong));
    strong->graph = Graph{graph.nodes, kept, strong->i.data(), strong->j.data()};
  }
  if (unlike) PetscCall(Symmetrize(space, unordered, strong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
