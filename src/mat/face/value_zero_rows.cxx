/// MatZeroRows() and MatZeroRowsColumns() where the values are, or will be, on the device and the pattern stays: that
/// of MatZeroRows() with MAT_KEEP_NONZERO_PATTERN, that of MatZeroRowsColumns() always. What PETSc refuses or adds
/// entries for is the host's, errors included.
#include <algorithm>
#include "mat/face/value_operations.hpp"
#include "mat/face/value_place.hpp"
#include "petsc/option_flags.hpp"

namespace sparsegpu::face
{

using namespace there;

namespace
{
/// The rows, each once and ascending; *fit: all are rows of A, and x and b, if both are given, have A's lengths.
PetscErrorCode TakeRows(Mat A, PetscInt count, const PetscInt rows[], Vec x, Vec b, std::vector<PetscInt> *list,
                        bool *fit)
{
  bool x_fits = true, b_fits = true;

  PetscFunctionBegin;
  PetscCallCXX(list->assign(rows, rows + count));
  std::sort(list->begin(), list->end());
  list->erase(std::unique(list->begin(), list->end()), list->end());
  if (x && b) {
    PetscCall(HasLength(x, A->cmap->n, &x_fits));
    PetscCall(HasLength(b, A->rmap->n, &b_fits));
  }
  *fit = x_fits && b_fits && !(b && x == b) && (list->empty() || (list->front() >= 0 && list->back() < A->rmap->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Have these rows an entry on the diagonal, those that have a column of their number?
bool HaveDiagonal(const CsrView &pattern, const std::vector<PetscInt> &rows)
{
  return std::all_of(rows.begin(), rows.end(), [&](PetscInt r) {
    const PetscInt *const end = pattern.j + pattern.i[r + 1];
    return r >= pattern.cols || std::find(pattern.j + pattern.i[r], end, r) != end;
  });
}

/// The vectors of the call, in the space of the values; null both unless both are given.
struct RightSide {
  Operand x, b;

  PetscErrorCode Get(Vec solution, Vec right, Space space)
  {
    PetscFunctionBegin;
    if (!solution || !right) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(x.Get(solution, space, Access::Read));
    PetscCall(b.Get(right, space, Access::ReadWrite));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore()
  {
    PetscFunctionBegin;
    PetscCall(x.Restore());
    PetscCall(b.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// What both operations do in the rows that are given.
PetscErrorCode ZeroRowsThere(Mat A, const There &t, const Array<PetscInt> &rows, const CsrArrays &pattern,
                             Scalar diagonal, const RightSide &side)
{
  const PetscCount count = static_cast<PetscCount>(rows.size());
  const int        bits  = values::LaneBits(t.pattern);

  PetscFunctionBegin;
  if (side.b.borrowed())
    PetscCall(values::ForEach(
        t.space, count, values::SetZeroedRows{rows.data(), t.pattern.cols, diagonal, side.x.read(), side.b.write()}));
  PetscCall(Write(A, t, count << bits, values::ZeroRows{bits, rows.data(), pattern.i, pattern.j, diagonal, t.a}, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatZeroRows_SeqAIJSparseGPU(Mat A, PetscInt count, const PetscInt rows[], PetscScalar diagonal, Vec x,
                                           Vec b)
{
  bool                  keeps, fit = false;
  CsrView               csr;
  std::vector<PetscInt> list;
  Array<PetscInt>       list_there;
  CsrArrays             pattern;
  There                 t;
  RightSide             side;

  PetscFunctionBegin;
  PetscCall(KeepsPattern(A, &keeps));
  if (keeps) PetscCall(TakeRows(A, count, rows, x, b, &list, &fit));
  if (fit && list.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (fit) PetscCall(Find(A, Need::Write, &t));
  if (t.is && diagonal != PetscScalar(0)) {
    PetscCall(GetHostPattern(A, &csr));
    t.is = HaveDiagonal(csr, list);
  }
  PetscCall(Pattern(A, &t, &pattern.i, &pattern.j));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::zerorows, A, count, rows, diagonal, x, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(side.Get(x, b, t.space));
  PetscCall(list_there.Copy(list.data(), list.size(), t.space));
  PetscCall(ZeroRowsThere(A, t, list_there, pattern, Ours(diagonal), side));
  PetscCall(side.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatZeroRowsColumns_SeqAIJSparseGPU(Mat A, PetscInt count, const PetscInt rows[], PetscScalar diagonal,
                                                  Vec x, Vec b)
{
  const PetscInt            *place;
  bool                       fit, complete = true;
  std::vector<PetscInt>      list;
  std::vector<unsigned char> zeroed;
  Array<PetscInt>            list_there;
  Array<unsigned char>       zeroed_there;
  CsrArrays                  pattern;
  There                      t;
  RightSide                  side;

  PetscFunctionBegin;
  if (!count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakeRows(A, count, rows, x, b, &list, &fit));
  if (fit) PetscCall(Find(A, Need::Write, &t));
  // In rows without a column of their number PETSc writes the diagonal into another row: that is left to the host.
  if (diagonal != PetscScalar(0)) PetscCall(Diagonal(A, &t, &place, &complete));
  if (!complete || (diagonal != PetscScalar(0) && A->rmap->n > A->cmap->n)) t.is = false;
  PetscCall(Pattern(A, &t, &pattern.i, &pattern.j));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::zerorowscolumns, A, count, rows, diagonal, x, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(zeroed.assign(static_cast<size_t>(A->rmap->n), 0));
  for (PetscInt r : list) zeroed[static_cast<size_t>(r)] = 1;
  PetscCall(side.Get(x, b, t.space));
  PetscCall(list_there.Copy(list.data(), list.size(), t.space));
  PetscCall(zeroed_there.Take(std::move(zeroed), t.space));
  const int bits = side.b.borrowed() ? 0 : values::LaneBits(t.pattern);
  PetscCall(values::ForEach(t.space, PetscCount(t.pattern.rows) << bits,
                            values::ZeroColumns{bits, t.pattern.rows, zeroed_there.data(), pattern.i, pattern.j,
                                                side.x.read(), side.b.borrowed() ? side.b.write() : nullptr, t.a}));
  PetscCall(ZeroRowsThere(A, t, list_there, pattern, Ours(diagonal), side));
  PetscCall(side.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
