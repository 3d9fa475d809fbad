static const char help[] = "Columns of rows that pass between ranks, by runs, and their local numbers.\n\n";

#include "../testing.hpp"

#include <algorithm>
#include <random>
#include <set>
#include "device/device.hpp"
#include "mat/face/numbers.hpp"
#include "mat/face/row_stack.hpp"

using namespace sparsegpu::face;
using namespace testing;
using sparsegpu::Array;
using sparsegpu::Space;

namespace
{
using Indices = std::vector<PetscInt>;

PetscErrorCode CheckIndices(const Indices &got, const Indices &expected, const char *what, size_t count)
{
  PetscFunctionBeginUser;
  PetscCheck(got.size() == expected.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %zu numbers: %zu, not %zu", what,
             count, got.size(), expected.size());
  for (size_t k = 0; k < got.size(); ++k)
    PetscCheck(got[k] == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %zu numbers: [%zu] is %" PetscInt_FMT ", not %" PetscInt_FMT, what, count, k, got[k], expected[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ToHost(const Array<PetscInt> &array, Indices *host)
{
  PetscFunctionBeginUser;
  host->resize(array.size());
  if (!host->empty()) PetscCall(array.ToHost(host->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Numbers below `limit`, of which this rank owns [begin, begin + own), against a set.
PetscErrorCode CheckLocal(Space space, size_t count, PetscInt limit, PetscInt begin, PetscInt own)
{
  std::mt19937                            random(7);
  std::uniform_int_distribution<PetscInt> any(0, limit - 1);
  std::set<PetscInt>                      all;
  Indices                                 given, numbers, expected, others, local;
  Array<PetscInt>                         array;
  const auto                              outside = [&](PetscInt n) { return n < begin || n >= begin + own; };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < count / 5; ++k)
    if (const PetscInt n = any(random); outside(n)) all.insert(n);
  given.assign(all.begin(), all.end());
  for (size_t k = 0; k < count; ++k) numbers.push_back(k % 3 ? any(random) : std::min(limit - 1, begin + own / 2));
  for (const PetscInt n : numbers)
    if (outside(n)) all.insert(n);
  const Indices ascending(all.begin(), all.end());
  for (const PetscInt n : numbers) {
    const auto place = std::lower_bound(ascending.begin(), ascending.end(), n) - ascending.begin();
    expected.push_back(outside(n) ? own + static_cast<PetscInt>(place) : n - begin);
  }
  PetscCall(array.Copy(numbers.data(), numbers.size(), space));
  PetscCall(NumberLocally(begin, own, given, &array, &others));
  PetscCall(ToHost(array, &local));
  PetscCall(CheckIndices(others, ascending, "others", count));
  PetscCall(CheckIndices(local, expected, "local numbers", count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of row s of a node: runs of `width`, the first ones at own columns of the sender, the others anywhere.
Indices ColumnsOf(int sender, PetscInt node, PetscInt width, PetscInt nodes)
{
  Indices columns;
  for (PetscInt q = 0; q < node % 7; ++q) {
    const PetscInt run = (sender * nodes + node + q * (q + 3)) % (nodes * PetscGlobalSize);
    for (PetscInt c = 0; c < width; ++c) columns.push_back(run * width + c);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

enum class Broken {
  No,
  Length,
  Column
};
/// Each rank sends `nodes` nodes to the next one, which numbers them; broken: one row of one rank has an entry more
/// than the others of its node, or another column.
PetscErrorCode CheckRuns(Space space, PetscInt nodes, const RunShape &shape, Broken broken)
{
  const int       size = PetscGlobalSize, me = PetscGlobalRank, next = (me + 1) % size, before = (me + size - 1) % size;
  const PetscInt  width = shape.width, own = nodes * width;
  ListedRows      rows;
  Numbering       columns;
  Runs            runs;
  PieceExchange   entries;
  Indices         sent, length, received, others, place, got, expected;
  Array<PetscInt> to;
  std::vector<Piece> pieces;
  PetscInt           count;
  bool               fits;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < nodes * shape.height; ++k) {
    for (const bool theirs : {false, true}) {
      const int sender = theirs ? before : me;
      Indices   row    = ColumnsOf(sender, k / shape.height, width, nodes);
      if (sender == 0 && k == 4 * shape.height + 1) {
        if (broken == Broken::Length) row.push_back(size * own - 1);
        if (broken == Broken::Column) row.front() += width;
      }
      Indices *const all = theirs ? &expected : &sent;
      all->insert(all->end(), row.begin(), row.end());
      (theirs ? length : rows.length).push_back(static_cast<PetscInt>(row.size()));
    }
    rows.row.push_back(me * nodes * shape.height + k);
  }
  columns.begin = me * own;
  columns.own   = own;
  for (PetscInt c = 0; c < width; ++c) columns.others.push_back(next * own + c);
  std::set<PetscInt> all(columns.others.begin(), columns.others.end());
  for (const PetscInt n : expected)
    if (n < columns.begin || n >= columns.begin + own) all.insert(n);
  const Indices ascending(all.begin(), all.end());
  for (PetscInt &n : expected)
    n = n >= columns.begin && n < columns.begin + own
            ? n - columns.begin
            : own + static_cast<PetscInt>(std::lower_bound(ascending.begin(), ascending.end(), n) - ascending.begin());
  PetscCall(rows.columns.Copy(sent.data(), sent.size(), space));
  pieces.push_back(Piece{next, static_cast<PetscInt>(rows.row.size())});
  PetscCall(runs.Find(PETSC_COMM_WORLD, shape, columns, pieces, rows, &fits));
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There is memory");
  PetscCheck(runs.shape().size() == (broken == Broken::No ? shape.size() : 1), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Runs of %" PetscInt_FMT " entries", runs.shape().size());
  pieces.front().count = static_cast<PetscInt>(sent.size());
  PetscCall(entries.SetUp(PETSC_COMM_WORLD, pieces, &count, &fits));
  PetscCheck(fits && count == static_cast<PetscInt>(expected.size()), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " entries come", count);
  PetscCall(runs.Exchange(PETSC_COMM_WORLD, pieces, &entries, count, &received));
  PetscCall(to.Allocate(expected.size(), space));
  PetscCall(NumberRuns(space, runs.shape(), columns, length, std::move(received), to.data(), &others, &place));
  PetscCall(ToHost(to, &got));
  PetscCall(CheckIndices(others, ascending, "others", expected.size()));
  PetscCall(CheckIndices(got, expected, "columns", expected.size()));
  for (size_t k = 0; k < columns.others.size(); ++k)
    PetscCheck(others[static_cast<size_t>(place[k])] == columns.others[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Place %zu is %" PetscInt_FMT, k, place[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Check> PetscErrorCode InEachSpace(const Check &check)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(check(Space::Host));
  PetscCall(SparseGPUHasDevice(&device));
  if (device) PetscCall(check(Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Numbers with neighbours, far from each other, none, all own ones and no own ones.
static PetscErrorCode Local()
{
  PetscFunctionBeginUser;
  PetscCall(InEachSpace([](Space space) {
    PetscFunctionBeginUser;
    for (const size_t count : {size_t(0), size_t(1), size_t(300), size_t(50000)}) {
      PetscCall(CheckLocal(space, count, 1000, 200, 300));
      PetscCall(CheckLocal(space, count, 1000, 0, 1000));
      PetscCall(CheckLocal(space, count, 70000, 0, 0));
      PetscCall(CheckLocal(space, count, PETSC_MAX_INT, 1000000000, 500000000));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of nodes and of single unknowns, few and many; rows that look like nodes' but for one entry go by entries.
static PetscErrorCode ByRuns()
{
  PetscFunctionBeginUser;
  PetscCall(InEachSpace([](Space space) {
    PetscFunctionBeginUser;
    for (const PetscInt nodes : {0, 5, 2000})
      for (const RunShape &shape : {RunShape{1, 1}, RunShape{3, 3}, RunShape{3, 6}, RunShape{1, 2}}) {
        PetscCall(CheckRuns(space, nodes, shape, Broken::No));
        if (nodes == 0 || shape.height == 1) continue;
        PetscCall(CheckRuns(space, nodes, shape, Broken::Length));
        PetscCall(CheckRuns(space, nodes, shape, Broken::Column));
      }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"local", Local}, {"runs", ByRuns}});
}
