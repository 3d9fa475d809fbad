static const char help[] = "The steps of direct factorizations: children first, and updates that do not overlap.\n\n";

#include <set>
#include "front_trees.hpp"

using namespace testing;
using sparsegpu::lu::FrontPlan;
using sparsegpu::lu::FrontTree;
using sparsegpu::lu::LARGEST_SMALL;
using sparsegpu::lu::Shape;
using sparsegpu::lu::SMALL_CLASSES;
using sparsegpu::lu::SMALL_FRONTS;
using sparsegpu::lu::Steps;
using sparsegpu::lu::UPDATE_TILE;

/// Every front once, after its children, and in the launch of a class that it fits.
static PetscErrorCode CheckOrder(const FrontTree &tree, const FrontPlan &plan, PetscInt largest_small,
                                 const std::string &what)
{
  std::vector<PetscInt> step((size_t)tree.Fronts(), -1), at((size_t)tree.Fronts(), -1);

  PetscFunctionBeginUser;
  for (PetscInt s = 0; s < plan.Steps(); ++s)
    for (PetscInt k = plan.step_begin[(size_t)s]; k < plan.step_begin[(size_t)s + 1]; ++k) {
      const size_t f = (size_t)plan.step[(size_t)k];
      PetscCheck(at[f] < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: front %d twice", what.c_str(), (int)f);
      at[f]   = k;
      step[f] = s;
    }
  for (PetscInt f = 0; f < tree.Fronts(); ++f) {
    const PetscInt parent = tree.parent[(size_t)f], rows = tree.Pivots(f) + tree.Others(f), s = step[(size_t)f];
    PetscCheck(s >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: front %d is in no step", what.c_str(), (int)f);
    const bool small = rows <= SMALL_FRONTS[s < SMALL_CLASSES ? s : 0] && rows <= largest_small;
    PetscCheck(s >= SMALL_CLASSES || (small && tree.Others(f) <= UPDATE_TILE), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: front %d of %d rows is in step %d", what.c_str(), (int)f, (int)rows, (int)s);
    if (parent < 0) continue;
    const PetscInt above = step[(size_t)parent];
    PetscCheck(s < above || (s == above && s < SMALL_CLASSES && at[(size_t)f] < at[(size_t)parent]), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: front %d in step %d, its parent %d in step %d", what.c_str(), (int)f, (int)s,
               (int)parent, (int)above);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Updates live from the step of their front to the end of that of its parent.
static PetscErrorCode CheckUpdates(const FrontTree &tree, const FrontPlan &plan, const std::string &what)
{
  std::vector<std::vector<PetscInt>>          ends((size_t)plan.Steps() + 1);
  std::vector<PetscInt>                       step((size_t)tree.Fronts());
  std::set<std::pair<PetscCount, PetscCount>> live;

  PetscFunctionBeginUser;
  for (PetscInt s = 0; s < plan.Steps(); ++s)
    for (PetscInt k = plan.step_begin[(size_t)s]; k < plan.step_begin[(size_t)s + 1]; ++k)
      step[(size_t)plan.step[(size_t)k]] = s;
  for (PetscInt f = 0; f < tree.Fronts(); ++f)
    if (tree.parent[(size_t)f] >= 0) ends[(size_t)step[(size_t)tree.parent[(size_t)f]]].push_back(f);
  const auto piece = [&](PetscInt f) {
    const PetscCount r = tree.Others(f);
    return std::make_pair(plan.update[(size_t)f], plan.update[(size_t)f] + plan.Entries(r));
  };
  for (PetscInt s = 0; s < plan.Steps(); ++s) {
    for (PetscInt k = plan.step_begin[(size_t)s]; k < plan.step_begin[(size_t)s + 1]; ++k) {
      const PetscInt f = plan.step[(size_t)k];
      if (tree.Others(f) == 0) continue;
      const auto next = live.lower_bound(piece(f));
      PetscCheck((next == live.end() || piece(f).second <= next->first) &&
                     (next == live.begin() || std::prev(next)->second <= piece(f).first) &&
                     piece(f).second <= plan.work,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the update of front %d overlaps another", what.c_str(), (int)f);
      live.insert(piece(f));
    }
    for (const PetscInt f : ends[(size_t)s]) live.erase(piece(f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The last unknowns are the pivots of a root, in their order, which is alone in the last step.
static PetscErrorCode CheckApart(const FrontTree &tree, const FrontPlan &plan, PetscInt rows, PetscInt apart,
                                 const std::string &what)
{
  const PetscInt f = tree.apart, last = plan.Steps() - 1;

  PetscFunctionBeginUser;
  PetscCheck(f >= 0 && tree.Pivots(f) == apart && tree.Others(f) == 0 && tree.parent[(size_t)f] < 0, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: no front apart", what.c_str());
  for (PetscInt k = 0; k < apart; ++k)
    PetscCheck(tree.order[(size_t)(tree.first[(size_t)f] + k)] == rows - apart + k, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: pivot %d is unknown %d", what.c_str(), (int)k,
               (int)tree.order[(size_t)(tree.first[(size_t)f] + k)]);
  PetscCheck(last >= SMALL_CLASSES && plan.step_begin[(size_t)last + 1] - plan.step_begin[(size_t)last] == 1 &&
                 plan.step[(size_t)plan.step_begin[(size_t)last]] == f,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not alone in the last step", what.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  for (const Problem &p : {Chain(0, 1, 0), Chain(1, 1, 0), Chain(400, 1, 1), Chain(400, 20, 2), Chain(300, 50, 3),
                           Chain(500, 110, 1), Chain(300, 140, 0)})
    for (const Shape shape : {Shape::General, Shape::Symmetric})
      for (const PetscInt largest : {(PetscInt)0, SMALL_FRONTS[0], SMALL_FRONTS[2], LARGEST_SMALL})
        for (const PetscInt apart : {0, 1, 9, 150}) {
          const std::string what =
              p.name + ", fronts to " + std::to_string(largest) + ", apart " + std::to_string(apart);
          FrontTree tree;
          FrontPlan plan;
          if (apart > p.rows) continue;
          PetscCall(Fronts(p, apart, &tree));
          PetscCall(PlanFronts(tree, Steps::Device, largest, shape, &plan));
          PetscCall(CheckOrder(tree, plan, largest, what));
          PetscCall(CheckUpdates(tree, plan, what));
          if (apart > 0) PetscCall(CheckApart(tree, plan, p.rows, apart, what));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A front of 150 rows is small where that saves a step of large fronts, and large where its step has larger ones in
/// any case, or its update is more than a tile.
static PetscErrorCode Largest()
{
  struct Case {
    const char        *name;
    std::vector<Front> fronts;
    PetscInt           large; ///< steps of large fronts
  };
  const Case cases[] = {{"chain", {{1, 60, 90}, {2, 60, 90}, {-1, 150, 0}}, 0},
                        {"beside a larger one", {{2, 60, 90}, {2, 60, 140}, {-1, 200, 0}}, 2},
                        {"many others", {{1, 10, 140}, {-1, 140, 0}}, 2}};

  PetscFunctionBeginUser;
  for (const Case &c : cases) {
    FrontPlan plan;
    PetscCall(PlanFronts(TreeOf(c.fronts), Steps::Device, LARGEST_SMALL, Shape::General, &plan));
    const PetscInt large = plan.Steps() - SMALL_CLASSES;
    PetscCheck(large == c.large, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d steps of large fronts instead of %d", c.name,
               (int)large, (int)c.large);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A chain that goes through sizes is one launch, thousands of fronts beside each other are several.
static PetscErrorCode Launches()
{
  const auto launches = [](const FrontPlan &plan) {
    PetscInt count = 0;
    for (PetscInt c = 0; c < SMALL_CLASSES; ++c) count += plan.step_begin[(size_t)c] < plan.step_begin[(size_t)c + 1];
    return count;
  };

  PetscFunctionBeginUser;
  for (const PetscInt chains : {1, 4000}) {
    std::vector<Front> fronts; // chains of three, of 20, 50 and 80 rows
    FrontPlan          plan;
    const PetscInt     pivots[] = {10, 30, 40}, others[] = {10, 20, 40};
    for (PetscInt c = 0; c < chains; ++c)
      for (PetscInt k = 0; k < 3; ++k)
        fronts.push_back({k < 2 ? (PetscInt)fronts.size() + 1 : -1, pivots[k], others[k]});
    const FrontTree tree = TreeOf(fronts);
    PetscCall(PlanFronts(tree, Steps::Device, LARGEST_SMALL, Shape::General, &plan));
    PetscCheck(launches(plan) == (chains == 1 ? 1 : 3), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%d chains of fronts take %d launches", (int)chains, (int)launches(plan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"launches", Launches}, {"largest", Largest}});
}
