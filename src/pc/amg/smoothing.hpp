/// What smooths on a level of the fused cycle: Chebyshev's method with Jacobi, the sweeps of PCSPARSEGPUSMOOTHER, or
/// Richardson's method with PCSPARSEGPU. It gives what the KSP of PCMG gives, but for rounding.
#pragma once

#include "pc/amg/hierarchy.hpp"
#include "pc/amg/krylov.hpp"

namespace sparsegpu::amg
{

enum class Smoothing {
  Other,     ///< the KSP of PCMG alone
  Chebyshev, ///< with Jacobi, of the first kind
  Sweeps,    ///< Richardson with PCSPARSEGPUSMOOTHER
  Richardson ///< with PCSPARSEGPU
};

/// What the solvers of a level are now, but for what options say of numbers (LevelSmoother).
PetscErrorCode SmoothingOf(const PC_MG_Levels &level, Smoothing *smoothing);

/// Of PCMG's level l, from the coarsest on.
class LevelSmoother
{
public:
  LevelSmoother()                                 = default;
  LevelSmoother(const LevelSmoother &)            = delete;
  LevelSmoother &operator=(const LevelSmoother &) = delete;
  ~LevelSmoother() { PetscCallAbort(PETSC_COMM_SELF, Clear()); }

  /// After the set-up of PCMG. Collective.
  PetscErrorCode SetUp(const PC_MG_Levels &level, const Level &made, const Settings &settings);
  PetscErrorCode Clear();
  /// Smooths x for A x = b by `ksp`, one of the two smoothers of the level; `zero`: x is 0, whatever is in it.
  PetscErrorCode Smooth(const PC_MG_Levels &level, KSP ksp, Vec b, Vec x, bool zero) const;

  Mat       A() const { return A_; } ///< null where the cycle has to be PCMG's
  Vec       like() const { return other_; }
  Vec       inverse() const { return inverse_; } ///< of Chebyshev
  Smoothing smoothing() const { return smoothing_; }
  /// Of Chebyshev's method: the part of the spectrum that it reduces.
  PetscReal begin() const { return begin_ * emax_; }
  PetscReal end() const { return SPECTRUM_END * emax_; }

  std::unique_ptr<FlexibleSteps> steps; ///< of a K-cycle; null on the finest level and the coarsest

private:
  PetscErrorCode Chebyshev(const PC_MG_Levels &level, PetscInt steps, Vec b, Vec x, bool zero) const;
  PetscErrorCode Richardson(const PC_MG_Levels &level, KSP ksp, Vec b, Vec x, bool zero) const;

  Mat       A_       = nullptr; ///< referenced
  Vec       inverse_ = nullptr; ///< of the diagonal of A
  Vec       other_   = nullptr; ///< the iterate that x is not
  PetscReal emax_ = 0, begin_ = 0;
  Smoothing smoothing_ = Smoothing::Other;
};

} // namespace sparsegpu::amg
