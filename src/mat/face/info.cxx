/// The public functions that tell of a matrix: whether a format takes it, and how its products run.
#include "mat/face/context.hpp"

using namespace sparsegpu;
using namespace sparsegpu::face;

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
