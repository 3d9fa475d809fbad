#include "pc/trisolve/trisolve.hpp"
#include <algorithm>
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscErrorCode FactorLevels(const FactorPattern &p, std::vector<PetscInt> *lower, std::vector<PetscInt> *upper,
                            PetscInt *lower_levels, PetscInt *upper_levels)
{
  PetscFunctionBegin;
  PetscCallCXX(lower->assign(p.rows, 0));
  PetscCallCXX(upper->assign(p.rows, 0));
  *lower_levels = *upper_levels = p.rows ? 1 : 0;
  for (PetscInt r = 0; r < p.rows; r++) {
    PetscInt level = 0;
    for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) level = std::max(level, (*lower)[p.j[e]] + 1);
    (*lower)[r]   = level;
    *lower_levels = std::max(*lower_levels, level + 1);
  }
  for (PetscInt r = p.rows - 1; r >= 0; r--) {
    PetscInt level = 0;
    for (PetscInt e = p.diagonal[r] + 1; e < p.i[r + 1]; e++) level = std::max(level, (*upper)[p.j[e]] + 1);
    (*upper)[r]   = level;
    *upper_levels = std::max(*upper_levels, level + 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortByLevel(const std::vector<PetscInt> &level, PetscInt levels, PetscInt shift,
                           std::vector<PetscInt> *order)
{
  std::vector<PetscInt> begin;
  const size_t          old = order->size();

  PetscFunctionBegin;
  PetscCallCXX(begin.assign(static_cast<size_t>(levels) + 1, 0));
  PetscCallCXX(order->resize(old + level.size()));
  for (const PetscInt l : level) begin[l + 1]++;
  for (PetscInt l = 0; l < levels; l++) begin[l + 1] += begin[l];
  for (size_t r = 0; r < level.size(); r++) (*order)[old + begin[level[r]]++] = static_cast<PetscInt>(r) + shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::Build(const FactorPattern &p, const std::vector<PetscInt> &lower,
                            const std::vector<PetscInt> &upper)
{
  constexpr PetscInt    SLICE = SweepLayout::SLICE;
  const PetscInt        n     = p.rows;
  std::vector<PetscInt> unknown, position, slice, j, from, diagonal, outside;

  PetscFunctionBegin;
  PetscCall(SortByLevel(lower, lower_levels, 0, &unknown));
  PetscCall(SortByLevel(upper, upper_levels, n, &unknown));
  const auto length = [&](PetscInt u) { // a row of U has one entry more: its right-hand side
    return u < n ? p.diagonal[u] - p.i[u] : p.i[u - n + 1] - p.diagonal[u - n];
  };
  const PetscInt slices = (2 * n + SLICE - 1) / SLICE;
  PetscCallCXX(slice.assign(static_cast<size_t>(slices) + 1, 0));
  PetscCount total = 0;
  for (PetscInt s = 0; s < slices; s++) {
    PetscInt longest = 0;
    for (PetscInt k = s * SLICE; k < std::min((s + 1) * SLICE, 2 * n); k++)
      longest = std::max(longest, length(unknown[k]));
    total += static_cast<PetscCount>(longest) * SLICE;
    PetscCheck(total <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The factors' padded rows are more than %" PetscInt_FMT " entries", PETSC_MAX_INT);
    slice[s + 1] = static_cast<PetscInt>(total);
  }
  PetscCallCXX(j.assign(static_cast<size_t>(total), -1));
  PetscCallCXX(from.assign(static_cast<size_t>(total), -1));
  PetscCallCXX(position.resize(2 * static_cast<size_t>(n)));
  PetscCallCXX(diagonal.assign(2 * static_cast<size_t>(n), -1));
  PetscCallCXX(outside.resize(2 * static_cast<size_t>(n)));
  for (PetscInt k = 0; k < 2 * n; k++) position[unknown[k]] = k;
  for (PetscInt k = 0; k < 2 * n; k++) {
    const PetscInt u  = unknown[k];
    PetscInt       at = slice[k / SLICE] + k % SLICE;
    if (u < n) {
      outside[k] = p.row[u];
      for (PetscInt e = p.i[u]; e < p.diagonal[u]; e++, at += SLICE) {
        j[at]    = position[p.j[e]];
        from[at] = e;
      }
    } else { // far columns first: they are done first
      outside[k]  = p.column[u - n];
      diagonal[k] = p.diagonal[u - n];
      j[at]       = position[u - n];
      at += SLICE;
      for (PetscInt e = p.i[u - n + 1] - 1; e > p.diagonal[u - n]; e--, at += SLICE) {
        j[at]    = position[n + p.j[e]];
        from[at] = e;
      }
    }
  }
  PetscCall(slice_.Take(std::move(slice), Space::Device));
  PetscCall(j_.Take(std::move(j), Space::Device));
  PetscCall(from_.Take(std::move(from), Space::Device));
  PetscCall(diagonal_.Take(std::move(diagonal), Space::Device));
  PetscCall(outside_.Take(std::move(outside), Space::Device));
  PetscCall(a_.Allocate(static_cast<size_t>(total), Space::Device));
  PetscCall(unknowns_.Allocate(2 * static_cast<size_t>(n), Space::Device));
  PetscCall(ticket_.Allocate(1, Space::Device));
  if (!stuck_) PetscCall(DeviceAllocatePinned(sizeof(int), reinterpret_cast<void **>(&stuck_)));
  *stuck_ = 0;
  layout_ = SweepLayout{n, slice_.data(), j_.data(), from_.data(), a_.data(), diagonal_.data(), outside_.data()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

Sweep::~Sweep()
{
  PetscCallAbort(PETSC_COMM_SELF, DeviceFreePinned(stuck_));
}

size_t Sweep::bytes() const
{
  return slice_.bytes() + j_.bytes() + from_.bytes() + diagonal_.bytes() + outside_.bytes() + a_.bytes() +
         unknowns_.bytes();
}

PetscErrorCode Sweep::CheckStuck()
{
  PetscFunctionBegin;
  if (!stuck_ || !*static_cast<volatile int *>(stuck_)) PetscFunctionReturn(PETSC_SUCCESS);
  *stuck_ = 0;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU,
          "A triangular solve made no progress in %lld polls (-mat_sparsegpu_trisolve_spins) and gave up", spins);
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Sweep::SetValues(const Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  values_ = values;
  PetscCall(SweepValues_CUDA(layout_, static_cast<PetscInt>(a_.size()), values, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::Solve(const Scalar *b, Scalar *x, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckStuck());
  const PetscInt slices = (2 * layout_.rows + SweepLayout::SLICE - 1) / SweepLayout::SLICE;
  PetscInt       multiprocessors;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt wanted = warps ? warps : 8 * multiprocessors; // measured: docs/performance.md
  PetscCall(Sweep_CUDA(layout_, values_, b, x,
                       SweepWork{unknowns_.data(), ticket_.data(), stuck_, spins, std::min(wanted, slices)}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Sweep_Host(const FactorPattern &p, const Scalar *a, const Scalar *b, Scalar *x, Scalar *w,
                          bool transpose)
{
  PetscFunctionBegin;
  if (!transpose) {
    for (PetscInt r = 0; r < p.rows; r++) {
      Scalar sum = b[p.row[r]];
      for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) sum = sum - a[e] * w[p.j[e]];
      w[r] = sum;
    }
    for (PetscInt r = p.rows - 1; r >= 0; r--) {
      Scalar sum = w[r];
      for (PetscInt e = p.i[r + 1] - 1; e > p.diagonal[r]; e--) sum = sum - a[e] * w[p.j[e]];
      w[r]           = sum * a[p.diagonal[r]];
      x[p.column[r]] = w[r];
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt r = 0; r < p.rows; r++) w[r] = b[p.column[r]];
  for (PetscInt r = 0; r < p.rows; r++) {
    w[r] = w[r] * a[p.diagonal[r]];
    for (PetscInt e = p.diagonal[r] + 1; e < p.i[r + 1]; e++) w[p.j[e]] = w[p.j[e]] - a[e] * w[r];
  }
  for (PetscInt r = p.rows - 1; r >= 0; r--) {
    for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) w[p.j[e]] = w[p.j[e]] - a[e] * w[r];
    x[p.row[r]] = w[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
