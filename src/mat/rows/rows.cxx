/// Versions of a matrix's rows, and their copy on the device.
#include "mat/rows/rows.hpp"
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"
#include "petsc/hooks.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu
{

Version NextVersion()
{
  static Version last = 0;
  return ++last;
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
  view->nonzeros   = view->rows ? view->i[view->rows] : 0;
  view->block_size = A->rmap->bs == A->cmap->bs ? A->rmap->bs : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetHostPattern(Mat A, CsrView *view)
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
  version_ = 0;
  PatternWritten();
  DropFromDevice();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::GetVersion(Mat A, Version *version)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!version_ || state_ != state) {
    state_   = state;
    version_ = NextVersion();
  }
  *version = version_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Rows::ValuesWritten()
{
  version_ = NextVersion();
  state_++;
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
  key->data  = A->data;
  key->i     = view.i;
  key->j     = view.j;
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

PetscErrorCode Rows::BringToDevice(Mat A, const CsrArrays &made, CsrView *view)
{
  Version version = 0;
  bool    lacks   = false;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version));
  if (device_version_ != version) DropFromDevice(); // of an earlier failure
  if (made.i) {
    view->device = made;
  } else {
    if (!device_.View().a) PetscCall(MayLackMemory([&] { return device_.Upload(*view, true); }, &lacks));
    if (lacks) {
      DropFromDevice();
      PetscFunctionReturn(PETSC_SUCCESS); // the host has the time
    }
    view->device = device_.View();
  }
  device_version_ = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Rows::DropFromDevice()
{
  device_         = DeviceRows();
  device_version_ = 0;
}

} // namespace sparsegpu
