/// What PCSPARSEGPU was asked for: by -pc_sparsegpu_* and by those of PETSc's -pc_factor_* that apply.
#pragma once

#include <petscpc.h>
#include <string>
#include "pc/blocks/blocks.hpp"
#include "pc/strategy/names.hpp"
#include "pc/strategy/polynomial.hpp"
#include "pc/subdomains/cut.hpp"
#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu::strategy
{

/// -pc_sparsegpu_factor, in the order of FactorNames.
enum class FactorChoice {
  ILU,
  ICC,
  None, ///< the matrix's own triangles
  Blocks,
  LU,
  Cholesky,
  Polynomial ///< no factor: a polynomial in the matrix
};
extern const char *const FactorNames[10]; ///< as PetscOptionsEnum() takes them

struct PcOptions {
  FactorChoice      factor = FactorChoice::ILU;
  MatFactorInfo     info; ///< zeros of diagonal_fill, levels, shifts and zero pivots for the factorization
  bool              shift_is_set = false, engine_is_set = false, subdomains_are_set = false, precision_is_set = false;
  bool              single     = false; ///< incomplete factors are kept in single precision
  bool              check      = false; ///< wait for the end of each solve and tell how it went
  bool              keep_order = false; ///< -pc_factor_reuse_ordering
  Engine            engine     = Engine::Auto;
  Request           subdomains;
  std::string       ordering; ///< empty: by the strategy's rule
  BlockOptions      blocks;
  PolynomialOptions polynomial;

  PcOptions();
  /// Complete or incomplete, with one triangle the mirror image of the other.
  bool Symmetric() const { return factor == FactorChoice::ICC || factor == FactorChoice::Cholesky; }
  bool Incomplete() const { return factor <= FactorChoice::None; }
  /// Between PetscOptionsHeadBegin() and its end. Errors: PETSC_ERR_ARG_OUTOFRANGE naming negative levels, or
  /// subdomains that are no positive number; PETSC_ERR_SUP for subdomains of other than incomplete factors.
  PetscErrorCode Read(PC pc, SparseGPUOptionItems PetscOptionsObject);
  /// Whether a preconditioner that was set up with `before` must be set up again with these.
  bool NeedSetUpAfter(const PcOptions &before) const;

private:
  PetscErrorCode ReadSubdomains(PC pc, SparseGPUOptionItems PetscOptionsObject);
  PetscErrorCode ReadPrecision(PC pc, SparseGPUOptionItems PetscOptionsObject);
  PetscErrorCode ReadOrdering(SparseGPUOptionItems PetscOptionsObject);
  PetscErrorCode ReadFactorInfo(PC pc, SparseGPUOptionItems PetscOptionsObject);
};

} // namespace sparsegpu::strategy
