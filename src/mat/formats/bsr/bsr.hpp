/// Dense blocks of 2 x 2 to 6 x 6 entries, one column index for each: for several unknowns per node.
///
/// Block rows are cut into slices of `height`: 32 on the device, so that neighbouring threads read neighbouring values,
/// 1 on the host, where a block row then lies in one piece. Entry (p, q) of block k of block row i of slice s, which is
/// row (s * height + i) * size + p, lies at
///     ((begin[s] + k) * size + q) * height * size + i * size + p,
/// and its block's column at (begin[s] + k) * height + i. A row's entries are summed one after the other, by column, so
/// that the product is bit for bit that of dia, ell, sell, stencil and csr with one thread per row.
///
/// Full blocks take no test at all. Partial blocks (at a boundary, at the matrix's edge) are listed separately, with a
/// mask of the entries they have. Their padding is never multiplied with x, so that no Inf or NaN leaks in and padding
/// may have any value that suits the codec.
/// Im, Yelick & Vuduc, Int. J. High Perform. Comput. Appl. 18(1), 2004 (register blocking).
#pragma once

#include <optional>
#include "mat/formats/bsr/samples.hpp"
#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

struct BsrLayout {
  static constexpr int      SMALLEST = 2, LARGEST = 6; ///< size: 1 would be csr; larger blocks exceed the registers
  static constexpr PetscInt HEIGHT = 32;               ///< on the device
  static constexpr PetscInt NONE   = -1;               ///< column of an absent block; no block follows in the row

  PetscInt                  rows, slices, height;
  int                       size;           ///< rows, and columns, of a block
  const PetscInt           *begin;          ///< [slices + 1] sum of the widths before, in blocks
  const PetscInt           *j;              ///< [height * begin[slices]] column / size, NONE, or -2 - place in the list
  const PetscInt           *partial_column; ///< [partial blocks] column / size
  const unsigned long long *partial_mask;   ///< [partial blocks] bit p * size + q: it has entry (p, q)
};

