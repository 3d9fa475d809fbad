/// Where a matrix has several unknowns a node a rank thus sends some dozen times less of a pattern, and numbers it.
#include "mat/face/runs.hpp"
#include <algorithm>
#include "mat/face/numbers.hpp"
#include "mat/face/row_stack.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// Are these [count] columns runs?
static bool AreRuns(PetscInt width, const PetscInt *columns, PetscInt count)
{
  if (count % width) return false;
  for (PetscInt k = 0; k < count; k += width) {
    if (columns[k] % width) return false;
    for (PetscInt c = 1; c < width; c++)
      if (columns[k + c] != columns[k] + c) return false;
  }
  return true;
}

bool MadeOfRuns(const RunShape &shape, const ListedRows &rows)
{
  const size_t    height = static_cast<size_t>(shape.height), count = rows.row.size();
  const PetscInt *first = rows.columns.data();

  if (count % height) return false;
  for (size_t k = 0; k < count; k += height) {
    const PetscInt length = rows.length[k];
    if (rows.row[k] % shape.height || !AreRuns(shape.width, first, length)) return false;
    for (size_t s = 1; s < height; s++)
      if (rows.row[k + s] != rows.row[k] + static_cast<PetscInt>(s) || rows.length[k + s] != length ||
          !std::equal(first, first + length, first + static_cast<PetscInt>(s) * length))
        return false;
    first += shape.height * length;
  }
  return true;
}

std::vector<PetscInt> RunsOf(const RunShape &shape, const ListedRows &rows)
{
  std::vector<PetscInt> runs;
  size_t                first = 0;

  runs.reserve(rows.columns.size() / static_cast<size_t>(shape.height * shape.width));
  for (size_t k = 0; k < rows.row.size(); k += static_cast<size_t>(shape.height)) {
    for (PetscInt e = 0; e < rows.length[k]; e += shape.width)
      runs.push_back(rows.columns[first + static_cast<size_t>(e)] / shape.width);
    first += static_cast<size_t>(shape.height) * static_cast<size_t>(rows.length[k]);
  }
  return runs;
}

std::vector<PetscInt> ColumnsOfRuns(const RunShape &shape, const std::vector<PetscInt> &length,
                                    const std::vector<PetscInt> &runs)
{
  const size_t          block = static_cast<size_t>(shape.height * shape.width);
  std::vector<PetscInt> columns(runs.size() * block);
  const PetscInt       *run = runs.data();
  PetscInt             *to  = columns.data();

  for (size_t k = 0; k < length.size(); k += static_cast<size_t>(shape.height)) {
    const PetscInt count = length[k] / shape.width;
    for (PetscInt s = 0; s < shape.height; s++)
      for (PetscInt q = 0; q < count; q++)
        for (PetscInt c = 0; c < shape.width; c++) *to++ = run[q] * shape.width + c;
    run += count;
  }
  return columns;
}

PetscErrorCode AgreeOnRuns(MPI_Comm comm, const Numbering &columns, const std::vector<Piece> &pieces,
                           const ListedRows &rows, RunShape *shape)
{
  const PetscInt height = shape->height, width = shape->width;
  bool           runs;

  PetscFunctionBegin;
  if (height * width == 1) PetscFunctionReturn(PETSC_SUCCESS);
  const bool whole = std::all_of(pieces.begin(), pieces.end(), [&](const Piece &p) { return p.count % height == 0; });
  const bool numbered = columns.begin % width == 0 && columns.own % width == 0 &&
                        AreRuns(width, columns.others.data(), static_cast<PetscInt>(columns.others.size()));
  PetscCall(AllAgree(comm, whole && numbered && MadeOfRuns(*shape, rows), &runs));
  if (!runs) *shape = RunShape();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExchangeRuns(MPI_Comm comm, const RunShape &shape, std::vector<Piece> pieces, const ListedRows &rows,
                            PieceExchange *entries, PetscInt count, std::vector<PetscInt> *received)
{
  const PetscInt        block = shape.height * shape.width;
  PieceExchange         of_runs;
  std::vector<PetscInt> runs;
  bool                  fits; // runs are fewer than the entries, which do

  PetscFunctionBegin;
  PetscCallCXX(received->resize(static_cast<size_t>(count / block)));
  if (block == 1) {
    PetscCall(entries->Exchange(rows.columns.data(), received->data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (Piece &piece : pieces) piece.count /= block;
  PetscCall(of_runs.SetUp(comm, pieces, &count, &fits));
  PetscCallCXX(runs = RunsOf(shape, rows));
  PetscCall(of_runs.Exchange(runs.data(), received->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JoinColumns(const Numbering &columns, PetscInt width, std::vector<PetscInt> *runs,
                           std::vector<PetscInt> *others, std::vector<PetscInt> *place)
{
  const PetscInt        begin = columns.begin / width, own = columns.own / width;
  std::vector<PetscInt> given, joined;
  Numbers               all;

  PetscFunctionBegin;
  for (size_t k = 0; k < columns.others.size(); k += static_cast<size_t>(width))
    PetscCallCXX(given.push_back(columns.others[k] / width));
  PetscCallCXX(all.AssignOutside(begin, own, given, *runs));
  place->clear();
  for (PetscInt run : given)
    for (PetscInt c = 0; c < width; c++) PetscCallCXX(place->push_back(all.Place(run) * width + c));
  all.Localize(begin, own, runs);
  for (PetscInt run : all.list())
    for (PetscInt c = 0; c < width; c++) PetscCallCXX(joined.push_back(run * width + c));
  *others = std::move(joined);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
