/// The host's side of many iterations for several right-hand sides in one launch.
#include "ksp/cg/many_small.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::cg
{

PetscErrorCode ManySmall::Begin([[maybe_unused]] const DeviceSystem &system, [[maybe_unused]] SmallMode mode,
                                [[maybe_unused]] PetscInt columns, [[maybe_unused]] bool gains)
{
  PetscFunctionBegin;
  most_ = 0;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr int  ENOUGH = 8; // columns: where the matrix stays in shared memory for fewer alone, passes are faster
  const PetscInt rows = system.rows(), nonzeros = system.nonzeros();
  const bool     choosy = mode == SmallMode::Auto && gains;
  int            most   = 0;
  bool           lacks;
  if (rows == 0 || system.parallel() || system.outside() || !IsSmall(mode, rows, nonzeros, SMALL_NONZEROS))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0, width = MANY_SMALL_LEAST; k < WIDTHS; k++, width *= 2) {
    bool fits;
    PetscCall(PlanManySmall(width, rows, static_cast<PetscReal>(nonzeros) / rows, shapes_ + k, &fits));
    if (!fits || (choosy && !shapes_[k].holds)) break;
    most = width;
  }
  if (most == 0 || (choosy && most < std::min<PetscInt>(columns, ENOUGH))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix_.Take(system, &work_.A));
  if (work_.A.chunks > 0) PetscFunctionReturn(PETSC_SUCCESS); // a row that is too long for one thread
  work_.v.rows = rows;
  PetscCall(MayLackMemory([&] { return Reserve(WidthFor(std::min<PetscInt>(columns, most))); }, &lacks));
  if (!lacks) most_ = most;
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

int ManySmall::WidthFor(PetscInt columns)
{
  int width = MANY_SMALL_LEAST;

  while (width < columns) width *= 2;
  return width;
}

const SmallShape &ManySmall::ShapeOf(int width) const
{
  int which = 0;

  for (int w = MANY_SMALL_LEAST; w < width; w *= 2) which++;
  return shapes_[which];
}

PetscErrorCode ManySmall::Reserve(int width)
{
  const SmallShape &shape = ShapeOf(width);
  constexpr size_t  BYTES = static_cast<size_t>(MANY_SMALL_RECORDS) * (MANY + 1) * sizeof(Record);
  char             *base  = nullptr;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used  = 0;
    work_.gather = Take<Scalar>(base, &used, static_cast<size_t>(work_.v.rows) * width);
    work_.dots   = Take<PetscReal>(base, &used, static_cast<size_t>(DOTS) * width * shape.blocks);
    work_.sums   = Take<PetscReal>(base, &used, static_cast<size_t>(2) * width * shape.blocks);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  PetscCall(records_.ReserveZeros(BYTES)); // rounds begin at 1
  work_.records = static_cast<Record *>(records_.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySmall::Launch([[maybe_unused]] const ManyArrays &v, [[maybe_unused]] PetscInt last,
                                 [[maybe_unused]] ManyControl *control)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  bool   launched;
  Stream stream;
  width_  = WidthFor(v.count);
  work_.v = v;
  PetscCall(Reserve(width_)); // no more than there is: launches get narrower
  first_         = control->number;
  work_.last     = std::min(last, first_ + MANY_SMALL_RECORDS);
  control->round = ++round_;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LaunchManySmall(width_, ShapeOf(width_), work_, *control, stream, &launched));
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
