/// Engines `syncfree` and `level`: Greathouse, "Sparse triangular solves on GPUs without analysis" (AMD patent). A
/// warp per row of the factors' CSR as they are, a flag per unknown, no analysis at all. A warp counts its polls; past
/// a limit it leaves its row, and a continuation launch takes up the rows that are left. The continuation is launched
/// by the host, which waits for the end of each launch: a launch by the device needs relocatable device code and its
/// run-time library in every program that loads this one, and nothing on the device could wait for the child. A flag
/// holds the level of its row, 1 + the largest of those it waited for: engine `level` solves once as `syncfree` does,
/// and from then on row by row in the order of the levels found, one launch per level, narrow levels together in one
/// block.
#pragma once

#include "pc/trisolve/schedule.hpp"

namespace sparsegpu::trisolve
{

/// Scratch of a sweep over one factor.
struct SyncfreeWork {
  int      *done;  ///< [rows] 0, or the level from 1 on
  int      *child; ///< [1] in pinned memory: a continuation is needed
  long long spins; ///< polls of one lane in one launch
};

class Syncfree : public Trisolve
{
public:
  explicit Syncfree(bool levels) : by_levels_(levels) {}
  PetscErrorCode Analyse(const FactorView &factors, Stream stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream) override;
  size_t         Bytes() const override;

private:
  PetscErrorCode OneFactor(bool upper, const Scalar *b, const Scalar *w, Scalar *out, Scalar *x, Stream stream);
  PetscErrorCode FindLevels(bool upper, Stream stream);
  PetscErrorCode SolveLevels(bool upper, const Scalar *b, const Scalar *w, Scalar *out, Scalar *x, Stream stream);

  const bool            by_levels_;
  FactorView            factors_ = {};
  const Scalar         *values_  = nullptr;
  Array<int>            done_[2];  ///< of L, of U
  Array<PetscInt>       order_[2]; ///< rows by level
  std::vector<PetscInt> begin_[2]; ///< [levels + 1] in order_; empty: not known yet
  Array<PetscInt>       device_begin_[2];
  Array<Scalar>         lower_, upper_; ///< [rows] solutions of the factors
  DeviceMemory          scratch_;
};

} // namespace sparsegpu::trisolve
