/// Tiles: batches of small bitmap matrices, the storage of mat/formats/bitmap/storage.hpp, tile after tile. Sums,
/// products, LU factorizations and solves of all tiles of a batch at once: a thread block per tile on the device, a
/// loop over the tiles on the host. Patterns are found on the host, line by line, whole words at a time.
///
/// These are for batches that the library itself makes: PETSc's MatAXPY() and MatMatMult() of matrices stored as
/// bitmaps stay AIJ's, whose arrays are the authoritative ones and whose results must be AIJ matrices.
///
/// Shao, Wang & Zhou, "Matrix storage and calculation method suitable for GPU hardware", patent application, 2019.
#pragma once

#include "device/buffer.hpp"
#include "mat/formats/bitmap/storage.hpp"
#include "mat/products/names.hpp"

namespace sparsegpu::products
{

/// A tile, and where its part of the batch's arrays begins.
struct TileShape {
  PetscInt   rows, cols;
  PetscInt   row;   ///< rows of the tiles before: its first entry of a vector
  PetscCount start; ///< its P of its lines + 1 entries, which count from its first value
  PetscCount word;  ///< its F
  PetscCount value; ///< its M
};

/// What kernels see of a batch.
struct TileLayout {
  PetscInt         count;
  bool             by_columns;
  int              bits;   ///< of a word: 32 or 64
  const PetscInt  *order;  ///< [count] tiles, those of like size together
  const TileShape *shape;  ///< [count]
  const PetscInt  *start;  ///< P [sum of lines + 1]
  const void      *flags;  ///< F [sum of lines * words]
  Scalar          *values; ///< M

  template <class Word> SPARSEGPU_HD BitmapView<Word> View(PetscInt t) const
  {
    const TileShape s = shape[t];
    return BitmapView<Word>{s.rows,          s.cols,
                            by_columns,      BitmapWords(by_columns ? s.rows : s.cols, BitmapView<Word>::BITS),
                            start + s.start, static_cast<const Word *>(flags) + s.word,
                            values + s.value};
  }
};

/// The pattern of a batch on the host. shape[t].start and .value are set by TileBatch::Build().
struct TilePattern {
  bool                   by_columns = false;
  std::vector<TileShape> shape;
  std::vector<Word64>    flags; ///< F with words of 64 bits

  explicit TilePattern(bool columns = false) : by_columns(columns) {}
  PetscInt Count() const { return static_cast<PetscInt>(shape.size()); }
  PetscInt Rows() const { return shape.empty() ? 0 : shape.back().row + shape.back().rows; } ///< of all tiles
  PetscInt Lines(PetscInt t) const { return by_columns ? shape[t].cols : shape[t].rows; }
  PetscInt Length(PetscInt t) const { return by_columns ? shape[t].rows : shape[t].cols; }
  /// The words of line l of tile t.
  Word64       *Line(PetscInt t, PetscInt l) { return flags.data() + shape[t].word + Words(t) * l; }
  const Word64 *Line(PetscInt t, PetscInt l) const { return flags.data() + shape[t].word + Words(t) * l; }
  size_t        Words(PetscInt t) const { return static_cast<size_t>(BitmapWords(Length(t), 64)); }
  void          Set(PetscInt t, PetscInt i, PetscInt j);
  bool          Has(PetscInt t, PetscInt i, PetscInt j) const;
  /// One more tile, empty.
  PetscErrorCode Add(PetscInt rows, PetscInt cols);

  /// The same tiles by rows or by columns.
  PetscErrorCode Turn(bool columns, TilePattern *turned) const;
};
/// Every place of every tile of A, by columns.
PetscErrorCode TileFullPattern(const TilePattern &A, TilePattern *full);
/// Where A or B has an entry, and where their product has. Errors: PETSC_ERR_ARG_SIZ naming the shapes that do not fit.
/// A and B by rows, or both by columns.
PetscErrorCode TileSumPattern(const TilePattern &A, const TilePattern &B, TilePattern *C);
PetscErrorCode TileProductPattern(const TilePattern &A, const TilePattern &B, TilePattern *C);
/// The factors of an LU factorization without pivoting, with their fill and every diagonal entry, by columns;
/// O(n^3 / 64) a tile. Errors: PETSC_ERR_ARG_SIZ naming a tile that is not square.
PetscErrorCode TileFactorPattern(const TilePattern &A, TilePattern *LU);

/// Tiles order[begin .. end), none of more than `size` rows or columns.
struct TileClass {
  PetscInt begin, end, size;
};

/// A pattern and values, on the host or on the device.
class TileBatch
{
public:
  /// `bits` of a word, 32 or 64; 0: 32 where all lines fit. The values are zero on the host, not set on the device.
  /// Errors: PETSC_ERR_ARG_OUTOFRANGE if a line does not fit 32 bits that were asked for.
  PetscErrorCode Build(TilePattern &&pattern, Space space, int bits = 0);
  /// Values in the order of the pattern's lines, from the host.
  PetscErrorCode SetValues(const std::vector<Scalar> &values);
  PetscErrorCode GetValues(std::vector<Scalar> *values) const;

  const TilePattern            &Pattern() const { return pattern_; }
  const std::vector<TileClass> &Classes() const { return classes_; }
  TileLayout                    Layout();
  Scalar                       *values() { return values_.data(); }
  size_t                        Entries() const { return values_.size(); }
  Space                         space() const { return space_; }
  size_t                        Bytes() const
  {
    return order_.bytes() + shape_.bytes() + start_.bytes() + flags32_.bytes() + flags64_.bytes() + values_.bytes();
  }
  /// Rows or columns of the largest tile.
  PetscInt Largest() const;

private:
  PetscErrorCode Sort();

  Space                  space_ = Space::Host;
  int                    bits_  = 64;
  TilePattern            pattern_;
  std::vector<TileClass> classes_;
  Array<PetscInt>        order_, start_;
  Array<TileShape>       shape_;
  Array<Word32>          flags32_;
  Array<Word64>          flags64_;
  Array<Scalar>          values_;
};

/// C = A + B, or A - B, or A B, all built in one space with words of one size; C's pattern is TileSumPattern() or
/// TileProductPattern(), or holds it. Each entry of C by a thread of its own, summed by rising k. Bitwise reproducible.
PetscErrorCode TileAdd(TileBatch &A, TileBatch &B, bool subtract, TileBatch *C, Stream stream);
PetscErrorCode TileMultiply(TileBatch &A, TileBatch &B, TileBatch *C, Stream stream);

/// The launchers. Asynchronous on the device.
PetscErrorCode TileAdd_Kokkos(const TileLayout &A, const TileLayout &B, bool subtract, const TileLayout &C);
PetscErrorCode TileAdd_CUDA(const TileLayout &A, const TileLayout &B, bool subtract, const TileLayout &C,
                            Stream stream);
PetscErrorCode TileMultiply_Kokkos(const TileLayout &A, const TileLayout &B, const TileLayout &C);
PetscErrorCode TileMultiply_CUDA(const TileLayout &A, const TileLayout &B, const TileLayout &C, Stream stream);

} // namespace sparsegpu::products
