/// A pattern from the device becomes that of a sequential AIJ matrix through PETSc's public functions: row lengths and
/// columns alone are copied to the host. The host's values, whose memory is fresh, are not touched where they are
/// behind those of the device anyway.
#include "mat/face/pattern.hpp"
#include "device/host_memory.hpp"
#include "mat/face/value_place.hpp"
#include "petsc/hooks.hpp"

namespace sparsegpu::face
{

namespace
{
PetscErrorCode CopyToHost(PetscInt *host, const PetscInt *from, size_t count, Space space)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sparsegpu::CopyToHost(space, from, count, host));
  if (space == Space::Device) PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(count * sizeof(PetscInt))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's function: ours in its place would bring home what is on its way.
template <class... Arguments> PetscErrorCode CallParent(const char name[], Mat A, Arguments... arguments)
{
  AnyFunction parent;

  PetscFunctionBegin;
  PetscCall(GetParentFunction(false, name, &parent));
  PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat, Arguments...)>(parent))(A, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSeqAIJSetPreallocation(); no arrays for n = MAT_SKIP_ALLOCATION.
PetscErrorCode Preallocate(Mat A, PetscInt n, const PetscInt *lengths)
{
  return CallParent<PetscInt, const PetscInt *>("MatSeqAIJSetPreallocation_C", A, n, lengths);
}

/// Of rows that begin at i [rows + 1].
PetscErrorCode SetLengths(Mat A, const PetscInt *i, Space space)
{
  std::vector<PetscInt> lengths;

  PetscFunctionBegin;
  PetscCallCXX(lengths.resize(static_cast<size_t>(A->rmap->n) + 1));
  PetscCall(CopyToHost(lengths.data(), i, lengths.size(), space));
  for (size_t r = 0; r + 1 < lengths.size(); r++) lengths[r] = lengths[r + 1] - lengths[r];
  PetscCall(Preallocate(A, 0, lengths.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSeqAIJSetColumnIndices() of j [nonzeros]. They are copied to their place in AIJ's array at once, which saves the
/// fresh memory of another one: PETSc's function, which ends the rows, too, then copies them onto themselves.
PetscErrorCode SetColumns(Mat A, const PetscInt *j, size_t nonzeros, Space space)
{
  CsrView csr;

  PetscFunctionBegin;
  if (nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS); // all rows are as they were preallocated: empty
  PetscCall(GetHostPattern(A, &csr));
  PetscCheck(static_cast<size_t>(csr.nonzeros) == nonzeros, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%zu columns for %" PetscInt_FMT " nonzeros", nonzeros, csr.nonzeros);
  PetscInt *const columns = const_cast<PetscInt *>(csr.j);
  PetscCall(CopyToHost(columns, j, nonzeros, space));
  PetscCall(CallParent<PetscInt *>("MatSeqAIJSetColumnIndices_C", A, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's arrays for this pattern, and what AIJ's assembly makes of them.
PetscErrorCode MakeOnHost(Mat A, const PetscInt *i, const PetscInt *j, size_t nonzeros, Space space)
{
  const AtHomeScope     scope; // the host's values are not defined yet
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(SetLengths(A, i, space));
  PetscCall(SetColumns(A, j, nonzeros, space));
  // Products run on the device; to look for inodes would read the fresh columns of every row.
  PetscCall(MatSetOption(A, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(GetParentOps(false, &parent));
  PetscCall((*parent->assemblyend)(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ZeroOnHost(Mat A)
{
  CsrView      csr;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(GetHostPattern(A, &csr));
  if (csr.nonzeros == 0 || A->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayWrite(A, &a));
  AdviseHugePages(a, static_cast<size_t>(csr.nonzeros) * sizeof(PetscScalar));
  memset(static_cast<void *>(a), 0, static_cast<size_t>(csr.nonzeros) * sizeof(PetscScalar));
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatAssemblyEnd() as far as the pattern goes. The program has not assembled its values yet: nothing is viewed or
/// tested, and what MatSetOption() has said of their symmetry goes on to hold.
PetscErrorCode AssemblePattern(Mat A)
{
  PetscFunctionBegin;
  A->assembled        = PETSC_TRUE;
  A->ass_nonzerostate = A->nonzerostate;
  PetscCall(NameTypeForDM(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values zero of A, assembled.
PetscErrorCode ZeroValues(Mat A)
{
  there::There t;

  PetscFunctionBegin;
  PetscCall(there::Find(A, there::Need::Anew, &t));
  if (t.is)
    PetscCall(there::Write(A, t, t.pattern.nonzeros, values::Zero{t.a}, 0));
  else
    PetscCall(ZeroOnHost(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Leaves the pattern, and values that are zero, where i and j are. *left is false where these have to be on the host.
PetscErrorCode LeaveThere(Mat A, Context *context, Array<PetscInt> *i, Array<PetscInt> *j, Space space, bool *left)
{
  Space   where = Space::Host;
  Scalar *a;
  bool    lacks = false;

  PetscFunctionBegin;
  *left = false;
  if (!PatternsStayAway::Any() || A->preallocated || A->structure_only || !j->size())
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Preallocate(A, MAT_SKIP_ALLOCATION, nullptr));
  context->rows.PatternWritten();
  PetscCall(AssemblePattern(A));
  PetscCall(MayGoAway(A, context, left, &where));
  *left = *left && where == space;
  if (!*left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->rows.TakePatternAway(A, std::move(*i), std::move(*j), space));
  PetscCall(MayLackMemory([&] { return context->rows.RoomForValues(A, space, &a); }, &lacks));
  *left = !lacks;
  if (lacks) {
    context->rows.GiveBackPattern(i, j);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(values::ForEach(space, static_cast<PetscCount>(context->rows.pattern_nonzeros()), values::Zero{a}));
  PetscCall(ValuesWrittenThere(A, context, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int PatternsStayAway::depth_ = 0;

PetscErrorCode TakePattern(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, Space space)
{
  PetscBool seq, mpi;
  Context  *context;
  bool      left;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCheck(seq, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A pattern of the device for type %s, not %s",
             ((PetscObject)A)->type_name, MATSEQAIJSPARSEGPU);
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCheck(i.size() == static_cast<size_t>(A->rmap->n) + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%zu beginnings of rows for %" PetscInt_FMT " rows", i.size(), A->rmap->n);
  PetscCall(BringHome(A));
  PetscCall(GetContext(A, &context));
  PetscCall(LeaveThere(A, context, &i, &j, space, &left));
  if (left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MakeOnHost(A, i.data(), j.data(), j.size(), space));
  context->rows.PatternWritten();
  PetscCall(AssemblePattern(A));
  PetscCall(ZeroValues(A)); // before Rows take the pattern: on the host that moves its version
  if (space == Space::Device)
    PetscCall(context->rows.TakePattern(A, std::move(i), std::move(j), !context->settings.release_csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternComesHome(Mat A, Context *context, const Away &away)
{
  Rows *const            rows         = &context->rows;
  const CsrArrays        there        = rows->pattern_there();
  const PetscObjectState nonzerostate = A->nonzerostate, assembled_state = A->ass_nonzerostate;
  const PetscBool        assembled = A->assembled, before = A->was_assembled;
  PetscObjectState       state;

  PetscFunctionBegin;
  if (!rows->pattern_away()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(A, "The host gets the pattern of %" PetscInt_FMT " rows\n", A->rmap->n));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MakeOnHost(A, there.i, there.j, static_cast<size_t>(rows->pattern_nonzeros()), rows->pattern_space()));
  rows->PatternCameHome();
  for (const auto &option : away.options) PetscCall(MatSetOption(A, option.first, option.second));
  // All this is the pattern that PETSc has been told of before.
  A->nonzerostate     = nonzerostate;
  A->ass_nonzerostate = assembled_state;
  A->assembled        = assembled;
  A->was_assembled    = before;
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BringPatternHome(Mat A)
{
  PetscBool      seq = PETSC_FALSE, mpi;
  Context       *context;
  AccessorHooks *hooks, kept = {};
  CsrView        csr;

  PetscFunctionBegin;
  if (A) PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  if (!context->rows.pattern_away()) PetscFunctionReturn(PETSC_SUCCESS);
  Away *const away = context->away.get();
  PetscCall(HooksOf(A, &hooks));
  const struct _MatOps now = *A->ops;
  OperateAsBefore(A->ops, away->operations);
  OperatePatternAsBefore(A->ops, away->operations);
  std::swap(kept, *hooks);
  PetscErrorCode code = PatternComesHome(A, context, *away);
  if (!code) code = GetHostRows(A, &csr);
  std::swap(kept, *hooks);
  *A->ops = now;
  OperatePatternAsBefore(A->ops, away->operations);
  PetscCall(code);
  away->host  = const_cast<Scalar *>(csr.a);
  away->bytes = static_cast<size_t>(csr.nonzeros) * sizeof(Scalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
