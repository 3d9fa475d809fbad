static const char help[] =
    "METIS in several threads: the same order with any number, at the same time, in a forked process; signals are as\n"
    "before, and memory does not grow.\n\n";

#include "graphs.hpp"
#include "../family.hpp"
#include "../mat/memory_limit.hpp"
#include "pc/ordering/libraries.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace testing;
using sparsegpu::ordering::GetLibrary;
using sparsegpu::ordering::LibraryId;
using sparsegpu::ordering::OrderByMetis;
using sparsegpu::ordering::WeightedGraph;

/// Long enough for several parts; a star of paths, which no separator of a few nodes halves evenly; and a clique, which
/// none cuts.
static std::vector<WeightedGraph> Large()
{
  std::vector<std::pair<PetscInt, PetscInt>> star;
  for (PetscInt k = 1; k < 9000; ++k) star.emplace_back(k % 3000 == 0 ? 0 : k - 1, k);
  return {Weighted(Grid("grid", 110), 1), Weighted(Grid("weighted", 90), 3), Weighted(Grid("grids", 40, 1, 6), 1),
          Weighted(Make("star", 9000, star), 2), Weighted(Complete(2100), 1)};
}

static PetscErrorCode Order(const WeightedGraph &graph, int threads, Indices *order)
{
  PetscFunctionBeginUser;
  const auto outcome = OrderByMetis(graph, threads, order);
  PetscCheck(outcome.done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d nodes in %d threads: %s", (int)graph.pattern.n, threads,
             outcome.why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  for (const WeightedGraph &graph : Large()) {
    Indices one;
    PetscCall(Order(graph, 1, &one));
    PetscCall(CheckPermutation("METIS", graph.pattern.n, one));
    for (const int threads : {2, 3, 7, 40, 0}) {
      Indices several;
      PetscCall(Order(graph, threads, &several));
      PetscCheck(several == one, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d nodes: another order in %d threads than in one",
                 (int)graph.pattern.n, threads);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls of two threads of the program.
static PetscErrorCode Together()
{
  const std::vector<WeightedGraph> graphs = Large();
  std::vector<Indices>             alone(graphs.size());
  std::atomic<int>                 wrong{0};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < graphs.size(); ++k) PetscCall(Order(graphs[k], 1, &alone[k]));
  const auto all = [&](size_t first) {
    for (size_t k = 0; k < graphs.size(); ++k) {
      const size_t at = (first + k) % graphs.size();
      Indices      order;
      if (!OrderByMetis(graphs[at], 3, &order).done || order != alone[at]) wrong++;
    }
  };
  std::thread other(all, 2);
  all(0);
  other.join();
  PetscCheck(wrong == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d orders differ", (int)wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Own(int) {}

static PetscErrorCode Signals()
{
  const WeightedGraph graph = Weighted(Grid("grid", 110), 1);
  Indices             order;

  PetscFunctionBeginUser;
  for (const int signal : {SIGABRT, SIGTERM}) {
    struct sigaction own = {}, before;
    own.sa_handler       = Own;
    sigaction(signal, &own, &before);
    for (int k = 0; k < 20; ++k) PetscCall(Order(graph, 4, &order));
    sigaction(signal, &before, &own);
    PetscCheck(own.sa_handler == Own, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Signal %d has another handler", signal);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A forked process has none of the threads.
static PetscErrorCode Fork()
{
  const WeightedGraph graph = Weighted(Grid("grid", 110), 1);
  Indices             one, order;
  int                 status = -1;

  PetscFunctionBeginUser;
  PetscCall(Order(graph, 4, &one));
  const pid_t child = fork();
  if (child == 0) {
    bool same = true;
    for (int k = 0; k < 3; ++k) {
      std::thread([] {}).join(); // in the place of one of those
      same = same && OrderByMetis(graph, 4, &order).done && order == one;
    }
    _exit(same ? 0 : 1);
  }
  PetscCheck(child > 0, PETSC_COMM_SELF, PETSC_ERR_SYS, "No second process");
  PetscCheck(waitpid(child, &status, 0) == child && status == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The forked process ended with status %d", status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A k x k grid, made without memory that is free afterwards.
static WeightedGraph GridAtOnce(PetscInt k)
{
  WeightedGraph graph;
  graph.pattern.n = k * k;
  graph.weight.assign((size_t)(k * k), 1);
  graph.pattern.i.reserve((size_t)(k * k) + 1);
  graph.pattern.j.reserve((size_t)(4 * k * k));
  graph.pattern.i.push_back(0);
  for (PetscInt p = 0; p < k * k; ++p) {
    for (const PetscInt q : {p - k, p % k > 0 ? p - 1 : -1, p % k < k - 1 ? p + 1 : -1, p + k})
      if (q >= 0 && q < k * k) graph.pattern.j.push_back(q);
    graph.pattern.i.push_back((PetscCount)graph.pattern.j.size());
  }
  return graph;
}

/// Where memory is lacking, an exception says so. METIS takes 110 MB here, more than malloc() has in reserve.
static PetscErrorCode Lacking()
{
  const WeightedGraph graph = GridAtOnce(900);
  Indices             order;

  PetscFunctionBeginUser;
  PetscCall(Order(GridAtOnce(110), 4, &order)); // threads and copies are there
  for (const int threads : {1, 4})
    for (const rlim_t bytes : {0, 40, 80}) {
      bool thrown = false;
      {
        const MemoryLimit limit(bytes << 20);
        if (!limit.works()) return Skip("no limit of memory");
        try {
          (void)OrderByMetis(graph, threads, &order);
        } catch (const std::bad_alloc &) {
          thrown = true;
        }
      }
      PetscCheck(thrown, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d threads, %d MB: no exception", threads, (int)bytes);
    }
  PetscCall(Order(graph, 4, &order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Resident memory, in bytes; -1: not told.
static double Resident()
{
  long total = 0, resident = -1;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident < 0 ? -1 : (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static PetscErrorCode Memory()
{
  const WeightedGraph graph = Weighted(Grid("grid", 110), 1);
  constexpr int       RUNS  = 100;
  constexpr double    FEW   = 4e6; // a thread that ended and left its memory: more than that each ten orders
  Indices             order;

  PetscFunctionBeginUser;
  if (Resident() < 0) return Skip("no /proc/self/statm");
  for (int k = 0; k < RUNS; ++k) PetscCall(Order(graph, 4, &order));
  const double before = Resident();
  for (int k = 0; k < RUNS; ++k) PetscCall(Order(graph, 4, &order));
  const double grown = Resident() - before;
  PetscCheck(grown <= FEW, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes more after %d orders", grown, RUNS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <PetscErrorCode (*TEST)()> static PetscErrorCode WithMetis()
{
  PetscFunctionBeginUser;
  if (!GetLibrary(LibraryId::Metis).built) return Skip("built without METIS");
  PetscCall(TEST());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", WithMetis<Same>},
               {"together", WithMetis<Together>},
               {"signals", WithMetis<Signals>},
               {"fork", WithMetis<Fork>},
               {"lacking", WithMetis<Lacking>},
               {"memory", WithMetis<Memory>}});
}
