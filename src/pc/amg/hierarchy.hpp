/// The levels of smoothed aggregation or of classical multigrid: operators, prolongators, largest eigenvalues. Finest
/// level first. Aggregation: Vanek, Mandel, Brezina, Computing 56, 1996. P = (I - omega / lambda_max D^-1 A) P0.
/// Classical: src/pc/classical. The coarse operator is P^T A P.
#pragma once

#include "pc/amg/coarsening.hpp"
#include "pc/aggregate/lanczos.hpp"
#include "pc/amg/settings.hpp"
#include "pc/classical/classical.hpp"

#include <memory>
#include <string>

namespace sparsegpu::amg
{

/// What each part of a set-up takes, in -log_view.
extern PetscLogEvent AggregateEvent, ProlongatorEvent, GalerkinEvent, SpectrumEvent, ClassicalEvent, ChoiceEvent;

/// The part of the spectrum that smoothers reduce, over the estimate of its end: as KSPCHEBYSHEV's defaults.
constexpr PetscReal SPECTRUM_BEGIN = 0.1, SPECTRUM_END = 1.1;

struct Level {
  Mat                         A        = nullptr; ///< its operator, referenced
  Mat                         P        = nullptr; ///< prolongator from the next coarser level; null on the coarsest
  PetscReal                   emax     = 0;       ///< estimate of the largest eigenvalue of D^-1 A; 0: none
  PetscReal                   begin    = SPECTRUM_BEGIN; ///< of what the smoother reduces, over emax
  PetscInt                    isolated = 0;              ///< nodes of all processes that stay on this level
  PetscInt                    rows = 0, block = 1;
  PetscInt                    processes = 1; ///< that have rows
  PetscLogDouble              nonzeros  = 0;
  std::unique_ptr<Coarsening> coarsening; ///< null on the coarsest
};

class Hierarchy
{
public:
  Hierarchy()                             = default;
  Hierarchy(const Hierarchy &)            = delete;
  Hierarchy &operator=(const Hierarchy &) = delete;
  ~Hierarchy() { PetscCallAbort(PETSC_COMM_SELF, Clear()); }

  /// Anew for the operator `A` of the finest level. Collective.
  PetscErrorCode Build(PC pc, Mat A, const Settings &settings, const Coordinates &coordinates);
  /// New values of `A`, pattern as in Build(): coarse operators and eigenvalues; prolongators, too, from the same
  /// aggregates, unless settings.reuse_interpolation. Collective.
  PetscErrorCode Refresh(PC pc, Mat A, const Settings &settings);
  PetscErrorCode Clear();

  /// Whether Refresh() serves for the matrix: sizes and the number of nonzeros are as they were, and so is the near
  /// null space attached to it. Collective.
  PetscErrorCode FitsPattern(Mat A, const Settings &settings, bool *fits) const;

  const std::vector<Level> &Levels() const { return levels_; }
  const std::string        &WhyStopped() const { return stopped_; }
  bool                      IsClassical() const { return classical_; }
  /// Whether levels are restricted by P^H instead of P^T: of Hermitian matrices whose values are not real.
  bool Conjugates() const { return conjugates_; }
  /// Why `auto` took this type; empty: it was set.
  const std::string &WhyType() const { return why_type_; }
  /// Whether the finest operator, coarsened classically, is one of convection that ILU is a good smoother for.
  bool TakesILU() const { return takes_ilu_; }
  /// Of classical multigrid: the complexity that was foreseen with a level that was left out for it; 0: none was.
  PetscReal ComplexityAvoided() const { return avoided_; }
  /// Nonzeros of all levels over those of the finest one; the same of unknowns.
  PetscReal OperatorComplexity() const;
  PetscReal GridComplexity() const;

private:
  PetscErrorCode Choose(PC pc, Mat A, const Settings &settings);
  PetscErrorCode AddLevel(Mat A);
  PetscErrorCode FindTails(Mat A, const Settings &settings);
  bool           IsCoarsest(const Settings &settings, PetscInt unknowns) const;
  bool           IsOnOne(const Settings &settings, PetscInt unknowns) const;
  PetscErrorCode Coarsen(PC pc, const Settings &settings, NearNullSpace *space, bool *more);
  void           StopReason(const Settings &settings, PetscInt vectors, bool *stop);
  PetscErrorCode KeepNullSpace(Mat A, PetscInt columns, const NearNullSpace &coarsest);
  PetscErrorCode SetCoarsestNullSpace(std::vector<Vec> *vectors);
  PetscErrorCode BuildClassical(PC pc, Mat A, const Settings &settings);
  PetscErrorCode CoarsenClassical(PC pc, const Settings &settings, classical::Options *options,
                                  classical::Fields *fields, bool *more);
  PetscErrorCode Look(PC pc, Mat A, const Settings &settings, PetscReal asymmetry);
  PetscErrorCode LeaveOut(const Settings &settings, const classical::Options &options);
  PetscErrorCode RestrictNullSpace(Mat A);

  std::vector<Level> levels_;
  std::string        stopped_; ///< why the coarsest level is the coarsest
  std::string        why_type_;
  PetscObjectId      near_null_space_  = 0; ///< of the MatNullSpace that was attached; 0: none
  bool               keeps_aggregates_ = false;
  bool               classical_        = false;
  bool               conjugates_       = false;
  bool               takes_ilu_        = false;
  bool               tails_            = false; ///< levels of at most settings.tail unknowns may be a coarse tail
  PetscReal          avoided_          = 0;
  /// From the first set-up for new values on, so that the next ones ask for no memory of the device.
  std::unique_ptr<LanczosVectors> room_;
};

/// *coarse = P^T A P or, if `conjugates`, P^H A P, which is not reused; where products of A run; without empty rows,
/// which `coarsening` knows and classical interpolation, of which that is null, does not make. Collective.
PetscErrorCode CoarseOperator(const Coarsening *coarsening, Mat A, Mat P, bool conjugates, MatReuse reuse, Mat *coarse);
/// The largest eigenvalue of D^-1 A, as EstimateLargestEigenvalue() has it, or that of the solver with the prefix
/// "pc_sparsegpuamg_esteig_" if an option asks for one; 0 if there is none to be found (A = 0). Collective.
PetscErrorCode LargestEigenvalue(PC pc, Mat A, PetscReal *emax, LanczosVectors *room = nullptr);
} // namespace sparsegpu::amg
