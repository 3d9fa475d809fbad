/// The conformance suite: small matrices, each with a trait that breaks sparse products, as triplets that owe nothing
/// to PETSc's storage. Values have full mantissas of both signs (and imaginary parts where scalars are complex), so
/// that no summation order is exact by luck and no value codec applies by luck.
#pragma once

#include <petscsys.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace conformance
{

struct Entry {
  PetscInt    i, j;
  PetscScalar v;
};

struct Problem {
  std::string              name;
  PetscInt                 rows, cols;
  std::vector<Entry>       entries;  ///< each (i, j) once, in the order of insertion
  std::vector<std::string> refusing; ///< the formats that must refuse this matrix; every other one must accept it
};

/// A reproducible value in (-3/2, -1/2] or [1/2, 3/2) that depends on `seed` alone: splitmix64, Steele et al. 2014.
inline PetscReal RealValue(unsigned long long seed)
{
  unsigned long long h = (seed + 1) * 0x9e3779b97f4a7c15ull;
  h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h                    = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  h ^= h >> 31;
  const PetscReal size = (PetscReal)0.5 + (PetscReal)(h >> 12) / (PetscReal)(1ull << 52);
  return h & 1 ? size : -size;
}
inline PetscScalar Value(unsigned long long seed)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(RealValue(2 * seed), RealValue(2 * seed + 1));
#else
  return RealValue(seed);
#endif
}

class Builder
{
public:
  Builder(std::string name, PetscInt rows, PetscInt cols) : p_{std::move(name), rows, cols, {}, {}} {}
  Builder &Add(PetscInt i, PetscInt j, PetscScalar v)
  {
    p_.entries.push_back({i, j, v});
    return *this;
  }
  Builder &Add(PetscInt i, PetscInt j)
  {
    return Add(i, j, Value((unsigned long long)i * 1000003 + (unsigned long long)j));
  }
  /// `length` different columns of row i, spread over all columns from `first` on.
  Builder &AddRow(PetscInt i, PetscInt length, PetscInt first = 0)
  {
    for (PetscInt k = 0; k < length; ++k) Add(i, (PetscInt)((first + (long long)k * p_.cols / length) % p_.cols));
    return *this;
  }
  Builder &Refusing(std::vector<std::string> formats)
  {
    p_.refusing = std::move(formats);
    return *this;
  }
  /// Reverses halves and interleaves them: no row arrives in order of columns, nor the rows in order.
  Builder &Shuffle()
  {
    std::vector<Entry> shuffled;
    const size_t       n = p_.entries.size(), stride = n / 2 + 1;
    for (size_t s = 0; s < stride; ++s)
      for (size_t k = s; k < n; k += stride) shuffled.push_back(p_.entries[n - 1 - k]);
    p_.entries = std::move(shuffled);
    return *this;
  }
  operator Problem() const { return p_; }

private:
  Problem p_;
};

inline Problem WorkedExample() ///< [1 0 2; 0 0 0; 3 4 0], the size done by hand
{
  return Builder("worked_3x3", 3, 3).Add(0, 0, 1).Add(0, 2, 2).Add(2, 0, 3).Add(2, 1, 4);
}

inline Problem Banded(std::string name, PetscInt rows, PetscInt cols, const std::vector<PetscInt> &offsets)
{
  Builder b(std::move(name), rows, cols);
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt offset : offsets)
      if (i + offset >= 0 && i + offset < cols) b.Add(i, i + offset);
  return b;
}

/// Diagonally dominant 5-point matrix of an nx x ny grid; symmetric (Hermitian) if asked. For solves.
inline Problem Grid(std::string name, PetscInt nx, PetscInt ny, bool symmetric)
{
  Builder b(std::move(name), nx * ny, nx * ny);
  for (PetscInt y = 0; y < ny; ++y)
    for (PetscInt x = 0; x < nx; ++x) {
      const PetscInt    r    = y * nx + x;
      const PetscScalar skew = symmetric ? 0 : (PetscReal)0.3;
      if (y > 0) b.Add(r, r - nx, (PetscScalar)-1 - skew);
      if (x > 0) b.Add(r, r - 1, (PetscScalar)-1 - skew);
      b.Add(r, r, (PetscReal)4 + (PetscReal)0.1 * PetscAbsReal(RealValue((unsigned long long)r)));
      if (x < nx - 1) b.Add(r, r + 1, (PetscScalar)-1 + skew);
      if (y < ny - 1) b.Add(r, r + nx, (PetscScalar)-1 + skew);
    }
  return b;
}

/// visit(d, column) for point r of a grid of nx x ny x nz points and its up to 26 neighbours, columns ascending; d,
/// from 0 to 26, tells where it lies: 13 is the point itself.
template <class Visit> void EachNeighbour(PetscInt nx, PetscInt ny, PetscInt nz, PetscInt r, const Visit &visit)
{
  for (PetscInt d = 0; d < 27; ++d) {
    const PetscInt x = r % nx + d % 3 - 1, y = r / nx % ny + d / 3 % 3 - 1, z = r / (nx * ny) + d / 9 - 1;
    if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz) visit(d, x + nx * (y + ny * z));
  }
}