/// z = A x + y; y null or z allowed.
PetscErrorCode BsrMult_Kokkos(const BsrLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode BsrMult_CUDA(const BsrLayout &A, const ValueLayout &a, const Scalar *x, const ProductTarget &to,
                            Stream stream, const comm::DeviceExchange *exchange = nullptr);
/// Format::MultDots().
PetscErrorCode BsrMultDots_CUDA(const BsrLayout &A, const ValueLayout &a, const ProductDots &dots, Stream stream);
/// Format::MultDense().
PetscErrorCode BsrMultDense_Kokkos(const BsrLayout &A, const ValueLayout &a, const DenseColumns &d);
PetscErrorCode BsrMultDense_CUDA(const BsrLayout &A, const ValueLayout &a, PetscInt cols, const DenseColumns &d,
                                 DeviceMemory *scratch, Stream stream);

/// Calls function(std::integral_constant<int, size>) for a size known at run time.
template <class Function> auto WithBsrSize(int size, Function &&function)
{
  switch (size) {
  case 2: return function(std::integral_constant<int, 2>());
  case 3: return function(std::integral_constant<int, 3>());
  case 4: return function(std::integral_constant<int, 4>());
  case 5: return function(std::integral_constant<int, 5>());
  default: return function(std::integral_constant<int, 6>());
  }
}

/// Of each slice on the device, for BuildBsr_CUDA(): blocks of its longest block row, and partial blocks.
struct BsrSlices {
  Array<PetscInt> width, partial; ///< [slices + 1], the last 0
};

/// The blocks of one size, counted. size 0: every candidate size stores too much, refused_size the least.
struct BsrBlocks {
  int                        size   = 0;
  PetscCount                 blocks = 0, partial = 0;
  PetscCount                 steps        = 0; ///< blocks of slices of BsrLayout::HEIGHT, absent ones included
  PetscInt                   longest      = 0; ///< blocks of the longest block row
  int                        refused_size = 0;
  PetscLogDouble             refused      = 0;    ///< entries that it would store
  bool                       ascending    = true; ///< columns of each row, where they were counted on the device
  std::shared_ptr<BsrSlices> cut;                 ///< where they were counted there; taken by a build

  /// Bytes of the matrix in `space`, with values of `value` bytes.
  PetscLogDouble Bytes(Space space, PetscLogDouble value) const
  {
    const PetscLogDouble all = static_cast<PetscLogDouble>(space == Space::Host ? blocks : steps);
    return all * (value * size * size + sizeof(PetscInt)) +
           static_cast<PetscLogDouble>(partial) * (sizeof(PetscInt) + sizeof(unsigned long long));
  }
};
/// The size of the fewest bytes on the device, or A's own block size if no other saves 5 %; `asked` if not 0. The same
/// in both spaces, so that CPU and GPU accept the same matrices. O(nonzeros) time.
PetscErrorCode FindBsrBlocks(const CsrView &A, PetscInt asked, PetscReal max_padding, BsrSamples *samples,
                             BsrBlocks *blocks);
/// Average bytes per nonzero in the best size, with values of `value` bytes, sampled at a few dozen places: an estimate
/// that spares most matrices FindBsrBlocks().
PetscErrorCode SampleBsr(const CsrView &A, PetscLogDouble value, BsrSamples *samples, PetscLogDouble *bytes);

/// The arrays of a layout.
struct BsrArrays {
  Array<PetscInt>           begin, j, partial_column;
  Array<unsigned long long> partial_mask;
  PetscCount                blocks = 0;
};
/// Blocks of `size` counted in A.device, and slices cut. Where columns do not ascend, blocks->ascending alone holds.
PetscErrorCode CountBsr_CUDA(const CsrView &A, int size, BsrBlocks *blocks);
/// The arrays from A.device, for rows and size of the layout; sets its slices and begin. Consumes `cut`.
PetscErrorCode BuildBsr_CUDA(const CsrView &A, BsrSlices &&cut, BsrLayout *layout, BsrArrays *out);
/// Format::SlotsOnDevice() and PlaceOnDevice().
PetscErrorCode BsrSlots_CUDA(const BsrLayout &layout, const CsrArrays &A, PetscInt *slot, Stream stream);
PetscErrorCode BsrPlace_CUDA(const BsrLayout &layout, const CsrArrays &A, Scalar *values, Stream stream);

struct BsrOptions : OptionsOf<BsrOptions> {
  PetscInt block = 0; ///< -mat_sparsegpu_bsr_block: rows of a block, 2 to 6; 0: by bytes

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

/// The blocks are counted once for Fits(), Estimate() and the build, which takes the slices that were cut on the way.
class BsrPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
  PetscErrorCode Estimate(PetscLogDouble beat, bool *candidate, Cost *cost) override;
  PetscErrorCode Take(BsrBlocks *blocks);

private:
  PetscErrorCode Find();
  PetscErrorCode MayBeat(PetscLogDouble beat, PetscLogDouble value, bool *may);

  BsrSamples               samples_;
  std::optional<BsrBlocks> blocks_;
};

class Bsr : public Format
{
public:
  const char           *Name() const override { return "bsr"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<BsrPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode        MultDots(const ProductDots &dots, Stream stream) override;
  PetscErrorCode        MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream) override;
  bool                  TakesSteps() const override { return space_ == Space::Device; }
  PetscErrorCode        MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  std::string           Details() const override;
  const BsrLayout      &Layout() const { return layout_; }
#if defined(SPARSEGPU_HAVE_CUDA)
  bool ConvertsOnDevice() const override
  {
    return ascending_;
  }
#endif

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;
  bool           EncodesValues() const override
  {
    return true;
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscErrorCode BuildPatternOnDevice(Plan *plan) override;
  PetscErrorCode SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream) override;
  PetscErrorCode PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream) override;
#endif

private:
  PetscErrorCode Begin(Plan *plan, BsrBlocks *blocks);
  PetscErrorCode BuildOnHost(const CsrView &A);
  PetscErrorCode FindBlocks(const CsrView &A, std::vector<unsigned long long> *mask);
  PetscErrorCode Arrange(const std::vector<unsigned long long> &mask);
  void           Lay();

  BsrLayout layout_    = {};
  bool      ascending_ = true; ///< the columns of each row: the device merges only such
  // of the host's conversion:
  std::vector<PetscInt> block_begin_;  ///< [block rows + 1]
  std::vector<PetscInt> block_column_; ///< [block_begin_[block rows]] column / size, ascending in each block row
  std::vector<PetscInt> slice_begin_;  ///< [slices + 1] layout_.begin
  BsrArrays             arrays_;       ///< in space_
};

} // namespace sparsegpu::formats
