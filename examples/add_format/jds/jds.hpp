/// Jagged diagonals: rows sorted by falling length; their first entries lie one after the other, then all second ones,
/// and so on. Entry k of the row at place p is at start[k] + p; a place has an entry k where p < start[k + 1] -
/// start[k]. No padding at all, and neighbouring threads read neighbouring entries. Saad, "Krylov subspace methods on
/// supercomputers", SIAM J. Sci. Stat. Comput. 10(6), 1989.
#pragma once

#include "mat/formats/plan.hpp"

namespace sparsegpu::formats
{

struct JdsLayout {
  PetscInt        rows, diagonals; ///< jagged ones: entries of the longest row
  const PetscInt *row;             ///< [rows] row at each place
  const PetscInt *start;           ///< [diagonals + 1] first entry of each jagged diagonal
  const PetscInt *j;               ///< [start[diagonals]] column
  const Scalar   *a;               ///< [start[diagonals]] value
};

/// z = A x + y; y null or z allowed.
PetscErrorCode JdsMult_Kokkos(const JdsLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode JdsMult_CUDA(const JdsLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);

struct JdsOptions : OptionsOf<JdsOptions> {
  PetscInt longest = 0; ///< -mat_sparsegpu_jds_longest: refuses longer rows, which one thread walks; 0: none

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

class JdsPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
};

class Jds : public Format
{
public:
  const char           *Name() const override { return "jds"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<JdsPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  /// With the values where they are now.
  JdsLayout Layout() const
  {
    JdsLayout layout = layout_;
    layout.a         = values();
    return layout;
  }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  JdsLayout             layout_ = {};
  std::vector<PetscInt> rows_by_length_, starts_; ///< row and start, on the host
  Array<PetscInt>       row_, start_, j_;
};

} // namespace sparsegpu::formats
