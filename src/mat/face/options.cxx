/// The options of a matrix: read into a copy of its settings, which takes their place once every value is known to be
/// one that is allowed.
#include <algorithm>
#include "mat/face/context.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/sell/sell.hpp"

namespace sparsegpu
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
  char format[64], backend[64], values[64];
};
static PetscErrorCode Options(Settings *settings, SparseGPUOptionItems PetscOptionsObject, OptionNames *names)
{
  Parameters &p       = settings->parameters;
  PetscBool   release = settings->release_csr ? PETSC_TRUE : PETSC_FALSE;
  PetscBool   trial   = settings->trial ? PETSC_TRUE : PETSC_FALSE;
  PetscBool   lazy    = settings->lazy ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpu options");
  PetscCall(PetscOptionsString("-mat_sparsegpu_format",
                               "Storage of the products: auto or a name of MatSparseGPUGetFormats()",
                               "MatSparseGPUSetFormat", names->format, names->format, 64, nullptr));
  PetscCall(PetscOptionsString("-sparsegpu_backend", "Where products run: auto (where the vectors are), cuda or kokkos",
                               "MatSparseGPUSetBackend", names->backend, names->backend, 64, nullptr));
  PetscCall(PetscOptionsReal("-mat_sparsegpu_max_padding",
                             "dia, ell and bsr refuse more stored entries than this times the nonzeros",
                             "MatSparseGPUSetFormat", p.max_padding, &p.max_padding, nullptr));
  PetscCall(PetscOptionsReal("-mat_sparsegpu_hyb_fraction",
                             "hyb: part of the rows that must reach the width of its ell part", "MatSparseGPUSetFormat",
                             p.hyb_fraction, &p.hyb_fraction, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_merge_workers", "merge: shares of the merge path, 0: what fits the backend",
                            "MatSparseGPUSetFormat", p.merge_workers, &p.merge_workers, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_csr_width",
                            "csr on a GPU: threads per row, a power of two <= 32, 0: by mean row length",
                            "MatSparseGPUSetFormat", p.csr_width, &p.csr_width, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_vab_block", "vab: threads per block, a multiple of 64",
                            "MatSparseGPUSetFormat", p.vab_block, &p.vab_block, nullptr));
  PetscCall(PetscOptionsInt(
      "-mat_sparsegpu_sccsr_blocks",
      "sccsr: resident blocks per multiprocessor; fewer groups than fill them join the next segment, 0: never",
      "MatSparseGPUSetFormat", p.sccsr_blocks, &p.sccsr_blocks, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_sell_window",
                            "sell: rows sorted by length together, a power of two, 1: not sorted, -1: by padding",
                            "MatSparseGPUSetFormat", p.sell_window, &p.sell_window, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_column_bytes", "sell: bytes of a column at least, 1, 2, 4, 0: what fits",
                            "MatSparseGPUSetFormat", p.column_bytes, &p.column_bytes, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_bsr_block", "bsr: rows of a block, 2 to 6, 0: by bytes",
                            "MatSparseGPUSetFormat", p.bsr_block, &p.bsr_block, nullptr));
  PetscCall(
      PetscOptionsString("-mat_sparsegpu_values",
                         "sell, bsr: storage of values, auto, full, or where nothing is lost single or dictionary",
                         "MatSparseGPUSetFormat", names->values, names->values, 64, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_device_conversion",
                            "products on a GPU: from so many nonzeros on formats are chosen and built there",
                            "MatSparseGPUSetFormat", p.device_conversion, &p.device_conversion, nullptr));
  PetscCall(PetscOptionsBool("-mat_sparsegpu_release_csr",
                             "free what lies in CSR's order beside the format for changes of values, at each product",
                             "MatSparseGPUGetInfo", release, &release, nullptr));
  settings->release_csr = release;
  PetscCall(PetscOptionsBool("-mat_sparsegpu_auto_lazy",
                             "auto: convert when the products so far have lost what that costs, where no bit shows it",
                             "MatSparseGPUSetFormat", lazy, &lazy, nullptr));
  settings->lazy = lazy;
  PetscCall(PetscOptionsBool("-mat_sparsegpu_auto_trial",
                             "auto: take the format whose products are fastest, maybe another one in another run",
                             "MatSparseGPUSetFormat", trial, &trial, nullptr));
  settings->trial = trial;
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool PowerOfTwo(PetscInt n)
{
  return n > 0 && (n & (n - 1)) == 0;
}

/// Is every value one of those that its option allows? Comparisons are such that a NaN is not.
static PetscErrorCode CheckParameters(const Parameters &p)
{
  PetscFunctionBegin;
  PetscCheck(p.max_padding >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_max_padding %g must be at least 1", (double)p.max_padding);
  PetscCheck(p.hyb_fraction > 0 && p.hyb_fraction <= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_hyb_fraction %g must be in (0, 1]", (double)p.hyb_fraction);
  PetscCheck(p.merge_workers >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_merge_workers %" PetscInt_FMT " must be positive, or 0 for what fits the backend",
             p.merge_workers);
  PetscCheck(p.csr_width == 0 || (PowerOfTwo(p.csr_width) && p.csr_width <= 32), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_csr_width %" PetscInt_FMT " must be a power of two from 1 to 32, or 0 for a width by the "
             "mean row length",
             p.csr_width);
  PetscCheck(p.vab_block > 0 && p.vab_block <= 1024 && p.vab_block % 64 == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_vab_block %" PetscInt_FMT " must be a multiple of 64 from 64 to 1024", p.vab_block);
  PetscCheck(p.sccsr_blocks >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_sccsr_blocks %" PetscInt_FMT " must be non-negative", p.sccsr_blocks);
  PetscCheck(p.sell_window == -1 || (PowerOfTwo(p.sell_window) && p.sell_window <= SellLayout::MAX_WINDOW),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_sell_window %" PetscInt_FMT " must be a power of two from 1 to %" PetscInt_FMT
             ", or -1 for a window by padding",
             p.sell_window, static_cast<PetscInt>(SellLayout::MAX_WINDOW));
  PetscCheck(p.column_bytes == 0 || (PowerOfTwo(p.column_bytes) && p.column_bytes <= 4), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_column_bytes %" PetscInt_FMT " must be 1, 2, 4, or 0 for what each slice needs",
             p.column_bytes);
  PetscCheck(p.bsr_block == 0 || (p.bsr_block >= BsrLayout::SMALLEST && p.bsr_block <= BsrLayout::LARGEST),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_bsr_block %" PetscInt_FMT " must be from %d to %d, or 0 for a size by bytes", p.bsr_block,
             BsrLayout::SMALLEST, BsrLayout::LARGEST);
  PetscCheck(p.device_conversion >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_device_conversion %" PetscInt_FMT " must be non-negative", p.device_conversion);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The names as they stand, to be offered as defaults.
static PetscErrorCode Names(Mat A, Settings *settings, OptionNames *names)
{
  PetscFunctionBegin;
  PetscCall(BackendDefault(A, &settings->backend));
  PetscCall(PetscStrncpy(names->format, settings->format.c_str(), 64));
  PetscCall(PetscStrncpy(names->backend, BackendNames[static_cast<int>(settings->backend)], 64));
  PetscCall(PetscStrncpy(names->values, settings->parameters.values.c_str(), 64));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the settings that were read, unless one of them is not allowed: then the old ones stay.
static PetscErrorCode Accept(Context *context, Settings *wanted, const OptionNames &names)
{
  PetscFunctionBegin;
  PetscCall(ParseFormat(names.format, &wanted->format));
  PetscCall(ParseBackend(names.backend, &wanted->backend));
  PetscCheck(std::find(std::begin(ValueCodecNames), std::end(ValueCodecNames), std::string(names.values)) !=
                 std::end(ValueCodecNames),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_values %s must be auto, full, single or dictionary", names.values);
  PetscCallCXX(wanted->parameters.values = names.values);
  PetscCall(CheckParameters(wanted->parameters));
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

} // namespace sparsegpu
