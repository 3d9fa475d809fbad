/// Bitmap: one bit for every place of the matrix and the nonzeros row after row, see storage.hpp; quadratic in bits, so
/// for small or dense matrices. A thread walks the words of a row from set bit to set bit and sums one entry after the
/// other, by rising column: the product is bit for bit that of dia, ell, sell, stencil and csr with one thread per row.
///
/// By rows only: a product by columns would have to count the bits of all words above, or to add with atomics. The
/// copy that transposed products run on is the matrix by columns.
#pragma once

#include "mat/formats/bitmap/storage.hpp"
#include "mat/formats/plan.hpp"

namespace sparsegpu::formats
{

/// The words are of 32 or of 64 bits.
struct BitmapLayout {
  PetscInt        rows, cols;
  int             bits;
  PetscInt        words;  ///< of a row
  const PetscInt *start;  ///< P [rows + 1] first entry of each row
  const void     *flags;  ///< F [rows * words] Word32 or Word64
  const Scalar   *values; ///< M [start[rows]]

  template <class Word> BitmapView<Word> View() const
  {
    return BitmapView<Word>{
        rows, cols, false, words, start, static_cast<const Word *>(flags), const_cast<Scalar *>(values)};
  }
};

/// z = A x + y; y null or z allowed.
PetscErrorCode BitmapMult_Kokkos(const BitmapLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode BitmapMult_CUDA(const BitmapLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);

class BitmapPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
};

class Bitmap : public Format
{
public:
  const char           *Name() const override { return "bitmap"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<BitmapPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  std::string           Details() const override;
  void                  Borrow(const CsrView &A) override;
  const BitmapLayout   &Layout() const { return layout_; }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;
  bool           CsrOrder() const override { return sorted_; }

private:
  template <class Word> PetscErrorCode Fill(const CsrView &A, Array<Word> *flags);

  BitmapLayout          layout_ = {};
  bool                  sorted_ = true; ///< the columns of every row rise: the values lie as in CSR
  std::vector<PetscInt> slot_of_;       ///< [nonzeros], unless sorted_
  Array<PetscInt>       start_;
  Array<Word32>         flags32_;
  Array<Word64>         flags64_;
};

} // namespace sparsegpu::formats
