/// Where the arrays of its levels are, and the launch.
#include "pc/amg/coarse_tail.hpp"
#include <petsc/private/kspimpl.h>
#include "device/local_array.hpp"
#include "mat/face/pieces.hpp"
#include "mat/rows/gather_operations.hpp"
#include "mat/rows/transpose.hpp"
#include "mat/rows/value_operations.hpp"
#include "pc/amg/arrays.hpp"
#include "pc/smooth/pcsmoother.hpp"
#include "petsc/on_all.hpp"

#include <limits>

namespace sparsegpu::amg
{

namespace
{
TailMatrix Shared(const rows::CsrView &A, const rows::CsrArrays &arrays)
{
  return TailMatrix{A.rows, TailLanes(A.rows ? (PetscReal)A.nonzeros / (PetscReal)A.rows : 0), arrays};
}

/// The entries of v, which stay where they are as long as v does.
PetscErrorCode Address(Vec v, Space space, const Scalar **array)
{
  LocalArray local;

  PetscFunctionBegin;
  PetscCall(local.Get(v, space, Access::Read));
  *array = local.read();
  PetscCall(local.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CoarseTail::Part::Hold(Mat newA, Mat newP)
{
  PetscFunctionBegin;
  if (newA) PetscCall(PetscObjectReference((PetscObject)newA));
  if (newP) PetscCall(PetscObjectReference((PetscObject)newP));
  if (newA != A) state[0] = -1;
  if (newP != P) state[1] = -1;
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  A = newA;
  P = newP;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::Clear()
{
  PetscFunctionBegin;
  parts_.clear();
  solve_ = Array<Scalar>();
  room_  = Array<Scalar>();
  tail_  = Tail();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::TakeRestriction(Part *part)
{
  const SparseRows &P = part->interpolation.rows;
  rows::CsrView     view{P.rows, P.cols, P.nonzeros, P.arrays.i, P.arrays.j, P.arrays.a};

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    view.device = P.arrays;
    PetscCall(TransposePattern_CUDA(view, &part->restriction_i, &part->restriction_j, &part->source));
  } else
#endif
  {
    std::vector<PetscInt> i, j, source;
    PetscCall(TransposePattern(view, &i, &j, &source));
    PetscCall(part->restriction_i.Take(std::move(i), space_));
    PetscCall(part->restriction_j.Take(std::move(j), space_));
    PetscCall(part->source.Take(std::move(source), space_));
  }
  PetscCall(part->restriction_a.Allocate((size_t)P.nonzeros, space_));
  PetscCall(rows::values::ForEach(space_, P.nonzeros,
                                  rows::values::GatherPair{part->source.data(), std::numeric_limits<PetscInt>::max(),
                                                           P.arrays.a, nullptr, part->restriction_a.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of A and P as they are now, and P^T where P has changed.
PetscErrorCode CoarseTail::TakeRows(Part *part, TailLevel *level)
{
  PetscObjectState now;
  Mat              own; // the other block is empty

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(part->A, &own));
  PetscCall(part->operator_.Take(own, space_));
  PetscCall(PetscObjectStateGet((PetscObject)part->A, &part->state[0]));
  PetscCall(PetscObjectStateGet((PetscObject)part->P, &now));
  if (now != part->state[1]) {
    PetscCall(DiagonalBlock(part->P, &own));
    PetscCall(part->interpolation.Take(own, space_));
    PetscCall(TakeRestriction(part));
    part->state[1] = now;
  }
  const SparseRows &A = part->operator_.rows, &P = part->interpolation.rows;
  rows::CsrView     a{}, p{}, r{};
  a.rows = A.rows, a.nonzeros = A.nonzeros;
  p.rows = P.rows, r.rows = P.cols, p.nonzeros = r.nonzeros = P.nonzeros;
  level->A = Shared(a, A.arrays);
  level->P = Shared(p, P.arrays);
  level->R =
      Shared(r, rows::CsrArrays{part->restriction_i.data(), part->restriction_j.data(), part->restriction_a.data()});
  level->solo = A.nonzeros <= TAIL_SOLO;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::TakeSweeps(const PC_MG_Levels &mg, Part *part, TailLevel *level)
{
  const KSP               solvers[2] = {mg.smoothd, mg.smoothu};
  const smooth::Smoother *smoother   = nullptr;

  PetscFunctionBegin;
  for (int after = 0; after < 2; after++) {
    smooth::Direction direction;
    PC                pc;
    PetscCall(KSPGetPC(solvers[after], &pc));
    PetscCall(smooth::GetSmoother(pc, &smoother, &direction));
    level->smoother.up[after]   = direction != smooth::Direction::Backward;
    level->smoother.down[after] = direction != smooth::Direction::Forward;
  }
  level->inverse = smoother->inverse();
  if (smoother->kind() == smooth::Kind::L1Jacobi) PetscFunctionReturn(PETSC_SUCCESS);
  const smooth::Colors &colors = smoother->colors();
  if (part->begin != colors.begin) {
    PetscCallCXX(part->begin = colors.begin);
    PetscCall(part->color.Copy(part->begin.data(), part->begin.size(), space_));
  }
  level->smoother.colors = colors.count();
  level->smoother.color  = part->color.data();
  level->smoother.list   = colors.list.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::TakeSmoother(const PC_MG_Levels &mg, const LevelSmoother &smoother, Part *part,
                                        TailLevel *level)
{
  PetscFunctionBegin;
  level->smoother = TailSmoother();
  if (smoother.smoothing() == Smoothing::Sweeps) {
    PetscCall(TakeSweeps(mg, part, level));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  level->smoother.begin = smoother.begin();
  level->smoother.end   = smoother.end();
  PetscCall(Address(smoother.inverse(), space_, &level->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::TakeCoarsest(PC pc, const Level &coarsest, bool *inverted)
{
  std::vector<PetscScalar> inverse;

  PetscFunctionBegin;
  PetscCall(InverseByFactor(LevelsOf(pc)[0]->smoothd, coarsest.A, &inverse, inverted));
  if (!*inverted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(solve_.Copy(reinterpret_cast<const Scalar *>(inverse.data()), inverse.size(), space_));
  tail_.coarsest = coarsest.rows;
  tail_.solve    = solve_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Four vectors of each level, of the finest one two, as the others are the caller's; two of the coarsest.
PetscErrorCode CoarseTail::MakeRoom()
{
  size_t all = 2 * (size_t)tail_.coarsest, at = 0;

  PetscFunctionBegin;
  for (int l = 0; l < tail_.levels; l++) all += 4 * (size_t)tail_.level[l].A.rows;
  if (room_.size() != all) PetscCall(room_.Allocate(all, space_));
  for (int l = 0; l < tail_.levels; l++)
    for (Scalar **v : {&tail_.level[l].b, &tail_.level[l].x, &tail_.level[l].other, &tail_.level[l].r}) {
      *v = room_.data() + at;
      at += (size_t)tail_.level[l].A.rows;
    }
  tail_.b = room_.data() + at;
  tail_.x = tail_.b + tail_.coarsest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All that the launch needs, where the unknowns are. *taken false: the coarsest level has no inverse, or the device
/// does not launch it.
PetscErrorCode CoarseTail::TakeAll(PC pc, const std::vector<Level> &levels, const std::vector<LevelSmoother> &smoothers,
                                   bool *taken)
{
  const size_t   finest = levels.size() - 1;
  const PetscInt top    = Top();

  PetscFunctionBegin;
  PetscCall(KSPSetUpOnBlocks(LevelsOf(pc)[0]->smoothd)); // else the first solve factors
  PetscCall(TakeCoarsest(pc, levels[finest], taken));
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  tail_.levels = (int)top;
  for (PetscInt l = 1; l <= top; l++) {
    Part      *part = parts_[(size_t)l - 1].get();
    TailLevel *to   = &tail_.level[top - l];
    PetscCall(TakeRows(part, to));
    PetscCall(TakeSmoother(*LevelsOf(pc)[l], smoothers[(size_t)l], part, to));
  }
  PetscCall(MakeRoom());
  PetscCall(PlanTail(space_, &tail_));
  *taken = tail_.blocks > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::SetUp(PC pc, const std::vector<Level> &levels, const std::vector<LevelSmoother> &smoothers,
                                 const Settings &settings)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)pc);
  const size_t   finest = levels.size() - 1;
  const Space    before = space_;
  PetscMPIInt    size;
  PetscInt       top;
  bool           taken = true;

  PetscFunctionBegin;
  PetscCall(Extent(pc, levels, smoothers, settings, &top));
  if ((size_t)top != parts_.size() || space_ != before) PetscCall(Clear());
  if (top == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  parallel_ = size > 1;
  while (parts_.size() < (size_t)top) PetscCallCXX(parts_.push_back(std::make_unique<Part>()));
  for (PetscInt l = 1; l <= top; l++) {
    const Level &from = levels[finest - (size_t)l];
    PetscCall(parts_[(size_t)l - 1]->Hold(from.A, from.P));
  }
  PetscCall(OnAll(comm, [&] { return has_ ? TakeAll(pc, levels, smoothers, &taken) : PETSC_SUCCESS; }));
  PetscCall(face::AllAgree(comm, taken, &taken));
  if (!taken) PetscCall(Clear());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What options and programs may have changed since the set-up.
PetscErrorCode CoarseTail::TakeNumbers(PC pc, bool *fits)
{
  PetscFunctionBegin;
  PetscCall(MayBeDirect(LevelsOf(pc)[0]->smoothd, fits));
  for (PetscInt l = 1; l <= Top() && *fits && has_; l++) {
    const PC_MG_Levels *mg   = LevelsOf(pc)[l];
    Part               *part = parts_[(size_t)l - 1].get();
    TailLevel          *to   = &tail_.level[Top() - l];
    PetscObjectState    now;

    to->smoother.before = mg->smoothd->max_it;
    to->smoother.after  = mg->smoothu->max_it;
    to->visits          = l == 1 ? 1 : mg->cycles;
    PetscCall(PetscObjectStateGet((PetscObject)part->A, &now));
    if (now != part->state[0]) PetscCall(TakeRows(part, to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseTail::Run(PC pc, Vec b, Vec x, bool zero, bool *done)
{
  const Vec from[1] = {b};
  bool      fits;

  PetscFunctionBegin;
  *done = false;
  PetscCall(TakeNumbers(pc, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithArrays(from, x, Access::ReadWrite, [&](Space space, const Scalar *const *rhs, Scalar *to) {
    PetscFunctionBegin;
    *done = space == space_;
    if (!*done || !has_) PetscFunctionReturn(PETSC_SUCCESS);
    tail_.level[0].b = const_cast<Scalar *>(rhs[0]);
    tail_.level[0].x = to;
    PetscCall(RunTail(space, tail_, zero, done));
    PetscCheck(*done || !parallel_, PETSC_COMM_SELF, PETSC_ERR_GPU,
               "The GPU refuses to launch the coarse tail: -pc_sparsegpuamg_tail 0 does without");
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
