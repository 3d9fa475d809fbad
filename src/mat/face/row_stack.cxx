/// Own rows are joined from the blocks where these are. Rows of other ranks come by two star forests: lengths by that
/// of the rows, columns and values by one of entries, which is made of the lengths.
#include "mat/face/row_stack.hpp"
#include <algorithm>
#include <cstring>
#include "mat/face/numbers.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/pieces.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

PetscInt Numbering::Local(PetscInt global) const
{
  if (global >= begin && global < begin + own) return global - begin;
  return own + static_cast<PetscInt>(std::lower_bound(others.begin(), others.end(), global) - others.begin());
}

namespace
{
/// The shapes of M's blocks, and their patterns on the host where these are not away; nothing is copied.
PetscErrorCode GetShapes(Mat M, Mat blocks[2], Context *of_block[2], CsrView csr[2], const PetscInt **ghosts)
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(M, &blocks[0], &blocks[1], ghosts));
  for (int b = 0; b < 2; b++) {
    PetscCall(GetContext(blocks[b], &of_block[b]));
    PetscCall(of_block[b]->rows.GetShape(blocks[b], &csr[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Where a block's products run on the device, its pattern is there, or will be: it is looked at there.
PetscErrorCode LookThere(Mat block, Context *context, CsrView *csr)
{
  PetscBool found = PETSC_FALSE;
  Space     space;
  bool      lacks = false;

  PetscFunctionBegin;
  if (context->rows.pattern_away() && context->rows.pattern_space() == Space::Host) { // in tests
    csr->i = context->rows.pattern_there().i;
    csr->j = context->rows.pattern_there().j;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PlannedSpace(context, &space));
  if (space == Space::Device) PetscCall(DeviceFound(&found));
  if (!found || csr->nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      MayLackMemory([&] { return context->rows.BringPattern(block, space, &csr->device.i, &csr->device.j); }, &lacks));
  if (lacks) csr->device = CsrArrays{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ParallelPatternWatch::Look(Mat M, bool *changed)
{
  Mat             blocks[2];
  Context        *of_block[2];
  CsrView         csr[2];
  const PetscInt *ghosts;

  PetscFunctionBegin;
  PetscCall(GetShapes(M, blocks, of_block, csr, &ghosts));
  *changed =
      ghosts_.size() != static_cast<size_t>(csr[1].cols) || !std::equal(ghosts, ghosts + csr[1].cols, ghosts_.begin());
  if (*changed) PetscCallCXX(ghosts_.assign(ghosts, ghosts + csr[1].cols));
  for (int b = 0; b < 2; b++) {
    bool other, due = false;
    PetscCall(blocks_[b].Due(blocks[b], &of_block[b]->rows, &due));
    if (due) PetscCall(LookThere(blocks[b], of_block[b], &csr[b]));
    PetscCall(blocks_[b].Look(blocks[b], &of_block[b]->rows, csr[b], &other));
    *changed = *changed || other;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// i [rows + 1] += where the rows of a block begin, which may be away.
PetscErrorCode AddBeginnings(const Context &context, const CsrView &csr, std::vector<PetscInt> *i)
{
  std::vector<PetscInt> copy;
  const PetscInt       *begin = csr.i;

  PetscFunctionBegin;
  if (context.rows.pattern_away()) {
    PetscCallCXX(copy.resize(i->size()));
    PetscCall(CopyToHost(context.rows.pattern_space(), context.rows.pattern_there().i, copy.size(), copy.data()));
    begin = copy.data();
  }
  for (size_t r = 0; r < i->size(); r++) (*i)[r] += begin[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

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
  PetscCallCXX(host_i_.assign(static_cast<size_t>(own_rows_) + 1, 0));
  for (int b = 0; own_rows_ && b < 2; b++) PetscCall(AddBeginnings(*of_block[b], csr[b], &host_i_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns get the numbers that they have once those of the fetched entries, `global`, are among them.
PetscErrorCode RowStack::NumberAnew(const std::vector<PetscInt> &global)
{
  const std::vector<PetscInt> ghosts = columns_.others;
  const PetscInt              begin = columns_.begin, own = columns_.own;
  std::vector<PetscInt>       given  = ghosts;
  const auto                  is_own = [&](PetscInt c) { return c >= begin && c < begin + own; };

  PetscFunctionBegin;
  for (PetscInt c : global)
    if (!is_own(c)) PetscCallCXX(given.push_back(c));
  const Numbers others(std::move(given));
  for (size_t k = 0; k < ghosts.size(); k++) ghosts_[k] = own + others.Place(ghosts[k]);
  for (PetscInt c : global) PetscCallCXX(host_fetched_.push_back(is_own(c) ? c - begin : own + others.Place(c)));
  PetscCallCXX(columns_.others = others.list());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns, in the matrix, of these own rows one after the other, looked up where the patterns are.
PetscErrorCode RowStack::LookUp(Mat M, std::vector<PetscInt> &&rows, std::vector<PetscInt> *columns)
{
  Mat                   blocks[2];
  Context              *of_block[2];
  CsrView               csr[2];
  const PetscInt       *ghosts, *i[2], *j[2];
  Space                 space = Space::Host;
  std::vector<PetscInt> begins;
  size_t                entries = 0;
  Array<PetscInt>       row, begin, number, to;

  PetscFunctionBegin;
  PetscCall(GetShapes(M, blocks, of_block, csr, &ghosts));
  for (const Context *context : of_block)
    if (context->rows.pattern_away()) space = context->rows.pattern_space();
  for (int b = 0; b < 2; b++) PetscCall(of_block[b]->rows.BringPattern(blocks[b], space, &i[b], &j[b]));
  for (PetscInt r : rows) {
    PetscCallCXX(begins.push_back(static_cast<PetscInt>(entries)));
    entries += static_cast<size_t>(host_i_[r + 1] - host_i_[r]);
  }
  const PetscCount count = static_cast<PetscCount>(rows.size());
  PetscCallCXX(columns->resize(entries));
  PetscCall(row.Take(std::move(rows), space));
  PetscCall(begin.Take(std::move(begins), space));
  PetscCall(number.Copy(ghosts, static_cast<size_t>(csr[1].cols), space));
  PetscCall(to.Allocate(entries, space));
  PetscCall(values::ForEach(
      space, count,
      values::NameColumns{columns_.begin, row.data(), begin.data(), i[0], j[0], i[1], j[1], number.data(), to.data()}));
  if (entries) PetscCall(to.ToHost(columns->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns, in the matrix, of the fetched entries. Owners look up those alone that somebody asks for.
PetscErrorCode RowStack::FetchColumns(Mat M, PetscSF rows, std::vector<PetscInt> *global)
{
  const PetscInt       *asked;
  PetscInt             *sent; // most of it is never touched
  std::vector<PetscInt> mine, columns;
  size_t                at = 0;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(rows, &asked));
  PetscCall(PetscSFComputeDegreeEnd(rows, &asked));
  for (PetscInt r = 0; r < own_rows_; r++)
    if (asked[r]) PetscCallCXX(mine.push_back(r));
  PetscCall(LookUp(M, std::vector<PetscInt>(mine), &columns));
  PetscCall(PetscMalloc1(nonzeros_, &sent));
  for (PetscInt r : mine) {
    const size_t length = static_cast<size_t>(host_i_[r + 1] - host_i_[r]);
    std::copy_n(columns.data() + at, length, sent + host_i_[r]);
    at += length;
  }
  PetscCallCXX(global->resize(static_cast<size_t>(fetched_)));
  PetscCall(Broadcast(entries_, sent, global->data()));
  PetscCall(PetscFree(sent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::Fetch(Mat M, PetscSF rows, bool *fits)
{
  const MPI_Comm        comm = PetscObjectComm((PetscObject)rows);
  const PetscSFNode    *owners;
  PetscSFNode          *remote;
  PetscInt              roots, leaves, at = 0;
  std::vector<PetscInt> lengths, begin, length, global;
  PetscCount            entries = 0;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(rows, &roots, &leaves, nullptr, &owners));
  PetscCheck(roots == own_rows_, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " rows, and a star forest for %" PetscInt_FMT, own_rows_, roots);
  for (PetscInt r = 0; r < own_rows_; r++) PetscCallCXX(lengths.push_back(host_i_[r + 1] - host_i_[r]));
  PetscCallCXX(begin.resize(static_cast<size_t>(leaves)));
  PetscCallCXX(length.resize(static_cast<size_t>(leaves)));
  PetscCall(Broadcast(rows, host_i_.data(), begin.data()));
  PetscCall(Broadcast(rows, lengths.data(), length.data()));
  for (PetscInt n : length) entries += n;
  // each entry may bring a column
  PetscCall(AllAgree(comm, nonzeros_ + entries + columns_.size() < PETSC_MAX_INT, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  fetched_ = static_cast<PetscInt>(entries);
  PetscCall(PetscMalloc1(fetched_, &remote));
  for (PetscInt l = 0; l < leaves; l++) {
    for (PetscInt k = 0; k < length[l]; k++, at++) {
      remote[at].rank  = owners[l].rank;
      remote[at].index = begin[l] + k;
    }
    PetscCallCXX(host_i_.push_back(nonzeros_ + at));
  }
  PetscCall(PetscSFCreate(comm, &entries_));
  PetscCall(PetscSFSetGraph(entries_, nonzeros_, fetched_, nullptr, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(entries_));
  PetscCall(FetchColumns(M, rows, &global));
  PetscCall(NumberAnew(global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The own rows in j_ and place_, from the blocks' patterns where these are.
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
  const CsrView joined{own_rows_, columns_.size(), nonzeros_, nullptr, nullptr, nullptr};
  const int     bits = values::LaneBits(joined);
  PetscCall(
      values::ForEach(space_, static_cast<PetscCount>(own_rows_) << bits,
                      values::JoinRows{bits, split_, i[0], j[0], i[1], j[1], number.data(), j_.data(), place_.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowStack::BringPattern(Mat M, Space space)
{
  const size_t bytes = host_fetched_.size() * sizeof(PetscInt);

  PetscFunctionBegin;
  space_ = space;
  PetscCall(i_.Take(std::move(host_i_), space));
  PetscCall(j_.Allocate(static_cast<size_t>(nonzeros_) + host_fetched_.size(), space));
  PetscCall(place_.Allocate(static_cast<size_t>(nonzeros_), space));
  PetscCall(JoinRows(M));
  if (bytes && space == Space::Host) memcpy(j_.data() + nonzeros_, host_fetched_.data(), bytes);
  if (bytes && space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyIn(j_.data() + nonzeros_, host_fetched_.data(), bytes, stream));
    PetscCall(DeviceSynchronize(stream)); // the copy from pageable memory may still be under way when that ends
  }
  for (std::vector<PetscInt> *host : {&host_i_, &host_fetched_, &ghosts_}) *host = std::vector<PetscInt>();
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
  if (entries_) PetscCall(Broadcast(entries_, space_, a_.data(), a_.data() + nonzeros_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
