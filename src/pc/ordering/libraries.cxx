/// The libraries by name, and each of them as an ordering type of its own.
#include "pc/ordering/libraries.hpp"
#include <cstring>
#include <numeric>
#include <petsc/private/matimpl.h>
#include "pc/ordering/matrix.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

#if defined(SPARSEGPU_HAVE_AMD)
constexpr bool HAVE_AMD = true;
#else
constexpr bool HAVE_AMD    = false;
#endif
#if defined(SPARSEGPU_HAVE_METIS)
constexpr bool HAVE_METIS = true;
#else
constexpr bool HAVE_METIS  = false;
#endif
#if defined(SPARSEGPU_HAVE_SCOTCH)
constexpr bool HAVE_SCOTCH = true;
#else
constexpr bool HAVE_SCOTCH = false;
#endif

const Library &GetLibrary(LibraryId id)
{
  const auto           metis = [](const WeightedGraph &graph, Indices *order) { return OrderByMetis(graph, 0, order); };
  static const Library libraries[LIBRARIES] = {{"AMD", "amd", HAVE_AMD, OrderByAmd},
                                               {"METIS", "metisnd", HAVE_METIS, metis},
                                               {"SCOTCH", "scotchnd", HAVE_SCOTCH, OrderByScotch}};
  return libraries[static_cast<int>(id)];
}

Outcome KeepOrder(PetscInt n, Indices *order)
{
  order->resize(n);
  std::iota(order->begin(), order->end(), 0);
  return {true, ""};
}

namespace
{
PetscErrorCode MatGetOrdering_Library(Mat A, MatOrderingType type, IS *row, IS *column)
{
  WeightedGraph         graph;
  std::vector<PetscInt> order;
  Outcome               outcome{false, "no such library"};

  PetscFunctionBegin;
  PetscCall(GraphOf(A, &graph.pattern));
  PetscCallCXX(graph.weight.assign(graph.pattern.n, 1));
  for (int k = 0; k < LIBRARIES; k++) {
    const Library &library = GetLibrary(static_cast<LibraryId>(k));
    if (!strcmp(library.type, type)) PetscCallCXX(outcome = library.order(graph, &order));
  }
  PetscCheck(outcome.done, PETSC_COMM_SELF, PETSC_ERR_LIB, "Ordering %s: %s", type, outcome.why);
  PetscCall(CreateOrder(order, row, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterLibraries()
{
  PetscFunctionBegin;
  for (int k = 0; k < LIBRARIES; k++) {
    const Library &library                                    = GetLibrary(static_cast<LibraryId>(k));
    PetscErrorCode (*found)(Mat, MatOrderingType, IS *, IS *) = nullptr;
    PetscCall(PetscFunctionListFind(MatOrderingList, library.type, &found));
    if (library.built && !found) PetscCall(MatOrderingRegister(library.type, MatGetOrdering_Library));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
