/// A's own rows, joined of both blocks, with nodes of other processes behind the own ones: what these are in P0, and
/// their aggregates, comes from their owners. Aggregates are numbered as in the whole matrix, so that columns ascend.
#include "pc/amg/parallel_prolongator.hpp"
#include <algorithm>
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/prolongator.hpp"
#include "pc/amg/joined_rows.hpp"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"
#include "sparsegpu.h"

namespace sparsegpu::amg
{

/// Members of an aggregate ascend.
PetscErrorCode ParallelProlongator::ListMembers(const std::vector<PetscInt> &of)
{
  std::vector<PetscInt> begin, members, next;

  PetscFunctionBegin;
  PetscCallCXX(begin.assign(static_cast<size_t>(count_) + 1, 0));
  for (PetscInt aggregate : of)
    if (aggregate >= 0) begin[static_cast<size_t>(aggregate) + 1]++;
  for (size_t k = 1; k < begin.size(); k++) begin[k] += begin[k - 1];
  PetscCallCXX(members.resize(static_cast<size_t>(begin.back())));
  PetscCallCXX(next = begin);
  for (size_t node = 0; node < of.size(); node++)
    if (of[node] >= 0)
      members[static_cast<size_t>(next[static_cast<size_t>(of[node])]++)] = static_cast<PetscInt>(node);
  PetscCall(begin_.Take(std::move(begin), own_.space()));
  PetscCall(members_.Take(std::move(members), own_.space()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective.
PetscErrorCode ParallelProlongator::TakeAggregates(const Aggregates &aggregates)
{
  const PetscInt        size = own_.rows().size;
  std::vector<PetscInt> of, mine, theirs, others, number;
  PetscInt              first = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&aggregates.count, &first, 1, MPIU_INT, MPI_SUM, own_.comm()));
  first -= aggregates.count;
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    PetscCallCXX(of.resize(static_cast<size_t>(aggregates.nodes)));
    PetscCallCXX(theirs.resize(own_.ghosts().size()));
    PetscCall(aggregates.of.ToHost(of.data()));
    for (PetscInt aggregate : of) // what follows takes unknowns
      for (PetscInt k = 0; k < size; k++) PetscCallCXX(mine.push_back(aggregate < 0 ? -1 : first + aggregate));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(own_.Share(MPIU_INT, 1, mine.data(), theirs.data()));
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    for (PetscInt aggregate : theirs)
      if (aggregate >= 0) PetscCallCXX(others.push_back(aggregate));
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    const auto     split = std::lower_bound(others.begin(), others.end(), first);
    const PetscInt below = static_cast<PetscInt>(split - others.begin());
    PetscCallCXX(number.assign(others.begin(), split));
    for (PetscInt k = 0; k < aggregates.count; k++) PetscCallCXX(number.push_back(first + k));
    PetscCallCXX(number.insert(number.end(), split, others.end()));
    count_ = static_cast<PetscInt>(number.size());
    for (PetscInt &aggregate : of)
      if (aggregate >= 0) aggregate += below;
    for (size_t k = 0; k < theirs.size(); k += static_cast<size_t>(size)) {
      const PetscInt aggregate = theirs[k];
      const PetscInt place =
          static_cast<PetscInt>(std::lower_bound(others.begin(), others.end(), aggregate) - others.begin());
      PetscCallCXX(of.push_back(aggregate < 0 ? -1 : place < below ? place : place + aggregates.count));
    }
    PetscCall(ListMembers(of));
    PetscCall(of_.Take(std::move(of), own_.space()));
    PetscCall(number_.Take(std::move(number), own_.space()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective.
PetscErrorCode ParallelProlongator::TakeTentative(const Tentative &tentative)
{
  const size_t        vectors = static_cast<size_t>(tentative.vectors), rows = static_cast<size_t>(own_.rows().rows);
  std::vector<Scalar> mine, theirs;

  PetscFunctionBegin;
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    PetscCallCXX(mine.resize(rows * vectors));
    PetscCallCXX(theirs.resize(own_.ghosts().size() * vectors));
    PetscCall(tentative.values.ToHost(mine.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(own_.Share(MPIU_SCALAR, tentative.vectors, mine.data(), theirs.data()));
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    PetscCallCXX(mine.insert(mine.end(), theirs.begin(), theirs.end()));
    PetscCall(P0_.Take(std::move(mine), own_.space()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::TakeRows(Rows *rows) const
{
  const OwnRows &own      = own_.rows();
  const PetscInt nonzeros = static_cast<PetscInt>(own_.nonzeros());
  const CsrView  joined{own.rows, own.rows + static_cast<PetscInt>(own_.ghosts().size()), nonzeros, nullptr, nullptr,
                       nullptr};
  const int      bits  = rows::values::LaneBits(joined);
  const PetscInt split = own_.own_nonzeros();
  std::vector<PetscInt> numbers;
  Array<PetscInt>       number, place;

  PetscFunctionBegin;
  for (PetscInt ghost : own_.places()) PetscCallCXX(numbers.push_back(own.rows + ghost));
  PetscCall(number.Take(std::move(numbers), own_.space()));
  PetscCall(place.Allocate(static_cast<size_t>(own_.nonzeros()), own_.space()));
  PetscCall(rows->i.Allocate(static_cast<size_t>(own.rows) + 1, own_.space()));
  PetscCall(rows->j.Allocate(static_cast<size_t>(own_.nonzeros()), own_.space()));
  PetscCall(rows->a.Allocate(static_cast<size_t>(own_.nonzeros()), own_.space()));
  if (own.rows == 0) { // whose arrays may lie anywhere
    PetscCall(rows->i.Take({0}, own_.space()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ForEach(own_.space(), static_cast<PetscCount>(own.rows) + 1, JoinBeginnings{own, rows->i.data()}));
  PetscCall(rows::values::ForEach(own_.space(), static_cast<PetscCount>(own.rows) << bits,
                                  rows::values::JoinRows{bits, split, own.own.i, own.own.j, own.others.i, own.others.j,
                                                         number.data_or_null(), rows->j.data(), place.data()}));
  PetscCall(rows::values::ForEach(
      own_.space(), nonzeros, rows::values::GatherPair{place.data(), split, own.own.a, own.others.a, rows->a.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Nothing is marked where nothing is weak.
PetscErrorCode ParallelProlongator::Mark(const Couplings &couplings, Rows *rows) const
{
  Array<PetscInt> begin;
  PetscInt        stay;

  PetscFunctionBegin;
  PetscCall(own_.CountStayingRows(couplings, &begin, &stay));
  if (stay == own_.nonzeros()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(rows->strong.Allocate(static_cast<size_t>(own_.nonzeros()), own_.space()));
  PetscCall(ForEach(own_.space(), own_.rows().rows, MarkStaying{couplings, rows->strong.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::FindRows(const Rows &joined, PetscReal damping, classical::OwnedRows *rows) const
{
  const OwnRows         &own     = own_.rows();
  const PetscInt         columns = own.rows + static_cast<PetscInt>(own_.ghosts().size());
  const SparseRows       A{own.rows, columns, static_cast<PetscInt>(own_.nonzeros()),
                     CsrArrays{joined.i.data(), joined.j.data_or_null(), joined.a.data_or_null()}};
  const ProlongatorInput in{A,
                            own.rows / own.size,
                            own.size,
                            count_,
                            vectors_,
                            of_.data_or_null(),
                            begin_.data(),
                            members_.data_or_null(),
                            P0_.data_or_null(),
                            joined.strong.data_or_null(),
                            damping,
                            false};

  PetscFunctionBegin;
  PetscCall(FindProlongatorRows(own_.space(), in, &rows->i, &rows->j));
  PetscCall(rows->a.Allocate(rows->j.size(), own_.space()));
  PetscCall(FindProlongatorValues(own_.space(), in, rows->i.data(), rows->j.data(), rows->a.data()));
  PetscCall(ForEach(own_.space(), static_cast<PetscCount>(rows->j.size()),
                    NumberColumns{number_.data_or_null(), vectors_, rows->j.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::Create(Mat A, const Aggregates &aggregates, const Tentative &tentative,
                                           PetscReal damping, PetscReal threshold, PetscInt columns, Mat *P)
{
  Couplings            couplings;
  classical::OwnedRows rows;

  PetscFunctionBegin;
  filtered_ = threshold > 0;
  vectors_  = tentative.vectors;
  PetscCall(own_.Take(A));
  PetscCall(TakeAggregates(aggregates));
  PetscCall(TakeTentative(tentative));
  if (filtered_) PetscCall(own_.FindCouplings(threshold, &couplings));
  PetscCall(OnAll(own_.comm(), [&] {
    Rows joined;

    PetscFunctionBegin;
    PetscCall(TakeRows(&joined));
    if (filtered_) PetscCall(Mark(couplings, &joined));
    PetscCall(FindRows(joined, damping, &rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(classical::CreateFromRows(A, own_.space(), columns, std::move(rows), P, own_.rows().size, vectors_));
  own_.Drop();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::Refreshes(Mat P, bool *refreshes) const
{
  PetscBool ours = PETSC_FALSE;

  PetscFunctionBegin;
  if (P && vectors_ > 0 && !filtered_) PetscCall(PetscObjectTypeCompare((PetscObject)P, MATMPIAIJSPARSEGPU, &ours));
  *refreshes = ours;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::Refresh(Mat A, PetscReal damping, Mat P)
{
  PetscFunctionBegin;
  PetscCall(OnAll(own_.comm(), [&] {
    Rows                 joined;
    classical::OwnedRows rows;

    PetscFunctionBegin;
    PetscCall(own_.TakeAgain(A));
    PetscCall(TakeRows(&joined));
    PetscCall(FindRows(joined, damping, &rows));
    PetscCall(classical::SetFromRows(own_.space(), rows, P));
    own_.Drop();
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
