static const char help[] = "Aggregates against their definition, on the host and on the GPU.\n\n";

#include "aggregate_cases.hpp"
#include "pc/aggregate/graph.hpp"
#include "pc/aggregate/source.hpp"

using namespace testing;

namespace
{
/// The graph of strong connections by its definition: neighbours in both directions, of nodes that are not alone.
struct Definition {
  PetscInt                                nodes;
  std::vector<std::set<PetscInt>>         neighbours;
  std::vector<bool>                       alone;
  std::set<std::pair<PetscInt, PetscInt>> strong; ///< node to node, in the direction of the row

  explicit Definition(const Case &c)
      : nodes(c.problem.rows / c.options.block_size),
        neighbours((size_t)nodes),
        alone((size_t)nodes, true)
  {
    std::vector<std::vector<PetscReal>> size((size_t)nodes, std::vector<PetscReal>((size_t)nodes, 0));
    for (const Entry &e : c.problem.entries) {
      PetscReal &s = size[(size_t)(e.i / c.options.block_size)][(size_t)(e.j / c.options.block_size)];
      s            = std::max(s, (PetscReal)PetscAbsScalar(e.v));
    }
    for (size_t i = 0; i < (size_t)nodes; ++i)
      for (size_t j = 0; j < (size_t)nodes; ++j) {
        const PetscReal limit = c.options.threshold * std::sqrt(size[i][i] * size[j][j]);
        if (i == j || (c.options.threshold > 0 ? !(size[i][j] > limit) : size[i][j] == 0)) continue;
        strong.insert({(PetscInt)i, (PetscInt)j});
        alone[i] = false;
      }
    for (const auto &edge : strong) {
      if (alone[(size_t)edge.first] || alone[(size_t)edge.second]) continue;
      neighbours[(size_t)edge.first].insert(edge.second);
      neighbours[(size_t)edge.second].insert(edge.first);
    }
  }
  /// All nodes within `distance` of a node.
  std::set<PetscInt> Around(PetscInt node, PetscInt distance) const
  {
    std::set<PetscInt> all{node};
    for (PetscInt d = 0; d < distance; ++d) {
      const std::set<PetscInt> before = all;
      for (PetscInt i : before) all.insert(neighbours[(size_t)i].begin(), neighbours[(size_t)i].end());
    }
    return all;
  }
};

struct Found {
  std::vector<PetscInt>      of, begin, members;
  std::vector<unsigned char> strong;
  std::vector<agg::State>    roots;
  PetscInt                   count, isolated, rounds;

