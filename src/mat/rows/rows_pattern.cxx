/// The pattern of a matrix's rows on the device, beside PETSc's arrays or, while it is away, in their place.
#include <petsc/private/matimpl.h>
#include "mat/rows/rows.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

void Rows::FindAgain()
{
  if (!pattern_ && device_pattern_) pattern_ = last_pattern_.lock();
  if (!pattern_) device_pattern_ = 0;
  if (!values_ && values_version_) values_ = last_values_.lock();
  if (!values_) values_version_ = 0;
}

PetscErrorCode Rows::GetShape(Mat A, CsrView *view, PatternKey *key) const
{
  PetscFunctionBegin;
  if (!pattern_away_) {
    PetscCall(GetPattern(A, view, key));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *view            = CsrView{};
  view->rows       = A->rmap->n;
  view->cols       = A->cmap->n;
  view->nonzeros   = pattern_->nonzeros();
  view->block_size = A->rmap->bs == A->cmap->bs ? A->rmap->bs : 1;
  if (key) PetscCall(GetKey(A, *view, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::UploadPattern(Mat A, CsrView csr)
{
  PetscFunctionBegin;
  FindAgain();
  if (device_pattern_ == pattern_version_) PetscFunctionReturn(PETSC_SUCCESS);
  if (pattern_away_) PetscCall(GetPattern(A, &csr, nullptr)); // from a space other than the device: in tests alone
  pattern_.reset();
  device_pattern_ = 0;
  pattern_stays_  = false;
  PetscCallCXX(pattern_ = std::make_shared<DeviceRows>());
  PetscCall(pattern_->Upload(csr, false));
  device_pattern_ = pattern_version_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::BringPattern(Mat A, Space space, const PetscInt **i, const PetscInt **j)
{
  CsrView csr;
  Version version = 0;

  PetscFunctionBegin;
  if (!pattern_away_ || space != pattern_space_) {
    PetscCall(GetPattern(A, &csr, nullptr));
    *i = csr.i;
    *j = csr.j;
    if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetVersion(A, &version));
    PetscCall(UploadPattern(A, csr));
    pattern_stays_ = true;
  }
  *i = pattern_->View().i;
  *j = pattern_->View().j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::TakePattern(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, bool stays)
{
  Version version = 0;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version));
  PetscCallCXX(pattern_ = std::make_shared<DeviceRows>());
  pattern_->Take(std::move(i), std::move(j));
  device_version_ = 0; // no values are there
  device_pattern_ = pattern_version_;
  pattern_stays_  = stays;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::TakePatternAway(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, Space space)
{
  PetscFunctionBegin;
  PetscCall(TakePattern(A, std::move(i), std::move(j), true));
  if (space == Space::Host) device_pattern_ = 0; // it is on no device
  pattern_space_ = space;
  pattern_away_  = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Rows::PatternCameHome()
{
  pattern_away_ = false;
  if (pattern_space_ == Space::Host) pattern_.reset();
}

void Rows::GiveBackPattern(Array<PetscInt> *i, Array<PetscInt> *j)
{
  pattern_->GiveBack(i, j);
  pattern_.reset();
  device_pattern_ = 0;
  pattern_stays_  = false;
  PatternCameHome();
}

/// Where the pattern is in `space` it is read there: the host's columns may be out of its caches, or away.
PetscErrorCode Rows::FindDiagonal(Mat A, Space space)
{
  const int             none = 0;
  int                   any  = 0;
  CsrView               csr;
  const PetscInt       *i, *j;
  std::vector<PetscInt> found;
  Array<int>            missing;

  PetscFunctionBegin;
  FindAgain();
  if (space == Space::Device ? device_pattern_ != pattern_version_ : !pattern_away_) {
    PetscCall(GetPattern(A, &csr, nullptr));
    PetscCallCXX(found.assign(csr.rows, -1));
    diagonal_complete_ = true;
    for (PetscInt r = 0; r < csr.rows; r++) {
      for (PetscInt e = csr.i[r]; e < csr.i[r + 1] && found[r] < 0; e++)
        if (csr.j[e] == r) found[r] = e;
      diagonal_complete_ &= found[r] >= 0 || r >= csr.cols;
    }
    PetscCall(diagonal_.Take(std::move(found), space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BringPattern(A, space, &i, &j));
  PetscCall(missing.Copy(&none, 1, space));
  PetscCall(diagonal_.Allocate(static_cast<size_t>(A->rmap->n), space));
  PetscCall(
      values::ForEach(space, A->rmap->n, values::FindDiagonal{A->cmap->n, i, j, diagonal_.data(), missing.data()}));
  PetscCall(missing.ToHost(&any));
  diagonal_complete_ = !any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::BringDiagonal(Mat A, Space space, const PetscInt **place, bool *complete)
{
  Version version = 0;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version));
  if (diagonal_pattern_ != pattern_version_ || diagonal_space_ != space) {
    diagonal_pattern_ = 0;
    PetscCall(FindDiagonal(A, space));
    diagonal_pattern_ = pattern_version_;
    diagonal_space_   = space;
  }
  *place    = diagonal_.data();
  *complete = diagonal_complete_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
