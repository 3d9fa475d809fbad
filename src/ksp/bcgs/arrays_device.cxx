/// The memory of a solve on the device of one process or of each of several, and the launches of its passes.
#include "ksp/bcgs/arrays.hpp"
#include "ksp/common/passes.hpp"

namespace sparsegpu::bcgs
{

PetscErrorCode ArraySolve::ReserveOnDevice()
{
  const PetscInt rows = system_.rows();
  char          *base = nullptr;
  PetscReal     *sums[2], *all[2], *partial = nullptr;
  unsigned      *arrived = nullptr;
  Ranks *const   ranks   = system_.ranks();
  PetscInt       all_rows;

  PetscFunctionBegin;
  PetscCall(TakeColumns(!outside_));
  v_.inverse = system_.inverse();
  if (!outside_ && !v_.inverse) v_.s_hat = v_.r;
  v_.late = !ranks && !outside_ && v_.s_hat == v_.r && system_.format()->TakesDifferences();
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used      = 0;
    control_.state   = Take<State>(base, &used, 1);
    control_.partial = Take<PetscReal>(base, &used, MINIMISE_DOTS * PASS_BLOCKS);
    sums[HALF_P]     = Take<PetscReal>(base, &used, SHADOW_DOTS * DOT_GROUPS);
    sums[HALF_S]     = Take<PetscReal>(base, &used, MINIMISE_DOTS * DOT_GROUPS);
    all[HALF_P]      = Take<PetscReal>(base, &used, SHADOW_DOTS);
    all[HALF_S]      = Take<PetscReal>(base, &used, MINIMISE_DOTS);
    arrived          = Take<unsigned>(base, &used, DOT_GROUPS);
    partial          = Take<PetscReal>(base, &used, MINIMISE_DOTS * DotBlocks(rows));
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  for (Half half : {HALF_P, HALF_S}) {
    ProductDots *dots   = &dots_[half];
    dots->kind          = half == HALF_P ? ProductSums::Shadow : ProductSums::Minimise;
    dots->x             = half == HALF_P ? v_.p_hat : v_.s_hat;
    dots->z             = half == HALF_P ? v_.v : v_.t;
    dots->y             = v_.shadow;
    dots->s             = v_.r;
    dots->weight        = v_.left_scale();
    dots->varies        = &control_.state->varies;
    dots->sums          = sums[half];
    dots->partial       = partial;
    dots->arrived       = arrived;
    dots->stopped_at    = &control_.state->stopped_at;
    control_.sums[half] = ranks ? all[half] : sums[half];
    all_[half]          = all[half];
  }
  dots_[HALF_P].length = v_.late ? control_.state : nullptr;
  dots_[HALF_S].minus  = v_.late ? v_.v : nullptr;
  dots_[HALF_S].factor = v_.late ? &control_.state->alpha : nullptr;
  control_.with_norm   = ksp_->normtype != KSP_NORM_NONE;
  control_.groups      = ranks ? 1 : DOT_GROUPS;
  control_.reduce      = ranks ? ranks->reducer().side() : comm::ReduceSide{};
  control_.failed      = ksp_->reason == KSP_DIVERGED_PC_FAILED;
  PetscCall(VecGetSize(ksp_->vec_sol, &all_rows));
  control_.all_rows = static_cast<PetscReal>(all_rows);
  PetscCall(records_.Reserve());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::StartOnDevice()
{
#if defined(SPARSEGPU_HAVE_CUDA)
  const bool    product = !ksp_->guess_zero;
  const Scalar *b;
  Scalar       *x;
  Stream        stream;

  PetscFunctionBegin;
  if (product) {
    PetscCall(system_.Solution(&x));
    if (system_.ranks()) system_.ranks()->Gate(nullptr, 0);
    PetscCall(system_.Product(x, v_.t));
  }
  PetscCall(system_.Rhs(&b));
  const bool outside_left = outside_ && !right_;
  if (outside_left) PetscCall(PreconditionResidual(b));
  records_.Begin();
  control_.round  = records_.Round(-1);
  control_.record = records_.Of(-1);
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  const comm::DeviceExchange first = product && system_.ranks() ? system_.ranks()->exchange() : comm::DeviceExchange{};
  PetscCall(Start_CUDA(v_, outside_left ? v_.r : b, product && !outside_left, first, control_, dots_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(4.0 * v_.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

/// The rest of the product last made, and its sums over all ranks.
PetscErrorCode ArraySolve::CloseProduct(Half half)
{
  Ranks *const ranks = system_.ranks();

  PetscFunctionBegin;
  if (!ranks) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  const CsrLayout *const off = ghosts_left_ ? ranks->off() : nullptr;
  Stream                 stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(CloseProduct_CUDA(Closing{off, ranks->exchange(), dots_[half], control_.partial, all_[half],
                                      &control_.state->waiting, control_.reduce},
                              stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::LaunchOnDevice(PetscInt k)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;

  PetscFunctionBegin;
  if (k == 0 || outside_ || !IteratesAreUnseen(ksp_)) PetscCall(system_.Solution(&v_.x)); // which says that it changes
  control_.number    = static_cast<int>(k);
  control_.record    = records_.Of(k);
  control_.earlier   = records_.Before(k);
  control_.round     = records_.Round(k);
  control_.tested    = k + 1 >= test_.from;
  control_.converged = test_.converged;
  control_.diverged  = test_.diverged;
  control_.later     = k + 1 < ahead_until_;
  PetscCall(Apply(HALF_P, k));
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(UpdateHalf_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(Apply(HALF_S, k));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(UpdateWhole_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(16.0 * v_.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

} // namespace sparsegpu::bcgs
