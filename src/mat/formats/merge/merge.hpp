/// Merge-path CSR: the row ends i[1 .. rows] are merged with the entry numbers 0 .. nonzeros - 1, and every worker gets
/// an equal share of the rows + nonzeros merge steps, found by a binary search along a diagonal. A step consumes either
/// an entry (multiply, add) or a row end (write). The last row of a share is usually unfinished: its sum is a carry,
/// added in a second pass. No preprocessing of the matrix and no format change. Merrill & Garland, "Merge-based
/// parallel sparse matrix-vector multiplication", SC'16.
#pragma once

#include "mat/formats/plan.hpp"

namespace sparsegpu::formats
{

struct MergeLayout {
  PetscInt        rows, nonzeros;
  PetscInt        workers;
  PetscCount      share;       ///< merge steps per worker; the last may have fewer
  const PetscInt *i;           ///< [rows + 1]; host only
  const PetscInt *j;           ///< [nonzeros] column
  const Scalar   *a;           ///< [nonzeros] value
  const unsigned *path;        ///< [steps / 32 + 2] bit per merge step; device only
  const PetscInt *rank;        ///< [steps / 32 + 2] row ends before each word of path; device only
  const PetscInt *start_row;   ///< [workers + 1] row coordinate where each share begins
  PetscInt       *carry_row;   ///< [workers] scratch: row left unfinished, -1 for none
  Scalar         *carry_value; ///< [workers] scratch: its partial sum
};

/// The row coordinate of the merge path on diagonal d, 0 <= d <= rows + nonzeros; its entry coordinate is d - row.
SPARSEGPU_HD PetscInt MergeSearch(PetscCount d, const PetscInt *row_end, PetscInt rows, PetscInt nonzeros)
{
  PetscInt low  = d > nonzeros ? static_cast<PetscInt>(d - nonzeros) : 0;
  PetscInt high = d < rows ? static_cast<PetscInt>(d) : rows;
  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;
    if (row_end[middle] <= d - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// z = A x + y; y null or z allowed.
PetscErrorCode MergeMult_Kokkos(const MergeLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode MergeMult_CUDA(const MergeLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);
/// Merge steps that one thread block takes at a time.
PetscInt MergeTile_CUDA();

struct MergeOptions : OptionsOf<MergeOptions> {
  PetscInt workers = 0; ///< -mat_sparsegpu_merge_workers: shares of the merge path; 0: what fits the backend

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

class MergePlan : public Plan
{
public:
  using Plan::Plan;
  int TrialPlace() const override { return 3; }
};

class Merge : public Format
{
public:
  const char           *Name() const override { return "merge"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<MergePlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  void                  Borrow(const CsrView &A) override;
  /// With the values where they are now.
  MergeLayout Layout() const
  {
    MergeLayout layout = layout_;
    layout.a           = values();
    return layout;
  }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  bool           CsrOrder() const override { return true; }

private:
  MergeLayout    layout_ = {};
  PetscErrorCode KeepPath(const CsrView &A);

  Array<PetscInt> j_, rank_, start_row_, carry_row_;
  Array<unsigned> path_;
  Array<Scalar>   carry_value_;
};

} // namespace sparsegpu::formats
