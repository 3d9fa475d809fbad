/// Leaving and coming home: the accessor hooks of AIJ, and which values may be newest on the device.
#include "mat/face/away.hpp"
#include <petscpc.h>
#include <limits>
#include "device/host_memory.hpp"
#include "mat/face/context.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/pattern.hpp"
#include "petsc/hooks.hpp"

namespace sparsegpu::face
{

int AtHomeScope::depth_ = 0;

PetscErrorCode BringHome(Mat A)
{
  PetscBool seq = PETSC_FALSE, mpi = PETSC_FALSE;

  PetscFunctionBegin;
  if (A) PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  Context *context;
  PetscCall(GetContext(A, &context));
  PetscCall(ComeHome(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// The hooks are null again once the values are home, so that the accessors hand out AIJ's own array. Who writes may
// leave some of it as it is.
template <class Pointer, PetscErrorCode (*accessor)(Mat, Pointer *)> PetscErrorCode AccessAtHome(Mat A, Pointer *array)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(accessor(A, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetCsrAndMemType(Mat A, const PetscInt **i, const PetscInt **j, PetscScalar **a, PetscMemType *where)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, i, j, a, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Runs `call` as if AIJ had no hooks.
template <class Call> PetscErrorCode WithoutHooks(Mat A, Call call)
{
  AccessorHooks *hooks, kept = {};

  PetscFunctionBegin;
  PetscCall(HooksOf(A, &hooks));
  if (hooks) std::swap(kept, *hooks);
  PetscCall(call());
  if (hooks) std::swap(kept, *hooks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc is told that the values have been written as if its host array had been: its state moves, and what it knows of
/// the diagonal is forgotten. With `a` [bytes] in `space` that array gets them from there.
PetscErrorCode TellValuesWritten(Mat A, const Scalar *a, Space space, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(WithoutHooks(A, [&]() -> PetscErrorCode {
    PetscScalar *host;

    PetscFunctionBegin;
    PetscCall(MatSeqAIJGetArray(A, &host));
    if (a && space == Space::Host) {
      memcpy(static_cast<void *>(host), a, bytes);
    } else if (a) {
      Stream stream;
      PetscCall(DeviceStream(&stream));
      PetscCall(DeviceCopyOut(host, a, bytes, stream));
      PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
    }
    PetscCall(MatSeqAIJRestoreArray(A, &host));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Leave(Mat A, Context *context)
{
  AccessorHooks *hooks;
  CsrView        csr;

  PetscFunctionBegin;
  if (context->away) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HooksOf(A, &hooks));
  PetscCall(GetHostRows(A, &csr)); // there are no hooks yet
  PetscCallCXX(context->away = std::make_unique<Away>(A, &context->rows, const_cast<Scalar *>(csr.a),
                                                      static_cast<size_t>(csr.nonzeros) * sizeof(Scalar)));
  context->away->operations = *A->ops;
  OperateAtHome(A->ops);
  if (context->rows.pattern_away()) OperateWithPattern(A->ops);
  hooks->getarray         = AccessAtHome<PetscScalar *, MatSeqAIJGetArray>;
  hooks->getarrayread     = AccessAtHome<const PetscScalar *, MatSeqAIJGetArrayRead>;
  hooks->getarraywrite    = AccessAtHome<PetscScalar *, MatSeqAIJGetArrayWrite>;
  hooks->getcsrandmemtype = GetCsrAndMemType;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's own accessors and operations from now on.
PetscErrorCode Return(Mat A, Context *context)
{
  const std::unique_ptr<Away> away = std::move(context->away);
  AccessorHooks              *hooks;

  PetscFunctionBegin;
  PetscCall(HooksOf(A, &hooks));
  *hooks = AccessorHooks{};
  OperateAsBefore(A->ops, away->operations);
  OperatePatternAsBefore(A->ops, away->operations);
  PetscCall(PatternComesHome(A, context, *away));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does this PETSc have a preconditioner that reads the values of matrices without asking for them?
PetscErrorCode OthersRead(bool *others)
{
  PetscErrorCode (*ml)(PC) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, PCML, &ml));
  *others = ml != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -sparsegpu_test_away, looked up once.
PetscErrorCode TestsAway(Context *context, bool *tests)
{
  PetscBool wanted = PETSC_FALSE;

  PetscFunctionBegin;
  if (context->test_away == Context::TestAway::Unknown) {
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &wanted, nullptr));
    context->test_away = wanted ? Context::TestAway::Yes : Context::TestAway::No;
  }
  *tests = context->test_away == Context::TestAway::Yes;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode LivesThere(Context *context, bool *lives)
{
  Space space;

  PetscFunctionBegin;
  PetscCall(TestsAway(context, lives));
  PetscCall(PlannedSpace(context, &space));
  *lives = *lives || space == Space::Device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MayGoAway(Mat A, Context *context, bool *may, Space *space)
{
  AccessorHooks *hooks = nullptr;
  PetscBool      found = PETSC_TRUE;
  bool           tests = false, others = false;

  PetscFunctionBegin;
  *may = false;
  PetscCall(TestsAway(context, &tests));
  PetscCall(OthersRead(&others));
  // What nothing of ours has read yet may be meant for the host.
  if (!(tests || (context->settings.lazy_host && context->read_here && !others)) || AtHomeScope::Any() || HasMAIJ() ||
      context->stays_home || (context->block && !context->may_leave) || (A->product && !context->product_here) ||
      context->settings.release_csr || !A->assembled)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlannedSpace(context, space));
  if (*space == Space::Host && !tests) PetscFunctionReturn(PETSC_SUCCESS);
  if (*space == Space::Device) PetscCall(DeviceFound(&found)); // the backend asked for may lack a device
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HooksOf(A, &hooks));
  *may = hooks != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesWrittenThere(Mat A, Context *context, bool zero)
{
  PetscFunctionBegin;
  PetscCall(TellValuesWritten(A, nullptr, Space::Host, 0));
  context->rows.WrittenThere(zero);
  PetscCall(Leave(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesWrittenInBoth(Mat A, Context *context, const Scalar *a, Space space)
{
  const PetscInt *i, *j;
  PetscScalar    *host;
  PetscMemType    where;

  PetscFunctionBegin;
  PetscCheck(!context->away, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values are away from the host");
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &host, &where));
  PetscCall(TellValuesWritten(A, a, space, static_cast<size_t>(A->rmap->n ? i[A->rmap->n] : 0) * sizeof(Scalar)));
  PetscCall(context->rows.WrittenInBoth(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IsAway(Mat A, bool *away)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  *away = context->rows.away();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComeHomeUnread(Mat A, Context *context)
{
  PetscFunctionBegin;
  if (!context->away) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Return(A, context));
  PetscCall(context->rows.ReturnedHome(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComeHome(Mat A, Context *context)
{
  const PetscInt *i, *j;
  PetscScalar    *host;
  Scalar         *a;
  PetscMemType    where;

  PetscFunctionBegin;
  if (context->at_home) PetscCall(BlocksComeHome(A, context));
  if (!context->away) PetscFunctionReturn(PETSC_SUCCESS);
  const Space space = context->rows.values_space();
  PetscCall(Return(A, context));
  PetscCall(context->rows.ValuesIn(A, space, &a));
  PetscCheck(a, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values that are away are not those of now");
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &host, &where)); // as it is: neither state nor version move
  const size_t bytes = static_cast<size_t>(A->rmap->n ? i[A->rmap->n] : 0) * sizeof(Scalar);
  if (context->rows.zero()) {
    AdviseHugePages(host, bytes);
    memset(static_cast<void *>(host), 0, bytes); // as MatZeroEntries() would have
  } else if (bytes && space == Space::Host) {
    memcpy(static_cast<void *>(host), a, bytes);
  } else if (bytes) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(host, a, bytes, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  }
  PetscCall(context->rows.ReturnedHome(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StayHome(Mat A)
{
  PetscBool seq = PETSC_FALSE, mpi = PETSC_FALSE;
  Context  *context;

  PetscFunctionBegin;
  if (A) PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(ComeHome(A, context));
  context->stays_home = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SendAwayForTests(Mat A, Context *context)
{
  bool            may = false;
  Space           space;
  const PetscInt *i, *j;
  PetscScalar    *host;
  Scalar         *a;
  PetscMemType    where;

  PetscFunctionBegin;
  if (context->test_away == Context::TestAway::No || context->away) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayGoAway(A, context, &may, &space));
  if (!may || context->test_away == Context::TestAway::No) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->rows.BringValues(A, space, &a));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &host, &where));
  const size_t n = static_cast<size_t>(A->rmap->n ? i[A->rmap->n] : 0);
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  std::fill(host, host + n, static_cast<PetscScalar>(std::numeric_limits<PetscReal>::quiet_NaN()));
  context->rows.SentAway();
  PetscCall(Leave(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
