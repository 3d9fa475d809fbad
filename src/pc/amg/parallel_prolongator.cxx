/// A's own rows, joined of both blocks, with nodes of other processes behind the own ones: what these are in P0, and
/// their aggregates, comes from their owners. Aggregates are numbered as in the whole matrix, so that columns ascend.
#include "pc/amg/parallel_prolongator.hpp"
#include "mat/products/block_rows.hpp"
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/prolongator.hpp"
#include "pc/amg/joined_rows.hpp"
#include "pc/amg/other_aggregates.hpp"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"
#include "sparsegpu.h"

namespace sparsegpu::amg
{

/// Own aggregates stay where they are, with new numbers; those of others come before and behind.
PetscErrorCode ParallelProlongator::JoinAggregates(const Aggregates &own, PetscInt first, OtherAggregates *others)
{
  const Space           space = own_.space();
  const PetscInt        below = static_cast<PetscInt>(others->below), nodes = own.nodes;
  const PetscInt        before = others->begin[others->below], members = static_cast<PetscInt>(own.members.size());
  const size_t          above = others->number.size() - others->below;
  std::vector<PetscInt> number(others->number.begin(), others->number.begin() + below);

  PetscFunctionBegin;
  count_ = own.count + static_cast<PetscInt>(others->number.size());
  for (PetscInt k = 0; k < own.count; k++) PetscCallCXX(number.push_back(first + k));
  PetscCallCXX(number.insert(number.end(), others->number.begin() + below, others->number.end()));
  PetscCall(number_.Take(std::move(number), space));
  for (PetscInt &aggregate : others->of)
    if (aggregate >= below) aggregate += own.count;
  for (PetscInt &node : others->member) node += nodes;
  PetscCall(of_.Allocate(static_cast<size_t>(nodes) + others->of.size(), space));
  PetscCall(ForEach(space, nodes, ShiftNumbers{below, own.of.data_or_null(), of_.data()}));
  PetscCall(CopyFromHost(space, others->of.data(), others->of.size(), of_.data() + nodes));
  PetscCall(members_.Allocate(static_cast<size_t>(members) + others->member.size(), space));
  PetscCall(CopyFromHost(space, others->member.data(), static_cast<size_t>(before), members_.data()));
  PetscCall(CopyWithin(space, own.members.data(), own.members.size(), members_.data() + before));
  PetscCall(CopyFromHost(space, others->member.data() + before, others->member.size() - static_cast<size_t>(before),
                         members_.data() + before + members));
  for (size_t k = others->below; k < others->begin.size(); k++) others->begin[k] += members; // behind the own ones
  PetscCall(begin_.Allocate(static_cast<size_t>(count_) + 1, space));
  PetscCall(CopyFromHost(space, others->begin.data(), others->below, begin_.data()));
  if (own.count > 0)
    PetscCall(ForEach(space, own.count, ShiftNumbers{before, own.begin.data(), begin_.data() + below}));
  PetscCall(CopyFromHost(space, others->begin.data() + others->below, above + 1, begin_.data() + below + own.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective.
PetscErrorCode ParallelProlongator::TakeAggregates(const Aggregates &aggregates)
{
  const PetscInt        size = own_.rows().size;
  std::vector<PetscInt> mine, theirs;
  OtherAggregates       others;
  PetscInt              first = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&aggregates.count, &first, 1, MPIU_INT, MPI_SUM, own_.comm()));
  first -= aggregates.count;
  PetscCall(OnAll(own_.comm(), [&] {
    Array<PetscInt> sent;
    PetscFunctionBegin;
    PetscCallCXX(mine.resize(own_.asked().size()));
    PetscCallCXX(theirs.resize(own_.ghosts().size()));
    PetscCall(sent.Allocate(mine.size(), own_.space()));
    PetscCall(ForEach(own_.space(), static_cast<PetscCount>(mine.size()),
                      TakeAggregatesAsked{size, first, own_.asked_there(), aggregates.of.data_or_null(), sent.data()}));
    PetscCall(sent.ToHost(mine.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(own_.Share(MPIU_INT, 1, mine.data(), theirs.data()));
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    PetscCallCXX(others.Sort(theirs, static_cast<size_t>(size), first));
    PetscCall(JoinAggregates(aggregates, first, &others));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective.
PetscErrorCode ParallelProlongator::TakeTentative(const Tentative &tentative)
{
  const size_t        vectors = static_cast<size_t>(tentative.vectors);
  std::vector<Scalar> mine, theirs;

  PetscFunctionBegin;
  PetscCall(OnAll(own_.comm(), [&] {
    Array<Scalar> sent;
    PetscFunctionBegin;
    PetscCallCXX(mine.resize(own_.asked().size() * vectors));
    PetscCallCXX(theirs.resize(own_.ghosts().size() * vectors));
    PetscCall(sent.Allocate(mine.size(), own_.space()));
    PetscCall(
        ForEach(own_.space(), static_cast<PetscCount>(mine.size()),
                TakeRowsAsked{tentative.vectors, own_.asked_there(), tentative.values.data_or_null(), sent.data()}));
    PetscCall(sent.ToHost(mine.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(own_.Share(MPIU_SCALAR, tentative.vectors, mine.data(), theirs.data()));
  PetscCall(OnAll(own_.comm(), [&] {
    const size_t own = tentative.values.size();
    PetscFunctionBegin;
    PetscCall(P0_.Allocate(own + theirs.size(), own_.space()));
    PetscCall(CopyWithin(own_.space(), tentative.values.data(), own, P0_.data()));
    PetscCall(CopyFromHost(own_.space(), theirs.data(), theirs.size(), P0_.data() + own));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::TakeRows(Rows *rows) const
{
  const OwnRows        &own      = own_.rows();
  const PetscInt        nonzeros = static_cast<PetscInt>(own_.nonzeros());
  const int             bits     = rows::values::LaneBits(own.rows, nonzeros);
  const PetscInt        split    = own_.own_nonzeros();
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
  PetscCall(rows::values::ForEach(own_.space(), static_cast<PetscCount>(own.rows) + 1,
                                  rows::values::AddBeginnings{own.own.i, own.others.i, rows->i.data()}));
  PetscCall(rows::values::ForEach(own_.space(), static_cast<PetscCount>(own.rows) << bits,
                                  rows::values::JoinRows{bits, split, own.own.i, own.own.j, own.others.i, own.others.j,
                                                         number.data_or_null(), rows->j.data(), place.data()}));
  PetscCall(rows::values::ForEach(
      own_.space(), nonzeros, rows::values::GatherPair{place.data(), split, own.own.a, own.others.a, rows->a.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows ParallelProlongator::Joined(const Rows &rows) const
{
  const PetscInt own = own_.rows().rows;
  return SparseRows{own, own + static_cast<PetscInt>(own_.ghosts().size()), static_cast<PetscInt>(own_.nonzeros()),
                    CsrArrays{rows.i.data(), rows.j.data_or_null(), rows.a.data_or_null()}};
}

/// What the rows are made of.
PetscErrorCode ParallelProlongator::Look(Rows *rows) const
{
  const PetscInt      size = own_.rows().size;
  products::BlockRows blocks;

  PetscFunctionBegin;
  if (filtered_) {
    PetscCall(FindNodePattern(own_.space(), Joined(*rows), size, &rows->pattern));
    rows->whole = rows->pattern.whole;
  } else if (own_.space() == Space::Device && size > 1) {
    PetscCall(blocks.Find(Joined(*rows), size, size));
    rows->whole = blocks.view().i != nullptr;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// scale [nodes of columns] of own nodes and of those of other processes. Collective.
PetscErrorCode ParallelProlongator::FindScales(const NodePattern &pattern, Array<PetscReal> *scale) const
{
  const size_t           size = static_cast<size_t>(own_.rows().size), nodes = static_cast<size_t>(pattern.graph.nodes);
  std::vector<PetscReal> mine, theirs;

  PetscFunctionBegin;
  PetscCall(OnAll(own_.comm(), [&] {
    Array<PetscReal> sent;
    PetscFunctionBegin;
    PetscCallCXX(mine.resize(own_.asked().size()));
    PetscCallCXX(theirs.resize(own_.ghosts().size()));
    PetscCall(scale->Allocate(nodes + theirs.size() / size, own_.space()));
    PetscCall(aggregate::FindScales(own_.space(), pattern, scale->data()));
    PetscCall(sent.Allocate(mine.size(), own_.space()));
    PetscCall(ForEach(own_.space(), static_cast<PetscCount>(mine.size()),
                      TakeNodesAsked{own_.rows().size, own_.asked_there(), scale->data(), sent.data()}));
    PetscCall(sent.ToHost(mine.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(own_.Share(MPIU_REAL, 1, mine.data(), theirs.data()));
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    for (size_t k = 0; k < theirs.size() / size; k++) theirs[k] = theirs[k * size];
    PetscCall(CopyFromHost(own_.space(), theirs.data(), theirs.size() / size, scale->data() + nodes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProlongator::FindRows(const Rows &joined, PetscReal damping, classical::OwnedRows *rows) const
{
  const OwnRows         &own = own_.rows();
  const ProlongatorInput in{Joined(joined),     own.rows / own.size,          own.size,      count_,
                            vectors_,           of_.data_or_null(),           begin_.data(), members_.data_or_null(),
                            P0_.data_or_null(), joined.strong.data_or_null(), damping,       false,
                            joined.whole};

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
  classical::OwnedRows rows;
  Rows                 joined;
  Array<PetscReal>     scale;

  PetscFunctionBegin;
  filtered_ = threshold > 0;
  vectors_  = tentative.vectors;
  PetscCall(own_.Take(A, aggregates.space));
  PetscCall(TakeAggregates(aggregates));
  PetscCall(TakeTentative(tentative));
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    PetscCall(TakeRows(&joined));
    PetscCall(Look(&joined));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (filtered_) PetscCall(FindScales(joined.pattern, &scale));
  PetscCall(OnAll(own_.comm(), [&] {
    PetscFunctionBegin;
    if (filtered_)
      PetscCall(MarkStrongEntries(own_.space(), Joined(joined), own_.rows().size, joined.pattern, threshold,
                                  scale.data(), &joined.strong));
    PetscCall(FindRows(joined, damping, &rows));
    whole_ = joined.whole;
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
    joined.whole = whole_;
    PetscCall(FindRows(joined, damping, &rows));
    PetscCall(classical::SetFromRows(own_.space(), rows, P));
    own_.Drop();
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
