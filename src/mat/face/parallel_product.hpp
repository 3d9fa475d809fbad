/// A B, A^T B, P^T A P or A^T of parallel matrices: what is kept between the phases. Each rank multiplies the rows that
/// it has: of A B those of A with rows of B, fetched from other ranks for A's ghosts; of A^T B its own, which gives
/// rows of other ranks, too; of P^T A P both. Patterns travel once, when the product is set up; then values alone do,
/// which the host does not see.
#pragma once

#include "mat/face/product_rows.hpp"
#include "mat/products/local_product.hpp"

namespace sparsegpu::face
{

/// Which product of two matrices, or of one.
enum class Step {
  AB,
  AtB,
  PtAP,
  At
};
/// Its operands; of P^T A P the left one is A. Those of A^T have no right one.
struct StepOperands {
  Mat left, right;
};

class ParallelProduct
{
public:
  ParallelProduct(Step step, Space space) : step_(step), space_(space), rows_(space) {}

  /// The patterns of this rank's rows of the product, in space(). *fits is false, on all ranks, where one lacks memory
  /// or its numbers do not reach. Collective.
  PetscErrorCode FindPattern(const StepOperands &operands, BlockPatterns *patterns, bool *fits);
  /// Whether the operands and C have the patterns that this was set up for. Not collective.
  PetscErrorCode Fits(const StepOperands &operands, Mat C, bool *fits);
  /// C's pattern of now is the product's.
  PetscErrorCode Expect(Mat C);
  /// Values that this rank has, and all memory. Errors: PETSC_ERR_MEM. Not collective.
  PetscErrorCode GatherValues(const StepOperands &operands);
  /// What each rank computes reaches the rows' owners. Collective.
  PetscErrorCode Multiply();
  PetscErrorCode TakeValues(int block, Scalar *a) const { return rows_.TakeValues(block, a); }
  Space          space() const { return space_; }
  PetscLogDouble flops() const { return local_.flops(); }
  /// Whether this rank multiplies by blocks. Not collective.
  bool ByBlocks() const { return local_.ByBlocks(); }

private:
  bool           Transposes() const { return step_ != Step::AB; }
  bool           Fetches() const { return step_ == Step::AB || step_ == Step::PtAP; }
  PetscErrorCode JoinRows(const StepOperands &operands, bool *fits);
  PetscErrorCode FindLocalPattern(const StepOperands &operands);
  /// Views of the rows, for as long as the result lives.
  struct Factors {
    products::SparseRows   left, transposed, right;
    products::LocalFactors all;
  };
  void GetFactors(Factors *factors) const;

  const Step             step_;
  const Space            space_;
  RowStack               left_, right_; ///< A's rows; B's or P's, with those that A's ghosts are
  products::LocalProduct local_;
  ProductRows            rows_;
  ParallelPatternWatch   watch_;
  Scalar                *computed_ = nullptr;
};

} // namespace sparsegpu::face
