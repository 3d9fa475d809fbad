/// Versions of a matrix's rows, and where their values are newest.
#include "mat/rows/rows.hpp"
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"
#include "petsc/hooks.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::rows
{

Version NextVersion()
{
  static Version last = 0;
  return ++last;
}

static PetscErrorCode (*bring_pattern)(Mat) = nullptr;

void OnPatternAway(PetscErrorCode (*bring)(Mat))
{
  bring_pattern = bring;
}

PetscErrorCode GetHostRows(Mat A, CsrView *view)
{
  PetscScalar *a;
  PetscMemType where;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &view->i, &view->j, &a, &where));
  view->a          = reinterpret_cast<const Scalar *>(a);
  view->rows       = A->rmap->n;
  view->cols       = A->cmap->n;
  view->nonzeros   = view->rows && view->i ? view->i[view->rows] : 0;
  view->block_size = A->rmap->bs == A->cmap->bs ? A->rmap->bs : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As GetHostPattern() finds it: i is null where PETSc has no arrays.
static PetscErrorCode LookAtHost(Mat A, CsrView *view)
{
  AccessorHooks *hooks;

  PetscFunctionBegin;
  PetscCall(HooksOf(A, &hooks));
  const auto hook = hooks ? hooks->getcsrandmemtype : nullptr;
  if (hook) hooks->getcsrandmemtype = nullptr;
  PetscCall(GetHostRows(A, view));
  if (!hook) PetscFunctionReturn(PETSC_SUCCESS);
  hooks->getcsrandmemtype = hook;
  view->a                 = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetHostPattern(Mat A, CsrView *view)
{
  PetscFunctionBegin;
  PetscCall(LookAtHost(A, view));
  if (!view->rows || view->i || !bring_pattern) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*bring_pattern)(A));
  PetscCall(LookAtHost(A, view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::BelongTo(Mat A, bool *theirs) const
{
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  *theirs = owner_ == A && id_ == id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::Adopt(Mat A)
{
  PetscFunctionBegin;
  owner_ = A;
  PetscCall(PetscObjectGetId((PetscObject)A, &id_));
  state_   = -1;
  version_ = values_version_ = 0;
  PatternWritten();
  DropFromDevice();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::GetVersion(Mat A, Version *version)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  // Nothing writes to the host's values while these are away: if the state moves it is for what was written there.
  if (!version_ || (state_ != state && !away_)) {
    state_   = state;
    version_ = pattern_version_ = NextVersion();
  }
  *version = version_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::GetHost(Mat A, CsrView *view, PatternKey *key) const
{
  PetscFunctionBegin;
  PetscCall(GetHostRows(A, view));
  if (key) PetscCall(GetKey(A, *view, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::GetPattern(Mat A, CsrView *view, PatternKey *key) const
{
  PetscFunctionBegin;
  PetscCall(GetHostPattern(A, view));
  if (key) PetscCall(GetKey(A, *view, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::GetKey(Mat A, const CsrView &view, PatternKey *key) const
{
  PetscFunctionBegin;
  key->epoch = epoch_;
  PetscCall(MatGetNonzeroState(A, &key->nonzero));
  key->nonzeros = view.nonzeros;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::DeviceIsCurrent(Mat A, bool *current)
{
  Version version = 0;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version));
  *current = device_version_ == version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::CopyToDevice(Mat A, CsrView *view)
{
  Scalar *a = nullptr;

  PetscFunctionBegin;
  PetscCall(UploadPattern(A, *view));
  PetscCall(ValuesOnDevice(A, &a));
  if (!a) {
    const bool stay = values_ && values_stay_;
    PetscCall(BringValues(A, Space::Device, &a));
    values_stay_ = stay;
  }
  view->device = CsrArrays{pattern_->View().i, pattern_->View().j, a};
  view->owners = CsrOwners{pattern_, values_};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::BringToDevice(Mat A, CsrView *view)
{
  Version version = 0;
  bool    lacks   = false;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version));
  PetscCall(MayLackMemory([&] { return CopyToDevice(A, view); }, &lacks));
  if (lacks) {
    pattern_stays_ = pattern_away_;
    DropFromDevice();
    PetscFunctionReturn(PETSC_SUCCESS); // the host has the time
  }
  device_version_ = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Rows::DeviceBytes Rows::BytesOnDevice() const
{
  const std::shared_ptr<DeviceRows>    pattern  = pattern_ ? pattern_ : last_pattern_.lock();
  const std::shared_ptr<Array<Scalar>> values   = values_ ? values_ : last_values_.lock();
  const size_t                         diagonal = diagonal_space_ == Space::Device ? diagonal_.bytes() : 0,
               there                            = pattern ? pattern->bytes() : 0;

  return DeviceBytes{static_cast<PetscLogDouble>(there + diagonal),
                     values && values_space_ == Space::Device ? static_cast<PetscLogDouble>(values->bytes()) : 0};
}

void Rows::DropFromDevice()
{
  device_version_ = 0;
  if (!values_stay_) DropValues();
  if (!pattern_ || pattern_away_ || (pattern_stays_ && device_pattern_ == pattern_version_)) return;
  last_pattern_  = pattern_;
  pattern_stays_ = false;
  pattern_.reset();
}

} // namespace sparsegpu::rows
