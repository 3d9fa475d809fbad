/// Incomplete factorizations with levels of fill. Entry (r, c) of the factors has the level 0 where the permuted matrix
/// has an entry, else the least level(r, m) + level(m, c) + 1 over m < min(r, c); entries of a level above k are
/// dropped. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, 10.3.3. L has a unit diagonal; the
/// diagonal's place holds the inverse of U's, as in PETSc.
#pragma once

#include "mat/rows/csr_view.hpp"
#include "pc/ilu/names.hpp"
#include "pc/trisolve/schedule.hpp"
#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu::ilu
{

enum class Incomplete {
  LU,       ///< ILU(k)
  Cholesky, ///< ICC(k): the ILU(k) of the matrix that the upper triangle and its mirror image make
  None      ///< the triangles of the matrix themselves: (D + L) D^-1 (D + U), symmetric Gauss-Seidel
};

constexpr PetscInt MOST_LEVELS = 1 << 30; ///< of fill that are told apart, exact in single precision

/// The pattern of ILU(`levels`) of A with rows and columns taken in the order of pattern->row and ->column (filled by
/// the caller), and source[f], the entry of A that entry f of the factors begins with, -1: none. Of a Cholesky
/// factorization only the upper triangle of the permuted matrix is looked at. `add_diagonal`: missing diagonal entries
/// are put in. Errors: PETSC_ERR_ARG_WRONGSTATE naming the row of a missing diagonal entry. O(entries of the factors *
/// row length), on the host.
PetscErrorCode Symbolic_Host(const CsrView &A, Incomplete kind, PetscInt levels, bool add_diagonal,
                             FactorPattern *pattern, std::vector<PetscInt> *source);

/// The factors' pattern on the device. row and column are null where the order is the matrix's own, source where the
/// factors' entries are the matrix's.
struct DevicePattern {
  PetscInt        rows = 0, nonzeros = 0;
  Array<PetscInt> i, j, diagonal, row, column, source;
  bool            permuted = false, identical = false;

  FactorView View() const
  {
    return FactorView{rows,
                      nonzeros,
                      i.data(),
                      j.data(),
                      diagonal.data(),
                      permuted ? row.data() : nullptr,
                      permuted ? column.data() : nullptr,
                      false};
  }
  size_t Bytes() const
  {
    return i.bytes() + j.bytes() + diagonal.bytes() + row.bytes() + column.bytes() + source.bytes();
  }
};
/// The same as Symbolic_Host() without fill, on the device; i [rows + 1] and j [nonzeros] lie there. row, column
/// [rows] in the space `of_order`; null: the matrix's own order. *missing: a row whose diagonal entry is missing, -1:
/// none. Waits.
PetscErrorCode Symbolic_CUDA(PetscInt rows, PetscInt nonzeros, const PetscInt *i, const PetscInt *j, Incomplete kind,
                             const PetscInt *row, const PetscInt *column, DevicePattern *pattern, PetscInt *missing,
                             Stream stream, Space of_order = Space::Host);

/// Puts the entries of the levels 1 to `levels` into a pattern without fill; looks at up to `limit` candidates and one
/// row's at a time, 0: as memory allows. Errors: PETSC_ERR_ARG_OUTOFRANGE if entries are too many for PetscInt.
PetscErrorCode AddFill_CUDA(PetscInt levels, PetscCount limit, DevicePattern *pattern, Stream stream);

/// The treatment of small pivots, from MatFactorShiftType and MatFactorInfo.
struct Pivots {
  PetscReal zero     = 0;     ///< a pivot of at most this magnitude is zero ...
  bool      nan      = false; ///< a NaN is zero, too
  bool      relative = false; ///< ... or this times the sum of its row's other magnitudes
  bool      positive = false; ///< its real part counts
  bool      upper    = false; ///< the row's other magnitudes are those of U only
  PetscReal replace  = 0;     ///< added to zero pivots
  PetscReal shift    = 0;     ///< added to the whole diagonal beforehand
};

/// values [entries of the factors]: A's values in their places, zeros elsewhere -> the factors. *zero_row: the first
/// elimination step whose pivot was zero or NaN, -1: none; *zero_pivot its magnitude.
PetscErrorCode Numeric_Host(const FactorPattern &pattern, Incomplete kind, const Pivots &pivots, Scalar *values,
                            PetscInt *zero_row, PetscReal *zero_pivot);

/// The numeric factorization on the device.
class Numeric
{
public:
  /// The tasks, from the schedule of a solve; without one, rows are taken as they come.
  PetscErrorCode Build(const FactorView &factors, Incomplete kind, Scheduled *schedule, Stream stream);
  /// matrix [entries of the matrix] on the device, source as in DevicePattern, null: entry f of the matrix ->
  /// values [entries of the factors], on the device. *zero_row, *zero_pivot as above. Waits. Errors: PETSC_ERR_GPU if
  /// the factorization got stuck.
  PetscErrorCode Factor(const Scalar *matrix, const PetscInt *source, const Pivots &pivots, long long spins,
                        Scalar *values, PetscInt *zero_row, PetscReal *zero_pivot, Stream stream);
  /// Frees what the next Factor() makes again.
  void   Release() { work_ = Array<Scalar>(); }
  size_t Bytes() const { return order_.bytes() + first_.bytes() + bundle_.bytes() + work_.bytes() + pivot_.bytes(); }

  PetscInt warps = 0; ///< at work at a time; 0: as measured

private:
  PetscErrorCode Bundle(Stream stream);

  FactorView                factors_ = {};
  Incomplete                kind_    = Incomplete::LU;
  int                       lanes_   = 32;            ///< per row
  PetscInt                  tasks_ = 0, bundles_ = 0; ///< no bundles where no row is long
  bool                      ordered_ = false;
  Array<PetscInt>           order_, first_, bundle_;
  Array<Scalar>             work_;   ///< [nonzeros] the matrix's values in the factors' pattern
  Array<PetscReal>          pivot_;  ///< [rows] magnitudes of the pivots as they were met
  Array<unsigned long long> report_; ///< [3] first zero pivot, its magnitude's bits are in pivot_; ticket; stuck
};

} // namespace sparsegpu::ilu
