/// Coarsening by smoothed aggregation: aggregates of the nodes of a sequential AIJ matrix, the tentative prolongator
/// that represents near null space vectors on them, and the smoothed prolongator. Vanek, Mandel & Brezina, Computing
/// 56(3), 1996; aggregates by a distance-2 maximal independent set: Bell, Dalton & Olson, SIAM J. Sci. Comput. 34(4),
/// 2012. All of it runs in one space, host or device. Aggregates are the same bit for bit in both, values within
/// rounding; in one space everything repeats bit for bit.
///
/// The usual order: WorkSpace(), FindNearNullSpace(), FindAggregates(), FindTentative(), CreateProlongator(), and after
/// the Galerkin product ActivateCoarse(); Tentative::coarse is the near null space of the coarse matrix, whose nodes
/// have Tentative::vectors unknowns. For new values in the same pattern: RefreshProlongator().
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"
#include "device/scalar.hpp"
#include "pc/aggregate/names.hpp"

namespace sparsegpu::aggregate
{

class LanczosVectors; // lanczos.hpp

struct Options {
  PetscInt block_size = 1; ///< unknowns of a node, which are neighbours; divides the number of rows
  /// Nodes i and j are strongly connected if |a_ij| > threshold sqrt(|a_ii| |a_jj|), where |.| of a block is its
  /// largest magnitude. 0 or less: if a_ij is not zero. An entry in one direction connects both.
  PetscReal threshold = 0;
  /// Roots are more than so many strong connections apart: 2 (3 to 5 nodes a dimension), or 1 (2 to 3).
  PetscInt distance = 2;
  /// Aggregates of fewer nodes join a neighbour that has as many, where there is one.
  PetscInt smallest = 1;
};

/// Disjoint sets of strongly connected nodes: a root, all its neighbours, and of their other neighbours those with most
/// connections to this set. A node whose row has no strong off-diagonal entry, as those of Dirichlet rows, of zero rows
/// and of isolated unknowns, is in none.
struct Aggregates {
  Space           space      = Space::Host;
  PetscInt        nodes      = 0;
  PetscInt        count      = 0; ///< of aggregates
  PetscInt        block_size = 1;
  PetscInt        isolated   = 0; ///< nodes in none
  PetscInt        rounds     = 0; ///< of the search for independent nodes
  Array<PetscInt> of;             ///< [nodes] aggregate of each node, -1: none
  Array<PetscInt> begin;          ///< [count + 1] first member of each aggregate
  Array<PetscInt> members;        ///< [nodes - isolated] nodes, ascending in each aggregate
  /// [entries of the node pattern] which connect strongly, where some do not; else empty. Diagonal entries do.
  Array<unsigned char> strong;
  bool                 whole = false; ///< the matrix's rows are known to be made of whole blocks of several unknowns
};

/// P0, which represents the near null space on each aggregate in orthonormal columns: P0^T P0 = I (but for inactive
/// columns), P0 coarse = the given vectors in rows of aggregated nodes.
struct Tentative {
  Space         space   = Space::Host;
  PetscInt      vectors = 0; ///< columns of an aggregate, and unknowns of a node of the coarse matrix
  Array<Scalar> values;      ///< [rows * vectors] by rows: the block of each row in the columns of its aggregate
  Array<Scalar> coarse;      ///< [vectors * columns] by columns: near null space of the coarse matrix
  /// [columns] 1 where a column is zero because the vectors depend on each other in that aggregate, as they do in one
  /// with fewer unknowns than vectors; else 0.
  Array<Scalar> inactive;
  PetscInt      inactive_count = 0;
};

struct Smoothing {
  /// P = (I - damping D^-1 A) P0; usually 4/3 over the largest eigenvalue of D^-1 A. 0: P = P0.
  PetscReal damping = 0;
  /// A without its weak connections, which are added to the diagonal (to the diagonal block), unless that loses more
  /// than three quarters of the magnitude; then they are dropped.
  bool filtered = false;
  /// D is the diagonal of A in blocks of a node's unknowns, at most MOST_UNKNOWNS, instead of its diagonal; that of
  /// single unknowns in nodes whose block is singular.
  bool                      blocks        = false;
  static constexpr PetscInt MOST_UNKNOWNS = 8;
};

/// Where functions of this folder work for A, of any sequential AIJ type: where A's products run.
PetscErrorCode WorkSpace(Mat A, Space *space);
/// The diagonal block of this process, which is A itself on one.
PetscErrorCode DiagonalBlock(Mat A, Mat *block);
/// A's near null space (MatGetNearNullSpace()) or, without one, the `block_size` vectors that are 1 in one unknown of
/// each node and 0 elsewhere. *vectors: how many; B [vectors * rows] by columns, in `space`. A may be parallel: the
/// rows are this process's.
PetscErrorCode FindNearNullSpace(Mat A, PetscInt block_size, Space space, PetscInt *vectors, Array<Scalar> *B);
/// The same of rigid body modes: translations and rotations about `centre` of points [count * dimension] on the host,
/// which have `dimension`, 2 or 3, unknowns each.
PetscErrorCode FindRigidBodyModes(const std::vector<PetscReal> &points, PetscInt dimension, const PetscReal centre[],
                                  Space space, PetscInt *vectors, Array<Scalar> *B);
/// Errors: PETSC_ERR_ARG_SIZ, PETSC_ERR_ARG_OUTOFRANGE, PETSC_ERR_MEM.
PetscErrorCode FindAggregates(Mat A, const Options &options, Space space, Aggregates *aggregates);
/// B [vectors * rows] by columns in the space of the aggregates. Errors: PETSC_ERR_MEM.
PetscErrorCode FindTentative(const Aggregates &aggregates, PetscInt vectors, const Array<Scalar> &B,
                             Tentative *tentative);
/// Adds 1 to the diagonal of the coarse matrix where columns are inactive, whose rows and columns are zero. Nothing
/// where there are none.
PetscErrorCode ActivateCoarse(const Tentative &tentative, Mat coarse);

/// *largest = max_i sum_j |a_ij| / |a_ii|, over rows with a diagonal entry other than 0: a bound of the eigenvalues of
/// D^-1 A by Gershgorin's discs. Waits for the device.
PetscErrorCode BoundLargestEigenvalue(Mat A, Space space, PetscReal *largest);
/// *largest: an estimate of the largest eigenvalue of D^-1 A in magnitude by so many steps of Lanczos (10 give 2 to 5
/// %), from a vector that is always the same; never more than the eigenvalue where A is Hermitian and D positive. Where
/// the steps find A not Hermitian: as many of Arnoldi's, and what keeps smoothers stable for complex eigenvalues
/// (BoundForChebyshev() in arnoldi.hpp), which is more than the largest magnitude. 0 where A's diagonal is 0 in all
/// rows, 0 or NaN where values are not finite. Vectors are made where A makes them; A may be parallel. `room`, where
/// given, is what Lanczos' method works in on a device, for matrices of any size in turn. Collective.
PetscErrorCode EstimateLargestEigenvalue(Mat A, PetscInt iterations, PetscReal *largest,
                                         LanczosVectors *room = nullptr);

/// The smoothed prolongator: *P [rows x columns of P0], a new matrix of type seqaijsparsegpu that lives where A does.
/// Rows of nodes in no aggregate are empty. `tentative` is of these aggregates, and these are A's. Errors:
/// PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE where P has more entries than PetscInt counts.
PetscErrorCode CreateProlongator(Mat A, const Aggregates &aggregates, const Tentative &tentative,
                                 const Smoothing &smoothing, Mat *P);
/// The same for new values of A in the same pattern, into P of CreateProlongator(); `smoothing.filtered` as then, its
/// damping 0 as then or not. Allocates nothing that stays.
PetscErrorCode RefreshProlongator(Mat A, const Aggregates &aggregates, const Tentative &tentative,
                                  const Smoothing &smoothing, Mat P);

} // namespace sparsegpu::aggregate
