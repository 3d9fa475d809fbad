/// Which solves run in small.cu, their memory, and the host's side of a launch.
#include <algorithm>
#include "ksp/common/converged.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode SmallCycles::Free()
{
  PetscFunctionBegin;
  active_ = false;
  PetscCall(device_.Free());
  PetscCall(pinned_.Free());
  matrix_.Free();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles::Begin(KSP ksp, const DeviceSystem &system, PetscInt steps, SmallMode mode,
                                  [[maybe_unused]] PetscInt columns)
{
  PetscFunctionBegin;
  active_ = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr PetscInt FEWER = 1024; // records of a group of several
  const PetscInt     rows  = system.rows();
  bool               fits  = false;
  if (!system.active() || system.parallel() || system.factored() || !MayReadNormsLate(ksp) ||
      steps + 1 >= SMALL_RECORDS)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (rows == 0 || !IsSmall(mode, rows, system.nonzeros(), SMALL_NONZEROS)) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal mean = static_cast<PetscReal>(system.nonzeros()) / rows;
  const auto      plan = [&](PetscInt groups) {
    const PetscInt least = groups > 1 ? (steps + 1) / 3 : 0; // a third of the vectors have half of the reads
    return SmallPlan_CUDA(rows, mean, steps, groups, least, &shape_, &fits);
  };
  const PetscInt few = std::min<PetscInt>(columns, 2);
  PetscCall(plan(few));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (columns > few) {
    PetscInt most = std::min<PetscInt>(columns, MANY);
    for (fits = false; !fits; most -= !fits) PetscCall(plan(most)); // down to those few
    const PetscInt launches = (columns - 1) / most + 1;
    PetscCall(plan((columns - 1) / launches + 1)); // of even sizes
    if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(matrix_.Take(system, &system_.A));
  if (system_.A.chunks > 0) PetscFunctionReturn(PETSC_SUCCESS); // a row that is too long for the threads of one
  work_.recorded      = columns == 1 ? SMALL_RECORDS : std::max(FEWER, steps + 2);
  const size_t groups = static_cast<size_t>(shape_.groups);
  const size_t bytes  = groups * static_cast<size_t>(work_.recorded) * sizeof(Record);
  nonzeros_           = system.nonzeros();
  system_.inverse     = system.inverse();
  system_.right       = system.right();
  char *base          = nullptr;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used      = 0;
    work_.H          = Hessenberg{};
    work_.H.stride   = steps + 1;
    work_.H.r        = Take<Scalar>(base, &used, (steps + 1) * steps);
    work_.gather     = Take<Scalar>(base, &used, rows);
    work_.partial[0] = Take<Scalar>(base, &used, (steps + 1) * shape_.blocks);
    work_.partial[1] = Take<Scalar>(base, &used, (steps + 1) * shape_.blocks);
    work_.y          = Take<Scalar>(base, &used, steps);
    work_.state      = Take<SmallState>(base, &used, 1);
    work_.bytes      = used;
    used *= groups;
    work_.arrived = Take<unsigned>(base, &used, GROUP_COUNTERS * shape_.groups);
    if (pass == 0) PetscCall(device_.Reserve(used));
    base = static_cast<char *>(device_.data());
  }
  PetscCall(pinned_.ReserveZeros(bytes)); // rounds begin at 1 and never repeat
  work_.records = static_cast<Record *>(pinned_.data());
  active_       = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles::Launch(const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, const Dense &V,
                                   size_t between, const SmallControl &control)
{
  PetscFunctionBegin;
  control_       = control;
  control_.round = ++round_;
  std::fill_n(records_read_, MANY, PetscInt(0));
  work_.V       = V;
  work_.between = between;
  system_.b     = b;
  system_.x     = x;
  system_.ldb   = ldb;
  system_.ldx   = ldx;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(SmallCycles_CUDA(system_, shape_, work_, control_, stream, &active_));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles::NextRecord([[maybe_unused]] int group, [[maybe_unused]] Outcome *outcome,
                                       [[maybe_unused]] PetscReal *norm)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  const Record *next = work_.records + static_cast<size_t>(work_.recorded) * group + records_read_[group]++;
  Record        record;
  Stream        stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(next, control_.round, stream, &record));
  *outcome = static_cast<Outcome>(record.outcome);
  *norm    = record.norm;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
