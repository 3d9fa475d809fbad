static char help[] =
    "Products of every format of sparsegpu on the GPU, through MatMult(), against cuSPARSE CSR_ALG1, CSR_ALG2, sliced\n"
    "ELLPACK and BSR (preprocessed, called directly) and PETSc's aijcusparse, in one process. Prints one JSON line per\n"
    "measurement, and at the end how closely time follows bytes. bench/plot.py draws them.\n"
    "  -set FILE                  : the matrices of a table, see bench/spmv_set.tsv; -classes a,b: only these of it\n"
    "  -f FILE,FILE               : MatrixMarket or PETSc binary\n"
    "  -gen name,name -gen_size n : generated matrices of about n nonzeros\n"
    "  -natural                   : with the values that such a problem has, which are few, not random ones\n"
    "  -formats name,name         : only these\n"
    "  -nonzeros_at_most n        : leaves larger matrices of -set and -gen out\n"
    "  -batches n -products n     : the median of n batches of n products\n"
    "  -list                      : make the matrices, tell of them and multiply nothing; needs no GPU\n";

#include "spmv_report.hpp"

#include <cmath>
#include <cstdio>
#include <petscksp.h>
#include <sparsegpu.h>
#include "generate.hpp"

#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

struct Settings {
  PetscInt                 batches = 11, products = 50, at_most = PETSC_MAX_INT;
  PetscBool                list = PETSC_FALSE;
  std::vector<std::string> formats; ///< none: all
};

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
struct Mult {
  Mat A;
  Vec x, y;
};

static void Product(void *argument)
{
  const Mult *m = static_cast<Mult *>(argument);
  PetscCallAbort(PETSC_COMM_SELF, MatMult(m->A, m->x, m->y));
}

