/// Records of iterations in pinned memory that are used in turn. Each iteration has one, and so has the beginning of a
/// solve, as of iteration -1.
#pragma once

#include <cstring>
#include "device/pinned.hpp"
#include "device/record.hpp"

namespace sparsegpu::ksp
{

class RecordRing
{
public:
  PetscErrorCode Reserve()
  {
    PetscFunctionBegin;
    if (memory_.data()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(memory_.Reserve(RECORDS * sizeof(Record)));
    if (memory_.data()) memset(memory_.data(), 0, RECORDS * sizeof(Record)); // rounds begin at 1
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Free()
  {
    PetscFunctionBegin;
    PetscCall(memory_.Free());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// A solve begins: iteration k is of the round Round(k).
  void Begin() { first_ = last_ + 2; }
  int  Round(PetscInt k) const { return first_ + static_cast<int>(k); }
  /// What the device writes in iteration k.
  Record *Of(PetscInt k)
  {
    last_ = Round(k);
    return At(k);
  }
  bool           Ready(PetscInt k) const { return RecordReady(At(k), Round(k)); }
  PetscErrorCode Await(PetscInt k, Record *copy) const
  {
    PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(AwaitRecord(At(k), Round(k), stream, copy));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static constexpr PetscInt RECORDS = 2 * RecordLag::MOST; ///< more than the host is ahead

  Record *At(PetscInt k) const
  {
    return static_cast<Record *>(memory_.data()) + (k + RECORDS) % RECORDS;
  }

  PinnedMemory memory_;               ///< [RECORDS]
  int          first_ = 2, last_ = 0; ///< the rounds of iteration 0, and of the last record asked for
};

} // namespace sparsegpu::ksp
