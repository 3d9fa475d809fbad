/// The cycle of PCMG with smoothers of ours, without the passes over vectors that separate solvers need: updates are
/// joined, and the first product of a zero guess is left out. It gives what PCMG's cycle gives, but for rounding.
#pragma once

#include "pc/amg/coarse_tail.hpp"
#include "pc/amg/hierarchy.hpp"
#include "pc/amg/smoothing.hpp"

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
  /// PCMG's number of the finest level of the coarse tail; 0: there is none.
  PetscInt TailTop() const { return tail_.Top(); }
  /// x = B b, wherever they are: vectors of another type than those of the levels are copied. Collective.
  PetscErrorCode Apply(PC pc, Vec b, Vec x);

private:
  PetscErrorCode SetUpSteps(const std::vector<Level> &levels, const Settings &settings);
  PetscErrorCode Takes(Vec b, Vec x, bool *takes) const;
  PetscErrorCode MakeRoom();
  PetscErrorCode Visit(PC pc, PetscInt l, Vec b, Vec x, bool zero);
  PetscErrorCode Correct(PC pc, PetscInt l);

  std::vector<LevelSmoother> works_; ///< of PCMG's levels, from the coarsest on; that has none
  CoarseTail                 tail_;
  Vec                        room_[2] = {}; ///< right-hand side and result where those given are of another type
};

} // namespace sparsegpu::amg
