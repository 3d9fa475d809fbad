/// Own rows are joined from the blocks where these are. Rows of other ranks come in one piece of each: lengths,
/// columns, and values as often as these change.
#include "mat/face/row_stack.hpp"
#include "mat/face/numbers.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

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

/// The rows asked->row looked up where the patterns are. Not collective.
PetscErrorCode RowStack::LookUp(Mat M, ListedRows *asked)
{
  const size_t    count = asked->row.size();
  Mat             blocks[2];
  Context        *of_block[2];
  CsrView         csr[2];
  const PetscInt *ghosts, *i[2], *j[2];
  Space           space   = Space::Host;
  PetscCount      entries = 0;
  Array<PetscInt> row, begin, length, behind, number;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetShapes(M, blocks, of_block, csr, &ghosts));
  for (const Context *context : of_block)
    if (context->rows.pattern_away()) space = context->rows.pattern_space();
  for (int b = 0; b < 2; b++) PetscCall(of_block[b]->rows.BringPattern(blocks[b], space, &i[b], &j[b]));
  PetscCall(row.Copy(asked->row.data(), count, space));
  PetscCall(begin.Allocate(count, space));
  PetscCall(length.Allocate(count, space));
  PetscCall(values::ForEach(space, static_cast<PetscCount>(count),
                            values::RowExtents{row.data(), i[0], i[1], begin.data(), length.data()}));
  PetscCallCXX(found_.asked_begin.resize(count));
  PetscCallCXX(asked->length.resize(count));
  PetscCall(begin.ToHost(found_.asked_begin.data()));
  PetscCall(length.ToHost(asked->length.data()));
  for (const PetscInt n : asked->length) entries += n;
  PetscCheck(entries < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_MEM, "Other ranks fetch more entries than fit");
  PetscCall(asked->columns.Allocate(static_cast<size_t>(entries), space));
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindBeginnings(space, asked->length, &behind)); // the rows before it
  PetscCall(number.Copy(ghosts, static_cast<size_t>(csr[1].cols), space));
  PetscCall(values::ForEach(space, static_cast<PetscCount>(count),
                            values::NameColumns{columns_.begin, row.data(), behind.data(), i[0], j[0], i[1], j[1],
                                                number.data(), asked->columns.data()}));
  PetscCall(Bring(WhereNumbersGo(space, asked->columns.size()), &asked->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How many entries the rows have that this rank fetches, as many as `leaves`. pieces: of the rows asked for.
PetscErrorCode RowStack::FetchLengths(MPI_Comm comm, PetscInt leaves, const std::vector<Piece> &pieces,
                                      const ListedRows &asked, bool *fits)
{
  PieceExchange rows;
  PetscInt      count;
  PetscCount    entries = nonzeros_;

  PetscFunctionBegin;
  PetscCall(rows.SetUp(comm, pieces, &count, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(count == leaves, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows come for %" PetscInt_FMT, count,
             leaves);
  PetscCallCXX(found_.length.resize(static_cast<size_t>(count)));
  PetscCall(rows.Exchange(asked.length.data(), found_.length.data()));
  for (const PetscInt n : found_.length) entries += n;
  // each entry may bring a column
  PetscCall(AllAgree(comm, entries + columns_.size() < PETSC_MAX_INT, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns of the fetched entries, and how their values are to come. pieces: of the rows asked for.
PetscErrorCode RowStack::FetchColumns(MPI_Comm comm, std::vector<Piece> pieces, ListedRows &&asked, bool *fits)
{
  Runs   runs;
  size_t row = 0;

  PetscFunctionBegin;
  PetscCall(runs.Find(comm, RunShape{sizes_.row_size, sizes_.column_size}, columns_, pieces, asked, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  for (Piece &piece : pieces) { // of entries now
    const size_t last = row + static_cast<size_t>(piece.count);
    piece.count       = 0;
    for (; row < last; row++) piece.count += asked.length[row];
  }
  PetscCall(entries_.SetUp(comm, pieces, &fetched_, fits));
  PetscCall(entries_.LetPeersServe(nullptr));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(runs.Exchange(comm, pieces, &entries_, fetched_, &found_.runs));
  found_.shape        = runs.shape();
  found_.asked_length = std::move(asked.length);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::Fetch(Mat M, PetscSF rows, bool *fits)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)rows);
  PetscInt           roots, leaves;
  std::vector<Piece> pieces;
  ListedRows         asked;
  bool               lacks = false, by_rank = true;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(rows, &roots, &leaves, nullptr, nullptr));
  PetscCheck(roots == own_rows_, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " rows, and a star forest for %" PetscInt_FMT, own_rows_, roots);
  PetscCall(AskedPieces(rows, &pieces, &asked.row, &by_rank));
  PetscCall(MayLackMemory([&] { return LookUp(M, &asked); }, &lacks));
  PetscCall(AllAgree(comm, !lacks && by_rank, fits)); // else somebody's ghosts do not ascend
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FetchLengths(comm, leaves, pieces, asked, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FetchColumns(comm, std::move(pieces), std::move(asked), fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The fetched rows behind the own ones in i_ and j_: columns get the numbers that they have once theirs are among
/// them.
PetscErrorCode RowStack::NumberFetched()
{
  std::vector<PetscInt> others, place, ends;
  PetscInt              end = nonzeros_;

  PetscFunctionBegin;
  if (found_.length.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  for (const PetscInt n : found_.length) PetscCallCXX(ends.push_back(end += n));
  PetscCall(CopyFromHost(space_, ends.data(), ends.size(), i_.data() + own_rows_ + 1));
  PetscCall(NumberRuns(space_, found_.shape, columns_, found_.length, std::move(found_.runs), j_.data() + nonzeros_,
                       &others, &place));
  for (size_t k = 0; k < place.size(); k++) ghosts_[k] = columns_.own + place[k];
  columns_.others = std::move(others);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// asked_, of the rows that other ranks fetch.
PetscErrorCode RowStack::ListAsked()
{
  const size_t    rows    = found_.asked_length.size();
  PetscInt        entries = 0;
  Array<PetscInt> begin, from;

  PetscFunctionBegin;
  for (const PetscInt n : found_.asked_length) entries += n;
  PetscCall(asked_.Allocate(static_cast<size_t>(entries), space_));
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const int bits = values::LaneBits(static_cast<PetscCount>(rows), entries);
  PetscCall(FindBeginnings(space_, found_.asked_length, &begin));
  PetscCall(from.Take(std::move(found_.asked_begin), space_));
  PetscCall(values::ForEach(space_, static_cast<PetscCount>(rows) << bits,
                            values::ListRanges{bits, begin.data(), from.data(), asked_.data()}));
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
  const int bits = values::LaneBits(own_rows_, nonzeros_);
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
  PetscCall(i_.Allocate(static_cast<size_t>(own_rows_) + 1 + found_.length.size(), space));
  PetscCall(j_.Allocate(static_cast<size_t>(nonzeros_) + static_cast<size_t>(fetched_), space));
  PetscCall(place_.Allocate(static_cast<size_t>(nonzeros_), space));
  if (own_rows_ == 0) PetscCall(CopyFromHost(space, &none, 1, i_.data())); // blocks without rows may have no arrays
  PetscCall(NumberFetched());
  PetscCall(JoinRows(M));
  PetscCall(ListAsked());
  found_ = Fetched();
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