/// Nodes of `size` unknowns coupled to themselves and two others, some blocks lacking an entry, and one row more than
/// whole nodes.
inline Problem Nodes(PetscInt size)
{
  const PetscInt nodes = 70, n = nodes * size + 1;
  Builder        b("nodes_of_" + std::to_string(size) + "_unknowns", n, n);
  for (PetscInt i = 0; i < nodes; ++i)
    for (PetscInt other : {i, i + 1, i + 7})
      for (PetscInt p = 0; p < size; ++p)
        for (PetscInt q = 0; q < size && other < nodes; ++q)
          if ((i + other) % 5 || p != other % size || q != i % size) b.Add(i * size + p, other * size + q);
  return b.Add(n - 1, n - 1);
}

/// Row lengths 1, 2, ..., 200 in an order that puts long beside short.
inline Problem RowLengths()
{
  Builder b("row_lengths_1_to_200", 200, 500);
  for (PetscInt i = 0; i < 200; ++i) b.AddRow(i, (i * 67) % 200 + 1, i % 11);
  return b.Refusing({"dia"});
}

inline Problem OneFullRow(PetscInt n, PetscInt row)
{
  Builder b("one_full_row_" + std::to_string(row) + "_of_" + std::to_string(n), n, n);
  for (PetscInt i = 0; i < n; ++i)
    if (i == row)
      b.AddRow(i, n);
    else
      b.Add(i, i);
  return b.Refusing({"dia", "ell"});
}

/// Row lengths n, n/2, n/3, ...: a power law, with the longest row in the middle.
inline Problem PowerLaw(PetscInt n)
{
  Builder b("power_law_" + std::to_string(n), n, n);
  for (PetscInt i = 0; i < n; ++i) b.AddRow(i, n / (std::abs(i - n / 2) + 1), i % 7);
  return b.Refusing({"dia", "ell"});
}

inline std::vector<Problem> Shapes()
{
  std::vector<Problem> all;
  for (auto shape :
       std::vector<std::pair<PetscInt, PetscInt>>{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {4, 4}, {70, 3}, {3, 70}})
    all.push_back(Builder("empty_" + std::to_string(shape.first) + "x" + std::to_string(shape.second), shape.first,
                          shape.second));
  all.push_back(Builder("one_entry_1x1", 1, 1).Add(0, 0));
  all.push_back(Builder("one_row_1x500", 1, 500).AddRow(0, 250, 3));
  all.push_back(Builder("one_row_1x5000", 1, 5000).AddRow(0, 4500, 3)); // longer than a thread block takes at a time
  all.push_back(Banded("one_column_100x1", 100, 1, {0, -1, -2, -5, -64, -99}));
  all.push_back(Builder("corners_65x65", 65, 65).Add(0, 0).Add(0, 64).Add(64, 0).Add(64, 64));
  all.push_back(WorkedExample());
  for (PetscInt n : {31, 32, 33, 64, 65, 256, 257, 1025}) // round the widths of warps, slices and thread blocks
    all.push_back(Banded("diagonal_" + std::to_string(n), n, n, {0}));
  all.push_back(Banded("tridiagonal_1000", 1000, 1000, {-1, 0, 1}));
  all.push_back(Banded("below_only_100", 100, 100, {-99, -40, -1}));
  all.push_back(Banded("above_only_100", 100, 100, {1, 40, 99}));
  all.push_back(Banded("wide_40x200", 40, 200, {-39, -3, 0, 2, 90, 199}));
  all.push_back(Banded("tall_150x40", 150, 40, {-149, -90, -2, 0, 3, 39}));
  return all;
}

