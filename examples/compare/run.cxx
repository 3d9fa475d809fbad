#include "run.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

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

/// A row of the table: a type of PETSc, or a format of ours on a backend, and the matrix in it.
struct Subject {
  Result        result;
  const Native *native = nullptr;
  OwnedMat      converted;
  Mat           B       = nullptr; ///< the matrix itself or `converted`; null: refused
  double        seconds = 0;       ///< of the conversion, as far as no product is needed for it
};
using Subjects = std::vector<std::unique_ptr<Subject>>;

PetscErrorCode MakeNative(Mat A, Subject *s)
{
  const Native  &native = *s->native;
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  if (strcmp(native.type, MATAIJ)) {
    PetscCall(MatConvert(A, native.by_way_of ? native.by_way_of : native.type, MAT_INITIAL_MATRIX, &s->converted));
    if (native.by_way_of) PetscCall(MatConvert(s->converted, native.type, MAT_INPLACE_MATRIX, &s->converted));
  }
  PetscCall(PetscTime(&end));
  s->B       = s->converted.object ? s->converted.object : A;
  s->seconds = end - begin;
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

PetscErrorCode MakeFormat(Mat A, Subject *s)
{
  Result *r = &s->result;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INITIAL_MATRIX, &s->converted));
  PetscCall(MatSparseGPUSetBackend(s->converted, r->backend.c_str()));
  PetscCall(CheckFormat(s->converted, r->format, &r->applicable, &r->reason));
  if (!r->applicable) {
    PetscCall(MatDestroy(&s->converted));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSparseGPUSetFormat(s->converted, r->format.c_str()));
  s->B = s->converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the library knows of the converted copy. Before products are checked: transposed ones may be converted
/// separately.
PetscErrorCode TakeInfo(const Subject &s, Result *r)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)s.B);
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetInfo(s.B, &info));
  double sums[4] = {info.bytes_stored, info.bytes_mult, info.stored, info.nonzeros}, convert = info.convert_seconds;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &convert, 1, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallCXX(r->chosen = info.format);
  PetscCallCXX(r->reason = info.reason);
  r->bytes_stored = sums[0];
  r->padding      = sums[3] > 0 ? sums[2] / sums[3] : 1;
  if (r->ms > 0) {
    r->convert_ms = convert * 1e3;
    r->gbs        = sums[1] / r->ms / 1e6;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Finish(Subject *s, const Timing *timing, const Oracle &oracle, const Case &c)
{
  Result *r = &s->result;

  PetscFunctionBeginUser;
  if (!s->B) PetscFunctionReturn(PETSC_SUCCESS);
  if (timing) {
    r->ms     = timing->product * 1e3;
    r->ms_min = timing->least * 1e3;
    r->ms_max = timing->most * 1e3;
    r->spread = timing->spread;
  }
  if (!s->native)
    PetscCall(TakeInfo(*s, r));
  else if (timing) {
    r->gbs = Bytes(c, s->native->device ? 4 : sizeof(PetscInt)) / timing->product / 1e9;
    // The GPU types copy and analyse in their first product.
    r->convert_ms = s->converted.object ? (s->seconds + std::max(0.0, timing->first - timing->product)) * 1e3 : 0;
  }
  PetscCall(Check(s->B, oracle, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All rows of the table, without their matrices.
PetscErrorCode ListSubjects(const Settings &settings, Subjects *subjects)
{
  std::vector<std::string> backends = {settings.backend}, formats = settings.formats;
  PetscInt                 n;
  const char *const       *names;

  PetscFunctionBeginUser;
  for (const Native &native : Natives) {
    if (native.device && !settings.device) continue;
    PetscCallCXX(subjects->push_back(std::make_unique<Subject>()));
    Subject *const s      = subjects->back().get();
    s->native             = &native;
    s->result.native_type = true;
    s->result.device      = native.device;
    PetscCallCXX(s->result.type = native.type);
    PetscCallCXX(s->result.backend = native.device ? "cuda" : "host");
  }
  if (settings.backend.empty()) PetscCallCXX(backends = {"kokkos"});
  if (settings.backend.empty() && settings.device) PetscCallCXX(backends.push_back("cuda"));
  if (formats.empty()) {
    PetscCall(MatSparseGPUGetFormats(&n, &names));
    PetscCallCXX(formats.assign(names, names + n));
    PetscCallCXX(formats.push_back("auto"));
  }
  for (const std::string &backend : backends) {
    for (const std::string &format : formats) {
      PetscCallCXX(subjects->push_back(std::make_unique<Subject>()));
      Result *const r = &subjects->back()->result;
      PetscCallCXX(r->type = MATSPARSEGPU);
      PetscCallCXX(r->format = format);
      PetscCallCXX(r->backend = backend);
      r->device = backend == "cuda";
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Title(const Result &r)
{
  return r.format.empty() ? r.type : "sparsegpu/" + r.format + " on " + r.backend;
}

/// Makes, times in turn and checks `count` subjects, and takes their matrices back.
PetscErrorCode RunTogether(Mat A, const Settings &settings, const std::string &progress, const Oracle &oracle,
                           std::unique_ptr<Subject> *first, size_t count, Case *c)
{
  std::vector<Subject *> made;
  std::vector<Mat>       matrices;
  std::vector<Timing>    timings;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < count; k++) {
    Subject *const s = first[k].get();
    PetscCall(Progress(progress + Title(s->result)));
    PetscCall(s->native ? MakeNative(A, s) : MakeFormat(A, s));
    if (s->B) PetscCallCXX(made.push_back(s));
    if (s->B) PetscCallCXX(matrices.push_back(s->B));
  }
  const auto before = [&](size_t k) {
    PetscFunctionBeginUser;
    PetscCall(Progress(progress + (k < made.size() ? Title(made[k]->result) : "products")));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (!settings.check_only) PetscCall(TimeProducts(matrices, settings.products, before, &timings));
  for (size_t k = 0; k < made.size(); k++) {
    PetscCall(Progress(progress + "checks"));
    PetscCall(Finish(made[k], timings.empty() ? nullptr : &timings[k], oracle, *c));
    if (made[k]->converted.object) PetscCall(MatDestroy(&made[k]->converted));
  }
  for (size_t k = 0; k < count; k++) PetscCallCXX(c->results.push_back(first[k]->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether all copies of the matrix may be in memory at a time, as they must be to take turns: the rows of each on the
/// host and, twice at most, in its format.
bool FitTogether(const Case &c, size_t subjects)
{
  constexpr double MOST = 8e9; // bytes: a small part of what a machine for larger matrices has
  return static_cast<double>(subjects) * 3 * Bytes(c, sizeof(PetscInt)) <= MOST;
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
  Subjects subjects;
  PetscCall(ListSubjects(settings, &subjects));
  c->in_turn         = !settings.check_only && FitTogether(*c, subjects.size());
  const size_t count = c->in_turn ? subjects.size() : 1;
  for (size_t k = 0; k < subjects.size(); k += count)
    PetscCall(RunTogether(A, settings, progress, oracle, &subjects[k], count, c));
  SetRatios(c);
  PetscCall(Progress(""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
