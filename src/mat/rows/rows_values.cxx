/// Where the values of a matrix's rows are, and which are newer.
#include "mat/rows/rows.hpp"
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

PetscErrorCode Rows::ValuesIn(Mat A, Space space, Scalar **a)
{
  Version version = 0;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version));
  FindAgain();
  *a = values_ && values_version_ == version && values_space_ == space ? values_->data() : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::ValuesOnDevice(Mat A, Scalar **a)
{
  PetscFunctionBegin;
  PetscCall(ValuesIn(A, Space::Device, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::RoomForValues(Mat A, Space space, Scalar **a)
{
  CsrView csr;

  PetscFunctionBegin;
  values_stay_ = true;
  PetscCall(ValuesIn(A, space, a));
  if (*a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!away_, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The values are away from the host, and not where they are asked for");
  PetscCall(GetShape(A, &csr));
  values_version_ = 0;
  if (values_ && (values_space_ != space || values_->size() != static_cast<size_t>(csr.nonzeros))) values_.reset();
  values_space_ = space;
  if (!values_) {
    std::shared_ptr<Array<Scalar>> room;
    PetscCallCXX(room = std::make_shared<Array<Scalar>>());
    PetscCall(room->Allocate(csr.nonzeros, space));
    values_ = std::move(room);
  }
  *a = values_->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::TakeValues(Mat A, Array<Scalar> &&a, Space space)
{
  Version version = 0;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, &version)); // the pattern's moves with it
  PetscCallCXX(values_ = std::make_shared<Array<Scalar>>(std::move(a)));
  values_space_   = space;
  values_version_ = 0;
  values_stay_    = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::BringValues(Mat A, Space space, Scalar **a)
{
  CsrView csr;
  Version version = 0;

  PetscFunctionBegin;
  values_stay_ = true;
  PetscCall(ValuesIn(A, space, a));
  if (*a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetHost(A, &csr, nullptr));
  PetscCall(RoomForValues(A, space, a));
  PetscCall(values_->Copy(csr.a, csr.nonzeros, space));
  if (space == Space::Device) PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(values_->bytes())));
  PetscCall(GetVersion(A, &version));
  values_version_ = version;
  *a              = values_->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Rows::WrittenThere(bool zero)
{
  away_    = true;
  zero_    = zero;
  version_ = values_version_ = NextVersion();
}

PetscErrorCode Rows::WrittenInBoth(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state_));
  state_++;
  away_    = false;
  version_ = values_version_ = NextVersion();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Rows::ReturnedHome(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state_));
  away_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Rows::DropValues()
{
  if (away_ || !values_) return;
  last_values_ = values_;
  values_stay_ = false;
  values_.reset();
}

} // namespace sparsegpu::rows
