/// The host's side of iterations of a small system in one cooperative launch: which solves run so, their memory, the
/// launches and their records.
#pragma once

#include <algorithm>
#include "device/pinned.hpp"
#include "device/record.hpp"
#include "ksp/common/converged.hpp"
#include "ksp/common/small_groups.hpp"
#include "ksp/common/small_matrix.hpp"
#include "ksp/common/small_mode.hpp"
#include "ksp/common/small_shape.hpp"

namespace sparsegpu::ksp
{

/// Method has the types
///     Arrays   a solve on arrays: active(), space(), outside(), system()
///     Entry    a record of an iteration, whose Record comes first; Told, what the host hears of it
///     Work     with A and records [SMALL_RECORDS]; Control, with test, iteration, last and round
/// and the functions
///     Plan(rows, mean, shape, fits)                 how a system is divided
///     Place(shape, base, used, work)                where the sums of its blocks are: see Take()
///     Lend(arrays, iteration, work, control)        what a launch from that iteration on works on, which changes x
///     Launch(shape, work, control, stream, active)
///     Tell(record, entry)
template <class Method> class SmallSolve
{
public:
  /// Whether this solve on arrays, which has begun, is to run so: see active().
  PetscErrorCode Begin(KSP ksp, typename Method::Arrays *arrays, SmallMode mode);
  PetscErrorCode Free()
  {
    PetscFunctionBegin;
    matrix_.Free();
    PetscCall(scratch_.Free());
    PetscCall(records_.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool active() const { return active_; }

  /// The iterations 0, 1, ... up to `last`, the outcomes of which take(iteration, told) gets; *finished: how many. Ends
  /// early, and is not active any more, where the device does not have the room for them that it was found to have.
  /// `flops`: of an iteration.
  template <class Take> PetscErrorCode Run(KSP ksp, PetscInt last, PetscLogDouble flops, PetscInt *finished, Take take);

private:
  PetscErrorCode Reserve();
  PetscErrorCode Launch(PetscInt iteration, PetscInt last, const NormTest &test, PetscInt *end);
  PetscErrorCode Next(typename Method::Told *told);

  bool                     active_  = false;
  SmallShape               shape_   = {};
  typename Method::Work    work_    = {};
  typename Method::Control control_ = {};
  typename Method::Arrays *arrays_  = nullptr;
  int                      round_ = 0, read_ = 0;
  SmallMatrixCopy          matrix_;
  DeviceMemory             scratch_;
  PinnedMemory             records_;
};

template <class Method> PetscErrorCode SmallSolve<Method>::Begin([[maybe_unused]] KSP                      ksp,
                                                                 [[maybe_unused]] typename Method::Arrays *arrays,
                                                                 [[maybe_unused]] SmallMode                mode)
{
  PetscFunctionBegin;
  active_ = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  const DeviceSystem &system = arrays->system();
  PetscMPIInt         size;
  bool                fits;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  if (!arrays->active() || arrays->space() != Space::Device || arrays->outside() || size > 1)
    PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt rows = system.rows(), nonzeros = system.nonzeros();
  if (rows == 0 || !IteratesAreUnseen(ksp) || !IsSmall(mode, rows, nonzeros, SMALL_NONZEROS))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix_.Take(system, &work_.A));
  if (work_.A.chunks > 0) PetscFunctionReturn(PETSC_SUCCESS); // a row that is too long for the threads of one
  PetscCall(Method::Plan(rows, static_cast<PetscReal>(nonzeros) / rows, &shape_, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Reserve());
  arrays_ = arrays;
  active_ = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Method> PetscErrorCode SmallSolve<Method>::Reserve()
{
  char *base = nullptr;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used = 0;
    Method::Place(shape_, base, &used, &work_);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  PetscCall(records_.ReserveZeros(SMALL_RECORDS * sizeof(typename Method::Entry))); // rounds begin at 1
  work_.records = static_cast<typename Method::Entry *>(records_.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From `iteration` on, up to iteration *end.
template <class Method>
PetscErrorCode SmallSolve<Method>::Launch([[maybe_unused]] PetscInt iteration, [[maybe_unused]] PetscInt last,
                                          [[maybe_unused]] const NormTest &test, [[maybe_unused]] PetscInt *end)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(Method::Lend(arrays_, iteration, &work_, &control_));
  *end               = iteration + std::min(last - iteration, SMALL_RECORDS);
  control_.test      = test;
  control_.iteration = iteration;
  control_.last      = *end;
  control_.round     = ++round_;
  read_              = 0;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(Method::Launch(shape_, work_, control_, stream, &active_));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Waits for the outcome of the next iteration.
template <class Method> PetscErrorCode SmallSolve<Method>::Next([[maybe_unused]] typename Method::Told *told)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  const typename Method::Entry *entry = work_.records + read_++;
  Record                        copy;
  Stream                        stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(reinterpret_cast<const Record *>(entry), control_.round, stream, &copy));
  *told = Method::Tell(copy, *entry);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Method> template <class Take>
PetscErrorCode SmallSolve<Method>::Run(KSP ksp, PetscInt last, PetscLogDouble flops, PetscInt *finished, Take take)
{
  PetscInt              end = 0;
  typename Method::Told told{};

  PetscFunctionBegin;
  while (!ksp->reason && *finished < last) {
    PetscCall(Launch(*finished, last, DefaultNormTest(ksp), &end));
    if (!active_) break;
    while (!ksp->reason && *finished < end) {
      PetscCall(Next(&told));
      PetscCall(take((*finished)++, told));
    }
  }
  PetscCall(PetscLogGpuFlops(*finished * flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
