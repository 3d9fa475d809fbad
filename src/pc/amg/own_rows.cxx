/// Rows stay where they lie; what others need of them passes by the host.
#include "pc/amg/own_rows.hpp"
#include "mat/face/pieces.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/sizes.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/amg/near_null_space.hpp"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::amg
{

OwnRowsOf::~OwnRowsOf()
{
  PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&forest_));
}

PetscErrorCode OwnRowsOf::ListGhosts(Mat O, const PetscInt *columns)
{
  const PetscInt size = rows_.size;
  PetscInt       count;

  PetscFunctionBegin;
  PetscCall(MatGetSize(O, nullptr, &count));
  for (PetscInt g = 0; g < count; g++) {
    const PetscInt first = columns[g] - columns[g] % size;
    if (ghosts_.empty() || ghosts_.back() < first)
      for (PetscInt k = 0; k < size; k++) PetscCallCXX(ghosts_.push_back(first + k));
    PetscCallCXX(places_.push_back(static_cast<PetscInt>(ghosts_.size()) - size + columns[g] % size));
  }
  PetscCall(columns_.Copy(columns, static_cast<size_t>(count), space_));
  rows_.ghost = columns_.data_or_null();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of both blocks; *others is null where there is one.
PetscErrorCode OwnRowsOf::TakeBlocks(Mat A, Mat *others, const PetscInt **columns)
{
  Mat D;

  PetscFunctionBegin;
  *others = nullptr;
  PetscCall(DiagonalBlock(A, &D));
  if (D != A) PetscCall(MatMPIAIJGetSeqAIJ(A, &D, others, columns));
  PetscCall(own_.Take(D, space_));
  rows_.rows = own_.rows.rows;
  rows_.own  = own_.rows.arrays;
  if (*others) {
    PetscCall(others_.Take(*others, space_));
    rows_.others = others_.rows.arrays;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes A, and looks at its pattern.
PetscErrorCode OwnRowsOf::Look(Mat A)
{
  Mat             O;
  const PetscInt *columns = nullptr;
  Array<PetscInt> unordered;
  PetscInt        any = 0;

  PetscFunctionBegin;
  PetscCall(TakeBlocks(A, &O, &columns));
  PetscCall(MatGetBlockSize(A, &rows_.size));
  PetscCall(MatGetOwnershipRange(A, &rows_.first, nullptr));
  if (O) {
    PetscCall(ListGhosts(O, columns));
  } else {
    std::vector<PetscInt> none;
    PetscCallCXX(none.assign(static_cast<size_t>(rows_.rows) + 1, 0));
    PetscCall(no_rows_.Take(std::move(none), space_));
    rows_.others.i = no_rows_.data();
  }
  PetscCheck(FitsPetscInt(static_cast<PetscLogDouble>(nonzeros())), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Rows of a process with %lld entries, more than PetscInt counts; configure PETSc with 64-bit indices",
             static_cast<long long>(nonzeros()));
  PetscCall(unordered.Allocate(static_cast<size_t>(rows_.rows) + 1, space_));
  PetscCall(ForEach(space_, rows_.rows, CountUnordered{rows_, unordered.data()}));
  PetscCall(rows::RunningSumIn(space_, rows_.rows, &unordered, &any));
  rows_.unordered = any > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void OwnRowsOf::Drop()
{
  had_         = nonzeros();
  own_         = aggregate::Source();
  others_      = aggregate::Source();
  sizes_       = Array<PetscReal>();
  ghost_sizes_ = Array<PetscReal>();
}

PetscErrorCode OwnRowsOf::TakeAgain(Mat A)
{
  const PetscInt  rows = rows_.rows;
  Mat             O;
  const PetscInt *columns;

  PetscFunctionBegin;
  PetscCall(TakeBlocks(A, &O, &columns));
  PetscCheck(rows_.rows == rows && nonzeros() == had_ && (O != nullptr) == (forest_ != nullptr), PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONGSTATE,
             "New values of %" PetscInt_FMT " rows with %lld entries, not %" PetscInt_FMT " with %lld", rows_.rows,
             static_cast<long long>(nonzeros()), rows, static_cast<long long>(had_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OwnRowsOf::Take(Mat A)
{
  Mat   D;
  Space space;

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(A, &D));
  PetscCall(aggregate::WorkSpace(D, &space));
  PetscCall(Take(A, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OwnRowsOf::Take(Mat A, Space space)
{
  PetscMPIInt size;
  PetscLayout columns;

  PetscFunctionBegin;
  comm_  = PetscObjectComm((PetscObject)A);
  space_ = space;
  PetscCall(OnAll(comm_, [&] { return Look(A); }));
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(A, nullptr, &columns));
  PetscCall(PetscSFCreate(comm_, &forest_));
  PetscCall(PetscSFSetGraphLayout(forest_, columns, static_cast<PetscInt>(ghosts_.size()), nullptr, PETSC_OWN_POINTER,
                                  ghosts_.data()));
  PetscCall(PetscSFSetUp(forest_));
  PetscCall(face::AskedRoots(forest_, &asked_));
  PetscCall(OnAll(comm_, [&] { return asked_there_.Copy(asked_.data(), asked_.size(), space_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OwnRowsOf::FindCouplings(PetscReal threshold, Couplings *couplings)
{
  std::vector<PetscReal> mine, theirs, of_columns;

  PetscFunctionBegin;
  PetscCall(OnAll(comm_, [&] {
    PetscFunctionBegin;
    PetscCall(sizes_.Allocate(static_cast<size_t>(rows_.rows), space_));
    PetscCall(ForEach(space_, rows_.rows, FindNodeSizes{rows_, sizes_.data()}));
    PetscCallCXX(theirs.resize(ghosts_.size()));
    if (!forest_) PetscFunctionReturn(PETSC_SUCCESS);
    std::vector<PetscReal> all;
    PetscCallCXX(all.resize(static_cast<size_t>(rows_.rows)));
    PetscCall(sizes_.ToHost(all.data()));
    for (PetscInt r : asked_) PetscCallCXX(mine.push_back(all[static_cast<size_t>(r)]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(Share(MPIU_REAL, 1, mine.data(), theirs.data()));
  PetscCall(OnAll(comm_, [&] {
    PetscFunctionBegin;
    for (PetscInt place : places_) PetscCallCXX(of_columns.push_back(theirs[static_cast<size_t>(place)]));
    PetscCall(ghost_sizes_.Copy(of_columns.data(), of_columns.size(), space_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  *couplings = Couplings{rows_, threshold, sizes_.data(), ghost_sizes_.data_or_null()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OwnRowsOf::CountStayingRows(const Couplings &couplings, Array<PetscInt> *begin, PetscInt *total) const
{
  PetscFunctionBegin;
  PetscCall(begin->Allocate(static_cast<size_t>(rows_.rows) + 1, space_));
  PetscCall(ForEach(space_, rows_.rows, CountStaying{couplings, begin->data()}));
  PetscCall(rows::RunningSumIn(space_, rows_.rows, begin, total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
