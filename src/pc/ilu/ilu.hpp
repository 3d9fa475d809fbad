/// Incomplete LU factorization with levels of fill, ILU(k): symbolic on the host, numeric on the host or the device.
/// Entry (r, c) of the factors has the level 0 where the permuted matrix has an entry, else the least level(r, m) +
/// level(m, c) + 1 over m < min(r, c); entries of a level above k are dropped. Saad, "Iterative Methods for Sparse
/// Linear Systems", 2nd edition, 10.3.3. L has a unit diagonal; the diagonal's place holds the inverse of U's, as in
/// PETSc.
#pragma once

#include "mat/csr_view.hpp"
#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu
{

/// The pattern of ILU(`levels`) of A with rows and columns taken in the order of pattern->row and ->column (filled by
/// the caller), and slot[e], where entry e of A goes. `add_diagonal`: missing diagonal entries are put in. Errors:
/// PETSC_ERR_ARG_WRONGSTATE naming the row of a missing diagonal entry. O(entries of the factors * row length).
PetscErrorCode IluSymbolic(const CsrView &A, PetscInt levels, bool add_diagonal, FactorPattern *pattern,
                           std::vector<PetscInt> *slot);

/// What becomes of small pivots, as MatFactorShiftType and MatFactorInfo say.
struct IluPivots {
  PetscReal zero     = 0;     ///< a pivot of at most this magnitude is zero ...
  bool      relative = false; ///< ... or this times the sum of its row's other magnitudes
  bool      positive = false; ///< its real part counts
  PetscReal replace  = 0;     ///< added to zero pivots
  PetscReal shift    = 0;     ///< added to the whole diagonal beforehand
};

/// values [entries of the factors]: A's values in their slots, zeros elsewhere -> the factors. *zero_row: the first
/// elimination step whose pivot was zero, -1: none; *zero_pivot its magnitude.
PetscErrorCode IluNumeric_Host(const FactorPattern &pattern, const IluPivots &pivots, Scalar *values,
                               PetscInt *zero_row, PetscReal *zero_pivot);

struct IluLayout {
  PetscInt        rows;
  const PetscInt *i, *j, *diagonal; ///< FactorPattern's
  const PetscInt *order;            ///< [rows] rows by their level in L
};
struct IluWork {
  int       *done;   ///< [rows]
  unsigned  *ticket; ///< [1]
  PetscReal *pivot;  ///< [rows] magnitudes of the pivots as they were met; zero ones are negative (-magnitude - 1)
  int       *stuck;  ///< [1] as in SweepWork
  long long  spins;
};
/// The same on the device; asynchronous. Zero pivots are told by work.pivot.
PetscErrorCode IluNumeric_CUDA(const IluLayout &A, const IluPivots &pivots, Scalar *values, const IluWork &work,
                               Stream stream);

} // namespace sparsegpu
