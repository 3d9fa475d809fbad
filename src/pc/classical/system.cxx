/// The rows of one process are read where they lie. Those of several are joined of both blocks, with the rows of the
/// ghosts fetched behind them: an unknown of another process whose row is not fetched has an empty one.
#include "pc/classical/system.hpp"
#include "mat/face/pieces.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/classical/operations.hpp"
#include "petsc/on_all.hpp"
#include "sparsegpu.h"

namespace sparsegpu::classical
{

System::~System()
{
  PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&forest_));
  PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&copy_));
}

/// Where all unknowns have rows: i_ [nodes + 1], of which the stack has those of own unknowns and of ghosts.
PetscErrorCode System::NumberRows(Mat A)
{
  const Numbering      &columns = stack_.columns();
  const SparseRows      known   = stack_.all();
  std::vector<PetscInt> i, all{0};
  const PetscInt       *ghosts;
  Mat                   diagonal, off;
  PetscInt              row = 0, ghost = 0;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &ghosts));
  PetscCallCXX(i.resize(static_cast<size_t>(known.rows) + 1));
  if (space_ == Space::Host) {
    std::copy(known.arrays.i, known.arrays.i + known.rows + 1, i.begin());
  } else {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(i.data(), known.arrays.i, i.size() * sizeof(PetscInt), stream));
  }
  for (PetscInt k = 0; k < columns.size(); k++) {
    const bool is_known = k < columns.own || (ghost < off->cmap->n &&
                                              columns.others[static_cast<size_t>(k - columns.own)] == ghosts[ghost]);
    if (is_known) row++;
    if (is_known && k >= columns.own) ghost++;
    PetscCallCXX(all.push_back(i[static_cast<size_t>(row)]));
  }
  PetscCall(i_.Take(std::move(all), space_));
  PetscCall(others_.Copy(columns.others.data(), columns.others.size(), space_));
  nonzeros_ = known.nonzeros;
  rows_     = SquareRows{columns.size(), i_.data(), known.arrays.j, known.arrays.a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode System::TakeParallel(Mat A)
{
  PetscBool seq, mpi;
  Context  *context;
  bool      fits, all;

  PetscFunctionBegin;
#if !defined(PETSC_HAVE_CUDA)
  space_ = Space::Host; // PETSc cannot send what lies on a device
#endif
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!mpi) {
    PetscCall(MatConvert(A, MATMPIAIJSPARSEGPU, MAT_INITIAL_MATRIX, &copy_));
    A = copy_;
  }
  PetscCall(ConvertBlocks(A));
  PetscCall(stack_.Join(A, &fits));
  PetscCall(AllAgree(comm_, fits, &all));
  if (all) {
    PetscCall(GetContext(A, &context));
    PetscCall(context->halo.Prepare(A, Space::Host));
    PetscCall(stack_.Fetch(A, context->halo.forest(), &all));
  }
  PetscCheck(all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A process lacks memory for rows of others, or has more entries with them than the %" PetscInt_FMT
             " that PetscInt counts: configure PETSc with 64-bit indices then",
             PETSC_MAX_INT);
  PetscCall(OnAll(comm_, [&] {
    PetscFunctionBegin;
    PetscCall(stack_.BringPattern(A, space_));
    PetscCall(stack_.GatherValues(A));
    PetscCall(NumberRows(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(stack_.FetchValues());
  const std::vector<PetscInt> &others = stack_.columns().others;
  PetscCall(PetscSFCreate(comm_, &forest_));
  PetscCall(PetscSFSetGraphLayout(forest_, A->cmap, static_cast<PetscInt>(others.size()), nullptr, PETSC_OWN_POINTER,
                                  const_cast<PetscInt *>(others.data())));
  PetscCall(PetscSFSetUp(forest_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode System::Take(Mat A)
{
  PetscMPIInt size;
  Mat         D;

  PetscFunctionBegin;
  comm_  = PetscObjectComm((PetscObject)A);
  own_   = A->rmap->n;
  first_ = A->rmap->rstart;
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  PetscCall(aggregate::DiagonalBlock(A, &D));
  PetscCall(aggregate::WorkSpace(D, &space_));
  if (size > 1) {
    PetscCall(TakeParallel(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(source_.Take(A, space_));
  nonzeros_ = source_.rows.nonzeros;
  rows_     = SquareRows{own_, source_.rows.arrays.i, source_.rows.arrays.j, source_.rows.arrays.a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode System::TakeFields(const Fields &fields)
{
  PetscFunctionBegin;
  if (fields.count == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OnAll(comm_, [&] {
    PetscFunctionBegin;
    PetscCall(field_.Allocate(static_cast<size_t>(rows_.nodes), space_));
    PetscCall(ForEach(space_, own_, FillFields{first_, fields.count, fields.of.data_or_null(), field_.data()}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(Share(field_.data()));
  rows_.field = field_.data_or_null();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
