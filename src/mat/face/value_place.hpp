/// Where an operation on the values of a matrix is done: on the device, where these are or will be, or on the host.
#pragma once

#include <cstring>
#include <type_traits>
#include "device/local_array.hpp"
#include "mat/face/context.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face::there
{

/// A matrix whose values an operation reads or writes where they are newest.
struct There {
  bool     is      = false; ///< else the operation is the host's
  Space    space   = Space::Host;
  Context *context = nullptr;
  CsrView  pattern{};   ///< Rows::GetShape()
  Scalar  *a = nullptr; ///< [nonzeros] in `space`
};

enum class Need {
  Read,  ///< where the values are there
  Write, ///< all of them, from what they are
  Anew   ///< all of them, whatever they are
};

PetscErrorCode Find(Mat A, Need need, There *t);
/// Where the diagonal is, for an operation there. *complete: no entry of it is missing.
PetscErrorCode Diagonal(Mat A, There *t, const PetscInt **place, bool *complete);
/// The pattern where the values are.
PetscErrorCode Pattern(Mat A, There *t, const PetscInt **i, const PetscInt **j);
/// X's values, and its pattern if asked for, in `space`, whether they may be newest there or not.
PetscErrorCode Bring(Mat X, Space space, bool pattern, There *x);
PetscErrorCode HasLength(Vec v, PetscInt length, bool *has);
PetscErrorCode LogFlops(const There &t, PetscLogDouble flops);

inline Scalar Ours(PetscScalar v)
{
  Scalar w;
  memcpy(static_cast<void *>(&w), &v, sizeof(w));
  return w;
}

/// The parent's operation, on values at home.
template <class Member, class... Arguments> PetscErrorCode OnHost(Member member, Mat A, Arguments... arguments)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(GetParentOps(false, &parent));
  const AtHomeScope scope;
  PetscCall((*(parent->*member))(A, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs `operation`, which writes all values of A, of each of `count` indices.
template <class Operation>
PetscErrorCode Write(Mat A, const There &t, PetscCount count, const Operation &operation, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (t.space == Space::Device) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(values::ForEach(t.space, count, operation));
  if (t.space == Space::Device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(ValuesWrittenThere(A, t.context, std::is_same_v<Operation, values::Zero>));
  PetscCall(LogFlops(t, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The array of a vector in the space of the values.
class Operand
{
public:
  /// v may be null. Its length must be known to be right.
  PetscErrorCode Get(Vec v, Space space, Access access)
  {
    Stream stream;

    PetscFunctionBegin;
    if (!v) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(array_.Get(v, space, access));
    if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(DeviceStream(&stream));
    PetscCall(array_.Stage(&room_, stream));
    uploaded_ = !array_.on_device() && access == Access::Read;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore()
  {
    Stream stream;

    PetscFunctionBegin;
    if (uploaded_) { // may be pinned memory that the caller reuses
      PetscCall(DeviceStream(&stream));
      PetscCall(DeviceSynchronize(stream));
    }
    if (array_.borrowed()) PetscCall(array_.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Scalar *read() const { return array_.borrowed() ? array_.read() : nullptr; }
  Scalar       *write() const { return array_.write(); }
  bool          borrowed() const { return array_.borrowed(); }

private:
  LocalArray   array_;
  DeviceMemory room_;
  bool         uploaded_ = false;
};

} // namespace sparsegpu::face::there
