/// The coarse tail of a cycle (tail.hpp): of the levels of a PCMG whose unknowns are all on one process, which runs it
/// without the others.
#pragma once

#include "pc/aggregate/source.hpp"
#include "pc/amg/smoothing.hpp"
#include "pc/amg/tail.hpp"

namespace sparsegpu::amg
{

inline PC_MG_Levels **LevelsOf(PC pc)
{
  return static_cast<PC_MG *>(pc->data)->levels;
}

class CoarseTail
{
public:
  /// After the set-up of PCMG and of `smoothers`, for as many levels as have at most settings.tail unknowns. Without
  /// levels where it cannot be. Collective.
  PetscErrorCode SetUp(PC pc, const std::vector<Level> &levels, const std::vector<LevelSmoother> &smoothers,
                       const Settings &settings);
  PetscErrorCode Clear();
  /// PCMG's number of its finest level; 0: there is no tail.
  PetscInt Top() const { return (PetscInt)parts_.size(); }
  /// x ~ A^-1 b of that level; `zero`: x is 0, whatever is in it. *done false: where the vectors lie, or what options
  /// are now, that is left to the levels one by one: the same on all processes. What a program changes of the coarsest
  /// solver that one of several processes has counts from the next SetUp() on. Not collective. Errors, on the process
  /// that has the unknowns: PETSC_ERR_MEM; PETSC_ERR_GPU where the launch is refused, as the others do not wait.
  PetscErrorCode Run(PC pc, Vec b, Vec x, bool zero, bool *done);

private:
  struct Part {                                // of PCMG's level l, 1 first
    Mat              A = nullptr, P = nullptr; ///< referenced, so that a new matrix is never at the place of an old one
    PetscObjectState state[2] = {-1, -1};      ///< of A and P when their arrays were taken

    Part()                        = default;
    Part(const Part &)            = delete;
    Part &operator=(const Part &) = delete;
    ~Part() { PetscCallAbort(PETSC_COMM_SELF, Hold(nullptr, nullptr)); }
    /// Takes the matrices, of which nothing is known yet unless they are the same as before.
    PetscErrorCode Hold(Mat newA, Mat newP);

    aggregate::Source     operator_, interpolation;
    Array<PetscInt>       restriction_i, restriction_j, source; ///< of the transpose of P
    Array<Scalar>         restriction_a;
    Array<PetscInt>       color;
    std::vector<PetscInt> begin; ///< what is in `color`
  };

  PetscErrorCode Extent(PC pc, const std::vector<Level> &levels, const std::vector<LevelSmoother> &smoothers,
                        const Settings &settings, PetscInt *top);
  PetscErrorCode TakeRows(Part *part, TailLevel *level);
  PetscErrorCode TakeRestriction(Part *part);
  PetscErrorCode TakeSmoother(const PC_MG_Levels &mg, const LevelSmoother &smoother, Part *part, TailLevel *level);
  PetscErrorCode TakeSweeps(const PC_MG_Levels &mg, Part *part, TailLevel *level);
  PetscErrorCode TakeCoarsest(PC pc, const Level &coarsest, bool *inverted);
  PetscErrorCode TakeAll(PC pc, const std::vector<Level> &levels, const std::vector<LevelSmoother> &smoothers,
                         bool *taken);
  PetscErrorCode MakeRoom();
  PetscErrorCode TakeNumbers(PC pc, bool *fits);

  std::vector<std::unique_ptr<Part>> parts_;
  Space                              space_    = Space::Host;
  bool                               has_      = false; ///< this process has the unknowns
  bool                               parallel_ = false; ///< there are others
  Array<Scalar>                      solve_;            ///< [coarsest * coarsest]
  Array<Scalar>                      room_;             ///< all vectors of the tail
  Tail                               tail_;
};

/// Whether it is KSPPREONLY with PCLU, of several processes in PCBJACOBI on this one, and nothing looks on. Not
/// collective.
PetscErrorCode IsDirect(KSP ksp, bool *is);
/// The same as far as all processes know: of several ones the block's solver is not looked at.
PetscErrorCode MayBeDirect(KSP ksp, bool *may);
/// The matrix by rows of what the solver of the coarsest level, PETSc's LU, does to a right-hand side, with the null
/// space of A taken out of its result. *inverted false: another solver, or a failed factorization. All unknowns are
/// this process's. Not collective.
PetscErrorCode InverseByFactor(KSP ksp, Mat A, std::vector<PetscScalar> *inverse, bool *inverted);

} // namespace sparsegpu::amg
