#include "run.hpp"

#include <algorithm>
#include <cstring>

#include <petsctime.h>
#include <sparsegpu.h>

#include "measure.hpp"
#include "owned.hpp"

namespace
{
struct Native {
  const char *type, *by_way_of; ///< by_way_of: the type to convert from, null for AIJ
  bool        device;
};

const Native Natives[] = {
    {MATAIJ, nullptr, false},
    {MATSELL, nullptr, false},
#if defined(PETSC_HAVE_CUDA)
    {MATAIJCUSPARSE, nullptr, true},
  #if defined(MATSELLCUDA) && !defined(PETSC_USE_COMPLEX) // its kernels are for real values
    {MATSELLCUDA, MATSELL, true},
  #endif
#endif
#if defined(PETSC_HAVE_KOKKOS_KERNELS)
    {MATAIJKOKKOS, nullptr, PetscDefined(HAVE_CUDA) || PetscDefined(HAVE_HIP)},
#endif
};

double Bytes(const Case &c, size_t index) // of a product in CSR with `index` bytes a column: entries, x and y once
{
  return c.nonzeros * (sizeof(PetscScalar) + index) + (c.rows + 1.0) * index +
         (static_cast<double>(c.rows) + c.cols) * sizeof(PetscScalar);
}

PetscErrorCode Check(Mat B, const Oracle &oracle, Result *r)
{
  Errors errors;

  PetscFunctionBeginUser;
  PetscCall(CheckProducts(B, oracle, &errors));
  PetscCallCXX(r->worst_product = errors.worst_product);
  r->max_error_over_bound = errors.worst;
  r->mult_right           = errors.mult <= 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunNative(Mat A, const Native &native, const Settings &settings, const Oracle &oracle, Case *c)
{
  OwnedMat       converted;
  PetscLogDouble begin, end;
  Timing         timing;
  Result         r;

  PetscFunctionBeginUser;
  PetscCallCXX(r.type = native.type);
  r.native_type = true;
  r.backend     = native.device ? "cuda" : "host";
  r.device      = native.device;
  PetscCall(PetscTime(&begin));
  if (strcmp(native.type, MATAIJ)) {
    PetscCall(MatConvert(A, native.by_way_of ? native.by_way_of : native.type, MAT_INITIAL_MATRIX, &converted));
    if (native.by_way_of) PetscCall(MatConvert(converted, native.type, MAT_INPLACE_MATRIX, &converted));
  }
  const Mat B = converted.object ? converted.object : A;
  PetscCall(PetscTime(&end));
  if (!settings.check_only) {
    PetscCall(TimeProducts(B, settings.products, &timing));
    r.ms  = timing.product * 1e3;
    r.gbs = Bytes(*c, native.device ? 4 : sizeof(PetscInt)) / timing.product / 1e9;
    // The GPU types copy and analyse in their first product.
    r.convert_ms = B == A ? 0 : (end - begin + std::max(0.0, timing.first - timing.product)) * 1e3;
  }
  PetscCall(Check(B, oracle, &r));
  PetscCallCXX(c->results.push_back(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether every rank's block suits `format`; `why` of the first rank whose block does not.
PetscErrorCode CheckFormat(Mat S, const std::string &format, bool *accepted, std::string *why)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)S);
  PetscMPIInt    rank, size, refusing;
  PetscBool      ok;
  const char    *reason;
  char           text[512];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatSparseGPUCheckFormat(S, format.c_str(), &ok, &reason));
  PetscCall(PetscStrncpy(text, ok ? "" : reason, sizeof(text)));
  const PetscMPIInt mine = ok ? size : rank;
  PetscCallMPI(MPI_Allreduce(&mine, &refusing, 1, MPI_INT, MPI_MIN, comm));
  *accepted = refusing == size;
  if (!*accepted) PetscCallMPI(MPI_Bcast(text, sizeof(text), MPI_CHAR, refusing, comm));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunFormat(Mat S, const std::string &format, const Settings &settings, const Oracle &oracle, Result *r)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)S);
  Timing           timing;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(CheckFormat(S, format, &r->applicable, &r->reason));
  if (!r->applicable) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSparseGPUSetFormat(S, format.c_str()));
  if (!settings.check_only) {
    PetscCall(TimeProducts(S, settings.products, &timing));
    r->ms = timing.product * 1e3;
  }
  // Before the check: its transposed products may be converted separately.
  PetscCall(MatSparseGPUGetInfo(S, &info));
  double sums[4] = {info.bytes_stored, info.bytes_mult, info.stored, info.nonzeros}, convert = info.convert_seconds;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &convert, 1, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallCXX(r->chosen = info.format);
  PetscCallCXX(r->reason = info.reason);
  r->bytes_stored = sums[0];
  r->padding      = sums[3] > 0 ? sums[2] / sums[3] : 1;
  if (!settings.check_only) {
    r->convert_ms = convert * 1e3;
    r->gbs        = sums[1] / timing.product / 1e9;
  }
  PetscCall(Check(S, oracle, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every format on one backend.
PetscErrorCode RunBackend(Mat A, const char backend[], const Settings &settings, const std::string &progress,
                          const Oracle &oracle, Case *c)
{
  OwnedMat                 S;
  PetscInt                 n;
  const char *const       *names;
  std::vector<std::string> formats = settings.formats;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INITIAL_MATRIX, &S));
  PetscCall(MatSparseGPUSetBackend(S, backend));
  if (formats.empty()) {
    PetscCall(MatSparseGPUGetFormats(&n, &names));
    PetscCallCXX(formats.assign(names, names + n));
    PetscCallCXX(formats.push_back("auto"));
  }
  for (const std::string &format : formats) {
    Result r;
    r.type    = MATSPARSEGPU;
    r.format  = format;
    r.backend = backend;
    r.device  = !strcmp(backend, "cuda");
    PetscCall(Progress(progress + "sparsegpu/" + format + " on " + backend));
    PetscCall(RunFormat(S, format, settings, oracle, &r));
    PetscCallCXX(c->results.push_back(r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Compares with PETSc's fastest type on the same side; on a GPU that PETSc cannot use, with its fastest on the host.
void SetRatios(Case *c)
{
  const Result *best[2] = {nullptr, nullptr};
  for (const Result &r : c->results) {
    const Result *&b = best[r.device];
    if (r.native_type && r.ms > 0 && r.mult_right && (!b || r.ms < b->ms)) b = &r;
  }
  for (Result &r : c->results) {
    const Result *native = r.device && best[1] ? best[1] : best[0];
    if (!native || r.ms <= 0) continue;
    r.native = native->type;
    r.ratio  = native->ms / r.ms;
    if (r.convert_ms >= 0) r.convert_spmv = r.convert_ms / native->ms;
  }
}
} // namespace

PetscErrorCode RunCase(Mat A, const Settings &settings, const std::string &progress, Case *c)
{
  Oracle oracle;

  PetscFunctionBeginUser;
  PetscCall(Progress(progress + "reference products"));
  PetscCall(BuildOracle(A, &oracle));
  c->rows     = oracle.rows;
  c->cols     = oracle.cols;
  c->nonzeros = oracle.nonzeros;
  c->shortest = oracle.shortest;
  c->longest  = oracle.longest;
  for (const Native &native : Natives) {
    if (native.device && !settings.device) continue;
    PetscCall(Progress(progress + native.type));
    PetscCall(RunNative(A, native, settings, oracle, c));
  }
  std::vector<std::string> backends = {settings.backend};
  if (settings.backend.empty()) PetscCallCXX(backends = {"kokkos"});
  if (settings.backend.empty() && settings.device) PetscCallCXX(backends.push_back("cuda"));
  for (const std::string &backend : backends) PetscCall(RunBackend(A, backend.c_str(), settings, progress, oracle, c));
  SetRatios(c);
  PetscCall(Progress(""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