  bool operator==(const Found &f) const
  {
    return of == f.of && begin == f.begin && members == f.members && strong == f.strong && roots == f.roots &&
           count == f.count && isolated == f.isolated && rounds == f.rounds;
  }
};

PetscErrorCode Find(const Case &c, Mat A, Space space, Found *f)
{
  agg::Aggregates   all;
  agg::Source       source;
  agg::NodePattern  pattern;
  agg::StrongGraph  graph;
  Array<agg::State> roots;
  PetscInt          rounds;

  PetscFunctionBeginUser;
  PetscCall(agg::FindAggregates(A, c.options, space, &all));
  PetscCall(ToHost(all.of, space, &f->of));
  PetscCall(ToHost(all.begin, space, &f->begin));
  PetscCall(ToHost(all.members, space, &f->members));
  PetscCall(ToHost(all.strong, space, &f->strong));
  f->count    = all.count;
  f->isolated = all.isolated;
  f->rounds   = all.rounds;
  PetscCall(source.Take(A, space));
  PetscCall(agg::FindNodePattern(space, source.rows, c.options.block_size, &pattern));
  PetscCall(agg::FindStrongGraph(space, source.rows, c.options, pattern, &graph));
  PetscCall(agg::FindRoots(space, graph, c.options.distance, &roots, &rounds));
  PetscCall(ToHost(roots, space, &f->roots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Roots are more than `distance` apart, and no other node could be one.
PetscErrorCode CheckRoots(const Case &c, const Definition &d, const Found &f)
{
  PetscFunctionBeginUser;
  PetscCheck((PetscInt)f.roots.size() == d.nodes, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %zu states of %" PetscInt_FMT " nodes", c.problem.name.c_str(), f.roots.size(), d.nodes);
  for (PetscInt i = 0; i < d.nodes; ++i) {
    PetscInt roots = 0;
    PetscCheck(f.roots[(size_t)i] == agg::ROOT || f.roots[(size_t)i] == agg::OUT, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: node %" PetscInt_FMT " is undecided", c.problem.name.c_str(), i);
    for (PetscInt j : d.Around(i, c.options.distance)) roots += f.roots[(size_t)j] == agg::ROOT;
    const bool root = f.roots[(size_t)i] == agg::ROOT;
    PetscCheck(d.alone[(size_t)i] ? !root
               : root             ? roots == 1
                                  : roots >= 1,
               PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: node %" PetscInt_FMT " %s, with %" PetscInt_FMT " roots within distance %" PetscInt_FMT,
               c.problem.name.c_str(), i, root ? "is a root" : "is none", roots, c.options.distance);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every node that is not alone is in one aggregate, and each of these holds together: all members within 2
/// connections inside it of one of them, unless small ones have been joined.
PetscErrorCode CheckAggregates(const Case &c, const Definition &d, const Found &f)
{
  const char *const name     = c.problem.name.c_str();
  PetscInt          isolated = 0;

  PetscFunctionBeginUser;
  PetscCheck((PetscInt)f.of.size() == d.nodes && (PetscInt)f.begin.size() == f.count + 1 && f.begin[0] == 0,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: sizes of arrays", name);
  std::vector<std::vector<PetscInt>> members((size_t)f.count);
  for (PetscInt i = 0; i < d.nodes; ++i) {
    const PetscInt a = f.of[(size_t)i];
    PetscCheck((a == -1) == d.alone[(size_t)i] && a < f.count, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: node %" PetscInt_FMT " is in aggregate %" PetscInt_FMT, name, i, a);
    if (a >= 0)
      members[(size_t)a].push_back(i);
    else
      isolated++;
  }
  PetscCheck(isolated == f.isolated && isolated + (PetscInt)f.members.size() == d.nodes, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " isolated nodes", name, f.isolated);
  for (PetscInt a = 0; a < f.count; ++a) {
    const std::vector<PetscInt> &own = members[(size_t)a];
    PetscCheck(!own.empty() && f.begin[(size_t)a + 1] - f.begin[(size_t)a] == (PetscInt)own.size() &&
                   std::equal(own.begin(), own.end(), f.members.begin() + f.begin[(size_t)a]),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: members of aggregate %" PetscInt_FMT, name, a);
    bool together = false;
    for (size_t m = 0; m < own.size() && !together; ++m) {
      std::set<PetscInt> reached{own[m]};
      for (int step = 0; step < (c.options.smallest > 1 ? 100 : 2); ++step) {
        const std::set<PetscInt> before = reached;
        for (PetscInt i : before)
          for (PetscInt j : d.neighbours[(size_t)i])
            if (f.of[(size_t)j] == a) reached.insert(j);
      }
      together = reached.size() == own.size();
    }
    PetscCheck(together, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: aggregate %" PetscInt_FMT " does not hold together",
               name, a);
    if ((PetscInt)own.size() >= c.options.smallest) continue;
    for (PetscInt i : own)
      for (PetscInt j : d.neighbours[(size_t)i])
        PetscCheck(f.of[(size_t)j] == a || (PetscInt)members[(size_t)f.of[(size_t)j]].size() < c.options.smallest,
                   PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: aggregate %" PetscInt_FMT " of %zu nodes has a large neighbour", name, a, own.size());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckStrong(const Case &c, const Definition &d, const Found &f)
{
  const HostMatrix host(c.problem);
  size_t           e = 0;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < host.rows; ++r)
    for (const auto &entry : host.row[(size_t)r]) {
      const PetscInt i = r / c.options.block_size, j = entry.first / c.options.block_size;
      const bool     strong = i == j || d.strong.count({i, j});
      PetscCheck(f.strong.empty() ? strong : (f.strong[e] != 0) == strong, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry %" PetscInt_FMT ", %" PetscInt_FMT " of strength", c.problem.name.c_str(), r, entry.first);
      e++;
    }
  PetscCheck(f.strong.empty() || f.strong.size() == e, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu strengths",
             c.problem.name.c_str(), f.strong.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Against the definition, the same twice, and the same on all backends.
PetscErrorCode TestAggregates()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Case &c : Cases()) {
    const Definition d(c);
    Found            host;
    for (const std::string &backend : backends) {
      Mat   A;
      Found f, again;
      Space space;
      PetscCall(CreateMatrix(c.problem, backend, &A));
      PetscCall(agg::WorkSpace(A, &space));
      PetscCheck((space == Space::Device) == (backend == "cuda"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: in another space than products", backend.c_str());
      PetscCall(Find(c, A, space, &f));
      PetscCall(Find(c, A, space, &again));
      PetscCheck(f == again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: another result", c.problem.name.c_str(),
                 backend.c_str());
      if (backend == backends[0]) host = f;
      PetscCheck(f == host, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s has other aggregates than %s",
                 c.problem.name.c_str(), backend.c_str(), backends[0].c_str());
      PetscCall(CheckRoots(c, d, f));
      PetscCall(CheckAggregates(c, d, f));
      PetscCall(CheckStrong(c, d, f));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows whose columns do not ascend have the same roots.
PetscErrorCode TestUnordered()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &p : {Directed(400, 3), Lattice("5_point", 20, 20, 1, false), Dirichlet(false)}) {
    std::vector<agg::State> expected;
    for (const std::string &backend : backends)
      for (bool descending : {false, true}) {
        const Space             space = backend == "cuda" ? Space::Device : Space::Host;
        PlacedRows              placed;
        agg::NodePattern        pattern;
        agg::StrongGraph        graph;
        Array<agg::State>       roots;
        std::vector<agg::State> found;
        PetscInt                rounds;
        PetscCall(placed.Make(p, descending, space));
        PetscCall(agg::FindNodePattern(space, placed.rows, 1, &pattern));
        PetscCall(agg::FindStrongGraph(space, placed.rows, {}, pattern, &graph));
        PetscCall(agg::FindRoots(space, graph, 2, &roots, &rounds));
        PetscCall(ToHost(roots, space, &found));
        if (expected.empty()) expected = found;
        PetscCheck(found == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: other roots", p.name.c_str(),
                   backend.c_str());
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How much smaller the graph gets on regular grids: 2 and 3 dimensions.
PetscErrorCode TestCoarsening()
{
  const struct {
    Problem   problem;
    PetscReal least, most; ///< nodes of an aggregate, in the mean
  } grids[] = {{Lattice("9_point", 60, 60, 1, true), 9, 25}, {Lattice("27_point", 20, 20, 20, true), 27, 125}};

  PetscFunctionBeginUser;
  for (const auto &grid : grids) {
    Mat             A;
    agg::Aggregates all;
    PetscCall(CreateMatrix(grid.problem, "kokkos", &A));
    PetscCall(agg::FindAggregates(A, {}, Space::Host, &all));
    const PetscReal mean = (PetscReal)all.nodes / (PetscReal)all.count;
    PetscCheck(mean >= grid.least && mean <= grid.most && all.isolated == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %g nodes an aggregate, must be from %g to %g", grid.problem.name.c_str(), (double)mean,
               (double)grid.least, (double)grid.most);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %.1f nodes an aggregate, %" PetscInt_FMT " rounds\n",
                          grid.problem.name.c_str(), (double)mean, all.rounds));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestErrors()
{
  Mat             A;
  agg::Aggregates all;
  agg::Options    options;
  std::string     message;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(Lattice("5_point", 5, 5, 1, false), "kokkos", &A));
  options.block_size = 2;
  PetscCall(ExpectError(
      "block size", [&] { return agg::FindAggregates(A, options, Space::Host, &all); }, &message, PETSC_ERR_ARG_SIZ));
  PetscCall(CheckText("block size", message, {"2 unknowns", "25 rows"}));
  options          = agg::Options();
  options.distance = 3;
  PetscCall(ExpectError(
      "distance", [&] { return agg::FindAggregates(A, options, Space::Host, &all); }, &message,
      PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("distance", message, {"3 connections", "1 or 2"}));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"aggregates", TestAggregates},
               {"unordered", TestUnordered},
               {"coarsening", TestCoarsening},
               {"errors", TestErrors}});
}
