/// Arranges the rows of a sliced ELLPACK matrix: sorts them by length within windows and lists the long ones.
#include <algorithm>
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
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

static PetscErrorCode Sort(const CsrView &A, PetscInt window, SellArrangement *places)
{
  PetscFunctionBegin;
  places->window = window;
  places->order.clear();
  if (window == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(places->order.resize(A.rows));
  for (PetscInt first = 0; first < A.rows; first += window)
    SortWindow(A, first, std::min(A.rows, first + window), places->longest, places->order.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Slice(const CsrView &A, SellArrangement *places)
{
  const PetscInt slices = (A.rows + HEIGHT - 1) / HEIGHT;

  PetscFunctionBegin;
  places->slices = slices;
  PetscCallCXX(places->begin.assign(slices + 1, 0));
  PetscCallCXX(places->length.assign(static_cast<size_t>(slices) * HEIGHT, SellLayout::NOT_HERE));
  places->stored = 0;
  for (PetscInt s = 0; s < slices; s++) {
    PetscInt width = 0;
    for (PetscInt p = s * HEIGHT; p < std::min(A.rows, (s + 1) * HEIGHT); p++) {
      const PetscInt length = Length(A, places->Row(p));
      if (length > places->longest) continue;
      places->length[p] = static_cast<unsigned char>(length);
      width             = std::max(width, length);
    }
    places->begin[s + 1] = places->begin[s] + width;
    places->stored += static_cast<PetscCount>(HEIGHT) * width;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArrangeSell(const CsrView &A, PetscInt window, PetscInt longest, SellArrangement *places)
{
  PetscCount entries = 0;

  PetscFunctionBegin;
  *places = SellArrangement();
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(ArrangeSell_CUDA(A, window, longest, places));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  places->longest = SellLongestShort(A, longest);
  for (PetscInt r = 0; r < A.rows; r++) {
    if (Length(A, r) <= places->longest)
      entries += Length(A, r);
    else if (Length(A, r) <= SellLayout::WARP_ROW)
      PetscCallCXX(places->long_row.push_back(r));
  }
  places->warp_rows = static_cast<PetscInt>(places->long_row.size());
  for (PetscInt r = 0; r < A.rows; r++)
    if (Length(A, r) > places->longest && Length(A, r) > SellLayout::WARP_ROW)
      PetscCallCXX(places->long_row.push_back(r));
  for (PetscInt w : SellWindows::TRIED) {
    if (window != -1) w = window;
    PetscCall(Sort(A, w, places));
    PetscCall(Slice(A, places));
    if (window != -1 || places->stored <= SellWindows::ENOUGH * entries) break;
  }
  for (PetscInt r : places->long_row) places->stored += Length(A, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
