/// The rule of -pc_sparsegpuamg_type auto; docs/amg.md has the measurements behind its limits.
#include "pc/amg/choice.hpp"
#include "pc/classical/kinds.hpp"

namespace sparsegpu::amg
{

namespace
{
using classical::Kind;

/// More rows at jumps are between regions of less than 100 points a side, in two dimensions: of larger ones there are
/// few, which aggregation takes as well.
constexpr PetscReal MANY_JUMPS = 0.01;
/// Anisotropy and convection count where they are in most of the domain. Triangles that are not far from degenerate
/// have such rows here and there.
constexpr PetscReal MOST_ROWS = (PetscReal)2 / 3;
/// More rows that classical interpolation is not made for would decide how it converges.
constexpr PetscReal MANY_UNFIT = 0.25;

/// What the program said decides; else *reason stays empty.
PetscErrorCode FindReason(Mat A, const Settings &settings, std::string *reason)
{
  PetscInt     block, rows, count = 0;
  MatNullSpace near;
  PetscBool    constant = PETSC_FALSE;
  const Vec   *vectors;

  PetscFunctionBegin;
  reason->clear();
  PetscCall(MatGetBlockSize(A, &block));
  PetscCall(MatGetSize(A, &rows, nullptr));
  PetscCall(MatGetNearNullSpace(A, &near));
  if (near) PetscCall(MatNullSpaceGetVecs(near, &constant, &count, &vectors));
  if (block > 1)
    PetscCallCXX(*reason = "blocks of " + std::to_string(block) + " unknowns");
  else if (count > 0)
    PetscCallCXX(*reason = "a near null space is attached");
  else if (rows <= settings.coarse_eq_limit || settings.levels == 1)
    PetscCallCXX(*reason = "one level");
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool TakesClassical(const classical::KindCounts &counts)
{
  const PetscReal jumping  = counts.Share(Kind::Jumping);
  const PetscReal directed = counts.Share(Kind::Directed) + counts.Share(Kind::Opposed) + counts.Share(Kind::Skewed);

  if (counts.Share(Kind::Unfit) > MANY_UNFIT) return false;
  return jumping > MANY_JUMPS || jumping + directed > MOST_ROWS;
}
} // namespace

PetscErrorCode ChooseType(Mat A, const Settings &settings, TypeChoice *choice)
{
  classical::KindCounts counts;
  char                  text[256];
  PetscBool             set[2], is[2];

  PetscFunctionBegin;
  *choice = TypeChoice();
  PetscCall(FindReason(A, settings, &choice->reason));
  if (!choice->reason.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsHermitianKnown(A, &set[0], &is[0]));
  PetscCall(MatIsSymmetricKnown(A, &set[1], &is[1]));
  PetscCall(classical::CountKinds(A, !(set[0] && is[0]) && !(set[1] && is[1]), &counts));
  choice->classical  = TakesClassical(counts);
  const auto percent = [&counts](Kind kind) { return 100 * (double)counts.Share(kind); };
  PetscCall(PetscSNPrintf(
      text, sizeof(text),
      "of the rows %.1f %% directed, %.1f %% opposed, %.1f %% skewed, %.1f %% jumping, %.1f %% dominated, %.1f %% unfit",
      percent(Kind::Directed), percent(Kind::Opposed), percent(Kind::Skewed), percent(Kind::Jumping),
      percent(Kind::Dominated), percent(Kind::Unfit)));
  PetscCallCXX(choice->reason = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
