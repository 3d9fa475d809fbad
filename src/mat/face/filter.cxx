/// MatEliminateZeros() where the values are on the device: the rows are made shorter there. The host gets a byte an
/// entry, writes NaN and 0 for it where its values are, and has AIJ's own operation drop the zeros, and so the same
/// entries, from its pattern. MatSparseGPUFilter() is that after small values have become zero there; PETSc's
/// MatFilter() passes through the rows on the host, whatever their type, one assembly a row.
#include "mat/face/filter.hpp"
#include <limits>
#include "mat/face/parallel_values.hpp"
#include "mat/face/value_place.hpp"
#include "mat/rows/running_sum.hpp"

namespace sparsegpu::face
{

using namespace there;

namespace
{
/// Forgets symmetry and the like, as PETSc's operations do.
PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 20, 0)
/// The rows without their zeros, in the space of the values.
struct ShorterRows {
  Array<PetscInt>            i, j;
  Array<Scalar>              a;
  std::vector<unsigned char> stays; ///< [nonzeros of before], on the host
};

/// *left: without a row where nothing is to be dropped. Waits for the device.
PetscErrorCode Shorten(const There &t, bool diagonal, ShorterRows *left)
{
  const CsrView       &rows = t.pattern;
  const values::Filter filter{0, diagonal, rows.device.i, rows.device.j, t.a};
  const size_t         nonzeros = static_cast<size_t>(rows.nonzeros);
  Array<PetscInt>      begin;
  Array<unsigned char> stays;
  PetscInt             total = 0;

  PetscFunctionBegin;
  PetscCall(begin.Allocate(static_cast<size_t>(rows.rows) + 1, t.space));
  PetscCall(values::ForEach(t.space, rows.rows, values::CountFiltered{filter, begin.data()}));
  PetscCall(RunningSumIn(t.space, rows.rows, &begin, &total));
  if (total == rows.nonzeros) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(left->j.Allocate(static_cast<size_t>(total), t.space));
  PetscCall(left->a.Allocate(static_cast<size_t>(total), t.space));
  PetscCall(stays.Allocate(nonzeros, t.space));
  PetscCallCXX(left->stays.resize(nonzeros));
  PetscCall(
      values::ForEach(t.space, rows.rows, values::TakeFiltered{filter, begin.data(), left->j.data(), left->a.data()}));
  PetscCall(values::ForEach(t.space, rows.rows, values::MarkFiltered{filter, stays.data()}));
  if (t.space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(left->stays.data(), stays.data(), nonzeros, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(nonzeros)));
  } else {
    std::copy(stays.data(), stays.data() + nonzeros, left->stays.begin());
  }
  left->i = std::move(begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's pattern without the entries that do not stay, by AIJ's own operation.
PetscErrorCode ShortenOnHost(Mat A, Context *context, const std::vector<unsigned char> &stays)
{
  const struct _MatOps *parent;
  const PetscScalar     nan = std::numeric_limits<PetscReal>::quiet_NaN();
  PetscScalar          *a;

  PetscFunctionBegin;
  PetscCall(ComeHomeUnread(A, context));
  PetscCall(MatSeqAIJGetArrayWrite(A, &a));
  for (size_t e = 0; e < stays.size(); e++) a[e] = stays[e] ? nan : PetscScalar(0);
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &a));
  PetscCall(GetParentOps(false, &parent));
  A->assembled = PETSC_TRUE; // which it is not in the assembly that this is called in
  const AtHomeScope scope;
  PetscCall((*parent->eliminatezeros)(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeShorterRows(Mat A, Space space, ShorterRows *left)
{
  const bool empty = left->j.size() == 0;
  Context   *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(ShortenOnHost(A, context, left->stays));
  PetscCall(context->rows.TakeValues(A, std::move(left->a), space));
  if (!empty) PetscCall(ValuesWrittenThere(A, context)); // none are nowhere
  if (space == Space::Device)
    PetscCall(context->rows.TakePattern(A, std::move(left->i), std::move(left->j), !context->settings.release_csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatEliminateZeros_SeqAIJSparseGPU(Mat A, PetscBool keep)
{
  There       t;
  ShorterRows left;
  bool        lacks = false;

  PetscFunctionBegin;
  if (A->assembled) PetscCall(Find(A, Need::Read, &t));
  PetscCall(Pattern(A, &t, &t.pattern.device.i, &t.pattern.device.j));
  if (t.is) PetscCall(MayLackMemory([&] { return Shorten(t, keep, &left); }, &lacks));
  if (!t.is || lacks) {
    PetscCall(OnHost(&_MatOps::eliminatezeros, A, keep));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (left.i.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(A, "Zeros eliminated: %" PetscInt_FMT "; nonzeros left: %zu\n",
                      t.pattern.nonzeros - static_cast<PetscInt>(left.j.size()), left.j.size()));
  PetscCallCXX(t.context->in_assembly = [A, &t, &left] { return TakeShorterRows(A, t.space, &left); });
  const PetscErrorCode code = Assemble(A);
  t.context->in_assembly    = nullptr; // if it has not been called
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NonzeroStates(const Mat blocks[2], PetscObjectState *sum)
{
  PetscFunctionBegin;
  *sum = 0;
  for (int b = 0; b < 2; b++) {
    PetscObjectState state;
    PetscCall(MatGetNonzeroState(blocks[b], &state));
    *sum += state;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal is that of the diagonal block, as in PETSc's. Ghosts stay, whether a column of theirs has entries or
/// not.
PetscErrorCode MatEliminateZeros_MPIAIJSparseGPU(Mat A, PetscBool keep)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)A);
  BlocksMayLeave   scope;
  Mat              blocks[2];
  PetscObjectState before, after, moved;

  PetscFunctionBegin;
  PetscCheck(A->assembled, comm, PETSC_ERR_ARG_WRONGSTATE, "Zeros cannot be eliminated: the matrix is not assembled");
  PetscCall(scope.Begin(A));
  PetscCall(GetBlocks(A, blocks));
  PetscCall(NonzeroStates(blocks, &before));
  PetscCall(MatEliminateZeros(blocks[0], keep));
  PetscCall(MatEliminateZeros(blocks[1], PETSC_FALSE));
  PetscCall(NonzeroStates(blocks, &after));
  PetscCall(scope.End());
  // PETSc's leaves both states, which preconditioners go by
  after -= before;
  PetscCallMPI(MPI_Allreduce(&after, &moved, 1, MPIU_INT64, MPI_SUM, comm));
  A->nonzerostate += moved;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Values of at most `limit` in magnitude become zero, where they are.
PetscErrorCode DropSmall(Mat A, PetscReal limit)
{
  PetscScalar *a;
  CsrView      csr;
  There        t;

  PetscFunctionBegin;
  PetscCall(Find(A, Need::Write, &t));
  if (t.is) {
    PetscCall(Write(A, t, t.pattern.nonzeros, values::DropSmall{limit, t.a}, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetHostPattern(A, &csr));
  PetscCall(MatSeqAIJGetArray(A, &a));
  for (PetscInt e = 0; e < csr.nonzeros; e++)
    if (PetscAbsScalar(a[e]) <= limit) a[e] = 0;
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

#if PETSC_VERSION_GE(3, 20, 0)
void SetEliminateZeros(struct _MatOps *operations, const struct _MatOps &parent, bool parallel, bool on)
{
  const auto ours = parallel ? MatEliminateZeros_MPIAIJSparseGPU : MatEliminateZeros_SeqAIJSparseGPU;
  if (operations->eliminatezeros == (on ? parent.eliminatezeros : ours))
    operations->eliminatezeros = on ? ours : parent.eliminatezeros;
}
#else
void SetEliminateZeros(struct _MatOps *, const struct _MatOps &, bool, bool) {}
#endif

} // namespace sparsegpu::face

using namespace sparsegpu::face;

/*@C
  MatSparseGPUFilter - Sets values of a `MATSPARSEGPU` matrix that are at most a tolerance in magnitude to zero, and
  drops such entries if asked to

  Collective

  Input Parameters:
+ A        - the matrix, assembled
. tol      - the tolerance, at least 0
. compress - whether entries that are zero then are dropped, by `MatEliminateZeros()`; from PETSc 3.20 on
- keep     - with `compress`, whether those on the diagonal stay

  Level: intermediate

  Note:
  This is what `MatFilter()` does, where the values are: on the GPU for a matrix whose products run there. `MatFilter()`
works on `MATSPARSEGPU` matrices, too, but is the same for all types: the host gets all values, and assembles once a
row. NaN stays.

.seealso: `MATSPARSEGPU`, `MatFilter()`, `MatEliminateZeros()`
@*/
PetscErrorCode MatSparseGPUFilter(Mat A, PetscReal tol, PetscBool compress, PetscBool keep)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix must have been assembled before it is filtered");
  PetscCheck(tol >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "Tolerance %g: it must be non-negative", static_cast<double>(tol));
#if PETSC_VERSION_LT(3, 20, 0)
  (void)keep;
  PetscCheck(!compress, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Entries are dropped by MatEliminateZeros(), which PETSc has from 3.20 on: use PETSC_FALSE");
#endif
  PetscCall(IsOurs(A, &seq, &mpi));
  if (mpi) PetscCall(ConvertBlocks(A));
  PetscCall(seq ? DropSmall(A, tol) : EachBlock(A, [tol](Mat block) { return DropSmall(block, tol); }));
  const NothingSet nothing(context);
  PetscCall(Assemble(A));
#if PETSC_VERSION_GE(3, 20, 0)
  if (compress) PetscCall(MatEliminateZeros(A, keep));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
