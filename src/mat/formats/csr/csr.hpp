/// Compressed sparse rows, as PETSc's AIJ: entries of row r are i[r] .. i[r + 1).
/// CPU: neighbouring rows of one pattern (the unknowns of a node) are walked together, so that j and x are read once
/// for all; without memory to note them each row is walked by itself. CUDA: `width` threads per row, 1 (the "scalar"
/// kernel) to 32 (the "vector" kernel), chosen from the mean row length; rows of more than LONG_TURNS * width entries
/// (SMALL_TURNS if the matrix does not fill the GPU; for AddsToSums() at least ADDED_TURNS) go to a bin of their own,
/// cut into chunks, one thread block per chunk. All in one launch: the block that finishes the last chunk of a row adds
/// its chunks up, in their order. Bell & Garland, NVR-2008-004, sections 3.3 and 4.
#pragma once

#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

struct CsrLayout {
  static constexpr PetscInt LONG_TURNS  = 64;   ///< entries per thread of a row outside the bin; measured on R-MAT
  static constexpr PetscInt SMALL_TURNS = 8;    ///< the same if all rows run at once: the longest bounds the time
  static constexpr PetscInt ADDED_TURNS = 32;   ///< at least, for AddsToSums(): rows that are cut need another launch
  static constexpr PetscInt CHUNK       = 2048; ///< entries of a long row per thread block: 8 to 16 per thread

  static constexpr PetscInt NODE_ROWS = 6;  ///< at most, as registers hold their sums
  static constexpr PetscInt UNKNOWN   = -2; ///< `filled` has not been looked for yet

  PetscInt        rows, nonzeros;
  PetscInt        nodes;        ///< 0: every row for itself; host only
  const PetscInt *node;         ///< [nodes + 1] first row of each run of rows of one pattern
  PetscInt        filled;       ///< where most rows are empty, for AddsToSums(): how many are not; else -1
  const PetscInt *filled_row;   ///< [filled] these rows
  PetscInt        filled_width; ///< threads for each of them; device only
  PetscInt        width;        ///< threads per row
  PetscInt        long_length;  ///< longer rows are in the bin
  PetscInt        chunks;
  const PetscInt *i;           ///< [rows + 1]
  const PetscInt *j;           ///< [nonzeros] column
  const Scalar   *a;           ///< [nonzeros] value
  const PetscInt *chunk_row;   ///< [chunks] row of the chunk, ascending
  const PetscInt *chunk_begin; ///< [chunks] first entry
  Scalar         *chunk_sum;   ///< [chunks] scratch
  int            *arrived;     ///< [chunks] scratch, zero between products: chunks done of the row that begins here
};

/// z = A x + y; y null or z allowed.
PetscErrorCode CsrMult_Kokkos(const CsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
/// z += A x, by the rows that are not empty.
PetscErrorCode CsrAddFilled_Kokkos(const CsrLayout &A, const Scalar *x, Scalar *z);
PetscErrorCode CsrMult_CUDA(const CsrLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                            const comm::DeviceExchange *exchange = nullptr);
PetscErrorCode CsrAddFilled_CUDA(const CsrLayout &A, const Scalar *x, Scalar *z, Stream stream);
/// Format::AddArriving() by the rows that are not empty, of any length.
PetscErrorCode CsrAddArriving_CUDA(const CsrLayout &A, const comm::DeviceExchange &exchange, const SumTarget &to,
                                   Stream stream);
/// filled [how many there are]: the rows that are not empty, ascending. i [rows + 1] is on the device. Asynchronous.
PetscErrorCode FilledRows_CUDA(PetscInt rows, const PetscInt *i, Array<PetscInt> *filled);
/// Format::MultDots().
PetscErrorCode CsrMultDots_CUDA(const CsrLayout &A, const ProductDots &dots, Stream stream);
/// Format::MultDense().
PetscErrorCode CsrMultDense_Kokkos(const CsrLayout &A, const DenseColumns &d);
PetscErrorCode CsrMultDense_CUDA(const CsrLayout &A, PetscInt cols, const DenseColumns &d, DeviceMemory *scratch,
                                 Stream stream);

/// Threads per row for a mean row length: about three entries each.
PetscInt CsrWidth(PetscReal mean);
struct CsrOptions : OptionsOf<CsrOptions> {
  PetscInt width = 0; ///< -mat_sparsegpu_csr_width: threads per row, a power of two <= 32; 0: by mean length

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

class CsrPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Estimate(PetscLogDouble beat, bool *candidate, Cost *cost) override;
  /// Threads per row on the device, and the longest row that they walk.
  PetscErrorCode Shape(PetscInt *width, PetscInt *longest);

private:
  PetscErrorCode InOrder(bool *in_order);
};

class Csr : public Format
{
public:
  const char           *Name() const override { return "csr"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<CsrPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode        MultDots(const ProductDots &dots, Stream stream) override;
  PetscErrorCode        MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream) override;
  bool                  TakesSteps() const override { return space_ == Space::Device; }
  PetscErrorCode        MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  PetscErrorCode        AddArriving(const comm::DeviceExchange &exchange, const SumTarget &to, Stream stream) override;
  bool                  AddsScaled() const override { return space_ == Space::Device && layout_.chunks == 0; }
  void                  AddsToSums() override { adds_ = true; }
  void                  Borrow(const CsrView &A) override;
  /// With the values where they are now.
  CsrLayout Layout() const
  {
    CsrLayout layout = layout_;
    layout.a         = values();
    return layout;
  }
  bool FollowsPattern() const override { return space_ == Space::Host && layout_.nodes == 0; }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  bool           CsrOrder() const override { return true; }

private:
  PetscErrorCode FindNodes(const CsrView &A);
  PetscErrorCode FindFilled();
  PetscErrorCode PlaceFilled(PetscInt filled, PetscInt width);
  PetscErrorCode CutLongRows(Look *look);

  CsrLayout                   layout_ = {};
  std::shared_ptr<const void> pattern_; ///< the owner of i and j where these are the matrix's on the device
  Array<PetscInt>             node_, i_, j_, chunk_row_, chunk_begin_, filled_row_;
  Array<Scalar>               chunk_sum_;
  Array<int>                  arrived_;
  bool                        adds_ = false;
  std::vector<PetscInt>       filled_i_, filled_; ///< [rows + 1] the beginnings of rows that filled_ was found from
};

} // namespace sparsegpu::formats
