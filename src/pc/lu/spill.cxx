#include "pc/lu/spill.hpp"
#include <algorithm>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// What each buffer takes at least, of a device's room for factors and of the factors: so much that few fronts are not
/// factored alone.
constexpr PetscCount PART_OF_ROOM = 32, PART_OF_FACTORS = 16;
constexpr PetscInt   BUFFERS = 2; ///< one is filled while the other is copied

/// Large fronts, by their places in FrontPlan::step.
struct LargeFronts {
  const FrontTree &tree;
  const FrontPlan &plan;
  PetscInt         first, end;
  PetscInt         spillable; ///< those before it: FrontTree::apart is taken from where it lies

  LargeFronts(const FrontTree &t, const FrontPlan &p)
      : tree(t),
        plan(p),
        first(p.FirstLarge()),
        end(static_cast<PetscInt>(p.step.size())),
        spillable(end > first && p.step.back() == t.apart ? end - 1 : end)
  {
  }
  PetscCount Begin(PetscInt k) const { return k < end ? plan.lower[plan.step[k]] : plan.values; }
  PetscCount Entries(PetscInt k) const { return Begin(k + 1) - Begin(k); }
};

/// The fewest fronts whose factors go so that the others and `buffers` buffers have room, or all of them. *needed is
/// the least that any number of them takes.
bool Choose(const LargeFronts &fronts, PetscCount values, Spill spill, PetscInt buffers, PetscCount room,
            SpillPlan *plan)
{
  const PetscCount begin  = fronts.Begin(fronts.first);
  PetscCount       buffer = std::min(room / PART_OF_ROOM, values / PART_OF_FACTORS);

  for (PetscInt k = fronts.first; k < fronts.spillable; k++) {
    buffer               = std::max(buffer, fronts.Entries(k));
    const PetscCount end = fronts.Begin(k + 1), size = std::min(end - begin, buffer);
    const PetscCount needed = values - (end - begin) + buffers * size;
    plan->needed            = std::min(plan->needed, needed);
    if (needed > room || (spill == Spill::Always && k + 1 < fronts.spillable)) continue;
    plan->begin   = begin;
    plan->end     = end;
    plan->buffer  = size;
    plan->buffers = buffers;
    plan->needed  = needed;
    return true;
  }
  return false;
}

void CutSteps(const LargeFronts &fronts, const FrontPlan &plan, SpillPlan *spill)
{
  for (PetscInt s = SMALL_CLASSES; s < plan.Steps(); s++) {
    PetscCount begin = -1; // of the part
    for (PetscInt k = plan.step_begin[s]; k < plan.step_begin[s + 1]; k++) {
      const PetscCount here = fronts.Begin(k), end = fronts.Begin(k + 1);
      const bool       fits = spill->Has(here) ? end - begin <= spill->buffer : !spill->Has(begin);
      if (begin >= 0 && fits) continue;
      spill->parts.push_back(k);
      begin = here;
    }
  }
  spill->parts.push_back(fronts.end);
}

void Plan(const FrontTree &tree, const FrontPlan &plan, Spill spill, PetscCount room, SpillPlan *result)
{
  const LargeFronts fronts(tree, plan);

  *result        = SpillPlan();
  result->needed = plan.values;
  if (spill == Spill::Always || (spill == Spill::Needed && plan.values > room))
    for (PetscInt buffers = BUFFERS; buffers > 0; buffers--)
      if (Choose(fronts, plan.values, spill, buffers, room, result)) break;
  CutSteps(fronts, plan, result);
}
} // namespace

PetscErrorCode PlanSpill(const FrontTree &tree, const FrontPlan &plan, Spill spill, PetscCount room, SpillPlan *result)
{
  PetscFunctionBegin;
  PetscCallCXX(Plan(tree, plan, spill, room, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
