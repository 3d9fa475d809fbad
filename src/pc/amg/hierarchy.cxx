/// The loop over levels, when it ends, and what new values change.
#include "pc/amg/hierarchy.hpp"
#include <petsc/private/matimpl.h>
#include "mat/face/pattern.hpp"
#include "mat/face/pieces.hpp"
#include "pc/amg/choice.hpp"
#include "pc/amg/galerkin.hpp"
#include "pc/amg/krylov.hpp"

namespace sparsegpu::amg
{

PetscLogEvent AggregateEvent, ProlongatorEvent, GalerkinEvent, SpectrumEvent, ClassicalEvent, ChoiceEvent;

namespace
{
/// Coarsening that leaves more than this part of the unknowns costs more in cycles than another level saves.
constexpr PetscReal STAGNATION = 0.8;

PetscErrorCode NearNullSpaceId(Mat A, PetscObjectId *id)
{
  MatNullSpace near;

  PetscFunctionBegin;
  *id = 0;
  PetscCall(MatGetNearNullSpace(A, &near));
  if (near) PetscCall(PetscObjectGetId((PetscObject)near, id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Nonzeros(Mat A, PetscLogDouble *nonzeros)
{
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  *nonzeros = info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CoarseOperator(const Coarsening *coarsening, Mat A, Mat P, bool conjugates, MatReuse reuse, Mat *coarse)
{
  bool host;
  Mat  R;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(GalerkinEvent, 0, 0, 0, 0));
  PetscCall(TakesGalerkinOnHost(A, P, &host));
  if (conjugates) {
    PetscCall(MatHermitianTranspose(P, MAT_INITIAL_MATRIX, &R));
    PetscCall(MatMatMatMult(R, A, P, reuse, PETSC_DEFAULT, coarse));
    PetscCall(MatDestroy(&R));
    PetscCall(MatSetOption(*coarse, MAT_HERMITIAN, PETSC_TRUE));
  } else if (host)
    PetscCall(GalerkinOnHost(A, P, reuse, coarse));
  else
    PetscCall(MatPtAP(A, P, reuse, 2, coarse));
  if (coarsening) PetscCall(coarsening->Activate(*coarse));
  PetscCall(PetscLogEventEnd(GalerkinEvent, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::Clear()
{
  PetscFunctionBegin;
  for (Level &l : levels_)
    for (Mat *M : {&l.A, &l.P}) PetscCall(MatDestroy(M));
  levels_.clear();
  stopped_.clear();
  why_type_.clear();
  near_null_space_ = 0;
  avoided_         = 0;
  takes_ilu_       = false;
  room_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::AddLevel(Mat A)
{
  Level    level;
  PetscInt mine;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &level.rows, nullptr));
  PetscCall(MatGetLocalSize(A, &mine, nullptr));
  mine = mine > 0;
  PetscCallMPI(MPI_Allreduce(&mine, &level.processes, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(MatGetBlockSize(A, &level.block));
  PetscCall(Nonzeros(A, &level.nonzeros));
  level.A = A;
  PetscCallCXX(levels_.push_back(std::move(level)));
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the level after the last one, of so many unknowns, will be the coarsest, and is solved directly.
bool Hierarchy::IsCoarsest(const Settings &settings, PetscInt unknowns) const
{
  const bool last = unknowns <= settings.coarse_eq_limit || (PetscInt)levels_.size() + 1 == settings.levels;
  return last && unknowns <= settings.DirectLimit();
}

/// Whether one process is to have all unknowns of the level after the last one: the coarse tail is faster than levels
/// whose processes wait for each other.
bool Hierarchy::IsOnOne(const Settings &settings, PetscInt unknowns) const
{
  return IsCoarsest(settings, unknowns) || (tails_ && unknowns <= settings.tail);
}

/// Whether levels may be a coarse tail, as far as settings tell. Collective.
PetscErrorCode Hierarchy::FindTails(Mat A, const Settings &settings)
{
  Mat   own;
  Space space;

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(A, &own));
  PetscCall(WorkSpace(own, &space));
  const bool there = space == Space::Device || settings.tail_asked;
  PetscCall(face::AllAgree(PetscObjectComm((PetscObject)A), there && settings.MakesTails(), &tails_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Hierarchy::StopReason(const Settings &settings, PetscInt vectors, bool *stop)
{
  const Level &last = levels_.back();

  *stop = true;
  if (last.rows <= settings.coarse_eq_limit)
    stopped_ = "not more unknowns than -pc_sparsegpuamg_coarse_eq_limit " + std::to_string(settings.coarse_eq_limit);
  else if ((PetscInt)levels_.size() == settings.levels)
    stopped_ = "-pc_sparsegpuamg_levels " + std::to_string(settings.levels) + " reached";
  else if (last.rows <= vectors)
    stopped_ = classical_ ? "one unknown is left" : "one aggregate is left";
  else
    *stop = false;
}

/// Makes the next level, or says why there is none.
PetscErrorCode Hierarchy::Coarsen(PC pc, const Settings &settings, NearNullSpace *space, bool *more)
{
  const face::PatternsStayAway stay;
  Level                       *fine = &levels_.back();
  std::unique_ptr<Coarsening>  coarsening;
  Mat                          coarse;
  PetscInt                     block;
  bool                         replaced;

  PetscFunctionBegin;
  *more = false;
  PetscCallCXX(coarsening = std::make_unique<Coarsening>());
  PetscCall(PetscLogEventBegin(AggregateEvent, 0, 0, 0, 0));
  const PetscInt level = (PetscInt)levels_.size() - 1;
  PetscCall(coarsening->Aggregate(fine->A, settings.threshold[level], level < settings.aggressive ? 2 : 1, *space));
  PetscCall(PetscLogEventEnd(AggregateEvent, 0, 0, 0, 0));
  const PetscInt columns = coarsening->Columns();
  if (columns == 0 || (PetscReal)columns > STAGNATION * (PetscReal)fine->rows) {
    stopped_ = columns == 0
                   ? "no unknown is coupled to another"
                   : "coarsening stagnates: the next level would have " + std::to_string(columns) + " unknowns";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(
      coarsening->Gather(PetscObjectComm((PetscObject)fine->A), settings.process_eq_limit, IsOnOne(settings, columns)));
  PetscCall(coarsening->Take(space));
  PetscCall(LargestEigenvalue(pc, fine->A, &fine->emax));
  PetscCall(PetscLogEventBegin(ProlongatorEvent, 0, 0, 0, 0));
  PetscCall(coarsening->Prolong(fine->A, fine->emax, settings.nsmooths, settings.filter, &fine->P, &replaced));
  PetscCall(PetscLogEventEnd(ProlongatorEvent, 0, 0, 0, 0));
  PetscCall(CoarseOperator(coarsening.get(), fine->A, fine->P, conjugates_, MAT_INITIAL_MATRIX, &coarse));
  fine->isolated = coarsening->Isolated();
  if (!keeps_aggregates_) coarsening->Release();
  fine->coarsening = std::move(coarsening);
  PetscCall(MatGetBlockSize(coarse, &block));
  if (block != space->columns) PetscCall(MatSetBlockSize(coarse, space->columns));
  PetscCall(AddLevel(coarse));
  PetscCall(MatDestroy(&coarse));
  *more = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::Choose(PC pc, Mat A, const Settings &settings)
{
  TypeChoice choice;

  PetscFunctionBegin;
  PetscCall(NeedsConjugates(A, &conjugates_));
  classical_ = settings.type == Settings::Type::Classical;
  if (settings.type != Settings::Type::Auto) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(ChoiceEvent, 0, 0, 0, 0));
  PetscCall(ChooseType(A, settings, &choice));
  PetscCall(PetscLogEventEnd(ChoiceEvent, 0, 0, 0, 0));
  classical_ = choice.classical;
  why_type_  = std::move(choice.reason);
  PetscCall(PetscInfo(pc, "type: %s (chosen: %s)\n", classical_ ? "classical" : "aggregation", why_type_.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::Build(PC pc, Mat A, const Settings &settings, const Coordinates &coordinates)
{
  NearNullSpace space;
  bool          stop, more = true;

  PetscFunctionBegin;
  PetscCall(Clear());
  PetscCall(NearNullSpaceId(A, &near_null_space_));
  PetscCall(Choose(pc, A, settings));
  PetscCall(FindTails(A, settings));
  if (classical_) {
    PetscCall(BuildClassical(pc, A, settings));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetNearNullSpace(A, coordinates, &space));
  keeps_aggregates_      = !settings.reuse_interpolation;
  const PetscInt columns = space.columns;
  PetscCall(AddLevel(A));
  while (more) {
    StopReason(settings, space.columns, &stop);
    if (stop) break;
    PetscCall(Coarsen(pc, settings, &space, &more));
  }
  PetscCall(KeepNullSpace(A, columns, space));
  PetscCall(PetscInfo(pc, "%d levels, operator complexity %g; coarsening ended: %s\n", (int)levels_.size(),
                      (double)OperatorComplexity(), stopped_.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::FitsPattern(Mat A, const Settings &settings, bool *fits) const
{
  PetscObjectId  near;
  PetscInt       rows;
  PetscLogDouble nonzeros = 0;

  PetscFunctionBegin;
  *fits = false;
  if (levels_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(A, &rows, nullptr));
  PetscCall(Nonzeros(A, &nonzeros));
  PetscCall(NearNullSpaceId(A, &near));
  *fits = rows == levels_[0].rows && nonzeros == levels_[0].nonzeros && near == near_null_space_;
  if (settings.reuse_interpolation) PetscFunctionReturn(PETSC_SUCCESS);
  *fits = *fits && keeps_aggregates_ && !classical_;
  for (size_t l = 0; l + 1 < levels_.size(); l++)
    *fits = *fits && settings.threshold[l] < 0; // else new values have other aggregates
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::Refresh(PC pc, Mat A, const Settings &settings)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&levels_[0].A));
  levels_[0].A = A;
  if (!room_) PetscCallCXX(room_ = std::make_unique<LanczosVectors>());
  for (size_t l = 0; l + 1 < levels_.size(); l++) {
    Level *fine     = &levels_[l];
    Mat   *coarse   = &levels_[l + 1].A;
    bool   replaced = false;

    PetscCall(LargestEigenvalue(pc, fine->A, &fine->emax, room_.get()));
    if (!settings.reuse_interpolation) {
      PetscCall(PetscLogEventBegin(ProlongatorEvent, 0, 0, 0, 0));
      PetscCall(
          fine->coarsening->Prolong(fine->A, fine->emax, settings.nsmooths, settings.filter, &fine->P, &replaced));
      PetscCall(PetscLogEventEnd(ProlongatorEvent, 0, 0, 0, 0));
    }
    bool host;
    PetscCall(TakesGalerkinOnHost(fine->A, fine->P, &host));
    replaced = replaced || conjugates_ || (!host && !(*coarse)->product); // the matrix has been moved to the device
    if (!replaced) {
      PetscCall(CoarseOperator(fine->coarsening.get(), fine->A, fine->P, false, MAT_REUSE_MATRIX, coarse));
      continue;
    }
    Mat          made;
    MatNullSpace null;
    PetscCall(CoarseOperator(fine->coarsening.get(), fine->A, fine->P, conjugates_, MAT_INITIAL_MATRIX, &made));
    PetscCall(MatGetNullSpace(*coarse, &null));
    if (null) PetscCall(MatSetNullSpace(made, null));
    PetscCall(MatDestroy(coarse));
    *coarse = made;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal Hierarchy::OperatorComplexity() const
{
  PetscLogDouble sum = 0;
  for (const Level &l : levels_) sum += l.nonzeros;
  return levels_.empty() || levels_[0].nonzeros == 0 ? 1 : (PetscReal)(sum / levels_[0].nonzeros);
}

PetscReal Hierarchy::GridComplexity() const
{
  PetscReal sum = 0;
  for (const Level &l : levels_) sum += (PetscReal)l.rows;
  return levels_.empty() || levels_[0].rows == 0 ? 1 : sum / (PetscReal)levels_[0].rows;
}

} // namespace sparsegpu::amg
