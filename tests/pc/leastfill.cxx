static const char help[] =
    "Orderings for direct factorizations: permutations, the same twice, the least of candidates, known bounds.\n\n";

#include "graphs.hpp"
#include "../family.hpp"
#include "pc/ordering/dissection.hpp"
#include "pc/ordering/graph.hpp"
#include "pc/ordering/leastfill.hpp"
#include "pc/ordering/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace testing;
using sparsegpu::Space;
using sparsegpu::ordering::Candidate;
using sparsegpu::ordering::GetLibrary;
using sparsegpu::ordering::LeastFill;
using sparsegpu::ordering::LeastFillReport;
using sparsegpu::ordering::LIBRARIES;
using sparsegpu::ordering::Library;
using sparsegpu::ordering::LibraryId;
using sparsegpu::ordering::Search;
using sparsegpu::ordering::WeightedGraph;
using sparsegpu::symbolic::NodeFlops;

constexpr PetscReal ALL_OF_THEM = 1e12; ///< so many factorizations that every candidate is tried

static PetscErrorCode Permutations()
{
  PetscFunctionBeginUser;
  for (const Graph &g : Graphs()) {
    for (int k = 0; k < LIBRARIES; ++k) {
      const Library &library = GetLibrary((LibraryId)k);
      for (const WeightedGraph &graph : {Weighted(g, 1), Weighted(g, 3)}) {
        Indices    order, again;
        const auto outcome = library.order(graph, &order);
        PetscCheck(outcome.done == library.built, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of %s: %s", library.name,
                   g.name.c_str(), outcome.why);
        if (!library.built) continue;
        PetscCall(CheckPermutation(std::string(library.name) + " of " + g.name, g.pattern.n, order));
        PetscCheck(library.order(graph, &again).done && order == again, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s of %s: another order the second time", library.name, g.name.c_str());
      }
    }
    for (const PetscReal factorizations : {(PetscReal)0, (PetscReal)100, ALL_OF_THEM}) {
      LeastFillReport report;
      Indices         order, again;
      PetscCall(LeastFill(g.pattern, factorizations, Space::Host, &order, &report));
      PetscCall(CheckPermutation("leastfill of " + g.name, g.pattern.n, order));
      PetscCall(LeastFill(g.pattern, factorizations, Space::Host, &again, &report));
      PetscCheck(order == again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "leastfill of %s: another order the second time",
                 g.name.c_str());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Candidates on all components take no fewer operations than what is taken, and that is what its order takes.
static PetscErrorCode Least()
{
  PetscFunctionBeginUser;
  for (const Graph &g : Graphs()) {
    LeastFillReport report;
    Indices         order;
    PetscCall(LeastFill(g.pattern, ALL_OF_THEM, Space::Host, &order, &report));
    PetscInt taken = 0;
    for (const Candidate &c : report.candidates) {
      taken += c.taken;
      PetscCheck(c.tried < report.components || report.cost.flops <= c.cost.flops, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: %g operations, but %s takes %g", g.name.c_str(), (double)report.cost.flops, c.name,
                 (double)c.cost.flops);
    }
    PetscCheck(taken == report.components, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: orders for %d of %d components",
               g.name.c_str(), (int)taken, (int)report.components);
    if (report.dense > 0) continue;
    const double flops = Sum(NodeFlops(g.pattern, Indices((size_t)g.pattern.n, 1), order));
    PetscCheck(flops == (double)report.cost.flops, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g operations, %g told",
               g.name.c_str(), flops, (double)report.cost.flops);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Nested dissection of a k x k grid takes 829/84 k^3 multiplications for the Cholesky factor (George, SIAM J. Numer.
/// Anal. 10(2), 1973; nine points, lower terms left out): four times as many operations of LU. And what is equal is
/// eliminated together, what is dense last, and disconnected grids take as much as each of them.
static PetscErrorCode Bounds()
{
  LeastFillReport report;
  Indices         order;

  PetscFunctionBeginUser;
  for (const PetscInt k : {40, 100, 160, 330}) {
    const Graph   g     = Grid("grid", k);
    const double  bound = 4 * 829.0 / 84 * std::pow((double)k, 3);
    const Indices ones((size_t)g.pattern.n, 1);
    PetscCall(LeastFill(g.pattern, 100, Space::Host, &order, &report));
    PetscCheck((double)report.cost.flops <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%d x %d grid: leastfill takes %g operations, more than %g", (int)k, (int)k, (double)report.cost.flops,
               bound);
    const Library &metis = GetLibrary(LibraryId::Metis);
    if (!metis.built) continue;
    metis.order({g.pattern, ones}, &order);
    const double flops = Sum(NodeFlops(g.pattern, ones, order));
    PetscCheck(flops <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d x %d grid: METIS takes %g operations, more than %g",
               (int)k, (int)k, flops, bound);
  }
  PetscCall(LeastFill(Grid("one", 9).pattern, 100, Space::Host, &order, &report));
  const double one = (double)report.cost.flops;
  PetscCall(LeastFill(Grid("grids", 9, 1, 20).pattern, 100, Space::Host, &order, &report));
  PetscCheck(report.components == 20 && (double)report.cost.flops <= 20 * 1.2 * one, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d components, %g operations; one of 20 takes %g", (int)report.components, (double)report.cost.flops,
             one);
  PetscCall(LeastFill(Grid("blocks", 12, 3).pattern, 100, Space::Host, &order, &report));
  PetscCheck(report.nodes == 144, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d nodes, not 144", (int)report.nodes);
  for (size_t k = 0; k < order.size(); k += 3)
    PetscCheck(order[k] % 3 == 0 && order[k + 1] == order[k] + 1 && order[k + 2] == order[k] + 2, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "Unknowns %d %d %d of a point are not together", (int)order[k], (int)order[k + 1],
               (int)order[k + 2]);
  PetscCall(LeastFill(Grid("dense", 25, 1, 4, 2).pattern, 100, Space::Host, &order, &report));
  const PetscInt n = 25 * 25 * 4;
  std::sort(order.end() - 2, order.end());
  PetscCheck(order[(size_t)n] == n && order[(size_t)n + 1] == n + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The dense unknowns %d and %d are not last", (int)n, (int)n + 1);
  // equal dense unknowns are one node
  PetscCheck(report.components == 4 && report.dense >= 1 && report.dense <= 2, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d components, %d dense nodes", (int)report.components, (int)report.dense);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By level structures: the same order with any number of threads, and on grids George's bound.
static PetscErrorCode Levels()
{
  std::vector<Graph> graphs = Graphs();

  PetscFunctionBeginUser;
  for (const PetscInt k : {40, 100, 160, 300}) graphs.push_back(Grid("grid", k));
  graphs.push_back(Grid("grids", 90, 1, 5));
  for (const Graph &g : graphs) {
    const Indices order = sparsegpu::ordering::ByLevels(g.pattern, 1);
    PetscCall(CheckPermutation("levels of " + g.name, g.pattern.n, order));
    for (const int threads : {2, 3, 16, 0})
      PetscCheck(sparsegpu::ordering::ByLevels(g.pattern, threads) == order, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "levels of %s: another order with %d threads", g.name.c_str(), threads);
    const PetscInt k     = static_cast<PetscInt>(std::sqrt((double)g.pattern.n));
    const double   flops = Sum(NodeFlops(g.pattern, Indices((size_t)g.pattern.n, 1), order));
    PetscCheck(g.name != "grid" || k * k != g.pattern.n || flops <= 4 * 829.0 / 84 * std::pow((double)k, 3),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d x %d grid: %g operations", (int)k, (int)k, flops);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With many cores METIS begins before it is known whether its order pays: the same order as with few, whether it is
/// taken or dropped, also where a few nodes are components of their own.
static PetscErrorCode Cores()
{
  Graph           g          = Grid("grid", 60, 3);
  const PetscInt  components = 3, apart = components - 1;
  const PetscReal fast = 0, some = 1, all = ALL_OF_THEM;
  bool            taken = false, dropped = false;

  PetscFunctionBeginUser;
  g.pattern.n += apart;
  for (PetscInt k = 0; k < apart; ++k) g.pattern.i.push_back(g.pattern.i.back());
  const WeightedGraph graph = Weighted(g, 1);
  Indices             component;
  PetscCheck(sparsegpu::ordering::FindComponents(g.pattern, &component) == components, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The grid falls apart");
  for (const PetscReal factorizations : {fast, some, all}) {
    Indices expected;
    for (const int cores : {1, 2, 8, 40}) {
      Search search(graph, component, components, factorizations, Space::Device, cores);
      PetscCall(search.Run());
      const Indices order = search.Order();
      PetscCall(CheckPermutation("search on cores", g.pattern.n, order));
      if (cores == 1) expected = order;
      PetscCheck(order == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g factorizations: another order on %d cores",
                 (double)factorizations, cores);
      const bool early =
          cores >= 8 && factorizations > fast && GetLibrary(LibraryId::Metis).built && GetLibrary(LibraryId::Amd).built;
      PetscCheck(search.BeganAhead() == early, PETSC_COMM_SELF, PETSC_ERR_PLIB, "METIS began %s on %d cores",
                 early ? "late" : "early", cores);
      if (cores < 8 || factorizations <= fast) continue;
      const bool used = search.Candidates().back().name == std::string(GetLibrary(LibraryId::Metis).type);
      taken           = taken || used;
      dropped         = dropped || !used;
    }
  }
  PetscCheck(dropped && (taken || !GetLibrary(LibraryId::Metis).built), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "METIS was %s each time", taken ? "tried" : "not tried");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As ordering types of PETSc, but those that PETSc has itself: of every square matrix of the conformance suite.
static PetscErrorCode Types()
{
  std::vector<std::string> types{MATORDERINGLEASTFILL};

  PetscFunctionBeginUser;
  const bool petscs[LIBRARIES] = {PetscDefined(HAVE_SUITESPARSE), PetscDefined(HAVE_METIS), false};
  for (int k = 0; k < LIBRARIES; ++k)
    if (GetLibrary((LibraryId)k).built && !petscs[k]) types.push_back(GetLibrary((LibraryId)k).type);
  for (const Problem &p : conformance::All()) {
    if (p.rows != p.cols) continue;
    for (const std::string &type : types) {
      const PetscInt *indices;
      IS              rows, columns;
      PetscBool       same;
      Mat             A;
      PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
      PetscCall(MatGetOrdering(A, type.c_str(), &rows, &columns));
      PetscCall(ISEqual(rows, columns, &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of %s: rows and columns differ", type.c_str(),
                 p.name.c_str());
      PetscCall(ISGetIndices(rows, &indices));
      PetscCall(CheckPermutation(type + " of " + p.name, p.rows, Indices(indices, indices + p.rows)));
      PetscCall(ISRestoreIndices(rows, &indices));
      PetscCall(ISDestroy(&rows));
      PetscCall(ISDestroy(&columns));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The numbers of rand() are the program's: an ordering in between changes none.
static PetscErrorCode Random()
{
  const Graph         g     = Grid("grid", 60);
  const WeightedGraph graph = Weighted(g, 1);
  int                 expected[6];
  Indices             order;

  PetscFunctionBeginUser;
  srand(12345);
  for (int &e : expected) e = rand();
  srand(12345);
  for (const int e : expected) {
    const int drawn = rand();
    PetscCheck(drawn == e, PETSC_COMM_SELF, PETSC_ERR_PLIB, "rand() gives %d, not %d", drawn, e);
    for (int k = 0; k < LIBRARIES; ++k) (void)GetLibrary((LibraryId)k).order(graph, &order);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadOption()
{
  const Option option("-mat_ordering_leastfill_factorizations", "-1");
  Mat          A;
  IS           rows, columns;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, nullptr, &A));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(MatSetValue(A, k, k, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode error = MatGetOrdering(A, MATORDERINGLEASTFILL, &rows, &columns);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(error == PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Error %d, not %d", (int)error,
             (int)PETSC_ERR_ARG_OUTOFRANGE);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"permutations", Permutations},
               {"least", Least},
               {"bounds", Bounds},
               {"levels", Levels},
               {"cores", Cores},
               {"types", Types},
               {"random", Random},
               {"bad_option", BadOption}});
}
