/// Steps of a factorization. On a device fronts that fit a thread block go through few launches, which end with their
/// longest chain of fronts or when their blocks have worked through all; larger ones go level by level.
#include "pc/lu/steps.hpp"
#include <algorithm>
#include <numeric>

namespace sparsegpu::lu
{

namespace
{
void FindPostorder(const FrontTree &tree, FrontPlan *plan)
{
  const PetscInt fronts = tree.Fronts();
  plan->step.resize(fronts);
  plan->step_begin.resize(static_cast<size_t>(fronts) + 1);
  std::iota(plan->step.begin(), plan->step.end(), 0);
  std::iota(plan->step_begin.begin(), plan->step_begin.end(), 0);
}

/// Classes of small fronts, SMALL_CLASSES for large ones: of each front the largest up to it.
std::vector<PetscInt> FindClasses(const FrontTree &tree, PetscInt largest_small)
{
  std::vector<PetscInt> size(tree.Fronts(), 0);
  for (PetscInt f = 0; f < tree.Fronts(); f++) {
    const PetscInt rows = tree.Pivots(f) + tree.Others(f), parent = tree.parent[f];
    const PetscInt fits =
        static_cast<PetscInt>(std::lower_bound(SMALL_FRONTS, SMALL_FRONTS + SMALL_CLASSES, rows) - SMALL_FRONTS);
    if (tree.Others(f) > UPDATE_TILE) size[f] = SMALL_CLASSES; // its update may be several tiles
    if (f == tree.apart) size[f] = SMALL_CLASSES;              // not factored: a step of its own
    size[f] = std::max(size[f], fits < SMALL_CLASSES && SMALL_FRONTS[fits] <= largest_small ? fits : SMALL_CLASSES);
    if (parent >= 0) size[parent] = std::max(size[parent], size[f]);
  }
  return size;
}

/// What an H100 takes for fronts of each class, in microseconds, and how many it works on at a time. Rough: a decision
/// between launches is right where they differ much.
constexpr double     FRONT_TIME[SMALL_CLASSES] = {5, 9, 14, 20, 28};
constexpr PetscCount FRONTS_AT_ONCE[]          = {1056, 528, 264, 132, 132};
constexpr double     LAUNCH_TIME               = 5; ///< of one, from the end of the one before
constexpr double     LARGE_TIME = 60; ///< of a step of large fronts of little more than LARGEST_SMALL rows

/// Launches of small fronts: bit c of `joined` says that class c waits for the next one's launch.
struct Launches {
  unsigned joined;
  double   path[SMALL_CLASSES] = {0}, work[SMALL_CLASSES] = {0}; ///< the longest chain, and the sum

