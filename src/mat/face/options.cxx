/// The options of a matrix: read into a copy of its settings, which takes their place once every value is known to be
/// one that is allowed. Those of formats are the formats' own: mat/formats/options.hpp.
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

/// The unprefixed -sparsegpu_backend.
static PetscErrorCode BackendDefault(Mat A, Backend *backend)
{
  char      name[64];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(((PetscObject)A)->options, nullptr, "-sparsegpu_backend", name, sizeof(name), &set));
  if (set) PetscCall(ParseBackend(name, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadBackendDefault(Mat A, Context *context)
{
  PetscFunctionBegin;
  PetscCall(BackendDefault(A, &context->settings.backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All options of a matrix, in one place for MatSetFromOptions() (with its -help) and for matrices that never see it.
/// Names are only read here: an error between PetscOptionsBegin() and its end would lose what the former allocates.
struct OptionNames {
  char format[64], backend[64];
};
static PetscErrorCode Options(Settings *settings, SparseGPUOptionItems PetscOptionsObject, OptionNames *names)
{
  PetscBool release   = settings->release_csr ? PETSC_TRUE : PETSC_FALSE;
  PetscBool lazy_host = settings->lazy_host ? PETSC_TRUE : PETSC_FALSE;
  PetscBool trial     = settings->trial ? PETSC_TRUE : PETSC_FALSE;
  PetscBool lazy      = settings->lazy ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpu options");
  PetscCall(PetscOptionsString("-mat_sparsegpu_format",
                               "Storage of the products: auto or a name of MatSparseGPUGetFormats()",
                               "MatSparseGPUSetFormat", names->format, names->format, 64, nullptr));
  PetscCall(PetscOptionsString("-sparsegpu_backend", "Where products run: auto (where the vectors are), cuda or kokkos",
                               "MatSparseGPUSetBackend", names->backend, names->backend, 64, nullptr));
  PetscCall(settings->options.Read(PetscOptionsObject));
  PetscCall(PetscOptionsBool("-mat_sparsegpu_release_csr",
                             "free auxiliary CSR-ordered data after each conversion and change of values",
                             "MatSparseGPUGetInfo", release, &release, nullptr));
  settings->release_csr = release;
  PetscCall(PetscOptionsBool("-mat_sparsegpu_lazy_host",
                             "values written on the GPU come to the host when PETSc asks for them", "MatSetValuesCOO",
                             lazy_host, &lazy_host, nullptr));
  settings->lazy_host = lazy_host;
  PetscCall(
      PetscOptionsBool("-mat_sparsegpu_auto_lazy",
                       "auto: convert once the time lost to CSR exceeds the conversion cost, where bits are the same",
                       "MatSparseGPUSetFormat", lazy, &lazy, nullptr));
  settings->lazy = lazy;
  PetscCall(PetscOptionsBool("-mat_sparsegpu_auto_trial",
                             "auto: time products in a few formats and take the fastest, which another run may not",
                             "MatSparseGPUSetFormat", trial, &trial, nullptr));
  settings->trial = trial;
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The names as they stand, to be offered as defaults.
static PetscErrorCode Names(Mat A, Settings *settings, OptionNames *names)
{
  PetscFunctionBegin;
  PetscCall(BackendDefault(A, &settings->backend));
  PetscCall(PetscStrncpy(names->format, settings->format.c_str(), 64));
  PetscCall(PetscStrncpy(names->backend, BackendNames[static_cast<int>(settings->backend)], 64));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the settings that were read, unless one of them is not allowed: then the old ones stay.
static PetscErrorCode Accept(Context *context, Settings *wanted, const OptionNames &names)
{
  PetscFunctionBegin;
  PetscCall(ParseFormat(names.format, &wanted->format));
  PetscCall(ParseBackend(names.backend, &wanted->backend));
  PetscCall(wanted->options.Check());
  if (wanted->backend == Backend::Cuda) PetscCall(RequireDevice("-sparsegpu_backend cuda"));
  wanted->decided   = true;
  context->settings = std::move(*wanted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOptions(Mat A, Context *context, SparseGPUOptionItems items)
{
  Settings    wanted;
  OptionNames names;

  PetscFunctionBegin;
  PetscCallCXX(wanted = context->settings);
  PetscCall(Names(A, &wanted, &names));
  PetscCall(Options(&wanted, items, &names));
  PetscCall(Accept(context, &wanted, names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOptions(Mat A, Context *context)
{
  Settings    wanted;
  OptionNames names;

  PetscFunctionBegin;
  PetscCallCXX(wanted = context->settings);
  PetscCall(Names(A, &wanted, &names));
  PetscObjectOptionsBegin((PetscObject)A);
  PetscCall(Options(&wanted, PetscOptionsObject, &names));
  PetscOptionsEnd();
  PetscCall(Accept(context, &wanted, names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
