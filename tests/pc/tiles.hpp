/// Batches of small dense matrices with holes, the bitmap batches made of them, and what may be expected of these.
#pragma once

#include "../family.hpp"
#include "spaces.hpp"

#include "pc/tile/lu.hpp"

namespace testing
{

using sparsegpu::Scalar;
using sparsegpu::Space;

inline Scalar ToScalar(PetscScalar v)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(PetscRealPart(v), PetscImaginaryPart(v));
#else
  return v;
#endif
}
inline PetscScalar FromScalar(Scalar v)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(v.re, v.im);
#else
  return v;
#endif
}

struct Dense {
  PetscInt                 rows, cols;
  std::vector<PetscScalar> a;   ///< [rows * cols] by rows
  std::vector<char>        has; ///< [rows * cols]

  Dense(PetscInt m, PetscInt n) : rows(m), cols(n), a((size_t)(m * n), 0), has((size_t)(m * n), 0) {}
  PetscScalar  operator()(PetscInt i, PetscInt j) const { return a[(size_t)(i * cols + j)]; }
  PetscScalar &operator()(PetscInt i, PetscInt j) { return a[(size_t)(i * cols + j)]; }
  bool         Has(PetscInt i, PetscInt j) const { return has[(size_t)(i * cols + j)]; }
  void         Put(PetscInt i, PetscInt j, PetscScalar v)
  {
    (*this)(i, j)               = v;
    has[(size_t)(i * cols + j)] = 1;
  }
};
using Batch = std::vector<Dense>;

/// About `percent` of the places filled, pseudo-randomly.
inline Dense Random(PetscInt rows, PetscInt cols, int percent, unsigned long long seed)
{
  Dense d(rows, cols);
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt j = 0; j < cols; ++j) {
      const unsigned long long place = seed * 1000003 + (unsigned long long)(i * cols + j);
      if (PetscAbsReal(conformance::RealValue(3 * place + 1)) - (PetscReal)0.5 < (PetscReal)(percent / 100.0))
        d.Put(i, j, conformance::Value(place));
    }
  return d;
}
/// The same with a diagonal larger than the sums of its row and of its column.
inline Dense RandomDominant(PetscInt n, int percent, unsigned long long seed)
{
  Dense d = Random(n, n, percent, seed);
  for (PetscInt i = 0; i < n; ++i)
    d.Put(i, i, (PetscReal)(i % 2 ? 3 * n : -3 * n) + conformance::Value(seed + (unsigned long long)i));
  return d;
}

inline sparsegpu::products::TilePattern PatternOf(const Batch &batch, bool by_columns)
{
  sparsegpu::products::TilePattern p(by_columns);
  for (const Dense &d : batch) {
    PetscCallAbort(PETSC_COMM_SELF, p.Add(d.rows, d.cols));
    for (PetscInt i = 0; i < d.rows; ++i)
      for (PetscInt j = 0; j < d.cols; ++j)
        if (d.Has(i, j)) p.Set(p.Count() - 1, i, j);
  }
  return p;
}
/// The values where `p` has entries, in its order.
inline std::vector<Scalar> ValuesOf(const Batch &batch, const sparsegpu::products::TilePattern &p)
{
  std::vector<Scalar> values;
  for (PetscInt t = 0; t < p.Count(); ++t)
    for (PetscInt l = 0; l < p.Lines(t); ++l)
      for (PetscInt k = 0; k < p.Length(t); ++k) {
        const PetscInt i = p.by_columns ? k : l, j = p.by_columns ? l : k;
        if (p.Has(t, i, j)) values.push_back(ToScalar(batch[(size_t)t](i, j)));
      }
  return values;
}
inline PetscErrorCode MakeBatch(const Batch &batch, bool by_columns, Space space, int bits,
                                sparsegpu::products::TileBatch *tiles)
{
  PetscFunctionBeginUser;
  PetscCall(tiles->Build(PatternOf(batch, by_columns), space, bits));
  PetscCall(tiles->SetValues(ValuesOf(batch, tiles->Pattern())));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode ToDense(const sparsegpu::products::TileBatch &tiles, Batch *batch)
{
  const sparsegpu::products::TilePattern &p = tiles.Pattern();
  std::vector<Scalar>                     values;
  size_t                                  e = 0;

  PetscFunctionBeginUser;
  PetscCall(tiles.GetValues(&values));
  batch->clear();
  for (PetscInt t = 0; t < p.Count(); ++t) {
    batch->emplace_back(p.shape[(size_t)t].rows, p.shape[(size_t)t].cols);
    for (PetscInt l = 0; l < p.Lines(t); ++l)
      for (PetscInt k = 0; k < p.Length(t); ++k) {
        const PetscInt i = p.by_columns ? k : l, j = p.by_columns ? l : k;
        if (p.Has(t, i, j)) batch->back().Put(i, j, FromScalar(values[e++]));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode StreamOf(Space space, sparsegpu::Stream *stream)
{
  PetscFunctionBeginUser;
  *stream = nullptr;
  if (space == Space::Device) PetscCall(sparsegpu::DeviceStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Can all tiles have words of so many bits?
inline bool Fits(const Batch &batch, int bits)
{
  for (const Dense &d : batch)
    if (bits == 32 && (d.rows > 32 || d.cols > 32)) return false;
  return true;
}

/// Calls `check` for every space, both orders of lines and both sizes of words that `batch` fits.
template <class Check> PetscErrorCode Everywhere(const std::string &name, const Batch &batch, Check check)
{
  std::vector<Space> spaces;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  for (Space space : spaces)
    for (bool by_columns : {false, true})
      for (int bits : {32, 64})
        if (Fits(batch, bits))
          PetscCall(check(space, by_columns, bits,
                          name + (space == Space::Device ? ", device" : ", host") +
                              (by_columns ? ", by columns, words of " : ", by rows, words of ") +
                              std::to_string(bits)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors as dense matrices: L with its unit diagonal, U with its diagonal, and the rows that pivots came from.
struct DenseFactors {
  Dense                 L, U;
  std::vector<PetscInt> row;
};
inline PetscErrorCode FactorsOf(sparsegpu::tile::TileLU &lu, std::vector<DenseFactors> *factors)
{
  Batch                 batch;
  std::vector<PetscInt> permutation;
  size_t                first = 0;

  PetscFunctionBeginUser;
  PetscCall(ToDense(lu.Factors(), &batch));
  PetscCall(lu.GetPermutation(&permutation));
  factors->clear();
  for (const Dense &d : batch) {
    const PetscInt n = d.rows;
    DenseFactors   f{Dense(n, n), Dense(n, n), std::vector<PetscInt>((size_t)n)};
    for (PetscInt i = 0; i < n; ++i) {
      f.row[(size_t)i] = lu.Pivoting() ? permutation[first + (size_t)i] : i;
      for (PetscInt j = 0; j < n; ++j) (i > j ? f.L : f.U)(i, j) = i == j ? (PetscReal)1 / d(i, i) : d(i, j);
      f.L(i, i) = 1;
    }
    first += (size_t)n;
    factors->push_back(f);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// (|L| |U|)(i, j).
inline PetscReal Magnitudes(const DenseFactors &f, PetscInt i, PetscInt j)
{
  PetscReal sum = 0;
  for (PetscInt k = 0; k <= PetscMin(i, j); ++k) sum += PetscAbsScalar(f.L(i, k)) * PetscAbsScalar(f.U(k, j));
  return sum;
}

} // namespace testing
