/// Records of iterations in pinned memory that are used in turn. Each iteration has one, or one for each right-hand
/// side, and so has the beginning of a solve, as of iteration -1.
#pragma once

#include "device/pinned.hpp"
#include "device/record.hpp"

namespace sparsegpu::ksp
{

class RecordRing
{
public:
  static constexpr PetscInt RECORDS = 2 * RecordLag::MOST; ///< of iterations: more than the host is ahead

  /// `width` records for an iteration, the same in all calls.
  PetscErrorCode Reserve(PetscInt width = 1)
  {
    PetscFunctionBegin;
    width_ = width;
    PetscCall(memory_.ReserveZeros(RECORDS * width * sizeof(Record))); // rounds begin at 1
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
  /// What the device writes in iteration k: the first of `width`.
  Record *Of(PetscInt k)
  {
    last_ = Round(k);
    return At(k);
  }
  /// That of iteration k - 1, for what iteration k tells of it.
  Record        *Before(PetscInt k) const { return At(k - 1); }
  bool           Ready(PetscInt k) const { return RecordReady(At(k), Round(k)); }
  PetscErrorCode Await(PetscInt k, Record *copy, PetscInt which = 0) const
  {
    PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(AwaitRecord(At(k) + which, Round(k), stream, copy));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Record *At(PetscInt k) const
  {
    return static_cast<Record *>(memory_.data()) + (k + RECORDS) % RECORDS * width_;
  }

  PetscInt     width_ = 1;
  PinnedMemory memory_;               ///< [RECORDS * width_]
  int          first_ = 2, last_ = 0; ///< the rounds of iteration 0, and of the last record asked for
};

} // namespace sparsegpu::ksp
