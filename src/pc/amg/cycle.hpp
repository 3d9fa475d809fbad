/// The cycle of PCMG with its default smoothers, without the passes over vectors that separate solvers need:
/// Chebyshev's method with Jacobi is one update after each product with A, and the first product of a zero guess is
/// left out. It gives what PCMG's cycle gives, but for rounding.
#pragma once

#include "pc/amg/hierarchy.hpp"
#include "pc/amg/krylov.hpp"

namespace sparsegpu::amg
{

extern PetscLogEvent CycleEvent;

class Cycle
{
public:
  Cycle()                         = default;
  Cycle(const Cycle &)            = delete;
  Cycle &operator=(const Cycle &) = delete;
  ~Cycle() { PetscCallAbort(PETSC_COMM_SELF, Clear()); }

  /// After the set-up of PCMG, for its levels. Collective.
  PetscErrorCode SetUp(PC pc, const Hierarchy &hierarchy, const Settings &settings);
  PetscErrorCode Clear();
  /// *reason: why the cycle has to be PCMG's, as it is set up and with the options of now; null: it can be this one.
  PetscErrorCode WhyNot(PC pc, const char **reason) const;
  /// Whether these vectors are of the kind that the levels work on, on all processes.
  PetscErrorCode Takes(Vec b, Vec x, bool *takes) const;
  /// x = B b. Collective.
  PetscErrorCode Apply(PC pc, Vec b, Vec x);

private:
  struct Work {                                       // of PCMG's level l, from the coarsest on
    Mat                            A       = nullptr; ///< referenced; null where the cycle is PCMG's
    Vec                            inverse = nullptr; ///< of the diagonal of A
    Vec                            other   = nullptr; ///< the iterate that x is not
    PetscReal                      emax    = 0;       ///< 0: the bounds of the smoother are not those of the hierarchy
    PetscReal                      begin   = 0; ///< of the part of the spectrum that the smoother reduces, over emax
    std::unique_ptr<FlexibleSteps> steps;       ///< of a K-cycle; null on the finest level and the coarsest
  };

  static PetscErrorCode DestroyWork(Work *work);

  PetscErrorCode SetUpLevel(Work *work, Mat A);
  PetscErrorCode SetUpSteps(const std::vector<Level> &levels, const Settings &settings);
  PetscErrorCode Smooth(const PC_MG_Levels &level, const Work &work, Vec b, Vec x, bool zero);
  PetscErrorCode Visit(PC pc, PetscInt l, Vec b, Vec x, bool zero);
  PetscErrorCode Correct(PC pc, PetscInt l);

  std::vector<Work> works_;
};

} // namespace sparsegpu::amg
