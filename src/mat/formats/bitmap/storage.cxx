/// Fills the bits and the row starts of a bitmap from compressed sparse rows; shared by the format and by the tiles.
#include "mat/formats/bitmap/storage.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

template <class Word> PetscErrorCode BitmapArrays<Word>::Fill(const CsrView &A, bool by_columns)
{
  constexpr PetscInt    BITS  = BitmapView<Word>::BITS;
  const PetscInt        lines = by_columns ? A.cols : A.rows, length = by_columns ? A.rows : A.cols;
  const size_t          words = static_cast<size_t>(BitmapWords(length, BITS));
  std::vector<PetscInt> before; // [lines * words] bits set in the words of the line before this one

  PetscFunctionBegin;
  PetscCallCXX(start.assign(static_cast<size_t>(lines) + 1, 0));
  PetscCallCXX(flags.assign(words * lines, 0));
  PetscCallCXX(before.resize(words * lines));
  PetscCallCXX(slot.resize(A.nonzeros));
  for (PetscInt r = 0; r < A.rows; r++) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt l = by_columns ? A.j[e] : r, k = by_columns ? r : A.j[e];
      flags[words * l + k / BITS] |= static_cast<Word>(1) << (k % BITS);
    }
  }
  for (PetscInt l = 0; l < lines; l++) {
    PetscInt count = 0;
    for (size_t w = 0; w < words; w++) {
      before[words * l + w] = count;
      count += CountBits(flags[words * l + w]);
    }
    start[l + 1] = start[l] + count;
  }
  for (PetscInt r = 0; r < A.rows; r++) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt l = by_columns ? A.j[e] : r, k = by_columns ? r : A.j[e];
      const size_t   w    = words * l + k / BITS;
      const Word     mask = (static_cast<Word>(1) << (k % BITS)) - 1;
      slot[e]             = start[l] + before[w] + CountBits(flags[w] & mask);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
template struct BitmapArrays<Word32>;
template struct BitmapArrays<Word64>;

} // namespace sparsegpu::formats
