/// Which solves run in small.cu, their memory, and the host's side of a launch.
#include "ksp/bcgs/small.hpp"
#include <algorithm>
#include <cstring>

namespace sparsegpu::bcgs
{

PetscErrorCode ArraySolve::Lend(Arrays *v, State **state, bool *with_norm)
{
  PetscFunctionBegin;
  PetscCall(system_.Solution(&v_.x)); // which says that it changes
  *v         = v_;
  *state     = control_.state;
  *with_norm = control_.with_norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallSolve::Free()
{
  PetscFunctionBegin;
  matrix_.Free();
  PetscCall(scratch_.Free());
  PetscCall(records_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallSolve::Begin(KSP ksp, ArraySolve *arrays, SmallMode mode)
{
  PetscFunctionBegin;
  active_ = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr PetscInt MOST = 2000000; // nonzeros
  bool               fits;
  if (!arrays->active() || arrays->space() != Space::Device || arrays->outside()) PetscFunctionReturn(PETSC_SUCCESS);
  const DeviceSystem &system = arrays->system();
  const PetscInt      rows = system.rows(), nonzeros = system.nonzeros();
  if (rows == 0 || !IteratesAreUnseen(ksp) || !IsSmall(mode, rows, nonzeros, MOST)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix_.Take(system, &work_.A));
  if (work_.A.chunks > 0) PetscFunctionReturn(PETSC_SUCCESS); // a row that is too long for the threads of one
  PetscCall(SmallPlan_CUDA(rows, static_cast<PetscReal>(nonzeros) / rows, &shape_, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  char *base = nullptr;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used = 0;
    work_.half  = Take<PetscReal>(base, &used, SHADOW_DOTS * shape_.blocks);
    work_.whole = Take<PetscReal>(base, &used, MINIMISE_DOTS * shape_.blocks);
    work_.sums  = Take<PetscReal>(base, &used, SHADOW_DOTS * shape_.blocks);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  if (!records_.data()) {
    PetscCall(records_.Reserve(SMALL_RECORDS * sizeof(Record)));
    memset(records_.data(), 0, SMALL_RECORDS * sizeof(Record)); // rounds begin at 1
    round_ = 0;
  }
  work_.records = static_cast<Record *>(records_.data());
  control_.rows = static_cast<PetscReal>(rows);
  arrays_       = arrays;
  active_       = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallSolve::Launch(PetscInt iteration, PetscInt last, const NormTest &test, PetscInt *end)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(arrays_->Lend(&work_.v, &work_.state, &control_.with_norm));
  *end               = iteration + std::min(last - iteration, SMALL_RECORDS);
  control_.test      = test;
  control_.iteration = iteration;
  control_.last      = *end;
  control_.round     = ++round_;
  read_              = 0;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(SmallIterations_CUDA(shape_, work_, control_, stream, &active_));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallSolve::Next(Told *told)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Record copy;
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(work_.records + read_++, control_.round, stream, &copy));
  *told = Told{copy.norm, static_cast<Outcome>(copy.outcome)};
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
