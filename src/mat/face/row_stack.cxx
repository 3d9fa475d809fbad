/// Own rows are joined from the blocks where these are. Rows of other ranks come in one piece of each: lengths,
/// columns, and values as often as these change.
#include "mat/face/row_stack.hpp"
#include <algorithm>
#include "mat/face/parallel_away.hpp"
#include "mat/face/runs.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

PetscInt Numbering::Local(PetscInt global) const
{
  if (global >= begin && global < begin + own) return global - begin;
  return own + static_cast<PetscInt>(std::lower_bound(others.begin(), others.end(), global) - others.begin());
}

PetscErrorCode RowStack::Join(Mat M, bool *fits)
{
  Mat             blocks[2];
  Context        *of_block[2];
  CsrView         csr[2];
  const PetscInt *ghosts;
  bool            changed;

  PetscFunctionBegin;
  PetscCall(GetShapes(M, blocks, of_block, csr, &ghosts));
  PetscCall(watch_.Look(M, &changed));
  PetscCall(MatGetBlockSizes(M, &sizes_.row_size, &sizes_.column_size));
  const PetscCount entries = PetscCount(csr[0].nonzeros) + csr[1].nonzeros;
  *fits                    = entries < PETSC_MAX_INT && PetscCount(csr[0].cols) + csr[1].cols < PETSC_MAX_INT;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  nonzeros_      = static_cast<PetscInt>(entries);
  split_         = csr[0].nonzeros;
  own_rows_      = csr[0].rows;
  columns_.begin = M->cmap->rstart;
  columns_.own   = M->cmap->n;
  PetscCallCXX(columns_.others.assign(ghosts, ghosts + csr[1].cols));
  for (PetscInt k = 0; k < csr[1].cols; k++) PetscCallCXX(ghosts_.push_back(columns_.own + k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns get the numbers that they have once those of the fetched entries, by runs, are among them.
PetscErrorCode RowStack::NumberAnew(const RunShape &shape, const std::vector<PetscInt> &length,
                                    std::vector<PetscInt> &&runs)
{
  std::vector<PetscInt> others, place;

  PetscFunctionBegin;
  PetscCall(JoinColumns(columns_, shape.width, &runs, &others, &place));
  for (size_t k = 0; k < place.size(); k++) ghosts_[k] = columns_.own + place[k];
  columns_.others = std::move(others);
  if (shape.height * shape.width > 1)
    PetscCallCXX(host_fetched_ = ColumnsOfRuns(shape, length, runs));
  else
    host_fetched_ = std::move(runs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows `asked` looked up where the patterns are. Not collective.
PetscErrorCode RowStack::LookUp(Mat M, const std::vector<PetscInt> &asked, AskedRows *found) const
{
  const size_t          count = asked.size();
  Mat                   blocks[2];
  Context              *of_block[2];
  CsrView               csr[2];
  const PetscInt       *ghosts, *i[2], *j[2];
  Space                 space   = Space::Host;
  PetscCount            entries = 0;
  std::vector<PetscInt> behind; // the rows before it
  Array<PetscInt>       row, begin, length, number, to;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetShapes(M, blocks, of_block, csr, &ghosts));
  for (const Context *context : of_block)
    if (context->rows.pattern_away()) space = context->rows.pattern_space();
  for (int b = 0; b < 2; b++) PetscCall(of_block[b]->rows.BringPattern(blocks[b], space, &i[b], &j[b]));
  PetscCall(row.Copy(asked.data(), count, space));
  PetscCall(begin.Allocate(count, space));
  PetscCall(length.Allocate(count, space));
  PetscCall(values::ForEach(space, static_cast<PetscCount>(count),
                            values::RowExtents{row.data(), i[0], i[1], begin.data(), length.data()}));
  PetscCallCXX(found->begin.resize(count));
  PetscCallCXX(found->length.resize(count));
  PetscCall(begin.ToHost(found->begin.data()));
  PetscCall(length.ToHost(found->length.data()));
  for (PetscInt n : found->length) {
    PetscCallCXX(behind.push_back(static_cast<PetscInt>(entries)));
    entries += n;
    PetscCheck(entries < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_MEM, "Other ranks fetch more entries than fit");
  }
  PetscCallCXX(found->columns.resize(static_cast<size_t>(entries)));
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(begin.Take(std::move(behind), space));
  PetscCall(number.Copy(ghosts, static_cast<size_t>(csr[1].cols), space));
  PetscCall(to.Allocate(found->columns.size(), space));
  PetscCall(values::ForEach(
      space, static_cast<PetscCount>(count),
      values::NameColumns{columns_.begin, row.data(), begin.data(), i[0], j[0], i[1], j[1], number.data(), to.data()}));
  PetscCall(to.ToHost(found->columns.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The ends of the rows that this rank fetches, as many as `leaves`, and how many entries each has. pieces: of the rows
/// asked for.
PetscErrorCode RowStack::FetchLengths(MPI_Comm comm, PetscInt leaves, const std::vector<Piece> &pieces,
                                      const AskedRows &found, std::vector<PetscInt> *lengths, bool *fits)
{
  PieceExchange         rows;
  std::vector<PetscInt> length;
  PetscInt              count;
  PetscCount            entries = nonzeros_;

  PetscFunctionBegin;
  PetscCall(rows.SetUp(comm, pieces, &count, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(count == leaves, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows come for %" PetscInt_FMT, count,
             leaves);
  PetscCallCXX(length.resize(static_cast<size_t>(count)));
  PetscCall(rows.Exchange(found.length.data(), length.data()));
  for (PetscInt n : length) {
    entries += n;
    PetscCallCXX(host_ends_.push_back(static_cast<PetscInt>(entries))); // where all fit
  }
  *lengths = std::move(length);
  // each entry may bring a column
  PetscCall(AllAgree(comm, entries + columns_.size() < PETSC_MAX_INT, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns of the fetched entries, and how their values are to come. asked, pieces: the rows asked for; lengths: of
/// the fetched ones.
PetscErrorCode RowStack::FetchColumns(MPI_Comm comm, const std::vector<PetscInt> &asked, std::vector<Piece> pieces,
                                      const AskedRows &found, const std::vector<PetscInt> &lengths, bool *fits)
{
  RunShape              shape{sizes_.row_size, sizes_.column_size};
  const ListedRows      rows{asked, found.length, found.columns};
  std::vector<PetscInt> runs;
  size_t                row = 0, at = 0;

  PetscFunctionBegin;
  PetscCall(AgreeOnRuns(comm, columns_, pieces, rows, &shape));
  PetscCallCXX(host_asked_.resize(found.columns.size()));
  for (Piece &piece : pieces) { // of entries now
    const size_t last = row + static_cast<size_t>(piece.count);
    piece.count       = 0;
    for (; row < last; row++) {
      for (PetscInt e = 0; e < found.length[row]; e++) host_asked_[at++] = found.begin[row] + e;
      piece.count += found.length[row];
    }
  }
  PetscCall(entries_.SetUp(comm, pieces, &fetched_, fits));
  PetscCall(entries_.LetPeersServe(nullptr));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ExchangeRuns(comm, shape, pieces, rows, &entries_, fetched_, &runs));
  PetscCall(NumberAnew(shape, lengths, std::move(runs)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::Fetch(Mat M, PetscSF rows, bool *fits)
{
  const MPI_Comm        comm = PetscObjectComm((PetscObject)rows);
  PetscInt              roots, leaves;
  std::vector<Piece>    pieces;
  std::vector<PetscInt> asked, lengths;
  AskedRows             found;
  bool                  lacks = false, by_rank = true;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(rows, &roots, &leaves, nullptr, nullptr));
  PetscCheck(roots == own_rows_, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " rows, and a star forest for %" PetscInt_FMT, own_rows_, roots);
  PetscCall(AskedPieces(rows, &pieces, &asked, &by_rank));
  PetscCall(MayLackMemory([&] { return LookUp(M, asked, &found); }, &lacks));
  PetscCall(AllAgree(comm, !lacks && by_rank, fits)); // else somebody's ghosts do not ascend
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FetchLengths(comm, leaves, pieces, found, &lengths, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FetchColumns(comm, asked, std::move(pieces), found, lengths, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The own rows in i_, j_ and place_, from the blocks' patterns where these are.
PetscErrorCode RowStack::JoinRows(Mat M)
{
  Mat             blocks[2];
  Context        *of_block[2];
  CsrView         csr[2];
  const PetscInt *unused, *i[2], *j[2];
  Array<PetscInt> number;

  PetscFunctionBegin;
  PetscCall(GetShapes(M, blocks, of_block, csr, &unused));
  for (int b = 0; b < 2; b++) PetscCall(of_block[b]->rows.BringPattern(blocks[b], space_, &i[b], &j[b]));
  PetscCall(number.Take(std::move(ghosts_), space_));
  PetscCall(values::ForEach(space_, own_rows_ ? static_cast<PetscCount>(own_rows_) + 1 : 0,
                            values::AddBeginnings{i[0], i[1], i_.data()}));
  const CsrView joined{own_rows_, columns_.size(), nonzeros_, nullptr, nullptr, nullptr};
  const int     bits = values::LaneBits(joined);
  PetscCall(
      values::ForEach(space_, static_cast<PetscCount>(own_rows_) << bits,
                      values::JoinRows{bits, split_, i[0], j[0], i[1], j[1], number.data(), j_.data(), place_.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::BringPattern(Mat M, Space space)
{
  const PetscInt none = 0;

  PetscFunctionBegin;
  space_ = space;
  PetscCall(i_.Allocate(static_cast<size_t>(own_rows_) + 1 + host_ends_.size(), space));
  PetscCall(j_.Allocate(static_cast<size_t>(nonzeros_) + host_fetched_.size(), space));
  PetscCall(place_.Allocate(static_cast<size_t>(nonzeros_), space));
  if (own_rows_ == 0) PetscCall(CopyFromHost(space, &none, 1, i_.data())); // blocks without rows may have no arrays
  PetscCall(JoinRows(M));
  if (!host_ends_.empty())
    PetscCall(CopyFromHost(space, host_ends_.data(), host_ends_.size(), i_.data() + own_rows_ + 1));
  if (!host_fetched_.empty())
    PetscCall(CopyFromHost(space, host_fetched_.data(), host_fetched_.size(), j_.data() + nonzeros_));
  PetscCall(asked_.Take(std::move(host_asked_), space));
  for (std::vector<PetscInt> *host : {&host_ends_, &host_fetched_, &host_asked_, &ghosts_})
    *host = std::vector<PetscInt>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

CsrView RowStack::OwnView() const
{
  CsrView csr{own_rows_, columns_.size(), nonzeros_, i_.data(), j_.data(), nullptr};

  if (space_ == Space::Device) csr.device = CsrArrays{i_.data(), j_.data(), nullptr};
  return csr;
}

PetscErrorCode RowStack::Fits(Mat M, bool *fits)
{
  bool changed;

  PetscFunctionBegin;
  PetscCall(watch_.Look(M, &changed));
  *fits = !changed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::GatherValues(Mat M)
{
  Mat     blocks[2];
  Scalar *a[2];

  PetscFunctionBegin;
  if (a_.size() != j_.size()) PetscCall(a_.Allocate(j_.size(), space_));
  if (packed_.size() != asked_.size()) PetscCall(packed_.Allocate(asked_.size(), space_));
  if (entries_) PetscCall(entries_.Reserve(space_));
  PetscCall(GetBlocks(M, blocks));
  for (int b = 0; b < 2; b++) {
    Context *context;
    PetscCall(GetContext(blocks[b], &context));
    context->read_here = true;
    PetscCall(context->rows.BringValues(blocks[b], space_, &a[b]));
  }
  PetscCall(values::ForEach(space_, nonzeros_, values::GatherPair{place_.data(), split_, a[0], a[1], a_.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::FetchValues()
{
  PetscFunctionBegin;
  if (!entries_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values::ForEach(space_, static_cast<PetscCount>(asked_.size()),
                            values::GatherPair{asked_.data(), nonzeros_, a_.data(), nullptr, packed_.data()}));
  PetscCall(entries_.Exchange(space_, packed_.data(), a_.data() + nonzeros_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
