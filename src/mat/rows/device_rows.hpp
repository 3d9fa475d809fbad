/// The rows of a matrix on the device, or their pattern alone.
#pragma once

#include "device/buffer.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows
{

class DeviceRows
{
public:
  /// Copies pattern and, where `values`, values of A from the host. Errors: PETSC_ERR_MEM.
  PetscErrorCode Upload(const CsrView &A, bool values);
  /// The pattern from arrays that lie on the device.
  void Take(Array<PetscInt> &&i, Array<PetscInt> &&j)
  {
    i_ = std::move(i);
    j_ = std::move(j);
  }
  /// And back.
  void GiveBack(Array<PetscInt> *i, Array<PetscInt> *j)
  {
    *i = std::move(i_);
    *j = std::move(j_);
  }
  /// The rows of A^T, or of A^H where `conjugate`, from A.device, which must hold values; columns ascend, as they do
  /// where TransposePattern() makes it. Asynchronous. `from`, if asked for [nonzeros]: the entry of A that each is.
  /// Errors: PETSC_ERR_MEM.
  PetscErrorCode Transpose_CUDA(const CsrView &A, bool conjugate, Array<PetscInt> *from = nullptr);
  /// Gives the values away; View() has none from then on.
  PetscErrorCode TakeValues(std::shared_ptr<Array<Scalar>> *a)
  {
    PetscFunctionBegin;
    PetscCallCXX(*a = std::make_shared<Array<Scalar>>(std::move(a_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt  nonzeros() const { return static_cast<PetscInt>(j_.size()); }
  size_t    bytes() const { return i_.bytes() + j_.bytes() + a_.bytes(); }
  CsrArrays View() const { return CsrArrays{i_.data(), j_.data(), a_.data()}; }

private:
  Array<PetscInt> i_, j_;
  Array<Scalar>   a_;
};

} // namespace sparsegpu::rows
