/// The public functions that set and get what is asked of a matrix: its storage format and its backend.
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

/*@C
  MatSparseGPUSetFormat - Sets the storage format of a `MATSPARSEGPU` matrix' products

  Logically Collective

  Input Parameters:
+ A      - the matrix
- format - "auto" or a name of `MatSparseGPUGetFormats()`

  Options Database Keys:
+ -mat_sparsegpu_format format - the same, under the prefix of the matrix
. -mat_sparsegpu_auto_lazy     - whether "auto" converts only once that pays (default true)
. -mat_sparsegpu_auto_trial    - "auto" times products in a few formats: not reproducible (default false)
. -mat_sparsegpu_max_padding p - dia, ell and bsr refuse more stored entries than p times the nonzeros (default 4)
. -mat_sparsegpu_values type   - sell, bsr: values in full, single or dictionary where nothing is lost, or auto; dia:
                                 symmetric values once with auto
- -mat_sparsegpu_device_conversion n - on a GPU: from n nonzeros on formats are chosen and built there (50000)

  Level: intermediate

  Notes:
  docs/options.md lists the options of single formats. The matrix is converted at the next product. A format unsuitable
for the matrix, such as "dia" for one with entries on very many diagonals, makes that product fail with
`PETSC_ERR_ARG_OUTOFRANGE`; `MatSparseGPUCheckFormat()` tells beforehand.

  "auto" takes the format that moves the fewest bytes. Where "csr" has the same bits, products run as that until the
time lost to it exceeds the conversion cost; a change of the pattern starts the wait again, copies by `MatDuplicate()`
do not choose again.

  In parallel the format governs the diagonal block; an off-diagonal block that it refuses is stored as "csr",
and so is that of "stencil" on a GPU.

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
