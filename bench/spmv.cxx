static char help[] =
    "Products of every format of sparsegpu on the GPU, through MatMult(), against cuSPARSE CSR_ALG1 and CSR_ALG2\n"
    "(preprocessed, called directly) and PETSc's aijcusparse, in one process. Prints one JSON line per measurement.\n"
    "  -gen name,name -gen_size n : generated matrices of about n nonzeros\n"
    "  -natural                   : with the values that such a problem has, which are few, not random ones\n"
    "  -formats name,name         : only these\n"
    "  -batches n -products n     : the median of n batches of n products\n";

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>
#include <petscksp.h>
#include <sparsegpu.h>
#include "cusparse.hpp"
#include "generate.hpp"

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && \
    !defined(PETSC_USE_64BIT_INDICES)
struct Mult {
  Mat A;
  Vec x, y;
};

static void Product(void *argument)
{
  const Mult *m = static_cast<Mult *>(argument);
  PetscCallAbort(PETSC_COMM_SELF, MatMult(m->A, m->x, m->y));
}

struct Settings {
  PetscInt  batches, products;
  PetscBool natural;
};

/// Times MatMult(A) and returns the largest difference to `expected`, relative to its norm.
static PetscErrorCode Time(Mat A, const std::vector<double> &x, const std::vector<double> &expected,
                           const Settings &settings, double *seconds, double *error)
{
  Mult         m{A, nullptr, nullptr};
  cudaStream_t stream;
  PetscScalar *array;
  double       difference = 0, norm = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &m.x, &m.y));
  PetscCall(VecGetArrayWrite(m.x, &array));
  std::copy(x.begin(), x.end(), array);
  PetscCall(VecRestoreArrayWrite(m.x, &array));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  *seconds = EventSeconds(Product, &m, stream, static_cast<int>(settings.batches), static_cast<int>(settings.products));
  const PetscScalar *y;
  PetscCall(VecGetArrayRead(m.y, &y));
  for (size_t r = 0; r < expected.size(); r++) {
    difference += (y[r] - expected[r]) * (y[r] - expected[r]);
    norm += expected[r] * expected[r];
  }
  PetscCall(VecRestoreArrayRead(m.y, &y));
  *error = std::sqrt(difference) / (norm > 0 ? std::sqrt(norm) : 1);
  PetscCheck(*error < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product is wrong: relative error %g", *error);
  PetscCall(VecDestroy(&m.x));
  PetscCall(VecDestroy(&m.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bench(const char name[], PetscInt nonzeros, const Settings &settings)
{
  Mat                A, B;
  PetscInt           rows, cols, formats;
  const PetscInt    *i, *j;
  PetscScalar       *a;
  PetscMemType       where;
  const char *const *format_names;
  double             error;

  PetscFunctionBeginUser;
  PetscCall(GenerateMatrix(PETSC_COMM_SELF, name, nonzeros, settings.natural, &A));
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where));
  const PetscInt      nnz = i[rows];
  std::vector<double> x(cols), y(rows), expected(rows);
  for (PetscInt c = 0; c < cols; c++) x[c] = 1 + std::sin(1.0 + c);
  for (PetscInt r = 0; r < rows; r++)
    for (PetscInt e = i[r]; e < i[r + 1]; e++) expected[r] += a[e] * x[j[e]];

  double best = 1e30;
  for (int algorithm = 1; algorithm <= 2; algorithm++) {
    const double seconds = CusparseSeconds(algorithm, rows, cols, nnz, i, j, a, x.data(), y.data(),
                                           static_cast<int>(settings.batches), static_cast<int>(settings.products));
    PetscCheck(seconds > 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSPARSE failed on %s", name);
    if (seconds < best) best = seconds;
    printf("{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"what\":\"cusparse_alg%d\",\"ms\":%.5f}\n", name, (int)rows,
           (int)nnz, algorithm, seconds * 1e3);
  }
  double seconds;
  PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &B));
  PetscCall(Time(B, x, expected, settings, &seconds, &error));
  printf("{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"what\":\"aijcusparse\",\"ms\":%.5f,\"vs_cusparse\":%.3f}\n", name,
         (int)rows, (int)nnz, seconds * 1e3, best / seconds);
  PetscCall(MatDestroy(&B));

  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatSparseGPUGetFormats(&formats, &format_names));
  for (PetscInt f = -1; f < formats; f++) {
    const char      *format = f < 0 ? "auto" : format_names[f], *why;
    PetscBool        accepts, wanted = PETSC_TRUE;
    MatSparseGPUInfo info;
    char            *only[16];
    PetscInt         count = 16;
    PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-formats", only, &count, &accepts));
    if (accepts) wanted = PETSC_FALSE;
    for (PetscInt k = 0; accepts && k < count; k++) {
      if (std::string(only[k]) == format) wanted = PETSC_TRUE;
      PetscCall(PetscFree(only[k]));
    }
    if (!wanted) continue;
    PetscCall(MatSparseGPUCheckFormat(B, format, &accepts, &why));
    if (!accepts) {
      printf("{\"matrix\":\"%s\",\"what\":\"%s\",\"refused\":\"%s\"}\n", name, format, why);
      continue;
    }
    PetscCall(MatSparseGPUSetFormat(B, format));
    PetscCall(Time(B, x, expected, settings, &seconds, &error));
    PetscCall(MatSparseGPUGetInfo(B, &info));
    printf(
        "{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"what\":\"%s\",\"format\":\"%s\",\"ms\":%.5f,\"gbs\":%.0f,\"vs_cusparse\":%.3f,\"convert_ms\":%.2f,\"padding\":%.3f,\"error\":%.1e,\"natural\":%d,\"details\":\"%s\"}\n",
        name, (int)rows, (int)nnz, format, info.format, seconds * 1e3, info.bytes_mult / seconds / 1e9, best / seconds,
        info.convert_seconds * 1e3, nnz ? info.stored / nnz : 1.0, error,
        (int)settings.natural, info.details);
    fflush(stdout);
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  char     *names[64];
  PetscInt  count = 64, nonzeros = 5000000;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-gen", names, &count, &set));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-gen_size", &nonzeros, nullptr));
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && \
    !defined(PETSC_USE_64BIT_INDICES)
  Settings settings{11, 50, PETSC_FALSE};
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-natural", &settings.natural, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &settings.batches, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-products", &settings.products, nullptr));
  if (set) {
    for (PetscInt k = 0; k < count; k++) PetscCall(Bench(names[k], nonzeros, settings));
  } else {
    for (const char *const *name = GeneratedNames; *name; name++) PetscCall(Bench(*name, nonzeros, settings));
  }
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "This benchmark needs a PETSc with CUDA, double precision, real scalars and 32-bit integers");
#endif
  for (PetscInt k = 0; set && k < count; k++) PetscCall(PetscFree(names[k]));
  PetscCall(PetscFinalize());
  return 0;
}
