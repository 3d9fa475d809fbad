/// A B, A^T B or P^T A P of parallel matrices: what is kept between the phases. Each rank multiplies the rows that it
/// has: of A B those of A with rows of B, fetched from other ranks for A's ghosts; of A^T B its own, which gives rows
/// of other ranks, too; of P^T A P both. Patterns travel once, when the product is set up; then values alone do, which
/// the host does not see.
#pragma once

#include "mat/face/product_rows.hpp"
#include "mat/products/local_product.hpp"

namespace sparsegpu::face
{

class ParallelProduct
{
public:
  ParallelProduct(MatProductType type, Space space) : type_(type), space_(space) {}

  /// The patterns of this rank's rows of the product. *fits is false, on all ranks, where one lacks memory or its
  /// numbers do not reach. Collective.
  PetscErrorCode FindPattern(const Mat_Product *product, HostPattern patterns[2], bool *fits);
  /// Whether the operands and C have the patterns that this was set up for. Not collective.
  PetscErrorCode Fits(const Mat_Product *product, Mat C, bool *fits);
  /// C's pattern of now is the product's.
  PetscErrorCode Expect(Mat C);
  /// Values that this rank has, and all memory. Errors: PETSC_ERR_MEM. Not collective.
  PetscErrorCode GatherValues(const Mat_Product *product);
  /// What each rank computes reaches the rows' owners. Collective.
  PetscErrorCode Multiply();
  PetscErrorCode Sum(int block, Scalar *a) const { return rows_.Sum(block, a); }
  Space          space() const { return space_; }
  PetscLogDouble flops() const { return local_.flops(); }

private:
  bool           Fetches() const { return type_ != MATPRODUCT_AtB; }
  PetscErrorCode JoinRows(const Mat_Product *product, bool *fits);
  PetscErrorCode FindLocalPattern(const Mat_Product *product);
  /// Views of the rows, for as long as the result lives.
  struct Factors {
    products::SparseRows   left, transposed, right;
    products::LocalFactors all;
  };
  void GetFactors(Factors *factors) const;

  const MatProductType   type_;
  const Space            space_;
  RowStack               left_, right_; ///< A's rows; B's or P's, with those that A's ghosts are
  products::LocalProduct local_;
  ProductRows            rows_;
  ParallelPatternWatch   watch_;
  Scalar                *computed_ = nullptr;
};

} // namespace sparsegpu::face
