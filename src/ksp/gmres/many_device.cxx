/// Cycles of several right-hand sides on the device of one process: launches, and the memory of the pipelines.
#include <algorithm>
#include "ksp/common/versions.hpp"
#include "ksp/gmres/gmres.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::gmres
{

/// The first columns stand for all where the system is judged.
PetscErrorCode ManySolve::BeginOnDevice(PetscInt columns, bool *admitted)
{
  const SmallMode mode = outside_ ? SmallMode::Off : GmresOf(ksp_)->small_mode;
  bool            lacks;

  PetscFunctionBegin;
  PetscCall(WithColumn(ksp_, B_, X_, 0, [&] { return system_.Begin(ksp_, Preconditioners::Any); }));
  *admitted = system_.active() && system_.outside() == outside_ && !system_.copies() && steps_ + 1 < COLUMNS_ON_DEVICE;
  if (!*admitted) {
    PetscCall(system_.End());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MayLackMemory([&] { return small_.Begin(ksp_, system_, steps_, mode, columns); }, &lacks));
  if (lacks) PetscCall(small_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Pipelines of most_ columns, one after the other.
PetscErrorCode ManySolve::ReserveOnDevice()
{
  const PetscInt stride  = steps_ + 1;
  const size_t   records = static_cast<size_t>(stride) * sizeof(Record) * static_cast<size_t>(most_);
  Pipeline      *p       = &pipelines_.zero;
  PetscInt       multiprocessors;
  char          *base = nullptr;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used      = 0;
    p->H.stride      = stride;
    p->H.r           = Take<Scalar>(base, &used, stride * steps_);
    p->H.cosine      = Take<Scalar>(base, &used, stride);
    p->H.sine        = Take<PetscReal>(base, &used, stride);
    p->H.rhs         = Take<Scalar>(base, &used, stride);
    p->dots[0]       = Take<Scalar>(base, &used, stride + 1);
    p->dots[1]       = Take<Scalar>(base, &used, stride + 1);
    p->progress      = Take<Progress>(base, &used, 1);
    p->scratch       = DotScratch{Take<Scalar>(base, &used, DotScratchEntries(stride + 1, multiprocessors)),
                            Take<unsigned>(base, &used, 1), multiprocessors};
    pipelines_.bytes = used;
    if (pass == 0) PetscCall(scratch_.Reserve(used * static_cast<size_t>(most_) + MANY * sizeof(PetscReal)));
    base = static_cast<char *>(scratch_.data());
  }
  squares_ = reinterpret_cast<PetscReal *>(base + pipelines_.bytes * static_cast<size_t>(most_));
  // rounds begin at 1 and never repeat: kernels of a solve before may still be under way
  PetscCall(records_.ReserveZeros(records));
  p->records = static_cast<Record *>(records_.data());
  p->twice   = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Panel p = M^-1 of the vectors of a step, or they = M^-1 of the panel.
PetscErrorCode ManySolve::PreconditionOnDevice(Scalar *vectors, bool to_panel)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(Wrap());
  PetscCall(MatDenseCUDAPlaceArray(Q_, reinterpret_cast<PetscScalar *>(vectors)));
  const PetscErrorCode error = PreconditionColumns(ksp_->pc, to_panel ? Q_ : P_, to_panel ? P_ : Q_, space_);
  PetscCall(MatDenseCUDAResetArray(Q_)); // whatever comes of it
  PetscCall(error);
#else
  (void)vectors;
  (void)to_panel;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// to = A of `count` columns that begin at ldx entries from each other.
PetscErrorCode ManySolve::MultiplyOnDevice(int count, const Scalar *from, PetscInt ldx, Scalar *to)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogEventBegin(MAT_MatMultNumeric, A_, nullptr, nullptr, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(system_.format()->MultDense(DenseColumns{count, from, ldx, to, v_.ld}, &gather_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * system_.nonzeros() * count));
  PetscCall(PetscLogEventEnd(MAT_MatMultNumeric, A_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::ResidualsOnDevice(PetscReal *norms)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  const bool          product = !first_cycle_ || !ksp_->guess_zero, left = outside_ && !right_;
  Scalar *const       to = left ? p_ : v_.Vector(0, 0);
  const Scalar *const b  = b_->data() + static_cast<size_t>(first_) * static_cast<size_t>(b_->ld());
  const Scalar *const x  = x_->data() + static_cast<size_t>(first_) * static_cast<size_t>(x_->ld());
  Stream              stream;

  PetscFunctionBegin;
  if (product) {
    for (int s = 0, end; s < slots_.count; s = end) { // columns of X that are neighbours
      for (end = s + 1; end < slots_.count && slots_.column[end] == slots_.column[end - 1] + 1;) end++;
      PetscCall(MultiplyOnDevice(end - s, x + static_cast<size_t>(slots_.column[s]) * static_cast<size_t>(x_->ld()),
                                 x_->ld(), to + static_cast<size_t>(s) * static_cast<size_t>(v_.ld)));
    }
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(ManyResiduals_CUDA(v_, slots_, b, b_->ld(), product, right_ ? nullptr : system_.inverse(), to, stream));
  PetscCall(PetscLogGpuTimeEnd());
  if (left) PetscCall(PreconditionOnDevice(v_.Vector(0, 0), false));
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(ManyNorms_CUDA(v_, slots_, squares_, pipelines_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(4.0 * v_.rows * slots_.count));
  PetscCall(DeviceCopyOut(norms, squares_, static_cast<size_t>(slots_.count) * sizeof(PetscReal), stream));
  for (int s = 0; s < slots_.count; s++) norms[s] = SquareRoot(norms[s]);
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)norms;
  return PETSC_ERR_SUP;
#endif
}

PetscErrorCode ManySolve::BeginCycleOnDevice()
{
#if defined(SPARSEGPU_HAVE_CUDA)
  ManyReals norms;
  Stream    stream;

  PetscFunctionBegin;
  pipelines_.zero.criterion = criterion_;
  pipelines_.zero.reduce    = comm::ReduceSide{};
  pipelines_.zero.round++;
  for (int s = 0; s < slots_.count; s++) norms.v[s] = cycles_[slots_.column[s]].residual;
  PetscCall(DeviceStream(&stream));
  PetscCall(ManyBegin_CUDA(v_, slots_, norms, pipelines_, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

PetscErrorCode ManySolve::LaunchStep(PetscInt k)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  const bool    left = outside_ && !right_;
  const Scalar *from = v_.Vector(k, 0);
  Scalar *const to   = v_.Vector(k + 1, 0);
  Stream        stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (outside_ && right_) {
    PetscCall(PreconditionOnDevice(v_.Vector(k, 0), true));
    from = p_;
  }
  if (right_ && system_.inverse()) {
    PetscCall(ManyScale_CUDA(v_.rows, v_.ld, slots_.count, system_.inverse(), from, p_, stream));
    from = p_;
  }
  PetscCall(MultiplyOnDevice(slots_.count, from, v_.ld, left ? p_ : to));
  if (left) PetscCall(PreconditionOnDevice(to, false));
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogEventBegin(OrthogonalizationEvent(), ksp_, nullptr, nullptr, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  if (!right_ && system_.inverse())
    PetscCall(ManyScale_CUDA(v_.rows, v_.ld, slots_.count, system_.inverse(), to, to, stream));
  PetscCall(ManyStep_CUDA(v_, slots_, k, pipelines_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(4.0 * v_.rows * (k + 2) * slots_.count));
  PetscCall(PetscLogEventEnd(OrthogonalizationEvent(), ksp_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)k;
  return PETSC_ERR_SUP;
#endif
}

PetscErrorCode ManySolve::CorrectOnDevice(const ManyEnds &ends)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  Scalar *const x     = x_->data() + static_cast<size_t>(first_) * static_cast<size_t>(x_->ld());
  const bool    right = outside_ && right_;
  Stream        stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(ManyCorrect_CUDA(v_, slots_, ends, right_ ? system_.inverse() : nullptr, x, x_->ld(), right ? p_ : nullptr,
                             pipelines_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  if (right) {
    PetscCall(PreconditionCorrections(ends.count));
    PetscCall(DeviceStream(&stream));
    PetscCall(ManyAdd_CUDA(v_, slots_, ends, q_, x, x_->ld(), stream));
  }
  for (int e = 0; e < ends.count; e++) PetscCall(PetscLogGpuFlops(2.0 * v_.rows * ends.steps[e]));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)ends;
  return PETSC_ERR_SUP;
#endif
}

PetscErrorCode ManySolve::MoveOnDevice(PetscInt vectors, int from, int to)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(ManyMove_CUDA(v_, vectors, from, to, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)vectors;
  (void)from;
  (void)to;
  return PETSC_ERR_SUP;
#endif
}

} // namespace sparsegpu::gmres