inline std::vector<Problem> Traits()
{
  std::vector<Problem> all;
  Builder              rows("empty_rows_90", 90, 90); // the first, the last, and runs of 1 to 33 between
  for (PetscInt i : {1, 3, 4, 38, 40, 41, 75, 88}) rows.AddRow(i, i % 5 + 1, i);
  all.push_back(rows);
  Builder columns("empty_columns_90", 90, 90);
  for (PetscInt i = 0; i < 90; ++i)
    for (PetscInt j : {1, 2, 44, 88}) columns.Add(i, j);
  all.push_back(columns.Refusing({"dia"}));
  for (PetscInt row : {0, 7, 299}) all.push_back(OneFullRow(300, row));
  Builder column("one_full_column_300", 300, 300);
  for (PetscInt i = 0; i < 300; ++i) {
    column.Add(i, i);
    if (i != 150) column.Add(i, 150);
  }
  all.push_back(column.Refusing({"dia"}));
  Builder unsorted("unsorted_120x110", 120, 110);
  for (PetscInt i = 0; i < 120; ++i) unsorted.AddRow(i, i % 9 + 1, i);
  all.push_back(unsorted.Shuffle().Refusing({"dia"}));
  Builder zeros("explicit_zeros_50", 50, 50); // stored zeros: they take part when x is Inf or NaN, padding does not
  for (PetscInt i = 0; i < 50; ++i) {
    zeros.Add(i, i, i % 3 == 0 ? PetscScalar(0) : Value((unsigned long long)i));
    if (i > 0) zeros.Add(i, i - 1, i % 2 == 0 ? PetscScalar(-0.0) : Value((unsigned long long)(100 + i)));
    if (i == 20) zeros.Add(i, 40, 0);
  }
  all.push_back(zeros);
  Builder last("entries_in_last_row_only", 77, 77);
  all.push_back(last.AddRow(76, 60).Refusing({"dia", "ell"}));
  Builder dense("dense_35x37", 35, 37);
  for (PetscInt i = 0; i < 35; ++i) dense.AddRow(i, 37);
  all.push_back(dense);
  Builder anti("antidiagonal_64", 64, 64);
  for (PetscInt i = 0; i < 64; ++i) anti.Add(i, 63 - i);
  all.push_back(anti.Refusing({"dia"}));
  Builder nodes("nodes_of_1_to_9_rows", 225, 60); // runs of rows of one pattern, longer than any kernel takes together
  for (PetscInt i = 0, run = 0; i < 225; run++)
    for (PetscInt k = 0; k <= run % 9; k++, i++)
      for (PetscInt j = 0; j < run % 7 + 1; j++) nodes.Add(i, (run * 5 + j * j) % 60);
  all.push_back(nodes.Refusing({"dia"}));
  for (PetscInt size = 2; size <= 6; ++size) all.push_back(Nodes(size));
  all.push_back(RowLengths());
  all.push_back(PowerLaw(600));
  all.push_back(Grid("grid_33x31", 33, 31, false));
  return all;
}

inline std::vector<Problem> All()
{
  std::vector<Problem> all = Shapes(), traits = Traits();
  all.insert(all.end(), traits.begin(), traits.end());
  return all;
}

/// Rows that differ, as seen from the diagonal: more than 256 are too many for one byte each, and tables of more than
/// 8192 entries too long.
inline bool TooManyDifferentRows(const Problem &p)
{
  using Row = std::vector<std::pair<PetscInt, std::pair<PetscReal, PetscReal>>>;
  std::vector<Row> rows(p.rows);
  size_t           entries = 0;
  for (const Entry &e : p.entries) rows[e.i].push_back({e.j - e.i, {PetscRealPart(e.v), PetscImaginaryPart(e.v)}});
  for (Row &row : rows) std::sort(row.begin(), row.end());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (const Row &row : rows) entries += row.size();
  return rows.size() > 256 || entries > 8192;
}

/// A bitmap, rows of whole words of 64 bits (of 32 for at most as many columns), of more bytes than all of CSR and more
/// than 8192.
inline bool TooManyBits(const Problem &p)
{
  const double map = (double)p.rows * (p.cols <= 32 ? 4.0 * (p.cols > 0) : 8.0 * (double)((p.cols + 63) / 64));
  const double csr = (double)p.entries.size() * (double)(sizeof(PetscScalar) + sizeof(PetscInt)) +
                     ((double)p.rows + 1) * (double)sizeof(PetscInt);
  return map > csr && map > 8192;
}

/// Do blocks of every size from 2 x 2 to 6 x 6, in slices of 32 block rows as long as their longest, store more than 4
/// times the entries, and more than 8192 in excess?
inline bool TooMuchFillInBlocks(const Problem &p)
{
  for (PetscInt size = 2; size <= 6; ++size) {
    const long long        across = p.cols / size + 1;
    std::vector<long long> blocks;
    std::vector<double>    length((size_t)(p.rows / size / 32 + 1) * 32, 0);
    double                 stored = 0;
    for (const Entry &e : p.entries) blocks.push_back(e.i / size * across + e.j / size);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (long long block : blocks) ++length[(size_t)(block / across)];
    for (size_t slice = 0; slice < length.size(); slice += 32)
      stored += 32.0 * size * size *
                *std::max_element(length.begin() + (std::ptrdiff_t)slice, length.begin() + (std::ptrdiff_t)slice + 32);
    const double entries = (double)p.entries.size();
    if (stored <= 4 * entries || stored <= entries + 8192) return false;
  }
  return true;
}

inline bool Refuses(const Problem &p, const std::string &format)
{
  if (format == "bsr") return TooMuchFillInBlocks(p);
  if (format == "stencil") return TooManyDifferentRows(p);
  if (format == "bitmap") return TooManyBits(p);
  return std::find(p.refusing.begin(), p.refusing.end(), format) != p.refusing.end();
}

} // namespace conformance
