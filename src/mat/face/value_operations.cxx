/// PETSc's operations that write the values of one matrix, where these are, or will be, on the device: they are done
/// there, and the host is left behind until it is asked. Everything else is PETSc's own.
#include "mat/face/value_operations.hpp"
#include "mat/face/filter.hpp"
#include "mat/face/graph.hpp"
#include "mat/face/value_place.hpp"

namespace sparsegpu::face
{

using namespace there;

namespace
{
/// Writes each entry by make(values), or has the host do the same by AIJ's `member`.
template <class Make, class Member, class... Arguments>
PetscErrorCode WriteEach(Mat A, Need need, Make make, PetscLogDouble flops_each, Member member, Arguments... arguments)
{
  There t;

  PetscFunctionBegin;
  PetscCall(Find(A, need, &t));
  if (t.is)
    PetscCall(Write(A, t, t.pattern.nonzeros, make(t.a), flops_each * t.pattern.nonzeros));
  else
    PetscCall(OnHost(member, A, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatScale_SeqAIJSparseGPU(Mat A, PetscScalar alpha)
{
  const auto scale = [alpha](Scalar *a) { return values::Scale{Ours(alpha), a}; };

  PetscFunctionBegin;
  PetscCall(WriteEach(A, Need::Write, scale, 1, &_MatOps::scale, alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatZeroEntries_SeqAIJSparseGPU(Mat A)
{
  const auto zero = [](Scalar *a) { return values::Zero{a}; };

  PetscFunctionBegin;
  PetscCall(WriteEach(A, Need::Anew, zero, 0, &_MatOps::zeroentries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConjugate_SeqAIJSparseGPU(Mat A)
{
  const auto conjugate = [](Scalar *a) { return values::Conjugate{a}; };

  PetscFunctionBegin;
  PetscCall(WriteEach(A, Need::Write, conjugate, 0, &_MatOps::conjugate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatRealPart_SeqAIJSparseGPU(Mat A)
{
  const auto real = [](Scalar *a) { return values::TakePart{false, a}; };

  PetscFunctionBegin;
  PetscCall(WriteEach(A, Need::Write, real, 0, &_MatOps::realpart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatImaginaryPart_SeqAIJSparseGPU(Mat A)
{
  const auto imaginary = [](Scalar *a) { return values::TakePart{true, a}; };

  PetscFunctionBegin;
  PetscCall(WriteEach(A, Need::Write, imaginary, 0, &_MatOps::imaginarypart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The diagonal for an operation that writes to it: an entry that is missing is the host's to put in.
PetscErrorCode WholeDiagonal(Mat A, There *t, const PetscInt **place)
{
  bool complete;

  PetscFunctionBegin;
  PetscCall(Diagonal(A, t, place, &complete));
  t->is = t->is && complete;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatShift_SeqAIJSparseGPU(Mat A, PetscScalar alpha)
{
  const PetscInt *place;
  There           t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  PetscCall(WholeDiagonal(A, &t, &place));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::shift, A, alpha));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Write(A, t, t.pattern.rows, values::SetDiagonal{place, nullptr, Ours(alpha), true, t.a}, t.pattern.rows));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiagonalSet_SeqAIJSparseGPU(Mat A, Vec d, InsertMode mode)
{
  const PetscInt *place;
  bool            fits;
  There           t;
  Operand         values;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  PetscCall(HasLength(d, A->rmap->n, &fits));
  if (!fits || (mode != ADD_VALUES && mode != INSERT_VALUES) || A->rmap->n > A->cmap->n) t.is = false;
  PetscCall(WholeDiagonal(A, &t, &place));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::diagonalset, A, d, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(values.Get(d, t.space, Access::Read));
  PetscCall(
      Write(A, t, t.pattern.rows, values::SetDiagonal{place, values.read(), Scalar(0), mode == ADD_VALUES, t.a}, 0));
  PetscCall(values.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiagonalScale_SeqAIJSparseGPU(Mat A, Vec left, Vec right)
{
  const PetscInt *i, *j;
  bool            l_fits, r_fits;
  There           t;
  Operand         l, r;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  PetscCall(HasLength(left, A->rmap->n, &l_fits));
  PetscCall(HasLength(right, A->cmap->n, &r_fits));
  t.is = t.is && l_fits && r_fits;
  PetscCall(Pattern(A, &t, &i, &j));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::diagonalscale, A, left, right));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(l.Get(left, t.space, Access::Read));
  if (right != left) PetscCall(r.Get(right, t.space, Access::Read));
  const Scalar *const right_values = right == left ? l.read() : r.read();
  const int           bits         = values::LaneBits(t.pattern);
  PetscCall(Write(A, t, PetscCount(t.pattern.rows) << bits,
                  values::ScaleRowsAndColumns{bits, i, j, l.read(), right_values, t.a},
                  static_cast<PetscLogDouble>(t.pattern.nonzeros) * ((left ? 1 : 0) + (right ? 1 : 0))));
  PetscCall(l.Restore());
  PetscCall(r.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HasDiagonalThere(Mat A, bool *has)
{
  const PetscInt *place;
  There           t;

  PetscFunctionBegin;
  *has = A->rmap->n == 0;
  if (*has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Find(A, Need::Write, &t));
  PetscCall(WholeDiagonal(A, &t, &place));
  *has = t.is;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetValueOperations(Mat A, bool on)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  if (!on) PetscCall(BringHome(A));
  PetscCall(GetParentOps(false, &parent));
  // What a program has set in their place stays.
#define SET(member, Function)                                               \
  if (A->ops->member == (on ? parent->member : Function##_SeqAIJSparseGPU)) \
  A->ops->member = on ? Function##_SeqAIJSparseGPU : parent->member
  SET(scale, MatScale);
  SET(zeroentries, MatZeroEntries);
  SET(conjugate, MatConjugate);
  SET(realpart, MatRealPart);
  SET(imaginarypart, MatImaginaryPart);
  SET(shift, MatShift);
  SET(diagonalset, MatDiagonalSet);
  SET(getdiagonal, MatGetDiagonal);
  SET(diagonalscale, MatDiagonalScale);
  SET(norm, MatNorm);
  SET(getrowmaxabs, MatGetRowMaxAbs);
  SET(axpy, MatAXPY);
  SET(copy, MatCopy);
  SET(zerorows, MatZeroRows);
  SET(zerorowscolumns, MatZeroRowsColumns);
#undef SET
  SetRowSums(A->ops, *parent, on);
  SetCreateGraph(A->ops, *parent, on);
  SetEliminateZeros(A->ops, *parent, false, on);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
