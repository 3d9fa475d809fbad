/// What our types keep beside the AIJ data: made on first use, handed on with the insides of a matrix, settled by the
/// options or the matrix that this one comes from.
#include <map>
#include "mat/face/context.hpp"
#include "mat/face/parallel_coo.hpp"
#include "mat/face/value_operations.hpp"

namespace sparsegpu::face
{

PetscErrorCode IsOurs(Mat A, PetscBool *seq, PetscBool *mpi)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJSPARSEGPU, seq));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJSPARSEGPU, mpi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ForgetContents(Context *context)
{
  ForgetCopies(context);
  for (auto &space : context->agreed)
    for (Agreement &agreement : space) agreement = Agreement();
}

/// The context becomes A's. Versions and object states in it were another matrix's.
static PetscErrorCode Adopt(Mat A, Context *context)
{
  PetscFunctionBegin;
  PetscCall(ComeHome(A, context));
  PetscCall(context->rows.Adopt(A));
  ForgetContents(context);
  context->coo.pattern.epoch = context->rows.epoch(); // the map belongs to the rows, which came along
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetContext(Mat A, Context **out)
{
  Context *context = static_cast<Context *>(A->spptr);
  bool     theirs;

  PetscFunctionBegin;
  if (!context) {
    PetscCallCXX(context = new Context);
    A->spptr = context;
  }
  *out = context;
  PetscCall(context->rows.BelongTo(A, &theirs));
  if (!theirs) PetscCall(Adopt(A, context)); // alike on all ranks
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetVersion(Mat A, Context *context, Version *version)
{
  PetscFunctionBegin;
  PetscCall(context->rows.GetVersion(A, version));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetCsr(Mat A, CsrView *view, PatternKey *key)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(context->rows.GetHost(A, view, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DestroyContext(Mat A)
{
  Context *context = static_cast<Context *>(A->spptr);

  PetscFunctionBegin;
  A->spptr = nullptr;
  if (!context) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->halo.Free());
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
struct Stashed {
  Settings settings;
  bool     stays_home, block;
};
} // namespace

static std::map<Mat, Stashed> &Stash()
{
  static std::map<Mat, Stashed> stash;
  return stash;
}

PetscErrorCode StashSettings(Mat A)
{
  const Context *context = static_cast<Context *>(A->spptr);

  PetscFunctionBegin;
  if (((PetscObject)A)->refct <= 0)
    PetscCall(DropStash(A)); // the end of the matrix itself
  else if (context && (context->settings.decided || context->stays_home || context->block))
    PetscCallCXX((Stash()[A] = Stashed{context->settings, context->stays_home, context->block}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DropStash(Mat A)
{
  PetscFunctionBegin;
  Stash().erase(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DropAllStashes()
{
  PetscFunctionBegin;
  Stash().clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParseBackend(const char *name, Backend *backend)
{
  PetscFunctionBegin;
  for (int b = 0; b < 3; b++) {
    PetscBool same;
    PetscCall(PetscStrcasecmp(name, BackendNames[b], &same));
    if (same) {
      *backend = static_cast<Backend>(b);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
          "Unknown backend \"%s\" for -sparsegpu_backend: auto, cuda and kokkos are known", name);
}

PetscErrorCode ParseFormat(const char *name, std::string *format)
{
  std::string known = "auto";

  PetscFunctionBegin;
  for (const char *other : FormatNames()) {
    PetscBool same;
    PetscCall(PetscStrcasecmp(name, other, &same));
    if (same) {
      PetscCallCXX(*format = other);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallCXX(known += std::string(", ") + other);
  }
  PetscBool is_auto;
  PetscCall(PetscStrcasecmp(name, "auto", &is_auto));
  PetscCheck(is_auto, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "Unknown format \"%s\" for -mat_sparsegpu_format: known are %s", name, known.c_str());
  PetscCallCXX(*format = "auto");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RequireDevice(const char *asked_by)
{
  PetscBool   found;
  const char *why;

  PetscFunctionBegin;
  PetscCall(DeviceFound(&found, &why));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s asks for a GPU, but %s", asked_by, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Decide(Mat A, Context *context)
{
  PetscFunctionBegin;
  if (context->settings.decided) PetscFunctionReturn(PETSC_SUCCESS);
  const auto kept = Stash().find(A);
  if (kept != Stash().end()) {
    PetscCallCXX(context->settings = kept->second.settings);
    context->stays_home |= kept->second.stays_home;
    context->block |= kept->second.block;
    PetscCall(DropStash(A));
  }
  if (!context->settings.decided) PetscCall(ReadOptions(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForgetAgreement(Mat A)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  for (auto &space : context->agreed)
    for (Agreement &agreement : space) agreement = Agreement();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForgetConverted(Mat A)
{
  Context  *context;
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  ForgetContents(context);
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!mpi || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  Mat blocks[2];
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks) {
    PetscCall(IsOurs(block, &seq, &mpi));
    if (seq) PetscCall(ForgetConverted(block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InheritSettings(Mat A, Mat B)
{
  PetscBool seq, mpi;
  Context  *from, *to;

  PetscFunctionBegin;
  PetscCall(IsOurs(B, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &from));
  PetscCall(GetContext(B, &to));
  if (from->settings.decided) { // else both will read the options at first use
    PetscCallCXX(to->settings = from->settings);
    to->settings.strict = to->settings.off_diagonal = false;
  }
  to->settings.backend      = from->settings.backend;
  to->settings.bound_to_cpu = from->settings.bound_to_cpu;
  PetscCall(ChooseVecType(B, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlannedSpace(Context *context, Space *space)
{
  PetscFunctionBegin;
  *space = Space::Host;
  if (context->settings.bound_to_cpu || context->settings.backend == Backend::Kokkos)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (context->settings.backend == Backend::Cuda) {
    *space = Space::Device;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(PETSC_HAVE_CUDA) // else vectors never live on a device
  PetscBool found;
  PetscCall(DeviceFound(&found));
  if (found) *space = Space::Device;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*on_device_matrices)() = nullptr;

void OnDeviceMatrices(PetscErrorCode (*call)())
{
  on_device_matrices = call;
}

PetscErrorCode ChooseVecType(Mat A, Context *context)
{
  PetscBool seq, mpi;
  Space     space;
  bool      lives;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(LivesThere(context, &lives));
  if (seq) PetscCall(SetValueOperations(A, lives));
#if defined(PETSC_HAVE_CUDA) && defined(SPARSEGPU_HAVE_CUDA)
  // Some of them communicate: a rank without a GPU takes part in what the others do.
  lives = lives || (context->settings.backend == Backend::Auto && !context->settings.bound_to_cpu);
#endif
  if (mpi) PetscCall(SetParallelValueOperations(A, lives));
  PetscCall(PlannedSpace(context, &space));
  if (space == Space::Device && on_device_matrices) PetscCall(on_device_matrices());
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatSetVecType(A, space == Space::Device ? VECCUDA : VECSTANDARD));
  // PETSc's matrices are born bound to the CPU; it binds vectors, interpolation and products of bound ones, too
  A->boundtocpu = space == Space::Device ? PETSC_FALSE : PETSC_TRUE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OurContext(Mat A, Context **context)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCheck(seq || mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "Matrix of type %s, not " MATSEQAIJSPARSEGPU " or " MATMPIAIJSPARSEGPU,
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "not set");
  PetscCall(GetContext(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
