/// The options of PCSPARSEGPUAMG, named as PCGAMG's where they mean the same.
#pragma once

#include <petsc/private/pcmgimpl.h>
#include <array>
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

constexpr PetscInt MAX_LEVELS = PETSC_MG_MAXLEVELS;
/// A coarsest level that coarsening left larger than this is smoothed, not factored: LU of 3-D problems takes some
/// rows^2 operations.
constexpr PetscInt DIRECT_LIMIT = 20000;
/// One of a coarse tail, whose inverse is made: n^3 operations of one core are some milliseconds.
constexpr PetscInt TAIL_COARSEST = 200;
constexpr PetscInt MAX_SMOOTHS   = 100; ///< by far more than are of use: each makes the prolongator denser
constexpr PetscInt MAX_VISITS    = 100; ///< the same: those of several levels multiply

struct Settings {
  enum class Type {
    Auto, ///< ChooseType()
    Aggregation,
    Classical
  };
  enum class CycleType {
    Multigrid, ///< as -pc_mg_cycle_type says
    V,
    W,
    K
  };
  enum class Smoother {
    Chebyshev, ///< with Jacobi
    L1Jacobi,
    GaussSeidel,          ///< forward before the coarse correction, backward after it
    SymmetricGaussSeidel, ///< both before and after
    ILU,
    Auto, ///< of the finest level: ILU for convection on a host, else as on the others
    Same  ///< the same: as on the others
  };
  enum class Precision {
    Full,
    Single ///< products of the cycle read operators and prolongators so
  };
  Type      type                = Type::Auto;
  Precision precision           = Precision::Full;
  Smoother  smoother            = Smoother::Chebyshev;
  Smoother  finest_smoother     = Smoother::Auto;
  CycleType cycle               = CycleType::Multigrid;
  PetscInt  levels              = MAX_LEVELS;  ///< at most, the finest one included
  PetscInt  coarse_eq_limit     = 50;          ///< a level of at most so many unknowns is the coarsest
  PetscInt  process_eq_limit    = 1000;        ///< unknowns of a coarse level for each process at least; 0: no matter
  PetscInt  nsmooths            = 1;           ///< steps of damped Jacobi that smooth the prolongator
  PetscInt  aggressive          = 1;           ///< finest levels whose next one is much smaller, see the manual page
  bool      aggressive_asked    = false;       ///< by an option; else classical multigrid decides
  PetscReal threshold_scale     = 1;           ///< of the threshold, from a level to the next coarser one
  bool      reuse_interpolation = true;        ///< for new values in the old pattern
  bool      filter              = true;        ///< weak couplings do not smooth the prolongator either
  bool      fused_cycle         = true;        ///< Cycle where it can be
  PetscInt  tail                = 4096;        ///< unknowns of levels that are the coarse tail; 0: none
  bool      tail_asked          = false;       ///< by an option; else on a device only
  bool      use_sa_esteig       = true;        ///< the smoothers take the bounds of the prolongator's smoothing
  bool      visits_asked        = false;       ///< by an option; else as the kind of cycle has them
  std::array<PetscInt, MAX_LEVELS>  visits;    ///< [level, finest first] of the next coarser level, for each of its own
  std::array<PetscReal, MAX_LEVELS> threshold; ///< [level, finest first] weaker couplings are dropped; < 0: none
  // of classical multigrid, see classical::Options
  PetscReal strong_threshold = 0.25;
  PetscReal max_row_sum      = 0.9;
  PetscReal truncation       = 0.2;
  PetscReal complexity       = 2.5; ///< a level that would raise the operator complexity far above is left out; 0: none
  PetscInt  max_elements     = 4;

  /// 0.01 leaves all couplings of isotropic problems of second order strong, and makes aggregates follow those that are
  /// a hundred times stronger than others.
  Settings()
  {
    visits.fill(1);
    threshold.fill(0.01);
  }

  /// Within PetscOptionsHeadBegin(). Errors: PETSC_ERR_ARG_OUTOFRANGE naming the value met and those allowed; the
  /// settings then stay as they were.
  PetscErrorCode Read(PC pc, SparseGPUOptionItems PetscOptionsObject);
  bool           InSingle() const { return precision == Precision::Single; }
  /// Of the standard cycle of classical multigrid: the second level visits the third one twice, which saves iterations
  /// where interpolation is weak for a fraction of a W-cycle's work.
  static std::array<PetscInt, MAX_LEVELS> ClassicalVisits()
  {
    std::array<PetscInt, MAX_LEVELS> v;
    v.fill(1);
    v[1] = 2;
    return v;
  }
  /// Whether levels of at most `tail` unknowns, where they may be a coarse tail, are one but for the finest of them.
  bool MakesTails() const
  {
    return fused_cycle && tail > 0 && smoother != Smoother::ILU && cycle != CycleType::K &&
           coarse_eq_limit <= TAIL_COARSEST;
  }
  /// A coarsest level of at most so many unknowns is solved directly.
  PetscInt DirectLimit() const { return PetscMax(DIRECT_LIMIT, coarse_eq_limit); }
  /// Whether a hierarchy made with `other` differs from one made with these.
  bool SameHierarchy(const Settings &other) const;
};

/// Errors: PETSC_ERR_ARG_OUTOFRANGE naming the option where there cannot be so many levels.
PetscErrorCode CheckLevels(PC pc, const char option[], PetscInt levels);

} // namespace sparsegpu::amg
