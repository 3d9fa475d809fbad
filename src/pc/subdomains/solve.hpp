/// Solves with the factors of a matrix without couplings between subdomains. A subdomain is one worker's: on the host a
/// thread's, on the device one thread block's, which holds the subdomain's unknowns in shared memory and goes through
/// the levels of L and of U with a barrier of the block after each. No block waits for another.
#pragma once

#include "pc/subdomains/cut.hpp"
#include "pc/trisolve/kept.hpp"
#include "pc/trisolve/schedule.hpp"

namespace sparsegpu::subdomains
{

/// In parallel by Kokkos; each row is summed up as Solve_Host() does, so the solution has the same bits.
class HostSubdomains : public Trisolve
{
public:
  /// begin [subdomains + 1]: first rows of the factors.
  explicit HostSubdomains(std::vector<PetscInt> begin) : begin_(std::move(begin)) {}
  PetscErrorCode    Analyse(const FactorView &factors, Stream) override;
  PetscErrorCode    SetValues(const Scalar *values, Stream) override;
  PetscErrorCode    Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream) override;
  const KeptValues *Kept() const override { return &values_; }
  size_t            Bytes() const override
  {
    return begin_.size() * sizeof(PetscInt) + values_.Bytes() + unknowns_.size() * sizeof(Scalar);
  }

private:
  std::vector<PetscInt> begin_;
  FactorView            factors_ = {};
  KeptValues            values_;
  std::vector<Scalar>   unknowns_; ///< [rows]
};

/// The factors' off-diagonal entries in the order in which they are used: subdomain after subdomain, first L, then U,
/// each level by level. Position p is a row of L or of U; 2 rows of them in all.
struct SubdomainLayout {
  PetscInt              subdomains, rows;
  const PetscInt       *begin;  ///< [subdomains + 1] first row
  const PetscInt       *half;   ///< [2 subdomains + 1] first level of L and of U of each subdomain
  const PetscInt       *level;  ///< [half[2 subdomains] + 1] first position
  const PetscInt       *first;  ///< [2 rows + 1] first entry of a position
  const unsigned short *local;  ///< [2 rows] row of the subdomain
  const unsigned short *j;      ///< [first[2 rows]] column, as a row of the subdomain
  const PetscInt       *from;   ///< [first[2 rows]] where the value lies among the factors'
  const PetscInt       *pivot;  ///< [2 rows] where the diagonal lies among the factors' values
  Scalar               *a;      ///< [first[2 rows]], null: in single precision
  SingleScalar         *single; ///< [first[2 rows]] instead
  Scalar               *scale;  ///< [2 rows] inverse of the diagonal, for the half that carries it
  const PetscInt       *row;    ///< [rows] as in FactorView
  const PetscInt       *column; ///< [rows] as in FactorView
  bool                  lower_diagonal;
};

class DeviceSubdomains : public Scheduled
{
public:
  /// begin [subdomains + 1]: first rows of the factors.
  explicit DeviceSubdomains(std::vector<PetscInt> begin) : host_begin_(std::move(begin)) {}
  /// Whether a subdomain of so many rows fits a thread block.
  static PetscErrorCode Fits(PetscInt rows, bool *fits);

  PetscErrorCode Analyse(const FactorView &factors, Stream stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream) override;
  size_t         Bytes() const override;
  PetscErrorCode LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order, Array<PetscInt> *first,
                            PetscInt *tasks, Stream stream) override;

private:
  PetscErrorCode FinishLayout(const FactorView &factors);
  PetscErrorCode ChooseLaunch();

  std::vector<PetscInt> host_begin_;
  PetscInt              largest_ = 0, entries_ = 0, levels_ = 0; ///< rows; off-diagonal entries; of all subdomains
  int                   lanes_ = 1, threads_ = 32;               ///< of a row; of a block
  Schedule              schedule_;
  SubdomainLayout       layout_ = {};
  DeviceMemory          scratch_;
  Array<PetscInt>       begin_, half_, level_, first_, from_, pivot_;
  Array<unsigned short> local_, j_;
  Array<Scalar>         a_, scale_;
  Array<SingleScalar>   single_;
};

} // namespace sparsegpu::subdomains
