/// Fill-reducing orderings of libraries, each optional, behind one interface: a weighted graph in, an order out.
///   amd     approximate minimum degree: Amestoy, Davis & Duff, ACM Trans. Math. Softw. 30(3), 2004 (SuiteSparse)
///   metis   multilevel nested dissection: Karypis & Kumar, SIAM J. Sci. Comput. 20(1), 1998
///   scotch  the same with halo minimum degree: Pellegrini, Roman & Amestoy, Concurrency: Pract. Exp. 12, 2000
#pragma once

#include "pc/ordering/names.hpp"
#include "pc/symbolic/elimination.hpp"

namespace sparsegpu::ordering
{

/// Nodes that stand for `weight` unknowns each.
struct WeightedGraph {
  SymmetricPattern pattern;
  Indices          weight; ///< [pattern.n], positive
};

/// Whether an order was found; else why not, in words that follow "no order: ".
struct Outcome {
  bool        done = false;
  const char *why  = "";
};

/// Each sets *order [graph.pattern.n] to the node that is eliminated k-th, the same on every run. None calls PETSc:
/// they may run in threads of their own, but each of them in one thread at a time (SCOTCH and METIS draw random numbers
/// from a state of the process in some versions). Throws std::bad_alloc. METIS takes at most `threads` threads, 0: one
/// for each core; its order is the same with any number.
Outcome OrderByAmd(const WeightedGraph &graph, Indices *order);
Outcome OrderByMetis(const WeightedGraph &graph, int threads, Indices *order);
Outcome OrderByScotch(const WeightedGraph &graph, Indices *order);

/// *order = 0, 1, ...: for graphs without edges, which some libraries refuse.
Outcome KeepOrder(PetscInt n, Indices *order);

/// A library and the name of the ordering type that is made of it alone.
struct Library {
  const char *name, *type;
  bool        built; ///< found when this was built
  Outcome (*order)(const WeightedGraph &, Indices *);
};
enum class LibraryId {
  Amd,
  Metis,
  Scotch
};
constexpr int  LIBRARIES = 3;
const Library &GetLibrary(LibraryId id);

/// MatOrderingRegister() of the names of those libraries that are there and that PETSc has not registered.
PetscErrorCode RegisterLibraries();

} // namespace sparsegpu::ordering