  explicit Launches(unsigned j) : joined(j) {}
  PetscInt Of(PetscInt size) const
  {
    while (size < SMALL_CLASSES && (joined >> size & 1) != 0) size++;
    return size;
  }
  /// chain [fronts] is scratch.
  void Measure(const FrontTree &tree, const std::vector<PetscInt> &size, std::vector<double> &chain)
  {
    std::fill(chain.begin(), chain.end(), 0);
    for (PetscInt f = 0; f < tree.Fronts(); f++) {
      if (size[f] == SMALL_CLASSES) continue;
      const PetscInt launch = Of(size[f]), parent = tree.parent[f];
      chain[f] += FRONT_TIME[size[f]];
      path[launch] = std::max(path[launch], chain[f]);
      work[launch] += FRONT_TIME[launch]; // a block of the launch's size is busy, whatever the front's
      if (parent >= 0 && size[parent] < SMALL_CLASSES && Of(size[parent]) == launch)
        chain[parent] = std::max(chain[parent], chain[f]);
    }
  }
  double Time(PetscInt launch) const
  {
    if (work[launch] == 0) return 0;
    return LAUNCH_TIME + std::max(path[launch], work[launch] / static_cast<double>(FRONTS_AT_ONCE[launch]));
  }
  double Time() const
  {
    double sum = 0;
    for (PetscInt c = 0; c < SMALL_CLASSES; c++) sum += Time(c);
    return sum;
  }
};

/// The launches that end first: a chain of fronts may go through many sizes, and then through as many launches, each
/// of which waits for the longest chain of the one before; but many fronts are done in launches of their size, of which
/// a multiprocessor has more blocks.
Launches JoinClasses(const FrontTree &tree, const std::vector<PetscInt> &size)
{
  std::vector<double> chain(size.size());
  Launches            best(0);
  PetscInt            last = 0; // class that there is

  for (const PetscInt s : size)
    if (s < SMALL_CLASSES) last = std::max(last, s);
  best.Measure(tree, size, chain);
  for (unsigned joined = 1; joined < 1u << last; joined++) {
    Launches other(joined);
    other.Measure(tree, size, chain);
    if (other.Time() < best.Time()) best = other;
  }
  return best;
}

/// Large fronts on the longest way up.
PetscInt LargeSteps(const FrontTree &tree, const std::vector<PetscInt> &size)
{
  std::vector<PetscInt> below(size.size(), 0);
  PetscInt              most = 0;
  for (PetscInt f = 0; f < tree.Fronts(); f++) {
    if (size[f] < SMALL_CLASSES) continue;
    const PetscInt parent = tree.parent[f], mine = below[f] + 1;
    most = std::max(most, mine);
    if (parent >= 0) below[parent] = std::max(below[parent], mine);
  }
  return most;
}

/// The same where fronts of the largest classes may be large ones, in `size`: many of them are faster so, and so are
/// those whose step has larger ones in any case. *microseconds: all steps.
Launches ChooseLaunches(const FrontTree &tree, std::vector<PetscInt> *size, double *microseconds)
{
  std::vector<PetscInt> fewer = *size;
  Launches              best  = JoinClasses(tree, *size);

  *microseconds = best.Time() + LARGE_TIME * static_cast<double>(LargeSteps(tree, *size));
  for (PetscInt c = SMALL_CLASSES - 1; c >= SMALL_CLASSES - 2; c--) {
    if (std::find(fewer.begin(), fewer.end(), c) == fewer.end()) continue;
    std::replace(fewer.begin(), fewer.end(), c, SMALL_CLASSES);
    const Launches other = JoinClasses(tree, fewer);
    const double   time  = other.Time() + LARGE_TIME * static_cast<double>(LargeSteps(tree, fewer));
    if (time >= *microseconds) continue;
    *microseconds = time;
    best          = other;
    *size         = fewer;
  }
  return best;
}

void FindDeviceSteps(const FrontTree &tree, PetscInt largest_small, FrontPlan *plan)
{
  const PetscInt        fronts = tree.Fronts();
  std::vector<PetscInt> step   = FindClasses(tree, largest_small),
                        height(fronts, 0); // heights of small fronts among them
  const Launches launches = ChooseLaunches(tree, &step, &plan->predicted);

  plan->step_begin.assign(SMALL_CLASSES + 1, 0);
  for (PetscInt f = 0; f < fronts; f++) {
    const PetscInt parent = tree.parent[f];
    if (step[f] < SMALL_CLASSES) step[f] = launches.Of(step[f]);
    if (parent >= 0) {
      if (step[f] >= SMALL_CLASSES) step[parent] = std::max(step[parent], step[f] + 1);
      height[parent] = std::max(height[parent], height[f] + 1);
    }
    plan->depth = std::max(plan->depth, height[f] + 1);
    if (step[f] + 2 > static_cast<PetscInt>(plan->step_begin.size())) plan->step_begin.resize(step[f] + 2, 0);
    ++plan->step_begin[step[f] + 1];
  }
  if (tree.apart >= 0) { // after all others
    --plan->step_begin[step[tree.apart] + 1];
    step[tree.apart] = static_cast<PetscInt>(plan->step_begin.size()) - 1;
    plan->step_begin.push_back(1);
  }
  std::partial_sum(plan->step_begin.begin(), plan->step_begin.end(), plan->step_begin.begin());
  plan->step.resize(fronts);
  std::iota(plan->step.begin(), plan->step.end(), 0);
  std::stable_sort(plan->step.begin(), plan->step.end(), [&](PetscInt a, PetscInt b) {
    if (step[a] != step[b]) return step[a] < step[b];
    return step[a] < SMALL_CLASSES ? height[a] < height[b] : tree.Pivots(a) > tree.Pivots(b);
  });
}
} // namespace

void FindSteps(const FrontTree &tree, Steps steps, PetscInt largest_small, FrontPlan *plan)
{
  if (steps == Steps::Postorder)
    FindPostorder(tree, plan);
  else
    FindDeviceSteps(tree, largest_small, plan);
}

} // namespace sparsegpu::lu
