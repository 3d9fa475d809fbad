/// The graph of strong connections, in one space.
#pragma once

#include "device/buffer.hpp"
#include "mat/products/multiply.hpp"
#include "pc/aggregate/names.hpp"
#include "pc/ordering/priority.hpp"

namespace sparsegpu::aggregate
{

struct Options;

/// Rows of nodes; columns in any order, none twice; a node may be its own neighbour.
struct Graph {
  PetscInt        nodes = 0, entries = 0;
  const PetscInt *i = nullptr, *j = nullptr;
};

/// The pattern of the nodes of a matrix, and how large their blocks are.
struct NodePattern {
  Graph            graph;
  Array<PetscInt>  i, j;    ///< of blocks; those of the matrix for single unknowns
  Array<PetscReal> largest; ///< [entries] magnitude of the largest entry of each block; empty for single unknowns
  const Scalar    *a     = nullptr;
  bool             whole = false; ///< all rows are known to be made of whole blocks of several unknowns
};
/// A may have more columns than rows, those of the nodes that follow. Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE.
PetscErrorCode FindNodePattern(Space space, const SparseRows &A, PetscInt block_size, NodePattern *pattern);

/// Strong connections in both directions.
struct StrongGraph {
  Graph                graph;
  Array<PetscInt>      i, j;  ///< where the graph is not the node pattern itself
  Array<unsigned char> alone; ///< [nodes] 1: no strong connection in the row
  /// [nonzeros of A] 1: of a block that is strong or on the diagonal; empty where all are.
  Array<unsigned char> strong;
};
PetscErrorCode FindStrongGraph(Space space, const SparseRows &A, const Options &options, const NodePattern &pattern,
                               StrongGraph *graph);
/// scale [nodes] = the root of how large the block of each node on the diagonal is. Asynchronous on the device.
PetscErrorCode FindScales(Space space, const NodePattern &pattern, PetscReal *scale);
/// strong [nonzeros of A] of A's entries, for a threshold above 0, as in StrongGraph: empty where no block is weak.
/// scale [nodes of columns]. Waits for the device. Errors: PETSC_ERR_MEM.
PetscErrorCode MarkStrongEntries(Space space, const SparseRows &A, PetscInt block_size, const NodePattern &pattern,
                                 PetscReal threshold, const PetscReal *scale, Array<unsigned char> *strong);
/// Adds to each connection between nodes that are not alone the one back, where there is none. *unordered [1] in
/// `space`: 1 where columns do not ascend. Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE.
PetscErrorCode Symmetrize(Space space, const Array<int> &unordered, StrongGraph *graph);

// The states and priorities of the search for independent nodes.
using ordering::MOST_NODES;
using ordering::OUT;
using ordering::Priority;
using ordering::ROOT;
using ordering::Scramble;
using ordering::State;

/// *roots [nodes]: ROOT for a maximal set of nodes which are more than `distance` connections apart, OUT for all
/// others.
PetscErrorCode FindRoots(Space space, const StrongGraph &graph, PetscInt distance, Array<State> *roots,
                         PetscInt *rounds);

// What the two backends do in different ways.

/// *sum = value[0] + ... modulo 2^64. Waits for the device.
PetscErrorCode Sum(Space space, PetscInt count, const unsigned long long *value, unsigned long long *sum);
/// Nodes by the state that they have somewhere.
struct NodeList {
  const State    *state = nullptr; ///< [nodes]
  PetscInt        count = 0;
  Array<PetscInt> nodes, spare; ///< [count]; as long
};
/// Keeps of both lists those nodes whose state is neither ROOT nor OUT, in their order. Waits for the device.
PetscErrorCode KeepUndecided(Space space, NodeList *a, NodeList *b);
/// The nodes by aggregate: members [of aggregated nodes], begin [count + 1].
PetscErrorCode SortMembers(Space space, PetscInt nodes, PetscInt count, const PetscInt *of, Array<PetscInt> *begin,
                           Array<PetscInt> *members);
/// The pattern and blocks for block sizes above 1.
PetscErrorCode FindBlocks(Space space, const SparseRows &A, PetscInt block_size, NodePattern *pattern);

PetscErrorCode Sum_CUDA(PetscInt count, const unsigned long long *value, unsigned long long *sum);
PetscErrorCode KeepUndecided_CUDA(NodeList *a, NodeList *b);
PetscErrorCode SortMembers_CUDA(PetscInt nodes, PetscInt count, const PetscInt *of, Array<PetscInt> *begin,
                                Array<PetscInt> *members);
PetscErrorCode FindBlocks_CUDA(const SparseRows &A, PetscInt block_size, NodePattern *pattern);

} // namespace sparsegpu::aggregate
