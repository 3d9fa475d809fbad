static const char help[] = "Which factors of direct factorizations go to the host's memory.\n\n";

#include <algorithm>
#include "front_trees.hpp"
#include "pc/lu/spill.hpp"

using namespace testing;
using sparsegpu::lu::FrontPlan;
using sparsegpu::lu::LARGEST_SMALL;
using sparsegpu::lu::Shape;
using sparsegpu::lu::SMALL_CLASSES;
using sparsegpu::lu::Spill;
using sparsegpu::lu::SpillPlan;
using sparsegpu::lu::Steps;

/// Parts are those of the plan's steps, each front once; what goes to the host is a run of large fronts, which fit the
/// buffers part by part.
static PetscErrorCode CheckParts(const FrontTree &tree, const FrontPlan &plan, const SpillPlan &spill,
                                 const std::string &what)
{
  const PetscInt first = plan.step_begin[SMALL_CLASSES], end = (PetscInt)plan.step.size();

  PetscFunctionBeginUser;
  PetscCheck(!spill.parts.empty() && (spill.parts.size() == 1 || spill.parts[0] == first) && spill.parts.back() == end,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the parts are not those of all large fronts", what.c_str());
  PetscCheck(spill.begin <= spill.end &&
                 (spill.Entries() == 0 || spill.needed == plan.values - spill.Entries() + spill.buffers * spill.buffer),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g entries needed", what.c_str(), (double)spill.needed);
  for (size_t k = 0; k + 1 < spill.parts.size(); ++k) {
    const PetscInt   begin = spill.parts[k], next = spill.parts[k + 1];
    const PetscCount here  = plan.lower[(size_t)plan.step[(size_t)begin]];
    const PetscCount there = next < end ? plan.lower[(size_t)plan.step[(size_t)next]] : plan.values;
    const auto       step  = std::upper_bound(plan.step_begin.begin(), plan.step_begin.end(), begin);
    PetscCheck(begin < next && next <= *step, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: part %d is of several steps",
               what.c_str(), (int)k);
    PetscCheck(!spill.Has(here) || (there <= spill.end && there - here <= spill.buffer), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: part %d does not fit the buffer", what.c_str(), (int)k);
    PetscCheck(spill.Has(here) || there <= spill.begin || here >= spill.end, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: part %d is cut", what.c_str(), (int)k);
    PetscCheck(!spill.Has(here) || plan.step[(size_t)begin] != tree.apart, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: the front apart goes to the host", what.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With less and less room more and more goes to the host, until the largest fronts have none. *cut: a step of the plan
/// into parts.
static PetscErrorCode CheckRooms(const FrontTree &tree, const FrontPlan &plan, const std::string &name, bool *cut)
{
  const PetscInt   end    = (PetscInt)plan.step.size() - (tree.apart >= 0);
  const PetscCount all    = tree.apart >= 0 ? plan.lower[(size_t)tree.apart] : plan.values; // before the front apart
  PetscCount       before = 0;
  SpillPlan        spill;

  PetscFunctionBeginUser;
  *cut = false;
  PetscCall(PlanSpill(tree, plan, Spill::Never, plan.values, &spill));
  PetscCall(CheckParts(tree, plan, spill, name));
  PetscCheck(spill.Entries() == 0 && spill.needed == plan.values, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: what is not to spill does", name.c_str());
  for (const Spill way : {Spill::Needed, Spill::Always})
    for (PetscInt eighths = 8; eighths >= 0; --eighths) {
      const PetscCount  room = plan.values * eighths / 8;
      const std::string what =
          name + (way == Spill::Needed ? ", as needed, " : ", always, ") + std::to_string(eighths) + "/8";
      PetscCall(PlanSpill(tree, plan, way, room, &spill));
      PetscCall(CheckParts(tree, plan, spill, what));
      if (spill.needed > room) {
        PetscCheck(spill.Entries() == 0 && room < plan.values, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: without a way",
                   what.c_str());
        continue;
      }
      *cut = *cut || (PetscInt)spill.parts.size() - 1 > plan.Steps() - SMALL_CLASSES;
      if (way == Spill::Needed) {
        PetscCheck((spill.Entries() > 0) == (room < plan.values) && spill.Entries() >= before, PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s: %g entries go to the host", what.c_str(), (double)spill.Entries());
        before = spill.Entries();
      } else {
        PetscCheck(plan.step_begin[SMALL_CLASSES] < end ? spill.end == all : spill.Entries() == 0, PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s: %g entries go to the host", what.c_str(), (double)spill.Entries());
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rooms()
{
  bool cut;

  PetscFunctionBeginUser;
  for (const Shape shape : {Shape::General, Shape::Symmetric}) {
    for (const Problem &p : {Chain(0, 1, 0), Chain(400, 1, 1), Chain(500, 110, 1), Chain(1500, 200, 0), Cube(14)})
      for (const PetscInt apart : {0, 9}) {
        FrontTree tree;
        FrontPlan plan;
        if (apart > p.rows) continue;
        PetscCall(Fronts(p, apart, &tree));
        PetscCall(PlanFronts(tree, Steps::Device, LARGEST_SMALL, shape, &plan));
        if (!plan.step.empty()) PetscCall(CheckRooms(tree, plan, p.name, &cut));
      }
    std::vector<Front> fronts; // many large ones in the first step
    FrontPlan          plan;
    for (PetscInt f = 0; f < 40; ++f) fronts.push_back({40, 100 + f, 150});
    fronts.push_back({-1, 600, 0});
    const FrontTree tree = TreeOf(fronts);
    PetscCall(PlanFronts(tree, Steps::Device, LARGEST_SMALL, shape, &plan));
    PetscCall(CheckRooms(tree, plan, "many fronts", &cut));
    PetscCheck(cut, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No step was cut");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"rooms", Rooms}});
}
