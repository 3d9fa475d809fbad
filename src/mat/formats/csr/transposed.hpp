/// z = A^T x + y from A's own rows: no transpose to build, one thread. Entry e of row r adds a[e] x[r] to sum j[e], so
/// each sum grows by ascending rows, as in products of a transpose that is stored row by row: the bits are the same.
#pragma once

#include "mat/formats/format.hpp"

namespace sparsegpu::formats
{

/// Cannot be requested: `auto` uses it for the first transposed products on the CPU. Borrows the matrix's arrays.
class CsrTransposed : public Format
{
public:
  static constexpr const char *NAME = "scattered from csr";

  explicit CsrTransposed(bool hermitian) : hermitian_(hermitian) {}
  const char    *Name() const override { return NAME; }
  bool           FollowsPattern() const override { return true; }
  PetscErrorCode Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  void           Borrow(const CsrView &A) override;

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  bool           CsrOrder() const override { return true; }

private:
  const bool          hermitian_;
  const PetscInt     *i_ = nullptr; ///< [rows + 1]
  const PetscInt     *j_ = nullptr; ///< [nonzeros]
  std::vector<Scalar> sums_;        ///< [cols] where z has to be read, too
};

} // namespace sparsegpu::formats
