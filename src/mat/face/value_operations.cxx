/// PETSc's operations on values where these are, or will be, on the device: they are done there, and the host is left
/// behind until it is asked. Everything else is PETSc's own.
#include "mat/face/value_operations.hpp"
#include <cstring>
#include "device/local_array.hpp"
#include "mat/face/context.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu
{

namespace
{
/// A matrix whose values an operation reads or writes where they are newest.
struct There {
  bool     is      = false; ///< else the operation is the host's
  Space    space   = Space::Host;
  Context *context = nullptr;
  CsrView  pattern{};
  Scalar  *a = nullptr; ///< [nonzeros] in `space`
};

enum class Need {
  Read,  ///< where the values are there
  Write, ///< all of them, from what they are
  Anew   ///< all of them, whatever they are
};

/// Products of the matrix run on the host as far as is known: that is where its values are wanted.
bool MultipliedOnHost(const Context &context)
{
  return context.last && context.last->format && context.last->space == Space::Host;
}

PetscErrorCode Find(Mat A, Need need, There *t)
{
  bool may = false;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &t->context));
  PetscCall(Decide(A, t->context));
  PetscCall(MayGoAway(A, t->context, &may, &t->space));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  Rows *rows = &t->context->rows;
  PetscCall(rows->ValuesIn(A, t->space, &t->a));
  const bool wanted = need == Need::Anew || (need == Need::Write && t->space == Space::Device);
  if (!t->a && (!wanted || rows->away() || MultipliedOnHost(*t->context))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(rows->GetPattern(A, &t->pattern, nullptr));
  if (t->pattern.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  bool       lacks = false;
  const auto bring = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (need == Need::Anew)
      PetscCall(rows->RoomForValues(A, t->space, &t->a));
    else
      PetscCall(rows->BringValues(A, t->space, &t->a));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (!t->a) PetscCall(MayLackMemory(bring, &lacks));
  t->is = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's operation, on values at home.
template <class Member, class... Arguments> PetscErrorCode OnHost(Member member, Mat A, Arguments... arguments)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(GetParentOps(false, &parent));
  PetscCall((*(parent->*member))(A, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LogFlops(const There &t, PetscLogDouble flops)
{
  PetscFunctionBegin;
  PetscCall(t.space == Space::Device ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs `operation`, which writes all values of A, of each of `count` indices.
template <class Operation>
PetscErrorCode Write(Mat A, const There &t, PetscCount count, const Operation &operation, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (t.space == Space::Device) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(values::ForEach(t.space, count, operation));
  if (t.space == Space::Device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(ValuesWrittenThere(A, t.context));
  PetscCall(LogFlops(t, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The array of a vector in the space of the values.
class Operand
{
public:
  /// v may be null. Its length must be known to be right.
  PetscErrorCode Get(Vec v, Space space, Access access)
  {
    Stream stream;

    PetscFunctionBegin;
    if (!v) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(array_.Get(v, space, access));
    if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(DeviceStream(&stream));
    PetscCall(array_.Stage(&room_, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore()
  {
    PetscFunctionBegin;
    if (array_.borrowed()) PetscCall(array_.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Scalar *read() const { return array_.borrowed() ? array_.read() : nullptr; }
  Scalar       *write() const { return array_.write(); }

private:
  LocalArray   array_;
  DeviceMemory room_;
};

PetscErrorCode HasLength(Vec v, PetscInt length, bool *has)
{
  PetscInt n;

  PetscFunctionBegin;
  *has = true;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  *has = n == length;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Scalar Ours(PetscScalar v)
{
  Scalar w;
  memcpy(static_cast<void *>(&w), &v, sizeof(w));
  return w;
}

PetscErrorCode MatScale_SeqAIJSparseGPU(Mat A, PetscScalar alpha)
{
  There t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  if (t.is)
    PetscCall(Write(A, t, t.pattern.nonzeros, values::Scale{Ours(alpha), t.a}, t.pattern.nonzeros));
  else
    PetscCall(OnHost(&_MatOps::scale, A, alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatZeroEntries_SeqAIJSparseGPU(Mat A)
{
  There t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Anew, &t));
  if (t.is)
    PetscCall(Write(A, t, t.pattern.nonzeros, values::Zero{t.a}, 0));
  else
    PetscCall(OnHost(&_MatOps::zeroentries, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConjugate_SeqAIJSparseGPU(Mat A)
{
  There t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  if (t.is && PetscDefined(USE_COMPLEX))
    PetscCall(Write(A, t, t.pattern.nonzeros, values::Conjugate{t.a}, 0));
  else
    PetscCall(OnHost(&_MatOps::conjugate, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatRealPart_SeqAIJSparseGPU(Mat A)
{
  There t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  if (t.is)
    PetscCall(Write(A, t, t.pattern.nonzeros, values::TakePart{false, t.a}, 0));
  else
    PetscCall(OnHost(&_MatOps::realpart, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatImaginaryPart_SeqAIJSparseGPU(Mat A)
{
  There t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  if (t.is)
    PetscCall(Write(A, t, t.pattern.nonzeros, values::TakePart{true, t.a}, 0));
  else
    PetscCall(OnHost(&_MatOps::imaginarypart, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the diagonal is, for an operation there.
PetscErrorCode Diagonal(Mat A, There *t, const PetscInt **place, bool *complete)
{
  bool lacks = false;

  PetscFunctionBegin;
  *complete = false;
  if (!t->is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory([&] { return t->context->rows.BringDiagonal(A, t->space, place, complete); }, &lacks));
  t->is = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for one that writes to it: an entry that is missing is the host's to put in.
PetscErrorCode WholeDiagonal(Mat A, There *t, const PetscInt **place)
{
  bool complete;

  PetscFunctionBegin;
  PetscCall(Diagonal(A, t, place, &complete));
  t->is = t->is && complete;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern where the values are.
PetscErrorCode Pattern(Mat A, There *t, const PetscInt **i, const PetscInt **j)
{
  bool lacks = false;

  PetscFunctionBegin;
  if (!t->is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory([&] { return t->context->rows.BringPattern(A, t->space, i, j); }, &lacks));
  t->is = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShift_SeqAIJSparseGPU(Mat A, PetscScalar alpha)
{
  const PetscInt *place;
  There           t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  PetscCall(WholeDiagonal(A, &t, &place));
  if (t.is)
    PetscCall(Write(A, t, t.pattern.rows, values::SetDiagonal{place, nullptr, Ours(alpha), true, t.a}, t.pattern.rows));
  else
    PetscCall(OnHost(&_MatOps::shift, A, alpha));
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
  PetscCall(Write(A, t, t.pattern.rows, values::ScaleRowsAndColumns{i, j, l.read(), right_values, t.a},
                  static_cast<PetscLogDouble>(t.pattern.nonzeros) * ((left ? 1 : 0) + (right ? 1 : 0))));
  PetscCall(l.Restore());
  PetscCall(r.Restore());
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
    PetscCall(values::ForEach(t.space, t.pattern.rows, values::RowMagnitude{false, i, t.a, sums.data()}));
    PetscCall(values::Largest(t.space, t.pattern.rows, sums.data(), norm));
    PetscCall(LogFlops(t, t.pattern.nonzeros));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetRowMaxAbs_SeqAIJSparseGPU(Mat A, Vec v, PetscInt indices[])
{
  const PetscInt *i, *j;
  bool            fits;
  There           t;
  Operand         values;

  PetscFunctionBegin;
  PetscCall(HasLength(v, A->rmap->n, &fits));
  if (!indices && fits) PetscCall(Find(A, Need::Read, &t));
  PetscCall(Pattern(A, &t, &i, &j));
  if (!t.is) {
    PetscCall(OnHost(&_MatOps::getrowmaxabs, A, v, indices));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(values.Get(v, t.space, Access::Write));
  PetscCall(values::ForEach(t.space, t.pattern.rows, values::RowMagnitude{true, i, t.a, values.write()}));
  PetscCall(values.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Has X the same rows as Y? As a comparison of the arrays: SAME_NONZERO_PATTERN is the caller's word for it.
PetscErrorCode SameRows(const CsrView &x, const CsrView &y, MatStructure structure, bool *same)
{
  PetscFunctionBegin;
  *same = x.rows == y.rows && x.nonzeros == y.nonzeros &&
          (structure == SAME_NONZERO_PATTERN || structure == UNKNOWN_NONZERO_PATTERN);
  if (!*same || structure == SAME_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  *same = !memcmp(x.i, y.i, (static_cast<size_t>(x.rows) + 1) * sizeof(*x.i)) &&
          !memcmp(x.j, y.j, static_cast<size_t>(x.nonzeros) * sizeof(*x.j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A pair of matrices of one pattern whose values are, or are brought, to the same space.
PetscErrorCode FindPair(Mat X, Mat Y, Need of_y, MatStructure structure, There *x, There *y)
{
  PetscBool seq, mpi;
  bool      same = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(X, &seq, &mpi));
  if (seq) PetscCall(IsOurs(Y, &seq, &mpi));
  if (!seq || (structure != SAME_NONZERO_PATTERN && structure != UNKNOWN_NONZERO_PATTERN))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Find(X, of_y == Need::Anew ? Need::Read : Need::Write, x));
  if (x->is) PetscCall(Find(Y, of_y, y));
  if (x->is && y->is && x->space == y->space) PetscCall(SameRows(x->pattern, y->pattern, structure, &same));
  y->is = same;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAXPY_SeqAIJSparseGPU(Mat Y, PetscScalar alpha, Mat X, MatStructure structure)
{
  There x, y;

  PetscFunctionBegin;
  PetscCall(FindPair(X, Y, Need::Write, structure, &x, &y));
  if (y.is) {
    PetscCall(Write(Y, y, y.pattern.nonzeros, values::Add{Ours(alpha), x.a, y.a}, 2.0 * y.pattern.nonzeros));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BringHome(X));
  PetscCall(OnHost(&_MatOps::axpy, Y, alpha, X, structure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's takes its fast way where both have the same operation.
PetscErrorCode CopyOnHost(Mat A, Mat B, MatStructure structure)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(BringHome(B));
  PetscCall(GetParentOps(false, &parent));
  const auto ours = A->ops->copy, theirs = B->ops->copy;
  A->ops->copy = parent->copy;
  if (theirs == ours) B->ops->copy = parent->copy;
  const PetscErrorCode code = (*parent->copy)(A, B, structure);
  A->ops->copy              = ours;
  if (theirs == ours) B->ops->copy = ours;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCopy_SeqAIJSparseGPU(Mat A, Mat B, MatStructure structure)
{
  There a, b;

  PetscFunctionBegin;
  if (structure == SAME_NONZERO_PATTERN) PetscCall(FindPair(A, B, Need::Anew, structure, &a, &b));
  if (b.is)
    PetscCall(Write(B, b, b.pattern.nonzeros, values::Copy{a.a, b.a}, 0));
  else
    PetscCall(CopyOnHost(A, B, structure));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CopyValuesThere(Mat A, Mat B, bool *done)
{
  PetscBool seq, mpi;
  There     a, b;

  PetscFunctionBegin;
  *done = false;
  PetscCall(IsOurs(B, &seq, &mpi));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &a.context));
  PetscCall(GetContext(B, &b.context));
  b.context->read_here = a.context->read_here; // a copy of what is read here
  PetscCall(FindPair(A, B, Need::Anew, SAME_NONZERO_PATTERN, &a, &b));
  if (!b.is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Write(B, b, b.pattern.nonzeros, values::Copy{a.a, b.a}, 0));
  *done = true;
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
#undef SET
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
