/// An ordering for direct factorizations: of several candidates the one that takes the fewest operations, component by
/// component of the graph; on a device, where pivots that wait for each other tell more than operations, the one that
/// is expected to take the least time. The result depends on neither PETSc's configuration nor time nor threads.
#pragma once

#include <petscmat.h>
#include <string>
#include "pc/ordering/cost.hpp"
#include "pc/ordering/graph.hpp"

namespace sparsegpu::ordering
{

/// What became of a candidate, over the components that it was tried on.
struct Candidate {
  const char *name = "";
  const char *why  = ""; ///< no order was found
  Cost        cost;
  PetscInt    tried = 0, taken = 0; ///< components
};

struct LeastFillReport {
  PetscInt               nodes = 0, dense = 0, components = 0; ///< of the compressed graph
  Cost                   cost;                                 ///< without the dense nodes
  std::vector<Candidate> candidates;

  /// The names of the candidates that were taken, with the numbers of components where there are several names.
  std::string Taken() const;
};

/// *order [A.n]: the unknown that is eliminated k-th. `factorizations`: how many the order is to serve, in `space`; the
/// more, the slower candidates are tried; 0: the fastest alone. Errors: PETSC_ERR_MEM.
PetscErrorCode LeastFill(SymmetricPattern A, PetscReal factorizations, Space space, Indices *order,
                         LeastFillReport *report);

/// The same for a square matrix, with its options; -info tells what was tried. *taken, unless null: Taken(). *moves,
/// unless null: as GraphOf() has it; then there is no order.
PetscErrorCode LeastFillOf(Mat A, Space space, Indices *order, std::string *taken = nullptr, bool *moves = nullptr);
/// The same of a graph of A's unknowns, the members of a node one after the other.
PetscErrorCode LeastFillOf(Mat A, CompressedGraph &&graph, Space space, Indices *order, std::string *taken);
/// What SetTaken() says of MATORDERINGLEASTFILL where rows are to move first: the natural order, to be replaced.
constexpr char NOT_YET[] = "none until rows have moved";

/// MatOrderingRegister() of MATORDERINGLEASTFILL.
PetscErrorCode RegisterLeastFill();

} // namespace sparsegpu::ordering
