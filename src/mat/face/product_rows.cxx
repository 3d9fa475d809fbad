/// Rows that other ranks have sent are stacked below the computed ones. An own row that has received some is a row of
/// the product of a matrix of ones, which has an entry for each of its terms, with that stack: own terms first, then
/// received ones by rank. All other rows stay where they were computed.
#include "mat/face/product_rows.hpp"
#include <algorithm>
#include "mat/face/numbers.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::face
{

using products::SparseRows;

/// The computed rows that other ranks own, of those that have entries.
PetscErrorCode ProductRows::GetOthers(const Numbering &rows, const Numbering &columns, const SparseRows &computed,
                                      ListedRows *sent)
{
  std::vector<PetscInt> begin;
  Array<PetscInt>       local, others;
  const PetscInt       *j = computed.arrays.j;

  PetscFunctionBegin;
  if (rows.others.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(begin.resize(rows.others.size() + 1));
  PetscCall(CopyToHost(space_, computed.arrays.i + rows.own, begin.size(), begin.data()));
  begin_ = begin.front();
  for (size_t k = 0; k < rows.others.size(); k++) {
    if (begin[k + 1] == begin[k]) continue;
    PetscCallCXX(sent->row.push_back(rows.others[k]));
    PetscCallCXX(sent->length.push_back(begin[k + 1] - begin[k]));
  }
  const size_t entries = static_cast<size_t>(begin.back() - begin_);
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const Space where = WhereNumbersGo(space_, entries);
  j += begin_;
  if (where != space_) {
    PetscCall(local.Allocate(entries, where));
    PetscCall(CopyToHost(space_, j, entries, local.data()));
    j = local.data();
  }
  PetscCall(others.Copy(columns.others.data(), columns.others.size(), where));
  PetscCall(sent->columns.Allocate(entries, where));
  PetscCall(rows::values::ForEach(
      where, static_cast<PetscCount>(entries),
      rows::values::NameLocals{columns.begin, columns.own, others.data_or_null(), j, sent->columns.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Receive(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                                    const ListedRows &sent, Received *received, bool *fits)
{
  Runs               runs;
  PieceExchange      of_rows;
  PetscInt           count;
  PetscMPIInt        owner = -1;
  std::vector<Piece> pieces, entries;

  PetscFunctionBegin;
  for (size_t k = 0; k < sent.row.size(); k++) {
    PetscCall(PetscLayoutFindOwner(layout, sent.row[k], &owner));
    if (pieces.empty() || pieces.back().rank != owner) {
      PetscCallCXX(pieces.push_back(Piece{owner, 0}));
      PetscCallCXX(entries.push_back(Piece{owner, 0}));
    }
    pieces.back().count++;
    entries.back().count += sent.length[k];
  }
  PetscCall(runs.Find(layout->comm, received->shape, columns, pieces, sent, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  received->shape = runs.shape();
  PetscCall(of_rows.SetUp(layout->comm, pieces, &count, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(received->row.resize(static_cast<size_t>(count)));
  PetscCallCXX(received->length.resize(static_cast<size_t>(count)));
  PetscCall(of_rows.Exchange(sent.row.data(), received->row.data()));
  PetscCall(of_rows.Exchange(sent.length.data(), received->length.data()));
  PetscCall(entries_.SetUp(layout->comm, entries, &received_, fits));
  PetscCall(entries_.LetPeersServe(nullptr));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(runs.Exchange(layout->comm, entries, &entries_, received_, &received->runs));
  for (PetscInt &row : received->row) row -= rows.begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The stack's columns: own ones, then `others`, which are the computed and the received ones.
PetscErrorCode ProductRows::NumberColumns(const Numbering &columns, const SparseRows &computed, Received *received,
                                          std::vector<PetscInt> *others)
{
  std::vector<PetscInt> place;
  Array<PetscInt>       number;

  PetscFunctionBegin;
  PetscCall(stack_j_.Allocate(static_cast<size_t>(computed_) + static_cast<size_t>(received_), space_));
  PetscCall(NumberRuns(space_, received->shape, columns, received->length, std::move(received->runs),
                       stack_j_.data() + computed_, others, &place));
  PetscCall(number.Take(std::move(place), space_));
  PetscCall(rows::values::ForEach(
      space_, computed_,
      rows::values::NumberOthers{columns.own, computed.arrays.j, number.data_or_null(), stack_j_.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern of the rows that are summed, `summed`, which are own ones. columns: how many the stack has.
PetscErrorCode ProductRows::FindSums(PetscInt own, const SparseRows &computed, const Received &received,
                                     PetscInt columns, std::vector<PetscInt> *summed)
{
  const size_t          count = received.row.size(), below = static_cast<size_t>(computed.rows);
  std::vector<PetscInt> order, ends, i, j;
  std::vector<Scalar>   ones;

  PetscFunctionBegin;
  for (size_t k = 0; k < count; k++) PetscCallCXX(order.push_back(static_cast<PetscInt>(k)));
  PetscCallCXX(i.push_back(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](PetscInt a, PetscInt b) { return received.row[a] < received.row[b]; });
  for (size_t k = 0; k < count;) {
    const PetscInt row = received.row[order[k]];
    PetscCheck(row >= 0 && row < own, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of %" PetscInt_FMT, row,
               own);
    PetscCallCXX(summed->push_back(row));
    PetscCallCXX(j.push_back(row));
    for (; k < count && received.row[order[k]] == row; k++)
      PetscCallCXX(j.push_back(static_cast<PetscInt>(below) + order[k]));
    PetscCallCXX(i.push_back(static_cast<PetscInt>(j.size())));
  }
  PetscCall(stack_i_.Allocate(below + 1 + count, space_));
  PetscCall(CopyWithin(space_, computed.arrays.i, below + 1, stack_i_.data()));
  PetscInt end = computed_;
  for (PetscInt n : received.length) PetscCallCXX(ends.push_back(end += n));
  PetscCall(CopyFromHost(space_, ends.data(), count, stack_i_.data() + below + 1));
  stack_               = SparseRows{static_cast<PetscInt>(below + count), columns, computed_ + received_,
                      CsrArrays{stack_i_.data(), stack_j_.data(), nullptr}};
  const PetscInt terms = static_cast<PetscInt>(j.size());
  PetscCallCXX(ones.assign(j.size(), Scalar(1)));
  PetscCall(ones_.Take(std::move(ones), space_));
  PetscCall(terms_i_.Take(std::move(i), space_));
  PetscCall(terms_j_.Take(std::move(j), space_));
  terms_ = SparseRows{static_cast<PetscInt>(summed->size()), stack_.rows, terms,
                      CsrArrays{terms_i_.data(), terms_j_.data(), ones_.data()}};
  PetscCall(products::MultiplyPattern(space_, terms_, stack_, &summed_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The blocks of the own rows, which begin at computed.arrays.i or are `summed`. j: of computed and received entries.
PetscErrorCode ProductRows::Split(const Numbering &rows, const Numbering &columns, const SparseRows &computed,
                                  const PetscInt *j, const std::vector<PetscInt> &summed, BlockPatterns *patterns)
{
  using namespace rows::values;
  const TwoArrays entries = {computed_ + received_, j, summed_.j.data_or_null()};
  const size_t    count   = static_cast<size_t>(rows.own);
  Array<PetscInt> length, which;
  PetscInt        nonzeros[2];

  PetscFunctionBegin;
  PetscCall(from_.Allocate(count, space_));
  PetscCall(length.Allocate(count, space_));
  PetscCall(ForEach(space_, rows.own, RowsAt{computed.arrays.i, from_.data(), length.data()}));
  PetscCall(which.Copy(summed.data(), summed.size(), space_));
  PetscCall(ForEach(space_, static_cast<PetscCount>(summed.size()),
                    RowsElsewhere{entries.split, which.data(), summed_.i.data(), from_.data(), length.data()}));
  for (Array<PetscInt> &i : i_) PetscCall(i.Allocate(count + 1, space_));
  PetscInt *const i[2] = {i_[0].data(), i_[1].data()};
  PetscCall(ForEach(space_, rows.own, CountBlocks{columns.own, entries, from_.data(), length.data(), {i[0], i[1]}}));
  for (int b = 0; b < 2; b++) {
    PetscCall(rows::RunningSumIn(space_, rows.own, &i_[b], &nonzeros[b]));
    PetscCall(patterns->j[b].Allocate(static_cast<size_t>(nonzeros[b]), space_));
    PetscCall(patterns->i[b].Allocate(count + 1, space_));
    PetscCall(CopyWithin(space_, i[b], count + 1, patterns->i[b].data()));
  }
  lane_bits_            = LaneBits(rows.own, PetscCount(nonzeros[0]) + nonzeros[1]);
  PetscInt *const to[2] = {patterns->j[0].data(), patterns->j[1].data()};
  PetscCall(ForEach(space_, static_cast<PetscCount>(rows.own) << lane_bits_,
                    TakeBlocks{lane_bits_, columns.own, entries, from_.data(), {i[0], i[1]}, {to[0], to[1]}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Do PetscInts count the entries computed, received and `summed`?
PetscErrorCode ProductRows::CheckCount(PetscCount summed) const
{
  PetscFunctionBegin;
  PetscCheck(PetscCount(computed_) + received_ + summed < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "More entries than PetscInt counts");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Join(const Numbering &rows, const Numbering &columns, const SparseRows &computed,
                                 Received *received, BlockPatterns *patterns)
{
  const PetscInt       *j = computed.arrays.j;
  std::vector<PetscInt> others, summed;

  PetscFunctionBegin;
  PetscCall(CheckCount(0));
  PetscCallCXX(others = columns.others);
  if (!received->row.empty()) {
    PetscCall(NumberColumns(columns, computed, received, &others));
    PetscCall(FindSums(rows.own, computed, *received, columns.own + static_cast<PetscInt>(others.size()), &summed));
    j = stack_j_.data();
  }
  PetscCall(CheckCount(static_cast<PetscCount>(summed_.j.size())));
  PetscCall(Split(rows, columns, computed, j, summed, patterns));
  PetscCall(KeepUsed(space_, std::move(others), patterns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Find(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                                 const SparseRows &computed, BlockPatterns *patterns, bool *fits)
{
  ListedRows sent;
  Received   received;
  bool       none, lacks = false;

  PetscFunctionBegin;
  computed_ = computed.nonzeros;
  PetscCall(MayLackMemory([&] { return GetOthers(rows, columns, computed, &sent); }, &lacks));
  PetscCall(AllAgree(layout->comm, !lacks, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AllAgree(layout->comm, sent.row.empty(), &none));
  sums_          = !none;
  received.shape = RunShape{computed.blocks.row_size, computed.blocks.column_size};
  if (sums_) PetscCall(Receive(layout, rows, columns, sent, &received, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryOnDevice([&] { return Join(rows, columns, computed, &received, patterns); }, &lacks));
  PetscCall(AllAgree(layout->comm, !lacks, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Reserve(Scalar **computed)
{
  const size_t all = static_cast<size_t>(computed_) + static_cast<size_t>(received_) + summed_.j.size();

  PetscFunctionBegin;
  if (values_.size() != all) PetscCall(values_.Allocate(all, space_));
  if (sums_) PetscCall(entries_.Reserve(space_));
  *computed = values_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Exchange()
{
  Scalar *const received = values_.data() + computed_, *const summed = received + received_;

  PetscFunctionBegin;
  if (!sums_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(entries_.Exchange(space_, values_.data() + begin_, received));
  if (terms_.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  SparseRows stack = stack_;
  stack.arrays.a   = values_.data();
  const SparseRows result{terms_.rows, stack_.cols, static_cast<PetscInt>(summed_.j.size()),
                          CsrArrays{summed_.i.data(), summed_.j.data(), nullptr}};
  PetscCall(products::MultiplyValues(space_, terms_, stack, result, summed_.longest, summed_.place.data_or_null(),
                                     summed, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::TakeValues(int block, Scalar *a) const
{
  PetscFunctionBegin;
  PetscCall(rows::values::ForEach(
      space_, static_cast<PetscCount>(from_.size()) << lane_bits_,
      rows::values::TakeBlockValues{lane_bits_, block, from_.data(), {i_[0].data(), i_[1].data()}, values_.data(), a}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
