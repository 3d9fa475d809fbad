/// PETSc's operations that read the values of a matrix, where these are on the device.
#include "mat/face/value_operations.hpp"
#include <type_traits>
#include "mat/face/value_place.hpp"

namespace sparsegpu::face
{

using namespace there;

PetscErrorCode MatGetDiagonal_SeqAIJSparseGPU(Mat A, Vec d)
{
  const PetscInt *place;
  bool            fits, complete;
  There           t;
  Operand         values;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Read, &t));
  PetscCall(HasLength(d, A->rmap->n, &fits));
  if (fits) PetscCall(Diagonal(A, &t, &place, &complete));
  if (!t.is || !fits) {
    PetscCall(OnHost(&_MatOps::getdiagonal, A, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(values.Get(d, t.space, Access::Write));
  PetscCall(values::ForEach(t.space, t.pattern.rows, values::GetDiagonal{place, t.a, values.write()}));
  PetscCall(values.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatNorm_SeqAIJSparseGPU(Mat A, NormType type, PetscReal *norm)
{
  const PetscInt *i, *j;
  There           t;

  PetscFunctionBegin;
  if (type == NORM_FROBENIUS || type == NORM_INFINITY) PetscCall(Find(A, Need::Read, &t));
  if (type == NORM_INFINITY) PetscCall(Pattern(A, &t, &i, &j));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::norm, A, type, norm));
  } else if (type == NORM_FROBENIUS) {
    PetscCall(values::SumOfSquares(t.space, t.pattern.nonzeros, t.a, norm));
    *norm = PetscSqrtReal(*norm);
    PetscCall(LogFlops(t, 2.0 * t.pattern.nonzeros));
  } else {
    Array<Scalar> sums;
    PetscCall(sums.Allocate(t.pattern.rows, t.space));
    PetscCall(values::ForEach(t.space, t.pattern.rows,
                              values::RowMagnitude{false, values::LaneBits(t.pattern), i, t.a, sums.data()}));
    PetscCall(values::Largest(t.space, t.pattern.rows, sums.data(), norm));
    PetscCall(LogFlops(t, t.pattern.nonzeros));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The largest magnitude of each row, or their sum. *done is false where the host has to do it.
PetscErrorCode RowMagnitudes(Mat A, bool largest, Vec v, bool *done)
{
  const PetscInt *i, *j;
  bool            fits;
  There           t;
  Operand         values;

  PetscFunctionBegin;
  PetscCall(HasLength(v, A->rmap->n, &fits));
  if (fits) PetscCall(Find(A, Need::Read, &t));
  PetscCall(Pattern(A, &t, &i, &j));
  *done = t.is;
  if (!t.is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values.Get(v, t.space, Access::Write));
  PetscCall(values::ForEach(t.space, t.pattern.rows,
                            values::RowMagnitude{largest, values::LaneBits(t.pattern), i, t.a, values.write()}));
  PetscCall(values.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatGetRowSumAbs(), which not every version of PETSc has.
template <class Operations, class = void> struct RowSums {
  static void Set(Operations *, const Operations &, bool) {}
};
template <class Operations> struct RowSums<Operations, std::void_t<decltype(&Operations::getrowsumabs)>> {
  static PetscErrorCode Get(Mat A, Vec v)
  {
    bool done;

    PetscFunctionBegin;
    PetscCall(RowMagnitudes(A, false, v, &done));
    if (!done) PetscCall(OnHost(&Operations::getrowsumabs, A, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Set(Operations *operations, const Operations &parent, bool on)
  {
    if (operations->getrowsumabs == (on ? parent.getrowsumabs : Get))
      operations->getrowsumabs = on ? Get : parent.getrowsumabs;
  }
};
} // namespace

void SetRowSums(struct _MatOps *operations, const struct _MatOps &parent, bool on)
{
  RowSums<struct _MatOps>::Set(operations, parent, on);
}

PetscErrorCode MatGetRowMaxAbs_SeqAIJSparseGPU(Mat A, Vec v, PetscInt indices[])
{
  bool done = false;

  PetscFunctionBegin;
  if (!indices) PetscCall(RowMagnitudes(A, true, v, &done));
  if (!done) PetscCall(OnHost(&_MatOps::getrowmaxabs, A, v, indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
