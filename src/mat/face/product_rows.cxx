/// Patterns are joined on the host, once. An entry's value is gathered from the first of its terms, own ones before
/// received ones and these by rank; the few entries that have more terms get them added by a second pass.
#include "mat/face/product_rows.hpp"
#include <algorithm>
#include "mat/face/pieces.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

ProductRows::~ProductRows()
{
  PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&forest_));
}

namespace
{
/// The others of `rows` by their owners, as pieces of things that begin at first [rows.size() + 1] for each row.
PetscErrorCode OfOwners(PetscLayout layout, const Numbering &rows, const std::vector<PetscInt> &first,
                        std::vector<Piece> *pieces)
{
  PetscMPIInt owner = -1;

  PetscFunctionBegin;
  for (size_t k = 0; k < rows.others.size(); k++) {
    const size_t   row   = static_cast<size_t>(rows.own) + k;
    const PetscInt count = first[row + 1] - first[row];
    PetscCall(PetscLayoutFindOwner(layout, rows.others[k], &owner));
    if (pieces->empty() || pieces->back().rank != owner) PetscCallCXX(pieces->push_back(Piece{owner, first[row], 0}));
    pieces->back().count += count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ProductRows::Receive(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                                    const std::vector<PetscInt> &i, const std::vector<PetscInt> &j,
                                    ReceivedRows *received, bool *fits)
{
  const MPI_Comm        comm = layout->comm;
  PetscSF               forest;
  PetscInt              count;
  std::vector<PetscInt> number, global, length, row, lengths;
  std::vector<Piece>    of_rows, of_entries;

  PetscFunctionBegin;
  for (PetscInt r = 0; r <= rows.size(); r++) PetscCallCXX(number.push_back(r));
  PetscCall(OfOwners(layout, rows, number, &of_rows));
  PetscCall(OfOwners(layout, rows, i, &of_entries));
  PetscCall(BuildForest(comm, rows.size(), of_rows, &forest, &count, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt r = 0; r < rows.size(); r++) {
    number[r] = rows.Global(r);
    PetscCallCXX(lengths.push_back(i[r + 1] - i[r]));
  }
  PetscCallCXX(row.resize(count));
  PetscCallCXX(length.resize(count));
  PetscCall(Broadcast(forest, number.data(), row.data()));
  PetscCall(Broadcast(forest, lengths.data(), length.data()));
  PetscCall(PetscSFDestroy(&forest));
  PetscCall(BuildForest(comm, computed_, of_entries, &forest_, &received_, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c : j) PetscCallCXX(global.push_back(columns.Global(c)));
  PetscCallCXX(received->columns.resize(received_));
  PetscCall(Broadcast(forest_, global.data(), received->columns.data()));

  PetscCallCXX(received->first.assign(static_cast<size_t>(rows.own) + 1, 0));
  PetscCallCXX(received->order.resize(count));
  PetscInt begin = 0;
  for (PetscInt k = 0; k < count; begin += length[k++]) {
    row[k] -= rows.begin;
    received->first[row[k] + 1]++;
    PetscCallCXX(received->rows.push_back(Received{begin, length[k]}));
  }
  for (PetscInt r = 0; r < rows.own; r++) received->first[r + 1] += received->first[r];
  PetscCallCXX(number.assign(received->first.begin(), received->first.end()));
  for (PetscInt k = 0; k < count; k++) received->order[number[row[k]]++] = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row of terms by column, those of a column in the order of their sum.
PetscErrorCode ProductRows::AddRow(const Numbering &columns, const std::vector<Term> &terms, HostPattern patterns[2])
{
  PetscFunctionBegin;
  for (size_t k = 0; k < terms.size();) {
    const PetscInt column = terms[k].column;
    const int      b      = column >= columns.begin && column < columns.begin + columns.own ? 0 : 1;
    Map           *map    = &maps_[b];
    PetscCallCXX(patterns[b].j.push_back(column - (b ? 0 : columns.begin)));
    PetscCallCXX(map->host_from.push_back(terms[k++].value));
    if (k == terms.size() || terms[k].column != column) continue;
    PetscCallCXX(map->host_at.push_back(static_cast<PetscInt>(map->host_from.size()) - 1));
    for (; k < terms.size() && terms[k].column == column; k++) PetscCallCXX(map->host_more.push_back(terms[k].value));
    PetscCallCXX(map->host_begin.push_back(static_cast<PetscInt>(map->host_more.size())));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row that has nothing received: entries begin .. end - 1, whose columns ascend within each block.
PetscErrorCode ProductRows::AddOwnRow(const Numbering &columns, const PetscInt *j, PetscInt begin, PetscInt end,
                                      HostPattern patterns[2])
{
  PetscFunctionBegin;
  const PetscInt other = static_cast<PetscInt>(std::lower_bound(j + begin, j + end, columns.own) - j);
  PetscCallCXX(patterns[0].j.insert(patterns[0].j.end(), j + begin, j + other));
  for (PetscInt e = begin; e < other; e++) PetscCallCXX(maps_[0].host_from.push_back(e));
  for (PetscInt e = other; e < end; e++) {
    PetscCallCXX(patterns[1].j.push_back(columns.Global(j[e])));
    PetscCallCXX(maps_[1].host_from.push_back(e));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Find(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                                 const std::vector<PetscInt> &i, const std::vector<PetscInt> &j,
                                 HostPattern patterns[2], bool *fits)
{
  ReceivedRows      received;
  std::vector<Term> terms;
  bool              any;

  PetscFunctionBegin;
  computed_ = static_cast<PetscInt>(j.size());
  for (int b = 0; b < 2; b++) {
    PetscCallCXX(patterns[b].i.assign(1, 0));
    PetscCallCXX(maps_[b].host_begin.assign(1, 0));
  }
  *fits = true;
  PetscCall(AllAgree(layout->comm, rows.others.empty(), &any));
  any = !any;
  if (any) PetscCall(Receive(layout, rows, columns, i, j, &received, fits));
  PetscCall(AllAgree(layout->comm, *fits && PetscCount(computed_) + received_ < PETSC_MAX_INT, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(patterns[0].j.reserve(j.size())); // about as many; what is too much is never touched
  PetscCallCXX(maps_[0].host_from.reserve(j.size()));
  for (PetscInt r = 0; r < rows.own; r++) {
    const PetscInt first = any ? received.first[r] : 0, last = any ? received.first[r + 1] : 0;
    if (first == last) {
      PetscCall(AddOwnRow(columns, j.data(), i[r], i[r + 1], patterns));
    } else {
      terms.clear();
      for (PetscInt e = i[r]; e < i[r + 1]; e++) PetscCallCXX(terms.push_back(Term{columns.Global(j[e]), e}));
      for (PetscInt k = first; k < last; k++) {
        const Received row = received.rows[received.order[k]];
        for (PetscInt e = row.begin; e < row.begin + row.length; e++)
          PetscCallCXX(terms.push_back(Term{received.columns[e], computed_ + e}));
      }
      std::sort(terms.begin(), terms.end(), [](const Term &a, const Term &b) {
        return a.column != b.column ? a.column < b.column : a.value < b.value; // own ones first, and others by rank
      });
      PetscCall(AddRow(columns, terms, patterns));
    }
    for (int b = 0; b < 2; b++) PetscCallCXX(patterns[b].i.push_back(static_cast<PetscInt>(patterns[b].j.size())));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::BringMaps(Space space)
{
  PetscFunctionBegin;
  space_ = space;
  for (Map &map : maps_) {
    PetscCall(map.from.Take(std::move(map.host_from), space));
    PetscCall(map.at.Take(std::move(map.host_at), space));
    PetscCall(map.begin.Take(std::move(map.host_begin), space));
    PetscCall(map.more.Take(std::move(map.host_more), space));
    for (auto *host : {&map.host_from, &map.host_at, &map.host_begin, &map.host_more}) *host = std::vector<PetscInt>();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Reserve(Scalar **computed)
{
  const size_t all = static_cast<size_t>(computed_) + static_cast<size_t>(received_);

  PetscFunctionBegin;
  if (values_.size() != all) PetscCall(values_.Allocate(all, space_));
  *computed = values_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Exchange()
{
  PetscFunctionBegin;
  if (forest_) PetscCall(Broadcast(forest_, space_, values_.data(), values_.data() + computed_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductRows::Sum(int block, Scalar *a) const
{
  const Map     &map = maps_[block];
  const Scalar  *v   = values_.data();
  const PetscInt all = computed_ + received_;

  PetscFunctionBegin;
  PetscCall(values::ForEach(space_, static_cast<PetscCount>(map.from.size()),
                            values::GatherPair{map.from.data(), all, v, nullptr, a}));
  PetscCall(values::ForEach(space_, static_cast<PetscCount>(map.at.size()),
                            values::AddMore{map.at.data(), map.begin.data(), map.more.data(), v, a}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
