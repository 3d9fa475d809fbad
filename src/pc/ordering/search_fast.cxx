/// The fast candidates of leastfill: minimum degree, and nested dissection by level structures, which is good for
/// grids, beside each other. On many cores METIS begins beside them where they are expected to call for it; its order
/// is dropped if they do not, so that the order that is taken does not depend on the number of cores.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <thread>
#include "device/cublas.hpp"
#include "device/signals_blocked.hpp"
#include "pc/ordering/dissection.hpp"
#include "pc/ordering/graph.hpp"
#include "pc/ordering/matrix.hpp"
#include "pc/ordering/sample.hpp"
#include "pc/ordering/search.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
/// Nodes from which on a thread of its own pays: orderings of so many take a millisecond.
constexpr PetscInt MANY_NODES = 2000;
/// Nodes of a connected graph from which on a part of it tells first whether minimum degree, the slower one, may be the
/// better: on grids the share of operations that it takes of those of dissection by levels grows with the grid.
constexpr PetscInt TOLD_BY_A_PART = 100000;
/// Cores from which on METIS, which has up to six threads, may begin beside two others, and components that are likely
/// to call for it: graphs with fewer neighbours a node are grids, or seldom have factors of enough operations.
constexpr int      MANY_CORES      = 8;
constexpr PetscInt LARGE           = 10000; ///< nodes, as orderings of fewer take a few milliseconds
constexpr double   MANY_NEIGHBOURS = 8;
/// PETSc's minimum degree takes long where nodes have many neighbours, or are many.
constexpr PetscInt  QMD_NODES = 100000, QMD_ANY = 5000;
constexpr PetscReal QMD_NEIGHBOURS = 5;

/// Whether a call, which throws where memory is lacking, came to its end.
template <class Call> bool HasMemory(const Call &call)
{
  try {
    call();
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

/// Makes a call, which does not throw, in a thread of its own; where there is no thread the constructor makes it. The
/// destructor waits for the thread, which takes none of the program's signals: METIS may have handlers for them.
class Beside
{
public:
  template <class Call> explicit Beside(Call call)
  {
    try {
      const SignalsBlocked blocked;
      thread_ = std::thread(call);
    } catch (const std::exception &) { // no thread is left, or no memory for one
    }
    if (!thread_.joinable()) call();
  }
  ~Beside()
  {
    if (thread_.joinable()) thread_.join();
  }
  Beside(const Beside &)            = delete;
  Beside &operator=(const Beside &) = delete;

private:
  std::thread thread_;
};
} // namespace

PetscErrorCode Search::RunPetsc(const char type[])
{
  Indices order;

  PetscFunctionBegin;
  PetscCall(OrderByPetsc(graph_.pattern, type, &order));
  PetscCallCXX(Take(type, Evaluate({true, ""}, std::move(order))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The component that METIS is to begin with before it is known that its order pays: most of the graph. -1: none.
PetscInt Search::ComponentAhead() const
{
  constexpr double MOST  = 0.9;
  const PetscInt largest = static_cast<PetscInt>(std::max_element(entries_.begin(), entries_.end()) - entries_.begin());
  const double   all     = std::accumulate(entries_.begin(), entries_.end(), 0.0);
  const auto     nodes   = std::count(component_.begin(), component_.end(), largest);
  const bool     likely  = nodes >= LARGE && entries_[largest] >= (1 + MANY_NEIGHBOURS) * static_cast<double>(nodes) &&
                      entries_[largest] >= MOST * all;
  return likely && GetLibrary(LibraryId::Metis).built && cores_ >= MANY_CORES ? largest : -1;
}

void Search::DissectAhead(PetscInt component)
{
  Indices part(component_);
  for (PetscInt &c : part) c = c == component ? 0 : -1;
  ahead_.outcome   = GetLibrary(LibraryId::Metis).order(Split(graph_, part, 1).front().graph, &ahead_.order);
  ahead_.component = component;
}

Search::Found Search::FindDegree() const
{
  Indices       order;
  const Outcome outcome = GetLibrary(LibraryId::Amd).order(graph_, &order);
  return Evaluate(outcome, std::move(order));
}

Search::Found Search::FindLevels(int threads) const
{
  return Evaluate({true, ""}, ByLevels(graph_.pattern, threads));
}

/// Both, beside each other and beside METIS's order of component `begun`, unless that is -1. Returns whether there was
/// memory for both; where METIS lacks some nothing is lost: it is called again if its order pays.
bool Search::FindBeside(PetscInt begun, Found *degree, Found *levels)
{
  const bool ahead      = begun >= 0;
  bool       has_degree = false, has_levels = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  CublasBeside cublas(ahead && space_ == Space::Device);
  const auto   open = [&] { // METIS is expected to halve the operations
    if (ahead && degree->outcome.done && degree->costs[begun].flops > 2 * LARGE_FRONTS) cublas.Begin();
  };
#else
  const auto open = [] {};
#endif
  {
    const Beside degrees([&] {
      has_degree = HasMemory([&] { *degree = FindDegree(); });
      open();
    });
    if (ahead) {
      const Beside one([&] { has_levels = HasMemory([&] { *levels = FindLevels(1); }); });
      if (!HasMemory([&] { DissectAhead(begun); })) ahead_ = Ahead();
    } else {
      has_levels = HasMemory([&] { *levels = FindLevels(0); });
    }
  }
  return has_degree && has_levels;
}

PetscErrorCode Search::RunFast()
{
  const Library &amd    = GetLibrary(LibraryId::Amd);
  const PetscInt n      = graph_.pattern.n;
  const bool     wide   = amd.built && factorizations_ > 0 && n >= MANY_NODES;
  PetscLogDouble part   = 1; // DegreeAgainstLevels()
  bool           memory = true;
  Found          degree, levels;

  PetscFunctionBegin;
  if (wide && components_ == 1 && n >= TOLD_BY_A_PART) memory = HasMemory([&] { part = DegreeAgainstLevels(graph_); });
  levels_alone_     = part > MORE;
  const bool both   = wide && !levels_alone_ && cores_ > 1;
  const bool by_amd = amd.built && !levels_alone_;
  if (both && memory) PetscCallCXX(memory = FindBeside(ComponentAhead(), &degree, &levels));
  if (by_amd && !both && memory) memory = HasMemory([&] { degree = FindDegree(); });
  if (by_amd && memory) {
    degree_ = degree.costs;
    PetscCallCXX(Take(amd.type, std::move(degree)));
  }
  if (memory && WorthMore()) {
    if (!both) memory = HasMemory([&] { levels = FindLevels(0); });
    if (memory) PetscCallCXX(Take(MATORDERINGND, std::move(levels)));
  }
  PetscCheck(memory, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the orderings of %" PetscInt_FMT " nodes", n);
  const PetscReal neighbours = static_cast<PetscReal>(graph_.pattern.j.size()) / PetscMax(1, n);
  if (!amd.built && (n <= QMD_ANY || (n <= QMD_NODES && neighbours <= QMD_NEIGHBOURS)) && WorthMore())
    PetscCall(RunPetsc(MATORDERINGQMD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
