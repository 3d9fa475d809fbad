/// PETSc's operations on the values of a parallel matrix that is to live on the device: those of its blocks, which are
/// done where these are, and what the ranks have to tell each other. The host does what is left.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/filter.hpp"
#include "mat/face/parallel_values.hpp"
#include "mat/face/pieces.hpp"
#include "mat/face/value_operations.hpp"
#include "petsc/option_flags.hpp"

namespace sparsegpu::face
{

using namespace parallel;

namespace
{
PetscErrorCode MatScale_MPIAIJSparseGPU(Mat A, PetscScalar alpha)
{
  PetscFunctionBegin;
  PetscCall(EachBlock(A, [alpha](Mat block) { return MatScale(block, alpha); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatZeroEntries_MPIAIJSparseGPU(Mat A)
{
  PetscFunctionBegin;
  if (A->assembled)
    PetscCall(EachBlock(A, [](Mat block) { return MatZeroEntries(block); }));
  else
    PetscCall(OnHost(&_MatOps::zeroentries, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConjugate_MPIAIJSparseGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(EachBlock(A, [](Mat block) { return MatConjugate(block); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatRealPart_MPIAIJSparseGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(EachBlock(A, [](Mat block) { return MatRealPart(block); }));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatImaginaryPart_MPIAIJSparseGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(EachBlock(A, [](Mat block) { return MatImaginaryPart(block); }));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShift_MPIAIJSparseGPU(Mat A, PetscScalar alpha)
{
  BlocksMayLeave scope;
  Context       *context;
  Mat            blocks[2];
  PetscBool      congruent;
  bool           has = false;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(A, &congruent));
  PetscCall(scope.Begin(A));
  PetscCall(GetBlocks(A, blocks));
  if (congruent) {
    PetscCall(HasDiagonalThere(blocks[0], &has));
    PetscCall(AllAgree(PetscObjectComm((PetscObject)A), has, &has));
  }
  if (has && blocks[0]->rmap->n) PetscCall(MatShift(blocks[0], alpha));
  PetscCall(scope.End());
  if (!has) {
    PetscCall(OnHost(&_MatOps::shift, A, alpha));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetContext(A, &context));
  const NothingSet nothing(context);
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiagonalSet_MPIAIJSparseGPU(Mat A, Vec d, InsertMode mode)
{
  PetscBool congruent;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(A, &congruent));
  if (A->assembled && congruent)
    PetscCall(OnBlocks(&_MatOps::diagonalset, A, d, mode));
  else
    PetscCall(OnHost(&_MatOps::diagonalset, A, d, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The entries of `right` that the off-diagonal block's columns meet; *ghosts is A's.
PetscErrorCode GetGhosts(Mat A, Vec right, Vec *ghosts)
{
  Context   *context;
  Space      space = Space::Host;
  PetscBool  found;
  LocalArray owned, theirs;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(DeviceFound(&found));
  if (found) PetscCall(ProductSpace(context, right, right, &space));
  PetscCall(context->halo.Prepare(A, space));
  *ghosts = context->halo.ghosts(space);
  PetscCall(owned.Get(right, space, Access::Read));
  PetscCall(theirs.Get(*ghosts, space, Access::Write));
  PetscCall(PetscSFBcastWithMemTypeBegin(context->halo.forest(), MPIU_SCALAR, owned.where(), owned.read(),
                                         theirs.where(), theirs.write(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(context->halo.forest(), MPIU_SCALAR, owned.read(), theirs.write(), MPI_REPLACE));
  PetscCall(owned.Restore());
  PetscCall(theirs.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A factor may lie on either side of the ranks' communicator: PETSc's operations of the blocks do not ask.
PetscErrorCode MatDiagonalScale_MPIAIJSparseGPU(Mat A, Vec left, Vec right)
{
  BlocksMayLeave scope;
  Mat            blocks[2];
  Vec            ghosts = nullptr;
  PetscInt       rows, cols, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &rows, &cols));
  if (right) {
    PetscCall(VecGetLocalSize(right, &n));
    PetscCheck(n == cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The right vector has %" PetscInt_FMT " local entries, the matrix %" PetscInt_FMT " local columns", n,
               cols);
  }
  if (left) {
    PetscCall(VecGetLocalSize(left, &n));
    PetscCheck(n == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The left vector has %" PetscInt_FMT " local entries, the matrix %" PetscInt_FMT " local rows", n, rows);
  }
  if (right) PetscCall(GetGhosts(A, right, &ghosts));
  PetscCall(scope.Begin(A));
  PetscCall(GetBlocks(A, blocks));
  PetscCall((*blocks[0]->ops->diagonalscale)(blocks[0], left, right));
  PetscCall((*blocks[1]->ops->diagonalscale)(blocks[1], left, ghosts));
  PetscCall(scope.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where no pattern changes PETSc's own zeroes the rows of the blocks, and assembles without a value set.
PetscErrorCode MatZeroRows_MPIAIJSparseGPU(Mat A, PetscInt count, const PetscInt rows[], PetscScalar diagonal, Vec x,
                                           Vec b)
{
  Context  *context;
  Mat       blocks[2];
  PetscBool congruent;
  bool      keep = true;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(A, &congruent));
  PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) {
    bool keeps;
    PetscCall(KeepsPattern(block, &keeps));
    keep = keep && keeps;
  }
  PetscCall(AllAgree(PetscObjectComm((PetscObject)A), keep, &keep));
  if (!keep || (!congruent && diagonal != PetscScalar(0))) {
    PetscCall(OnHost(&_MatOps::zerorows, A, count, rows, diagonal, x, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetContext(A, &context));
  const NothingSet nothing(context);
  PetscCall(OnBlocks(&_MatOps::zerorows, A, count, rows, diagonal, x, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SetParallelValueOperations(Mat A, bool on)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  if (!on) PetscCall(BringHome(A));
  PetscCall(GetParentOps(true, &parent));
  // What a program has set in their place stays.
#define SET(member, Function)                                               \
  if (A->ops->member == (on ? parent->member : Function##_MPIAIJSparseGPU)) \
  A->ops->member = on ? Function##_MPIAIJSparseGPU : parent->member
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
#undef SET
  SetParallelRowSums(A->ops, *parent, on);
  SetEliminateZeros(A->ops, *parent, true, on);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