/// Of a product to what a plain loop gave, relative to its norm.
static PetscErrorCode CheckError(const char what[], const PetscScalar *y, const std::vector<double> &expected,
                                 double *error)
{
  double difference = 0, norm = 0;

  PetscFunctionBeginUser;
  for (size_t r = 0; r < expected.size(); r++) {
    difference += (y[r] - expected[r]) * (y[r] - expected[r]);
    norm += expected[r] * expected[r];
  }
  *error = std::sqrt(difference) / (norm > 0 ? std::sqrt(norm) : 1);
  PetscCheck(*error < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a product is wrong: relative error %g", what,
             *error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Times MatMult(A) with vectors of the type that it makes.
static PetscErrorCode Time(Mat A, const char what[], const std::vector<double> &x, const std::vector<double> &expected,
                           const Settings &settings, double *seconds, double *error)
{
  Mult               m{A, nullptr, nullptr};
  void              *stream = nullptr;
  PetscScalar       *array;
  const PetscScalar *y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &m.x, &m.y));
  PetscCall(VecGetArrayWrite(m.x, &array));
  std::copy(x.begin(), x.end(), array);
  PetscCall(VecRestoreArrayWrite(m.x, &array));
  #if defined(PETSC_HAVE_CUDA)
  cudaStream_t petsc;
  PetscCall(PetscGetCurrentCUDAStream(&petsc));
  stream = petsc;
  #endif
  *seconds = EventSeconds(Product, &m, stream, static_cast<int>(settings.batches), static_cast<int>(settings.products));
  PetscCall(VecGetArrayRead(m.y, &y));
  PetscCall(CheckError(what, y, expected, error));
  PetscCall(VecRestoreArrayRead(m.y, &y));
  PetscCall(VecDestroy(&m.x));
  PetscCall(VecDestroy(&m.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All baselines of one matrix; the fastest, and the faster of cuSPARSE's CSR algorithms, go to `baselines`.
static PetscErrorCode TimeBaselines(Mat A, const HostCsr &csr, const std::vector<double> &x,
                                    const std::vector<double> &expected, const Settings &settings, Report *report,
                                    Baselines *baselines)
{
  std::vector<double> y(expected.size());
  double              error, seconds;
  Mat                 B;

  PetscFunctionBeginUser;
  for (Baseline baseline : PEERS) {
    std::string why;
    seconds = CusparseSeconds(baseline, csr, x.data(), y.data(), static_cast<int>(settings.batches),
                              static_cast<int>(settings.products), &why);
    if (seconds < 0) {
      const bool csr_failed = baseline == Baseline::CsrAlg1 || baseline == Baseline::CsrAlg2;
      PetscCheck(!csr_failed, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s %s", Name(baseline), why.c_str());
      report->Refused(Name(baseline), why.c_str());
      continue;
    }
    PetscCall(CheckError(Name(baseline), y.data(), expected, &error));
    report->Time(Name(baseline), seconds, "");
    baselines->Add(Name(baseline), seconds, baseline == Baseline::CsrAlg1 || baseline == Baseline::CsrAlg2);
  }
  PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &B));
  PetscCall(Time(B, "aijcusparse", x, expected, settings, &seconds, &error));
  report->Time("aijcusparse", seconds, "");
  baselines->Add("aijcusparse", seconds, false);
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeOurs(Mat A, const std::vector<double> &x, const std::vector<double> &expected,
                               const Settings &settings, const Baselines &baselines, Report *report)
{
  PetscInt           formats;
  const char *const *names, *why;
  double             error, seconds;
  Mat                B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatSparseGPUGetFormats(&formats, &names));
  for (PetscInt f = -1; f < formats; f++) {
    const std::string format = f < 0 ? "auto" : names[f];
    PetscBool         accepts;
    MatSparseGPUInfo  info;
    if (!settings.formats.empty() &&
        std::find(settings.formats.begin(), settings.formats.end(), format) == settings.formats.end())
      continue;
    PetscCall(MatSparseGPUCheckFormat(B, format.c_str(), &accepts, &why));
    if (!accepts) {
      report->Refused(format.c_str(), why);
      continue;
    }
    PetscCall(MatSparseGPUSetFormat(B, format.c_str()));
    PetscCall(Time(B, format.c_str(), x, expected, settings, &seconds, &error));
    PetscCall(MatSparseGPUGetInfo(B, &info));
    report->Ours(format.c_str(), seconds, baselines, info, error);
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bench(const Case &c, const Settings &settings, double cache, Report *report)
{
  Mat             A;
  CaseFacts       facts;
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;

  PetscFunctionBeginUser;
  PetscCall(CreateCase(c, &A));
  PetscCall(InspectCase(A, &facts));
  report->Begin(c, facts, cache);
  if (settings.list) {
    report->Listed();
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where));
  std::vector<double> x(facts.cols), expected(facts.rows);
  for (PetscInt k = 0; k < facts.cols; k++) x[k] = 1 + std::sin(1.0 + k);
  for (PetscInt r = 0; r < facts.rows; r++)
    for (PetscInt e = i[r]; e < i[r + 1]; e++) expected[r] += a[e] * x[j[e]];
  Baselines baselines;
  PetscCall(TimeBaselines(A, HostCsr{facts.rows, facts.cols, facts.nonzeros, i, j, a}, x, expected, settings, report,
                          &baselines));
  PetscCall(TimeOurs(A, x, expected, settings, baselines, report));
  report->End(baselines);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// The names that an option lists.
static PetscErrorCode Names(const char option[], std::vector<std::string> *names)
{
  char     *list[256];
  PetscInt  count = 256;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, option, list, &count, &set));
  for (PetscInt k = 0; set && k < count; k++) {
    PetscCallCXX(names->push_back(list[k]));
    PetscCall(PetscFree(list[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadCases(std::vector<Case> *cases)
{
  char                     set[PETSC_MAX_PATH_LEN];
  PetscBool                given, natural = PETSC_FALSE;
  PetscInt                 size = 5000000;
  std::vector<std::string> files, generated, classes;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-gen_size", &size, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-natural", &natural, nullptr));
  PetscCall(Names("-classes", &classes));
  PetscCall(Names("-f", &files));
  PetscCall(Names("-gen", &generated));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-set", set, sizeof(set), &given));
  if (given) PetscCall(ReadSet(set, cases));
  if (!classes.empty())
    cases->erase(std::remove_if(
                     cases->begin(), cases->end(),
                     [&](const Case &c) { return std::find(classes.begin(), classes.end(), c.kind) == classes.end(); }),
                 cases->end());
  for (const std::string &file : files) PetscCallCXX(cases->push_back(Case{"file", "", file, 0, 0, false}));
  if (!given && files.empty() && generated.empty())
    for (const char *const *name = GeneratedNames; *name; name++) PetscCallCXX(generated.push_back(*name));
  for (const std::string &name : generated)
    PetscCallCXX(cases->push_back(Case{"generated", name, "", size, 0, natural == PETSC_TRUE}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run()
{
  std::vector<Case> cases;
  Settings          settings;
  std::string       device, why;
  double            cache = 0;

  PetscFunctionBeginUser;
  PetscCall(ReadCases(&cases));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &settings.batches, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-products", &settings.products, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-nonzeros_at_most", &settings.at_most, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-list", &settings.list, nullptr));
  PetscCall(Names("-formats", &settings.formats));
  const bool has = DeviceCache(&cache, &device, &why);
  PetscCheck(settings.list || has, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s; this benchmark times a GPU (-list needs none)",
             why.c_str());
#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
  #if !defined(PETSC_HAVE_CUDA)
  PetscCheck(settings.list, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This benchmark needs a PETSc with CUDA: without, every product would copy its vectors");
  #endif
  Report report(device);
  for (const Case &c : cases) {
    PetscInt64 nonzeros;
    PetscCall(ExpectedNonzeros(c, &nonzeros));
    if (nonzeros <= settings.at_most) PetscCall(Bench(c, settings, cache, &report));
  }
  report.Correlations();
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "This benchmark needs a PETSc of double precision, real scalars and 32-bit integers");
#endif
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(PetscOptionsSetValue(nullptr, "-mat_sparsegpu_auto_lazy", "0")); // auto's row is its choice's
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
