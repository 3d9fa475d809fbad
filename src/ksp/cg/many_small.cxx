/// The host's side of many iterations for several right-hand sides in one launch.
#include "ksp/cg/many_small.hpp"
#include <cstring>
#include "device/local_array.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::cg
{

PetscErrorCode ManySmall::Begin([[maybe_unused]] const DeviceSystem &system, [[maybe_unused]] SmallMode mode,
                                [[maybe_unused]] PetscInt columns, [[maybe_unused]] bool gains)
{
  PetscFunctionBegin;
  most_ = 0;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr int  ENOUGH = 8; // columns at a time, with which a matrix in shared memory gains most
  bool           holds  = false;
  const PetscInt rows = system.rows(), nonzeros = system.nonzeros();
  if (rows == 0 || system.parallel() || system.outside() || !IsSmall(mode, rows, nonzeros, SMALL_NONZEROS))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix_.Take(system, &work_.A));
  if (work_.A.chunks > 0) PetscFunctionReturn(PETSC_SUCCESS); // a row that is too long for one thread
  for (int k = 0, width = MANY_SMALL_LEAST; k < WIDTHS; k++, width *= 2) {
    bool fits;
    PetscCall(PlanManySmall(width, rows, static_cast<PetscReal>(nonzeros) / rows, shapes_ + k, &fits));
    if (!fits) break;
    most_ = width;
    holds = holds || (shapes_[k].holds && width >= std::min<PetscInt>(columns, ENOUGH));
  }
  if (mode == SmallMode::Auto && gains && !holds) most_ = 0;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySmall::Free()
{
  PetscFunctionBegin;
  most_ = 0;
  matrix_.Free();
  PetscCall(scratch_.Free());
  PetscCall(records_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySmall::Reserve(int width, const SmallShape &shape)
{
  constexpr size_t BYTES = static_cast<size_t>(MANY_SMALL_RECORDS) * (MANY + 1) * sizeof(Record);
  char            *base  = nullptr;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used   = 0;
    work_.gather  = Take<Scalar>(base, &used, static_cast<size_t>(work_.v.rows) * width);
    work_.dots    = Take<PetscReal>(base, &used, static_cast<size_t>(DOTS) * width * shape.blocks);
    work_.sums    = Take<PetscReal>(base, &used, static_cast<size_t>(2) * width * shape.blocks);
    work_.arrived = Take<unsigned>(base, &used, GROUP_COUNTERS);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  if (!records_.data()) {
    PetscCall(records_.Reserve(BYTES));
    memset(records_.data(), 0, BYTES); // rounds begin at 1
    round_ = 0;
  }
  work_.records = static_cast<Record *>(records_.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySmall::Launch([[maybe_unused]] const ManyArrays &v, [[maybe_unused]] PetscInt last,
                                 [[maybe_unused]] ManyControl *control)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  int    which = 0;
  bool   launched;
  Stream stream;
  for (width_ = MANY_SMALL_LEAST; width_ < v.count; width_ *= 2) which++;
  work_.v = v;
  PetscCall(Reserve(width_, shapes_[which]));
  first_         = control->number;
  work_.last     = std::min(last, first_ + MANY_SMALL_RECORDS);
  control->round = ++round_;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LaunchManySmall(width_, shapes_[which], work_, *control, stream, &launched));
  PetscCall(PetscLogGpuTimeEnd());
  if (!launched) most_ = 0;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySmall::Await([[maybe_unused]] PetscInt k, [[maybe_unused]] int slot,
                                [[maybe_unused]] Record *record) const
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(work_.records + static_cast<size_t>(k - first_) * (width_ + 1) + slot, round_, stream, record));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySmall::Ends(PetscInt k, bool *ends) const
{
  Record record = {};

  PetscFunctionBegin;
  PetscCall(Await(k, width_, &record));
  *ends = record.outcome != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
