/// The memory of a solve on the device of one process or of each of several, and the launches of its passes.
#include <cstring>
#include "ksp/cg/arrays.hpp"
#include "ksp/common/passes.hpp"

namespace sparsegpu::cg
{

PetscErrorCode ArraySolve::ReserveOnDevice()
{
  const PetscInt rows = system_.rows();
  char          *base = nullptr;

  PetscFunctionBegin;
  if (columns_.space() != Space::Device) PetscCall(columns_.Free()); // of vectors of another type
  PetscCall(columns_.Allocate(ksp_->vec_sol, outside_ ? COLUMNS : COLUMN_Z, !outside_));
  const Dense columns = columns_.view();
  v_                  = Arrays{};
  v_.rows             = rows;
  v_.r                = columns.Column(COLUMN_R);
  v_.p                = columns.Column(COLUMN_P);
  v_.w                = columns.Column(COLUMN_W);
  v_.inverse          = system_.inverse();
  if (outside_) v_.z = columns.Column(COLUMN_Z);
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used      = 0;
    control_.state   = Take<State>(base, &used, 1);
    control_.partial = Take<PetscReal>(base, &used, 2 * PASS_BLOCKS);
    dots_.sums       = Take<PetscReal>(base, &used, DOTS * DOT_GROUPS);
    dots_.arrived    = Take<unsigned>(base, &used, DOT_GROUPS);
    dots_.partial    = Take<PetscReal>(base, &used, DOTS * DotBlocks(rows));
    closing_.sums    = Take<PetscReal>(base, &used, DOTS);
    closing_.partial = Take<PetscReal>(base, &used, DOTS * PASS_BLOCKS);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  dots_.x            = v_.p;
  dots_.z            = v_.w;
  dots_.y            = outside_ ? v_.p : v_.r; // p: nothing more to be read
  dots_.weight       = v_.inverse;
  dots_.varies       = &control_.state->varies;
  dots_.stopped_at   = &control_.state->stopped_at;
  Ranks *const ranks = system_.ranks();
  control_.sums      = ranks ? closing_.sums : dots_.sums;
  control_.groups    = ranks ? 1 : DOT_GROUPS;
  control_.reduce    = ranks ? ranks->reducer().side() : comm::ReduceSide{};
  control_.later     = false;
  control_.norm      = StartNorm();
  if (!records_.data()) {
    PetscCall(records_.Reserve(RECORDS * sizeof(CgRecord)));
    memset(records_.data(), 0, RECORDS * sizeof(CgRecord)); // rounds begin at 1
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::StartOnDevice(PetscReal *norm)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  const bool    product = !ksp_->guess_zero;
  const Scalar *b;
  Scalar       *x;
  Stream        stream;
  Told          told;

  PetscFunctionBegin;
  if (product) {
    PetscCall(system_.Solution(&x));
    if (system_.ranks()) system_.ranks()->Gate(nullptr, 0);
    PetscCall(system_.Product(x, v_.w));
  }
  PetscCall(system_.Rhs(&b));
  first_round_    = ++round_ + 1;
  control_.round  = round_;
  control_.record = static_cast<CgRecord *>(records_.data()) + RECORDS - 1; // as of an iteration -1
  control_.failed = ksp_->reason == KSP_DIVERGED_PC_FAILED;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  const comm::DeviceExchange first = product && system_.ranks() ? system_.ranks()->exchange() : comm::DeviceExchange{};
  PetscCall(Start_CUDA(v_, b, product, first, control_, dots_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(6.0 * v_.rows));
  if (outside_) PetscCall(columns_.Changed(COLUMN_R));
  PetscCall(Await(-1, &told));
  *norm = told.norm;
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

/// The product of iteration k with its sums, on several ranks those of all.
PetscErrorCode ArraySolve::ProductOnDevice(PetscInt k)
{
  Ranks *const ranks = system_.ranks();

  PetscFunctionBegin;
  dots_.number = static_cast<int>(k);
  if (ranks) ranks->Gate(dots_.stopped_at, dots_.number);
  PetscCall(system_.Product(dots_));
  if (!ranks) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  closing_.off      = ranks->ghosts_left() ? ranks->off() : nullptr;
  closing_.exchange = ranks->exchange();
  closing_.dots     = dots_;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(CloseProduct_CUDA(closing_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::LaunchOnDevice(PetscInt k)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;

  PetscFunctionBegin;
  if (k == 0 || !IteratesAreUnseen(ksp_)) PetscCall(system_.Solution(&v_.x)); // which says that it changes
  closing_.before    = control_;
  closing_.both      = control_.later;
  control_.number    = static_cast<int>(k);
  control_.round     = ++round_;
  control_.earlier   = control_.record;
  control_.record    = static_cast<CgRecord *>(records_.data()) + k % RECORDS;
  control_.tested    = k + 1 >= test_.from;
  control_.converged = test_.converged;
  control_.diverged  = test_.diverged;
  control_.later     = k + 1 < ahead_until_;
  PetscCall(DeviceStream(&stream));
  PetscCall(ProductOnDevice(k));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(Update_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(12.0 * v_.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

} // namespace sparsegpu::cg
