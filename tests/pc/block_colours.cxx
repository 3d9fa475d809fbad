static const char help[] =
    "Blocks and colours of rows: sizes, connections, colours of neighbours, the same in both spaces and on each run.\n\n";

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include "aggregate_cases.hpp"
#include "spaces.hpp"
#include "pc/ordering/abmc.hpp"
#include "pc/ordering/keys.hpp"

using namespace testing;
using sparsegpu::ordering::BlockColours;
using sparsegpu::ordering::RowKeys;
using sparsegpu::ordering::RowPattern;

namespace
{
constexpr PetscInt MOST_COLOURS = 64; ///< the last of which neighbours may share
using Keys                      = std::vector<unsigned long long>;

struct Rows {
  std::string           name;
  PetscInt              n, unknowns = 1;
  std::vector<PetscInt> i, j;

  explicit Rows(const Problem &p, PetscInt bs = 1) : name(p.name), n(p.rows), unknowns(bs), i((size_t)p.rows + 1, 0)
  {
    std::vector<std::set<PetscInt>> row((size_t)n);
    for (const Entry &e : p.entries) row[(size_t)e.i].insert(e.j);
    for (size_t r = 0; r < (size_t)n; ++r) {
      j.insert(j.end(), row[r].begin(), row[r].end());
      i[r + 1] = (PetscInt)j.size();
    }
  }
};

/// Its arrays in a space.
class Placed
{
public:
  Placed(const Rows &rows, Space space)
  {
    PetscCallAbort(PETSC_COMM_SELF, i_.Copy(rows.i.data(), rows.i.size(), space));
    PetscCallAbort(PETSC_COMM_SELF, j_.Copy(rows.j.data(), rows.j.size(), space));
    view = RowPattern{space, rows.n, (PetscInt)rows.j.size(), i_.data(), j_.data(), rows.unknowns};
  }
  RowPattern view;

private:
  Array<PetscInt> i_, j_;
};

enum class Way {
  Boxes,
  Graph
};

PetscErrorCode FindKeys(const Rows &rows, Space space, Way way, PetscInt block, RowKeys *keys, Keys *copy, bool *found)
{
  const Placed placed(rows, space);

  PetscFunctionBeginUser;
  *found = true;
  if (way == Way::Graph) PetscCall(KeysOfGraph(placed.view, block, keys));
  if (way == Way::Boxes) PetscCall(KeysOfBoxes(placed.view, block, 3, keys, found));
  copy->resize(*found ? (size_t)rows.n : 0);
  if (*found) PetscCall(keys->key.ToHost(copy->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sizes and numbers of blocks, the colours of neighbours, and whether each block is connected.
PetscErrorCode CheckKeys(const Rows &rows, const std::string &what, PetscInt block, const RowKeys &keys,
                         const Keys &key)
{
  const auto colour = [&](PetscInt r) { return (PetscInt)(key[(size_t)r] >> keys.block_bits); };
  std::map<unsigned long long, PetscInt> size, parts;
  std::vector<PetscInt>                  root((size_t)rows.n);

  PetscFunctionBeginUser;
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](PetscInt r) {
    while (root[(size_t)r] != r) r = root[(size_t)r] = root[(size_t)root[(size_t)r]];
    return r;
  };
  for (PetscInt r = 0; r < rows.n; ++r) {
    size[key[(size_t)r]]++;
    PetscCheck(colour(r) < keys.colours && key[(size_t)r] >> keys.bits == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %d has colour %d of %d", what.c_str(), (int)r, (int)colour(r), (int)keys.colours);
    for (PetscInt e = rows.i[(size_t)r]; e < rows.i[(size_t)r + 1]; ++e) {
      const PetscInt to = rows.j[(size_t)e];
      if (key[(size_t)to] == key[(size_t)r]) {
        root[(size_t)find(r)] = find(to);
        continue;
      }
      PetscCheck(colour(r) != colour(to) || colour(r) == MOST_COLOURS - 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: rows %d and %d of neighbouring blocks both have colour %d", what.c_str(), (int)r, (int)to,
                 (int)colour(r));
    }
  }
  for (PetscInt r = 0; r < rows.n; ++r) parts[key[(size_t)r]] += find(r) == r;
  for (const auto &one : size) {
    PetscCheck(one.second <= block, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a block of %d rows", what.c_str(),
               (int)one.second);
    PetscCheck(parts[one.first] == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a block in %d parts", what.c_str(),
               (int)parts[one.first]);
  }
  PetscCheck((PetscInt)size.size() == keys.blocks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d blocks, not %d",
             what.c_str(), (int)size.size(), (int)keys.blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The order that keys give: by colour, block and row.
PetscErrorCode CheckOrder(const std::string &what, Space space, RowKeys *keys, const Keys &key)
{
  std::vector<PetscInt> expected(key.size()), order(key.size());
  Array<PetscInt>       sorted;

  PetscFunctionBeginUser;
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](PetscInt a, PetscInt b) { return key[(size_t)a] < key[(size_t)b]; });
  PetscCall(SortRows(space, keys, &sorted));
  PetscCall(sorted.ToHost(order.data()));
  PetscCheck(order == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: rows are not in the order of their keys",
             what.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All of it, twice in each space with the same result.
PetscErrorCode CheckRows(const Rows &rows, Way way, PetscInt block, PetscInt colours)
{
  std::vector<Space> spaces;
  Keys               first;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  for (const Space space : spaces)
    for (int run = 0; run < 2; ++run) {
      const std::string what = rows.name + ", blocks of " + std::to_string(block) +
                               (space == Space::Device ? ", on the device" : ", on the host");
      RowKeys keys;
      Keys    key;
      bool    found;
      PetscCall(FindKeys(rows, space, way, block, &keys, &key, &found));
      PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the grid was not found", what.c_str());
      PetscCall(CheckKeys(rows, what, block, keys, key));
      PetscCheck(colours < 0 || keys.colours == colours, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d colours, not %d",
                 what.c_str(), (int)keys.colours, (int)colours);
      PetscCall(CheckOrder(what, space, &keys, key));
      if (first.empty()) first = key;
      PetscCheck(key == first, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not the blocks and colours of the first run",
                 what.c_str());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks are boxes, with as few colours as their neighbours allow.
PetscErrorCode Grids()
{
  PetscFunctionBeginUser;
  PetscCall(CheckRows(Rows(conformance::Grid("grid_60x50", 60, 50, true)), Way::Boxes, 64, 2));
  PetscCall(CheckRows(Rows(conformance::Grid("grid_60x50", 60, 50, true)), Way::Boxes, 1, 2));
  PetscCall(CheckRows(Rows(conformance::Grid("grid_60x50", 60, 50, true)), Way::Boxes, 100000, 1));
  PetscCall(CheckRows(Rows(Lattice("nine_points", 31, 29, 1, true)), Way::Boxes, 25, 4));
  PetscCall(CheckRows(Rows(Lattice("seven_points", 11, 13, 17, false)), Way::Boxes, 30, 2));
  PetscCall(CheckRows(Rows(Lattice("27_points", 11, 13, 17, true)), Way::Boxes, 30, 8));
  PetscCall(CheckRows(Rows(Lattice("27_points", 11, 13, 17, true)), Way::Boxes, 7, 8));
  PetscCall(CheckRows(Rows(Lattice("elasticity", 7, 9, 8, true, 3), 3), Way::Boxes, 64, 8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What only looks like a grid: one entry far from the others, too small a block, two that are not neighbours.
PetscErrorCode NoGrids()
{
  Problem far = conformance::Grid("far_entry", 60, 50, true), round = conformance::Grid("round", 60, 50, true);
  std::vector<Space> spaces;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  far.entries.push_back(Entry{1234, 17, 1});
  for (PetscInt x = 0; x < 60; ++x) round.entries.push_back(Entry{x, x + 60 * 49, 1});
  for (const Space space : spaces)
    for (const auto &one : {std::make_pair(Rows(far), PetscInt(64)), std::make_pair(Rows(round), PetscInt(64)),
                            std::make_pair(Rows(Lattice("elasticity", 7, 9, 8, true, 3), 3), PetscInt(2)),
                            std::make_pair(Rows(Directed(500, 4)), PetscInt(64))}) {
      RowKeys keys;
      Keys    key;
      bool    found;
      PetscCall(FindKeys(one.first, space, Way::Boxes, one.second, &keys, &key, &found));
      PetscCheck(!found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: taken for a grid", one.first.name.c_str());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Graphs with hubs, without edges, in pieces, with edges in one direction, complete.
PetscErrorCode Graphs()
{
  std::vector<Problem> problems = conformance::All();
  Builder              none("no_rows", 0, 0), alone("one_row", 1, 1), empty("empty_rows", 300, 300);
  Builder              row("dense_row", 2000, 2000), column("dense_column", 2000, 2000), all("complete", 100, 100);
  Builder              down("lower_path", 3000, 3000), pieces("pieces", 900, 900), cycle("cycle", 777, 777);

  PetscFunctionBeginUser;
  alone.Add(0, 0);
  for (PetscInt r = 0; r < 2000; ++r) {
    row.Add(0, r);
    column.Add(r, 7);
    if (r > 0) row.Add(r, r);
  }
  for (PetscInt r = 0; r < 100; ++r)
    for (PetscInt c = 0; c < 100; ++c) all.Add(r, c);
  for (PetscInt r = 1; r < 3000; ++r) down.Add(r, (r * 7) % r);
  for (PetscInt r = 0; r < 900; ++r)
    for (PetscInt c = r / 9 * 9; c < r / 9 * 9 + 9; ++c) pieces.Add(r, c);
  for (PetscInt r = 0; r < 777; ++r) cycle.Add(r * 5 % 777, (r + 1) * 5 % 777);
  for (const Problem &p : {Problem(none), Problem(alone), Problem(empty), Problem(row), Problem(column), Problem(all),
                           Problem(down), Problem(pieces), Problem(cycle), Directed(3000, 3),
                           Lattice("27_points", 14, 13, 12, true), conformance::Grid("grid_70x60", 70, 60, false)})
    problems.push_back(p);
  for (const Problem &p : problems)
    for (const PetscInt block : {1, 2, 7, 64, 100000})
      if (p.rows == p.cols && p.rows > 0) PetscCall(CheckRows(Rows(p), Way::Graph, block, -1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks grown by rounds are large enough to be worth their name, and colours few.
PetscErrorCode Quality()
{
  Builder next("upper_bidiagonal", 6000, 6000); // edges one way
  for (PetscInt r = 0; r < 6000; ++r)
    for (PetscInt c = r; c < PetscMin(r + 2, 6000); ++c) next.Add(r, c);
  const struct {
    Rows     rows;
    PetscInt colours; ///< a few more than the greedy colouring of the host's blocks needs
  } cases[] = {{Rows(conformance::Grid("grid_150x140", 150, 140, true)), 8},
               {Rows(Lattice("seven_points", 30, 31, 29, false)), 14},
               {Rows(Lattice("27_points", 30, 31, 29, true)), 15},
               {Rows(next), 4}};
  std::vector<Space> spaces;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  for (const auto &one : cases) {
    RowKeys keys;
    Keys    key;
    bool    found;
    PetscCall(FindKeys(one.rows, spaces.back(), Way::Graph, 256, &keys, &key, &found));
    PetscCheck(2 * one.rows.n >= 256 * keys.blocks, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %d blocks for %d rows, less than half full", one.rows.name.c_str(), (int)keys.blocks,
               (int)one.rows.n);
    PetscCheck(keys.colours <= one.colours, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d colours", one.rows.name.c_str(),
               (int)keys.colours);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The whole order: each row once, of no rows none, and for a grid the same one in both spaces.
PetscErrorCode Orders()
{
  std::vector<Space> spaces;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  for (const Rows &rows :
       {Rows(Problem(Builder("no_rows", 0, 0))), Rows(Problem(Builder("empty_rows", 20, 20))), Rows(Directed(5000, 4)),
        Rows(Lattice("27_points", 20, 21, 19, true)), Rows(conformance::Grid("grid_60x50", 60, 50, false))}) {
    std::vector<PetscInt> first;
    for (const Space space : spaces) {
      const Placed          placed(rows, space);
      std::vector<PetscInt> order((size_t)rows.n), sorted;
      BlockColours          found;
      PetscCall(BlockMulticolour(placed.view, 0, order.data(), &found));
      sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (PetscInt r = 0; r < rows.n; ++r)
        PetscCheck(sorted[(size_t)r] == r, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d is not there once",
                   rows.name.c_str(), (int)r);
      if (first.empty()) first = order;
      PetscCheck(order == first || found.way == std::string("grown by rounds"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: another order on the device", rows.name.c_str());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"grids", Grids}, {"no_grids", NoGrids}, {"graphs", Graphs}, {"quality", Quality}, {"orders", Orders}});
}
