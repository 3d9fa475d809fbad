/// Where a matrix has several unknowns a node a rank thus sends some dozen times less of a pattern, and numbers it.
#include "mat/face/runs.hpp"
#include <algorithm>
#include "mat/face/numbers.hpp"
#include "mat/face/row_stack.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::face
{

PetscErrorCode FindBeginnings(Space space, const std::vector<PetscInt> &length, Array<PetscInt> *begin)
{
  std::vector<PetscInt> sums;

  PetscFunctionBegin;
  PetscCallCXX(sums.reserve(length.size() + 1));
  sums.push_back(0);
  for (const PetscInt n : length) sums.push_back(sums.back() + n);
  PetscCall(begin->Take(std::move(sums), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Are the rows those of whole nodes, as their numbers and lengths tell?
bool AreNodes(const RunShape &shape, const std::vector<Piece> &pieces, const ListedRows &rows)
{
  for (const Piece &piece : pieces)
    if (piece.count % shape.height) return false;
  for (size_t k = 0; k < rows.row.size(); k++) {
    const PetscInt in_node = static_cast<PetscInt>(k) % shape.height;
    const size_t   first   = k - static_cast<size_t>(in_node);
    if (rows.row[first] % shape.height || rows.row[k] != rows.row[first] + in_node) return false;
    if (rows.length[k] % shape.width || rows.length[k] != rows.length[first]) return false;
  }
  return true;
}

/// Are a rank's columns, own ones and others, those of whole nodes?
bool AreNodes(PetscInt width, const Numbering &columns)
{
  const std::vector<PetscInt> &others = columns.others;

  if (columns.begin % width || columns.own % width || others.size() % static_cast<size_t>(width)) return false;
  for (size_t k = 0; k < others.size(); k++) {
    const PetscInt in_node = static_cast<PetscInt>(k) % width, first = others[k - static_cast<size_t>(in_node)];
    if (first % width || others[k] != first + in_node) return false;
  }
  return true;
}

/// Are the columns of rows of whole nodes runs, the same in each node?
PetscErrorCode MadeOfRuns(const RunShape &shape, const ListedRows &rows, const Array<PetscInt> &begin, bool *are)
{
  const Space space = rows.columns.space();
  const int   bits =
      rows::values::LaneBits(static_cast<PetscCount>(rows.row.size()), static_cast<PetscCount>(rows.columns.size()));
  int        broken = 0;
  Array<int> flag;

  PetscFunctionBegin;
  PetscCall(flag.Copy(&broken, 1, space));
  PetscCall(rows::values::ForEach(
      space, static_cast<PetscCount>(rows.row.size()) << bits,
      rows::values::CheckRuns{bits, shape.height, shape.width, begin.data(), rows.columns.data(), flag.data()}));
  PetscCall(flag.ToHost(&broken));
  *are = broken == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// numbers_: the rows' runs where they have such, which shape_ tells, else their entries.
PetscErrorCode Runs::Take(const RunShape &shape, const Numbering &columns, const std::vector<Piece> &pieces,
                          const ListedRows &rows)
{
  const Space     space = rows.columns.space();
  const size_t    nodes = rows.row.size() / static_cast<size_t>(shape.height);
  bool            runs  = shape.size() > 1 && AreNodes(shape, pieces, rows) && AreNodes(shape.width, columns);
  Array<PetscInt> begin, taken;

  PetscFunctionBegin;
  if (runs && !rows.row.empty()) {
    PetscCall(FindBeginnings(space, rows.length, &begin));
    PetscCall(MadeOfRuns(shape, rows, begin, &runs));
  }
  shape_ = runs ? shape : RunShape();
  PetscCallCXX(numbers_.resize(rows.columns.size() / static_cast<size_t>(shape_.size())));
  if (numbers_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (runs) {
    const int bits = rows::values::LaneBits(static_cast<PetscCount>(nodes), static_cast<PetscCount>(numbers_.size()));
    PetscCall(taken.Allocate(numbers_.size(), space));
    PetscCall(rows::values::ForEach(
        space, static_cast<PetscCount>(nodes) << bits,
        rows::values::TakeRuns{bits, shape.height, shape.width, begin.data(), rows.columns.data(), taken.data()}));
  }
  const Array<PetscInt> &from = runs ? taken : rows.columns;
  PetscCall(from.ToHost(numbers_.data()));
  if (space == Space::Device) PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(from.bytes())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Runs::Find(MPI_Comm comm, const RunShape &shape, const Numbering &columns,
                          const std::vector<Piece> &pieces, const ListedRows &rows, bool *fits)
{
  bool lacks, all_runs;

  PetscFunctionBegin;
  PetscCall(MayLackMemory([&] { return Take(shape, columns, pieces, rows); }, &lacks));
  PetscCall(AllAgree(comm, !lacks, fits));
  if (!*fits || shape.size() == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AllAgree(comm, shape_.size() > 1, &all_runs));
  if (all_runs) PetscFunctionReturn(PETSC_SUCCESS);
  if (shape_.size() > 1) PetscCall(MayLackMemory([&] { return Take(RunShape(), columns, pieces, rows); }, &lacks));
  PetscCall(AllAgree(comm, !lacks, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Runs::Exchange(MPI_Comm comm, std::vector<Piece> pieces, PieceExchange *entries, PetscInt count,
                              std::vector<PetscInt> *received) const
{
  PieceExchange of_runs;
  bool          fits; // runs are fewer than the entries, which do

  PetscFunctionBegin;
  PetscCallCXX(received->resize(static_cast<size_t>(count / shape_.size())));
  if (shape_.size() > 1) {
    for (Piece &piece : pieces) piece.count /= shape_.size();
    PetscCall(of_runs.SetUp(comm, pieces, &count, &fits));
    entries = &of_runs;
  }
  PetscCall(entries->Exchange(numbers_.data(), received->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NumberRuns(Space space, const RunShape &shape, const Numbering &columns,
                          const std::vector<PetscInt> &length, std::vector<PetscInt> &&runs, PetscInt *to,
                          std::vector<PetscInt> *others, std::vector<PetscInt> *place)
{
  const PetscInt width   = shape.width;
  const size_t   entries = runs.size() * static_cast<size_t>(shape.size());
  const int bits = rows::values::LaneBits(static_cast<PetscCount>(length.size()), static_cast<PetscCount>(entries));
  std::vector<PetscInt> given, nodes, all;
  Array<PetscInt>       begin, numbers;

  PetscFunctionBegin;
  for (size_t k = 0; k < columns.others.size(); k += static_cast<size_t>(width))
    PetscCallCXX(given.push_back(columns.others[k] / width));
  PetscCall(numbers.Take(std::move(runs), WhereNumbersGo(space, entries)));
  PetscCall(NumberLocally(columns.begin / width, columns.own / width, given, &numbers, &nodes));
  place->clear();
  auto at = nodes.begin();
  for (const PetscInt number : given) {
    at = std::lower_bound(at, nodes.end(), number);
    for (PetscInt c = 0; c < width; c++)
      PetscCallCXX(place->push_back(static_cast<PetscInt>(at - nodes.begin()) * width + c));
  }
  for (const PetscInt number : nodes)
    for (PetscInt c = 0; c < width; c++) PetscCallCXX(all.push_back(number * width + c));
  *others = std::move(all);
  PetscCall(Bring(space, &numbers));
  if (shape.size() == 1) {
    PetscCall(CopyWithin(space, numbers.data(), numbers.size(), to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindBeginnings(space, length, &begin));
  PetscCall(
      rows::values::ForEach(space, static_cast<PetscCount>(length.size()) << bits,
                            rows::values::ExpandRuns{bits, shape.height, width, begin.data(), numbers.data(), to}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
