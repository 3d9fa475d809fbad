/// Predicted microseconds, of new values and one solve whose right-hand side needs a step of refinement half of the
/// time. Constants are rounded: those of the host from one core of an x86-64 machine with the reference BLAS, those of
/// the device from an H100, where launches and waits are nearly all.
#include "pc/lu/placement.hpp"

namespace sparsegpu::lu
{

namespace
{
constexpr double SOLVES = 1.5; ///< sweeps with the factors a solve, forward and back

double HostTime(const FrontTree &tree, const FrontPlan &plan, PetscCount nonzeros)
{
  constexpr double FRONT = 0.5, FLOP = 0.5e-3, ENTRY = 1.5e-3, SOLVED = 2e-3, NONZERO = 5e-3; // the last two: an entry
  constexpr double COPIES = 80; // of values and vectors, and the waits for them
  return COPIES + FRONT * static_cast<double>(tree.Fronts()) + FLOP * plan.flops +
         (ENTRY + SOLVES * SOLVED) * static_cast<double>(plan.values) + NONZERO * static_cast<double>(nonzeros);
}

double DeviceTime(const FrontPlan &plan)
{
  constexpr double NUMERIC = 100, SOLVE = 60, HOP = 2.5; // what each takes beside fronts; a front of a chain in a sweep
  return NUMERIC + plan.predicted + SOLVE + SOLVES * 2 * HOP * static_cast<double>(plan.depth);
}
} // namespace

bool HostIsFaster(const FrontTree &tree, const FrontPlan &device, PetscCount nonzeros)
{
  return HostTime(tree, device, nonzeros) < DeviceTime(device);
}

} // namespace sparsegpu::lu
