/// Which row of a sliced ELLPACK matrix is at which place.
#include <algorithm>
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr PetscInt HEIGHT = SellLayout::HEIGHT;

static PetscInt Length(const CsrView &A, PetscInt r)
{
  return A.i[r + 1] - A.i[r];
}

PetscInt SellLongestShort(const CsrView &A, PetscInt longest)
{
  const PetscReal mean  = A.rows ? static_cast<PetscReal>(A.nonzeros) / A.rows : 0;
  const PetscInt  limit = std::min(SellLayout::LONGEST, std::max<PetscInt>(32, static_cast<PetscInt>(4 * mean)));
  return std::min(longest, limit);
}

/// Rows of the window that begins at `first` by falling length, those of other classes last; a counting sort, so equal
/// ones stay in order.
static void SortWindow(const CsrView &A, PetscInt first, PetscInt end, PetscInt longest, PetscInt *order)
{
  PetscInt   count[SellLayout::LONGEST + 3] = {};
  const auto key = [&](PetscInt r) { return Length(A, r) > longest ? longest + 1 : longest - Length(A, r); };
  for (PetscInt r = first; r < end; r++) count[key(r) + 1]++;
  for (PetscInt k = 0; k <= longest; k++) count[k + 1] += count[k];
  for (PetscInt r = first; r < end; r++) order[first + count[key(r)]++] = r;
}

static PetscErrorCode Sort(const CsrView &A, PetscInt window, SellPlan *plan)
{
  PetscFunctionBegin;
  plan->window = window;
  plan->order.clear();
  if (window == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(plan->order.resize(A.rows));
  for (PetscInt first = 0; first < A.rows; first += window)
    SortWindow(A, first, std::min(A.rows, first + window), plan->longest, plan->order.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Slice(const CsrView &A, SellPlan *plan)
{
  const PetscInt slices = (A.rows + HEIGHT - 1) / HEIGHT;

  PetscFunctionBegin;
  plan->slices = slices;
  PetscCallCXX(plan->begin.assign(slices + 1, 0));
  PetscCallCXX(plan->length.assign(static_cast<size_t>(slices) * HEIGHT, SellLayout::NOT_HERE));
  plan->stored = 0;
  for (PetscInt s = 0; s < slices; s++) {
    PetscInt width = 0;
    for (PetscInt p = s * HEIGHT; p < std::min(A.rows, (s + 1) * HEIGHT); p++) {
      const PetscInt length = Length(A, plan->Row(p));
      if (length > plan->longest) continue;
      plan->length[p] = static_cast<unsigned char>(length);
      width           = std::max(width, length);
    }
    plan->begin[s + 1] = plan->begin[s] + width;
    plan->stored += static_cast<PetscCount>(HEIGHT) * width;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlanSell(const CsrView &A, PetscInt window, SellPlan *plan)
{
  PetscCount entries = 0;
  PetscInt   longest = 0;

  PetscFunctionBegin;
  PetscCheck(window == -1 || (window > 0 && window <= SellLayout::MAX_WINDOW && (window & (window - 1)) == 0),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_sell_window %" PetscInt_FMT " must be a power of two up to %" PetscInt_FMT ", or -1",
             window, SellLayout::MAX_WINDOW);
  *plan = SellPlan();
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i && A.found && A.found->plan && A.found->window == window) {
    *plan = std::move(*A.found->plan);
    A.found->plan.reset();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (A.device.i) {
    PetscCall(PlanSell_CUDA(A, window, plan));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt r = 0; r < A.rows; r++) longest = std::max(longest, Length(A, r));
  plan->longest = SellLongestShort(A, longest);
  for (PetscInt r = 0; r < A.rows; r++) {
    if (Length(A, r) <= plan->longest)
      entries += Length(A, r);
    else if (Length(A, r) <= SellLayout::WARP_ROW)
      PetscCallCXX(plan->long_row.push_back(r));
  }
  plan->warp_rows = static_cast<PetscInt>(plan->long_row.size());
  for (PetscInt r = 0; r < A.rows; r++)
    if (Length(A, r) > plan->longest && Length(A, r) > SellLayout::WARP_ROW) PetscCallCXX(plan->long_row.push_back(r));
  for (PetscInt w : SellWindows::TRIED) {
    if (window != -1) w = window;
    PetscCall(Sort(A, w, plan));
    PetscCall(Slice(A, plan));
    if (window != -1 || plan->stored <= SellWindows::ENOUGH * entries) break;
  }
  for (PetscInt r : plan->long_row) plan->stored += Length(A, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
