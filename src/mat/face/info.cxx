/// The public functions of the matrix type.
#include "mat/face/context.hpp"

using namespace sparsegpu;
using namespace sparsegpu::face;

/*@C
  MatSparseGPUGetFormats - Gets the names of all storage formats of `MATSPARSEGPU`

  Not Collective

  Output Parameters:
+ n     - the number of formats
- names - their names, owned by the library; "auto" is not among them

  Level: intermediate

.seealso: `MATSPARSEGPU`, `MatSparseGPUSetFormat()`, `MatSparseGPUCheckFormat()`
@*/
PetscErrorCode MatSparseGPUGetFormats(PetscInt *n, const char *const *names[])
{
  PetscFunctionBegin;
  *n     = static_cast<PetscInt>(FormatNames().size());
  *names = FormatNames().data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OurContext(Mat A, Context **context)
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

/*@C
  MatSparseGPUSetFormat - Sets the storage format of a `MATSPARSEGPU` matrix' products

  Logically Collective

  Input Parameters:
+ A      - the matrix
- format - "auto" or a name of `MatSparseGPUGetFormats()`

  Options Database Keys:
+ -mat_sparsegpu_format format - the same, under the prefix of the matrix
. -mat_sparsegpu_auto_lazy     - whether "auto" converts only once that pays (default true)
- -mat_sparsegpu_auto_trial    - "auto" times products in a few formats: not reproducible (default false)

  Level: intermediate

  Notes:
  The matrix is converted at the next product. A format unsuitable for the matrix, such as "dia" for one with entries on
very many diagonals, makes that product fail with `PETSC_ERR_ARG_OUTOFRANGE`; `MatSparseGPUCheckFormat()` tells
beforehand.

  "auto" takes the format that moves the fewest bytes. Where "csr" has the same bits, products run as that until the
time lost to it exceeds the conversion cost; a change of the pattern starts anew, copies by `MatDuplicate()` do not
choose again.

  In parallel the format governs the diagonal block; an off-diagonal block that it refuses is stored as "csr".

.seealso: `MATSPARSEGPU`, `MatSparseGPUGetFormat()`, `MatSparseGPUCheckFormat()`, `MatSparseGPUGetInfo()`
@*/
PetscErrorCode MatSparseGPUSetFormat(Mat A, const char format[])
{
  Context    *context;
  std::string parsed;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCall(ParseFormat(format, &parsed));
  PetscCall(Decide(A, context));
  PetscCallCXX(context->settings.format = parsed);
  context->settings.strict = true;
  PetscCall(ForgetConverted(A));
  PetscCall(PassSettingsOn(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSparseGPUGetFormat - Gets the storage format asked for with `MatSparseGPUSetFormat()` or -mat_sparsegpu_format

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. format - its name, "auto" if none was asked for

  Level: intermediate

.seealso: `MATSPARSEGPU`, `MatSparseGPUSetFormat()`, `MatSparseGPUGetInfo()`
@*/
PetscErrorCode MatSparseGPUGetFormat(Mat A, const char *format[])
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCall(Decide(A, context));
  *format = context->settings.format.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSparseGPUSetBackend - Sets where the products of a `MATSPARSEGPU` matrix run

  Logically Collective

  Input Parameters:
+ A       - the matrix
- backend - "cuda", "kokkos" (the CPU) or "auto": on the GPU if one of the vectors lives there, else on the CPU

  Options Database Key:
. -sparsegpu_backend backend - the same, under the prefix of the matrix; without prefix the default of all matrices

  Level: intermediate

.seealso: `MATSPARSEGPU`, `MatSparseGPUGetBackend()`, `SparseGPUHasDevice()`
@*/
PetscErrorCode MatSparseGPUSetBackend(Mat A, const char backend[])
{
  Context *context;
  Backend  parsed;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCall(ParseBackend(backend, &parsed));
  if (parsed == Backend::Cuda) PetscCall(RequireDevice("MatSparseGPUSetBackend(\"cuda\")"));
  PetscCall(Decide(A, context));
  context->settings.backend = parsed;
  context->last             = nullptr;
  PetscCall(ForgetAgreement(A));
  PetscCall(ChooseVecType(A, context));
  PetscCall(PassSettingsOn(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSparseGPUGetBackend - Gets the backend asked for with `MatSparseGPUSetBackend()` or -sparsegpu_backend

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. backend - its name

  Level: intermediate

.seealso: `MATSPARSEGPU`, `MatSparseGPUSetBackend()`
@*/
PetscErrorCode MatSparseGPUGetBackend(Mat A, const char *backend[])
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCall(Decide(A, context));
  *backend = BackendNames[static_cast<int>(context->settings.backend)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal block of a parallel matrix, or the matrix itself.
static PetscErrorCode LocalBlock(Mat A, Mat *block)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  *block = A;
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, block, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSparseGPUCheckFormat - Tells whether a storage format accepts a `MATSPARSEGPU` matrix

  Not Collective

  Input Parameters:
+ A      - the assembled matrix
- format - a name of `MatSparseGPUGetFormats()`, or "auto"

  Output Parameters:
+ accepts - whether it does; in parallel, whether it accepts this process' diagonal block
- why     - if it does not, why, naming the sizes; owned by the library and valid until the next call. May be `NULL`

  Level: intermediate

.seealso: `MATSPARSEGPU`, `MatSparseGPUSetFormat()`, `MatSparseGPUGetFormats()`
@*/
PetscErrorCode MatSparseGPUCheckFormat(Mat A, const char format[], PetscBool *accepts, const char *why[])
{
  static std::string text;
  std::string        parsed;
  Context           *context;
  CsrView            csr;
  Mat                block;
  bool               ok = true;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCall(ParseFormat(format, &parsed));
  PetscCall(Decide(A, context));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  text.clear();
  if (parsed != "auto") {
    PetscCall(LocalBlock(A, &block));
    PetscCall(GetCsr(block, &csr, nullptr));
    PetscCall(Plans(csr, context->settings.options, Space::Host).Check(parsed, &ok, &text));
  }
  *accepts = ok ? PETSC_TRUE : PETSC_FALSE;
  if (why) *why = text.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The converted copy that the last product used, or the one that the next would.
static PetscErrorCode ConvertedToTell(Mat A, const ConvertedMatrix **converted)
{
  Context         *context;
  ConvertedMatrix *built;
  Space            space = Space::Host;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  const auto is_early = [&](const ConvertedMatrix *s) {
    return s == &context->early[static_cast<int>(space)][static_cast<int>(Operation::Normal)];
  };
  if (context->last) space = context->last->space;
  if (!context->last || !context->last->format) PetscCall(PlannedSpace(context, &space));
  if (!context->last || !context->last->format || is_early(context->last)) {
    if (space == Space::Device) PetscCall(RequireDevice("-sparsegpu_backend cuda"));
    PetscCall(GetConverted(A, context, Operation::Normal, space, Use::Tell, &built));
    if (is_early(built))
      PetscCall(
          TellEarly(context->waiting[static_cast<int>(space)][static_cast<int>(Operation::Normal)], &built->reason));
  }
  *converted = context->last;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSparseGPUGetInfo - Gets the format, backend, sizes and conversion time of a `MATSPARSEGPU` matrix' last product

  Collective

  Input Parameter:
. A - the assembled matrix

  Output Parameter:
. info - the facts; its strings are valid until the matrix changes

  Level: intermediate

  Notes:
  Converts the matrix if there was no product yet. Where "auto" waits with that, see `MatSparseGPUSetFormat()`, the
format is "csr" and the reason tells which one follows, and when.

.seealso: `MATSPARSEGPU`, `MatSparseGPUInfo`, `MatSparseGPUSetFormat()`
@*/
PetscErrorCode MatSparseGPUGetInfo(Mat A, MatSparseGPUInfo *info)
{
  Context               *context;
  const ConvertedMatrix *converted = nullptr;
  PetscBool              seq, mpi;
  Mat                    block;

  PetscFunctionBegin;
  PetscCall(OurContext(A, &context));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  PetscCall(IsOurs(A, &seq, &mpi));
  if (mpi) PetscCall(PrepareToTell(A));
  PetscCall(LocalBlock(A, &block));
  PetscCall(ConvertedToTell(block, &converted));
  PetscCall(FillInfo(block, *converted, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SparseGPUHasDevice - Tells whether sparsegpu finds a GPU that this process can use

  Not Collective

  Output Parameter:
. found - whether there is one

  Level: intermediate

.seealso: `MATSPARSEGPU`, `MatSparseGPUSetBackend()`
@*/
PetscErrorCode SparseGPUHasDevice(PetscBool *found)
{
  PetscFunctionBegin;
  PetscCall(DeviceFound(found));
  PetscFunctionReturn(PETSC_SUCCESS);
}
