/// Leaving and coming home: the accessor hooks, and a wrapper for each of PETSc's operations that may touch values.
#include "mat/face/away.hpp"
#include <limits>
#include <type_traits>
#include "mat/face/context.hpp"
#include "petsc/hooks.hpp"

namespace sparsegpu
{

PetscErrorCode BringHome(Mat A)
{
  PetscBool seq = PETSC_FALSE, mpi;

  PetscFunctionBegin;
  if (A) PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  Context *context;
  PetscCall(GetContext(A, &context));
  PetscCall(ComeHome(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Of an operation's arguments matrices alone have values.
template <class Other> PetscErrorCode BringHomeAny(Other)
{
  return PETSC_SUCCESS;
}
PetscErrorCode BringHomeAny(Mat A)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The operation on values that are home.
template <auto member> struct AtHome;
template <class... Arguments, PetscErrorCode (*_MatOps::*member)(Mat, Arguments...)> struct AtHome<member> {
  static PetscErrorCode Call(Mat A, Arguments... arguments)
  {
    PetscFunctionBegin;
    PetscCall(BringHome(A)); // which puts the operation itself back
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringHomeAny(arguments)...}) PetscCall(code);
    PetscCall((*(A->ops->*member))(A, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Leave(struct _MatOps *operations)
  {
    if (operations->*member) operations->*member = Call;
  }
  /// Unless it has been set to something else meanwhile.
  static void Return(struct _MatOps *operations, const struct _MatOps &before)
  {
    if (operations->*member == Call) operations->*member = before.*member;
  }
};

/// The same for a member that not every version of PETSc has.
#define OPERATION(name)                                                                                    \
  template <class Operations, class = void> struct Optional_##name {                                       \
    static void Leave(Operations *) {}                                                                     \
    static void Return(Operations *, const Operations &) {}                                                \
  };                                                                                                       \
  template <class Operations> struct Optional_##name<Operations, std::void_t<decltype(&Operations::name)>> \
      : AtHome<&Operations::name> {                                                                        \
  };
#include "mat/face/host_operations.def"
#undef OPERATION

void Leave(struct _MatOps *operations)
{
#define OPERATION(name) Optional_##name<struct _MatOps>::Leave(operations);
#include "mat/face/host_operations.def"
#undef OPERATION
}
void Return(struct _MatOps *operations, const struct _MatOps &before)
{
#define OPERATION(name) Optional_##name<struct _MatOps>::Return(operations, before);
#include "mat/face/host_operations.def"
#undef OPERATION
}

// The hooks are null again once the values are home, so that the accessors hand out AIJ's own array.
PetscErrorCode GetArray(Mat A, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(MatSeqAIJGetArray(A, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetArrayRead(Mat A, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(MatSeqAIJGetArrayRead(A, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetArrayWrite(Mat A, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A)); // who writes may leave some of it as it is
  PetscCall(MatSeqAIJGetArrayWrite(A, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetCsrAndMemType(Mat A, const PetscInt **i, const PetscInt **j, PetscScalar **a, PetscMemType *where)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, i, j, a, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The parent's composed function on values that are home.
template <class... Arguments> struct ComposedAtHome {
  static PetscErrorCode Call(const char name[], Mat A, Arguments... arguments)
  {
    AnyFunction parent;

    PetscFunctionBegin;
    PetscCall(BringHome(A));
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringHomeAny(arguments)...}) PetscCall(code);
    PetscCall(GetParentFunction(false, name, &parent));
    PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat, Arguments...)>(parent))(A, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
PetscErrorCode SetPreallocation(Mat A, PetscInt n, const PetscInt lengths[])
{
  return ComposedAtHome<PetscInt, const PetscInt *>::Call("MatSeqAIJSetPreallocation_C", A, n, lengths);
}
PetscErrorCode SetPreallocationCsr(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  return ComposedAtHome<const PetscInt *, const PetscInt *, const PetscScalar *>::Call("MatSeqAIJSetPreallocationCSR_C",
                                                                                       A, i, j, a);
}
PetscErrorCode ResetPreallocation(Mat A)
{
  return ComposedAtHome<>::Call("MatResetPreallocation_C", A);
}
PetscErrorCode SetColumnIndices(Mat A, PetscInt columns[])
{
  return ComposedAtHome<PetscInt *>::Call("MatSeqAIJSetColumnIndices_C", A, columns);
}
PetscErrorCode StoreValues(Mat A)
{
  return ComposedAtHome<>::Call("MatStoreValues_C", A);
}
PetscErrorCode IsTranspose(Mat A, Mat B, PetscReal tolerance, PetscBool *is)
{
  return ComposedAtHome<Mat, PetscReal, PetscBool *>::Call("MatIsTranspose_C", A, B, tolerance, is);
}
PetscErrorCode IsHermitianTranspose(Mat A, Mat B, PetscReal tolerance, PetscBool *is)
{
  return ComposedAtHome<Mat, PetscReal, PetscBool *>::Call("MatIsHermitianTranspose_C", A, B, tolerance, is);
}
PetscErrorCode Reorder(Mat A, PetscReal tolerance, IS rows, IS columns)
{
  return ComposedAtHome<PetscReal, IS, IS>::Call("MatReorderForNonzeroDiagonal_C", A, tolerance, rows, columns);
}
struct Composed {
  const char *name;
  AnyFunction function;
};
const Composed composed[] = {
    {"MatSeqAIJSetPreallocation_C", reinterpret_cast<AnyFunction>(SetPreallocation)},
    {"MatSeqAIJSetPreallocationCSR_C", reinterpret_cast<AnyFunction>(SetPreallocationCsr)},
    {"MatResetPreallocation_C", reinterpret_cast<AnyFunction>(ResetPreallocation)},
    {"MatSeqAIJSetColumnIndices_C", reinterpret_cast<AnyFunction>(SetColumnIndices)},
    {"MatStoreValues_C", reinterpret_cast<AnyFunction>(StoreValues)},
    {"MatIsTranspose_C", reinterpret_cast<AnyFunction>(IsTranspose)},
    {"MatIsHermitianTranspose_C", reinterpret_cast<AnyFunction>(IsHermitianTranspose)},
    {"MatReorderForNonzeroDiagonal_C", reinterpret_cast<AnyFunction>(Reorder)},
};
} // namespace

PetscErrorCode ComposeAtHome(Mat A, bool on)
{
  PetscFunctionBegin;
  for (const Composed &c : composed) {
    AnyFunction parent;
    PetscCall(GetParentFunction(false, c.name, &parent));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, c.name, on ? c.function : parent));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MayGoAway(Mat A, Context *context, bool *may)
{
  AccessorHooks *hooks = nullptr;

  PetscFunctionBegin;
  const bool asked = context->settings.lazy_host || context->test_away == Context::TestAway::Yes;
  *may             = asked && !context->stays_home && !context->settings.release_csr && A->assembled;
  if (*may) PetscCall(HooksOf(A, &hooks));
  *may = hooks != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GoAway(Mat A, Context *context)
{
  AccessorHooks *hooks;

  PetscFunctionBegin;
  if (context->away) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HooksOf(A, &hooks));
  PetscCallCXX(context->away = std::make_unique<Away>());
  context->away->operations = *A->ops;
  Leave(A->ops);
  hooks->getarray         = GetArray;
  hooks->getarrayread     = GetArrayRead;
  hooks->getarraywrite    = GetArrayWrite;
  hooks->getcsrandmemtype = GetCsrAndMemType;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TellValuesWritten(Mat A, const Scalar *a, size_t bytes)
{
  AccessorHooks *hooks, kept = {};
  PetscScalar   *host;

  PetscFunctionBegin;
  PetscCall(HooksOf(A, &hooks));
  if (hooks) std::swap(kept, *hooks);
  PetscCall(MatSeqAIJGetArray(A, &host));
  if (a) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(host, a, bytes, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  }
  PetscCall(MatSeqAIJRestoreArray(A, &host)); // moves the state, and forgets the inverse of the diagonal
  if (hooks) std::swap(kept, *hooks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComeHome(Mat A, Context *context)
{
  AccessorHooks  *hooks;
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;

  PetscFunctionBegin;
  if (!context->away) PetscFunctionReturn(PETSC_SUCCESS);
  const std::unique_ptr<Away> away = std::move(context->away);
  PetscCall(HooksOf(A, &hooks));
  *hooks = AccessorHooks{};
  Return(A->ops, away->operations);
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where)); // as it is: neither state nor version move
  const size_t bytes = static_cast<size_t>(i[A->rmap->n]) * sizeof(Scalar);
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  if (!away->stowed.empty()) {
    memcpy(a, away->stowed.data(), bytes);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(a, context->coo.values.data(), bytes, stream));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StayHome(Mat A)
{
  PetscBool seq = PETSC_FALSE, mpi;
  Context  *context;

  PetscFunctionBegin;
  if (A) PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(ComeHome(A, context));
  context->stays_home = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SendAwayForTests(Mat A, Context *context)
{
  PetscBool       wanted = PETSC_FALSE;
  bool            may;
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;

  PetscFunctionBegin;
  if (context->test_away == Context::TestAway::Unknown) { // looked up once: this is called with each product
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &wanted, nullptr));
    context->test_away = wanted ? Context::TestAway::Yes : Context::TestAway::No;
  }
  if (context->test_away == Context::TestAway::No || context->away) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayGoAway(A, context, &may));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where));
  const size_t n = static_cast<size_t>(i[A->rmap->n]);
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GoAway(A, context));
  PetscCallCXX(context->away->stowed.assign(reinterpret_cast<Scalar *>(a), reinterpret_cast<Scalar *>(a) + n));
  std::fill(a, a + n, static_cast<PetscScalar>(std::numeric_limits<PetscReal>::quiet_NaN()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
