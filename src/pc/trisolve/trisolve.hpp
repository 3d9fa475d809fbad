/// Solves L U w = b for the factors of an incomplete factorization, both sweeps in one launch and without any barrier
/// between levels: a row starts as soon as the values it needs are there.
/// The two sweeps are one triangular system of 2 n rows: row r < n is row r of L, row n + r is row r of U, which also
/// needs row r of L. Rows are stored level by level, so that the rows that lie together can run together. Liu, Li,
/// Hogg, Duff, Vinter, "A synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016; here a
/// value is its own flag: the solution is preset to one NaN payload that nothing computes.
#pragma once

#include <vector>
#include "device/buffer.hpp"
#include "device/scalar.hpp"

namespace sparsegpu
{

/// The pattern of incomplete factors, both in one CSR; rows and columns in the order of elimination, columns ascending.
struct FactorPattern {
  PetscInt              rows = 0;
  std::vector<PetscInt> i;        ///< [rows + 1]
  std::vector<PetscInt> j;        ///< [i[rows]] column
  std::vector<PetscInt> diagonal; ///< [rows] where the diagonal lies in j
  std::vector<PetscInt> row;      ///< [rows] the matrix's row that is eliminated r-th
  std::vector<PetscInt> column;   ///< [rows] the matrix's column of elimination step r
};

/// Level of each row of L, then of U, from 0 on; *levels: how many there are of both together. O(nonzeros).
PetscErrorCode FactorLevels(const FactorPattern &pattern, std::vector<PetscInt> *lower, std::vector<PetscInt> *upper,
                            PetscInt *lower_levels, PetscInt *upper_levels);

/// Appends the rows to `order`, by level, each plus `shift`; rows of one level stay in their order. A counting sort.
PetscErrorCode SortByLevel(const std::vector<PetscInt> &level, PetscInt levels, PetscInt shift,
                           std::vector<PetscInt> *order);

/// Rows k = 0, 1, ... of the double system in the order of their levels, which is also the order of its unknowns in
/// memory: what a warp needs lies together. 32 rows a slice, entry e of row k at slice[k / 32] + 32 e + k % 32, so that
/// neighbouring threads read neighbouring entries. Padding has column -1.
struct SweepLayout {
  static constexpr PetscInt SLICE = 32;

  PetscInt        rows;  ///< of one factor; the double system has twice as many
  const PetscInt *slice; ///< [slices + 1] first entry
  const PetscInt *j;     ///< [slice[slices]] unknown it multiplies, -1: none
  const PetscInt *from;  ///< [slice[slices]] where the value lies among the factors', -1: the value is -1
  Scalar         *a;     ///< [slice[slices]] value
  const PetscInt
      *diagonal; ///< [2 rows] where the (inverse) diagonal of U lies among the factors' values; -1 in L's rows
  const PetscInt *outside; ///< [2 rows] entry of the right-hand side (L's rows) or of the solution (U's)
};

/// Scratch and switches of a solve.
struct SweepWork {
  Scalar   *unknowns; ///< [2 rows]
  unsigned *ticket;   ///< [1]
  int      *stuck;    ///< [1] in pinned host memory: set by a solve that waited in vain
  long long spins;    ///< a thread gives up after this many polls without progress
  PetscInt  warps;    ///< at work at a time
};

/// values [factors' nonzeros] -> A.a. Asynchronous.
PetscErrorCode SweepValues_CUDA(const SweepLayout &A, PetscInt entries, const Scalar *values, Stream stream);
/// x = (L U)^-1 b on the device, permuted as the layout says; `values` are the factors'. Asynchronous.
PetscErrorCode Sweep_CUDA(const SweepLayout &A, const Scalar *values, const Scalar *b, Scalar *x, const SweepWork &work,
                          Stream stream);
/// The same on the host, in the natural order, from the factors themselves; `transpose`: x = (L U)^-T b. `w` [rows] is
/// scratch.
PetscErrorCode Sweep_Host(const FactorPattern &pattern, const Scalar *values, const Scalar *b, Scalar *x, Scalar *w,
                          bool transpose);

/// The arrays of a SweepLayout on the device, with the scratch of its solves.
class Sweep
{
public:
  Sweep() = default;
  ~Sweep();
  Sweep(const Sweep &)            = delete;
  Sweep &operator=(const Sweep &) = delete;

  /// Analysis, from FactorLevels(): O(nonzeros) host time. Errors: PETSC_ERR_MEM, naming the bytes asked for and free.
  PetscErrorCode Build(const FactorPattern &pattern, const std::vector<PetscInt> &lower,
                       const std::vector<PetscInt> &upper);
  /// New values, on the device; asynchronous.
  PetscErrorCode SetValues(const Scalar *values, Stream stream);
  /// Asynchronous. Errors: PETSC_ERR_GPU if an earlier solve got stuck.
  PetscErrorCode Solve(const Scalar *b, Scalar *x, Stream stream);
  /// Has any solve given up? Looks without waiting.
  PetscErrorCode CheckStuck();

  long long spins        = 1ll << 24; ///< -mat_sparsegpu_trisolve_spins
  PetscInt  warps        = 0;         ///< -mat_sparsegpu_trisolve_warps; 0: 8 for each multiprocessor
  PetscInt  lower_levels = 0, upper_levels = 0;
  size_t    bytes() const;
  int      *stuck() const { return stuck_; }

private:
  SweepLayout     layout_ = {};
  Array<PetscInt> slice_, j_, from_, diagonal_, outside_;
  Array<Scalar>   a_, unknowns_;
  Array<unsigned> ticket_;
  const Scalar   *values_ = nullptr;
  int            *stuck_  = nullptr;
};

} // namespace sparsegpu
