/// The loop over levels of classical multigrid.
#include "mat/face/pattern.hpp"
#include "pc/amg/hierarchy.hpp"
#include "pc/classical/kinds.hpp"

namespace sparsegpu::amg
{

namespace
{
/// As for aggregation; PMIS leaves at most half of the unknowns of most problems.
constexpr PetscReal STAGNATION = 0.8;
/// The smoother leaves what coarse levels represent, which are larger than those of aggregation: Chebyshev's method
/// takes what is above this part of the spectrum, as hypre's does.
constexpr PetscReal SMOOTHED_FROM = 0.3;
/// In lines of strong couplings a regular pattern has every second unknown, and operators more entries than convergence
/// is better. Where the next level is left out it is better by more, and these entries are none.
constexpr PetscReal MOST_REGULAR = 0.48;
/// Mean of |a_ij - a_ji| over |a_ij| + |a_ji|, of strong couplings, from which convection dominates: three times as
/// strong downwind as upwind.
constexpr PetscReal CONVECTIVE = 0.5;
/// Rows at most that have strong couplings of a sign that M-matrices do not have.
constexpr PetscReal NOT_M = 0.01;
/// Rows of each process from which factors of their own are nearly as good as one of all.
constexpr PetscInt LEAST_ROWS = 2500;
/// A geometric series of the levels foresees more than there will be.
constexpr PetscReal FORESEEN = 1.05;

PetscErrorCode KnownSymmetry(Mat A, classical::Symmetry *symmetry)
{
  PetscBool set, is;

  PetscFunctionBegin;
  *symmetry = classical::Symmetry::Unknown;
  PetscCall(MatIsHermitianKnown(A, &set, &is));
  if (set && is) *symmetry = classical::Symmetry::Hermitian;
  PetscCall(MatIsSymmetricKnown(A, &set, &is));
  if (set && is) *symmetry = classical::Symmetry::Symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Interpolate(Mat A, const classical::Options &options, const classical::Fields &fields,
                           classical::CoarseLevel *coarse)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(ClassicalEvent, 0, 0, 0, 0));
  PetscCall(classical::Coarsen(A, options, fields, coarse));
  PetscCall(PetscLogEventEnd(ClassicalEvent, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The interpolated unknowns, and what is known of them, go to the processes that are to have them.
PetscErrorCode Gather(const Settings &settings, bool one, classical::CoarseLevel *coarse)
{
  Gathering             gathering;
  PetscInt              mine;
  std::vector<PetscInt> fields;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(coarse->P, nullptr, &mine));
  PetscCall(gathering.Plan(PetscObjectComm((PetscObject)coarse->P), mine, settings.process_eq_limit, one));
  PetscCall(gathering.MoveColumns(&coarse->P));
  if (!gathering.moves() || coarse->fields.count == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(fields.resize(coarse->fields.of.size()));
  PetscCall(coarse->fields.of.ToHost(fields.data()));
  PetscCall(gathering.Move(1, &fields));
  const Space space = coarse->fields.of.space();
  PetscCall(coarse->fields.of.Take(std::move(fields), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// first = first second, and the coarse operator of that. `second` and the old operator are destroyed.
PetscErrorCode Join(Mat A, const classical::Options &options, bool conjugates, Mat *first, Mat *second, Mat *coarse)
{
  Mat P;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(ClassicalEvent, 0, 0, 0, 0));
  PetscCall(classical::Skip(*first, *second, options, &P));
  PetscCall(PetscLogEventEnd(ClassicalEvent, 0, 0, 0, 0));
  for (Mat *M : {first, second, coarse}) PetscCall(MatDestroy(M));
  *first = P;
  PetscCall(CoarseOperator(nullptr, A, P, conjugates, MAT_INITIAL_MATRIX, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// ILU solves along the wind, where Chebyshev's polynomials of few steps do not. It exists for M-matrices and is a
/// regular splitting of them (Meijerink & van der Vorst, Math. Comp. 31, 1977); of others it may diverge. Two
/// triangular solves cost as much as a product on a host, and many times that on a device.
PetscErrorCode Hierarchy::Look(PC pc, Mat A, const Settings &settings, PetscReal asymmetry)
{
  classical::KindCounts counts;
  Space                 space;
  Mat                   D;
  PetscBool             given;

  PetscFunctionBegin;
  if (settings.finest_smoother != Settings::Smoother::Auto || !(asymmetry > CONVECTIVE))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *option : {"-mg_levels_ksp_type", "-mg_levels_pc_type", "-mg_levels_ksp_max_it"}) { // for others
    PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, option, &given));
    if (given) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DiagonalBlock(A, &D));
  PetscCall(WorkSpace(D, &space));
  PetscInt device = space == Space::Device;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &device, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  if (device || (levels_[0].processes > 1 && levels_[0].rows / levels_[0].processes < LEAST_ROWS))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(classical::CountKinds(A, false, &counts));
  takes_ilu_ = counts.Share(classical::Kind::Unfit) + counts.Share(classical::Kind::Opposed) <= NOT_M;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The finest level's next one is left out where the operator complexity would be far above the limit.
PetscErrorCode Hierarchy::LeaveOut(const Settings &settings, const classical::Options &options)
{
  PetscFunctionBegin;
  if (settings.complexity == 0 || settings.aggressive_asked || levels_.size() != 3) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal second   = (PetscReal)(levels_[1].nonzeros / levels_[0].nonzeros);
  const PetscReal third    = (PetscReal)(levels_[2].nonzeros / levels_[0].nonzeros);
  const PetscReal foreseen = 1 + second + third / (1 - PetscMin(third / second, (PetscReal)0.9));
  if (1 + second + third <= settings.complexity && foreseen <= FORESEEN * settings.complexity)
    PetscFunctionReturn(PETSC_SUCCESS);
  avoided_   = foreseen;
  Mat coarse = levels_[2].A;
  PetscCall(MatDestroy(&levels_[1].A));
  PetscCall(Join(levels_[0].A, options, conjugates_, &levels_[0].P, &levels_[1].P, &coarse));
  levels_.resize(1);
  PetscCall(AddLevel(coarse));
  PetscCall(MatDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::CoarsenClassical(PC pc, const Settings &settings, classical::Options *options,
                                           classical::Fields *fields, bool *more)
{
  const face::PatternsStayAway stay;
  Level                       *fine = &levels_.back();
  classical::CoarseLevel       first, second;
  Mat                          coarse;

  PetscFunctionBegin;
  *more                 = false;
  const bool twice      = settings.aggressive_asked && (PetscInt)levels_.size() <= settings.aggressive;
  options->most_regular = twice ? 1 : MOST_REGULAR;
  PetscCall(Interpolate(fine->A, *options, *fields, &first));
  if (!first.P) {
    stopped_ = first.unknowns == 0
                   ? "no unknown depends strongly on another"
                   : "coarsening stagnates: the next level would have " + std::to_string(first.unknowns) + " unknowns";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!PetscDefined(USE_COMPLEX) && first.asymmetry == 0) options->symmetry = classical::Symmetry::Symmetric;
  if (levels_.size() == 1) PetscCall(Look(pc, fine->A, settings, first.asymmetry));
  PetscCall(Gather(settings, IsOnOne(settings, first.unknowns), &first));
  PetscCall(CoarseOperator(nullptr, fine->A, first.P, conjugates_, MAT_INITIAL_MATRIX, &coarse));
  if (twice) PetscCall(Interpolate(coarse, *options, first.fields, &second));
  if (second.P) PetscCall(Gather(settings, IsOnOne(settings, second.unknowns), &second));
  *fields = std::move(second.P ? second.fields : first.fields);
  if (second.P) PetscCall(Join(fine->A, *options, conjugates_, &first.P, &second.P, &coarse));
  fine->P        = first.P;
  fine->isolated = first.isolated;
  fine->begin    = SMOOTHED_FROM;
  PetscCall(LargestEigenvalue(pc, fine->A, &fine->emax));
  PetscCall(AddLevel(coarse));
  PetscCall(MatDestroy(&coarse));
  PetscCall(LeaveOut(settings, *options));
  *more = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::BuildClassical(PC pc, Mat A, const Settings &settings)
{
  classical::Options options;
  classical::Fields  fields;
  bool               stop, more = true;

  PetscFunctionBegin;
  options.threshold    = settings.strong_threshold;
  options.max_row_sum  = settings.max_row_sum;
  options.max_elements = settings.max_elements;
  options.truncation   = settings.truncation;
  options.stagnation   = STAGNATION;
  PetscCall(KnownSymmetry(A, &options.symmetry));
  PetscCall(MatGetBlockSize(A, &fields.count));
  PetscCall(AddLevel(A));
  while (more) {
    StopReason(settings, 1, &stop);
    if (stop) break;
    PetscCall(CoarsenClassical(pc, settings, &options, &fields, &more));
  }
  PetscCall(RestrictNullSpace(A));
  PetscCall(PetscInfo(pc, "%d levels, operator complexity %g; coarsening ended: %s\n", (int)levels_.size(),
                      (double)OperatorComplexity(), stopped_.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
