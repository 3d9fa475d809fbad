/// cuBLAS is opened with dlopen() and called through pointers: programs that do not need it do not load it.
#include "device/cublas.hpp"
#include <cublas_v2.h>
#include <dlfcn.h>
#include <climits>
#include <string>
#include "device/cuda_check.hpp"

namespace sparsegpu
{

namespace
{
#if defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_SINGLE)
using Number              = cuComplex;
constexpr char PRODUCT[]  = "cublasCgemm_v2";
constexpr char PRODUCTS[] = "cublasCgemmStridedBatched";
#elif defined(PETSC_USE_COMPLEX)
using Number              = cuDoubleComplex;
constexpr char PRODUCT[]  = "cublasZgemm_v2";
constexpr char PRODUCTS[] = "cublasZgemmStridedBatched";
#elif defined(PETSC_USE_REAL_SINGLE)
using Number              = float;
constexpr char PRODUCT[]  = "cublasSgemm_v2";
constexpr char PRODUCTS[] = "cublasSgemmStridedBatched";
#else
using Number              = double;
constexpr char PRODUCT[]  = "cublasDgemm_v2";
constexpr char PRODUCTS[] = "cublasDgemmStridedBatched";
#endif
using Product  = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const Number *,
                                   const Number *, int, const Number *, int, const Number *, Number *, int);
using Products = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const Number *,
                                    const Number *, int, long long, const Number *, int, long long, const Number *,
                                    Number *, int, long long, int);

struct Library {
  bool           tried                                       = false;
  void          *library                                     = nullptr;
  cublasHandle_t handle                                      = nullptr;
  cublasStatus_t (*create)(cublasHandle_t *)                 = nullptr;
  cublasStatus_t (*destroy)(cublasHandle_t)                  = nullptr;
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t) = nullptr;
  Product  product                                           = nullptr;
  Products products                                          = nullptr;
};
Library cublas;

template <class Function> bool Find(const char name[], Function *function)
{
  *function = reinterpret_cast<Function>(dlsym(cublas.library, name));
  return *function != nullptr;
}

PetscErrorCode Check(cublasStatus_t status)
{
  PetscFunctionBegin;
  PetscCheck(status == CUBLAS_STATUS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuBLAS error %d",
             static_cast<int>(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Begin(Stream stream)
{
  PetscFunctionBegin;
  if (!cublas.handle) PetscCall(Check(cublas.create(&cublas.handle)));
  PetscCall(Check(cublas.set_stream(cublas.handle, static_cast<cudaStream_t>(stream))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A lower triangle's products of blocks with A B^T.
struct LowerProduct {
  PetscInt      k;
  const Scalar *A, *B;
  Scalar       *C;
  PetscInt      lda, ldb, ldc;

  /// `count` blocks [rows x columns], the first at (i, j), `step` rows and columns apart.
  PetscErrorCode Subtract(PetscInt rows, PetscInt columns, PetscInt i, PetscInt j, PetscInt step, PetscInt count) const
  {
    const Scalar minus(-1), one(1);
    const auto   number = [](const Scalar *p) { return reinterpret_cast<const Number *>(p); };
    const auto   length = [](PetscInt v) { return static_cast<int>(v); };

    PetscFunctionBegin;
    if (rows == 0 || columns == 0 || count == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Check(cublas.products(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_T, length(rows), length(columns), length(k),
                                    number(&minus), number(A + i), length(lda), step, number(B + j), length(ldb), step,
                                    number(&one), reinterpret_cast<Number *>(C + i + static_cast<PetscCount>(j) * ldc),
                                    length(ldc), static_cast<long long>(step) * (static_cast<long long>(ldc) + 1),
                                    length(count))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

PetscErrorCode CublasFound(bool *found)
{
  PetscFunctionBegin;
  if (!cublas.tried) {
    cublas.tried = true;
    // the version that the headers are of; one that is loaded already, PETSc's for instance, is the one found
    const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    cublas.library         = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (cublas.library && !(Find("cublasCreate_v2", &cublas.create) && Find("cublasDestroy_v2", &cublas.destroy) &&
                            Find("cublasSetStream_v2", &cublas.set_stream) && Find(PRODUCT, &cublas.product) &&
                            Find(PRODUCTS, &cublas.products))) {
      dlclose(cublas.library);
      cublas.library = nullptr;
    }
    PetscCall(PetscInfo(nullptr, "%s %s\n", name.c_str(), cublas.library ? "opened" : "not found"));
  }
  *found = cublas.library != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CublasSubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Scalar *A, PetscInt lda, const Scalar *B,
                                     PetscInt ldb, Scalar *C, PetscInt ldc, Stream stream)
{
  const Scalar minus(-1), one(1);
  const auto   number = [](const Scalar *p) { return reinterpret_cast<const Number *>(p); };
  const auto   length = [](PetscInt v) { return static_cast<int>(v); };

  PetscFunctionBegin;
  PetscCheck(m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A product of %" PetscInt_FMT " x %" PetscInt_FMT " entries is too large for cuBLAS", m, n);
  PetscCall(Begin(stream));
  PetscCall(Check(cublas.product(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, length(m), length(n), length(k),
                                 number(&minus), number(A), length(lda), number(B), length(ldb), number(&one),
                                 reinterpret_cast<Number *>(C), length(ldc))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CublasSubtractTransposedProduct(PetscInt m, PetscInt n, PetscInt k, const Scalar *A, PetscInt lda,
                                               const Scalar *B, PetscInt ldb, Scalar *C, PetscInt ldc, Stream stream)
{
  PetscFunctionBegin;
  PetscCheck(m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A product of %" PetscInt_FMT " x %" PetscInt_FMT " entries is too large for cuBLAS", m, n);
  PetscCall(Begin(stream));
  PetscCall((LowerProduct{k, A, B, C, lda, ldb, ldc}).Subtract(m, n, 0, 0, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The triangle is halved again and again: blocks of one size at a time, those below the diagonal, at last the small
/// ones on it, whose upper triangles are lost work; then the rows that are left over.
PetscErrorCode CublasSubtractLowerProduct(PetscInt n, PetscInt k, const Scalar *A, PetscInt lda, const Scalar *B,
                                          PetscInt ldb, Scalar *C, PetscInt ldc, Stream stream)
{
  constexpr PetscInt LEAST = 512; // rows of a block that fill a device, a few blocks at a time
  const LowerProduct product{k, A, B, C, lda, ldb, ldc};
  PetscInt           blocks = 1;

  PetscFunctionBegin;
  PetscCheck(n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "A product of %" PetscInt_FMT " x %" PetscInt_FMT " entries is too large for cuBLAS", n, n);
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Begin(stream));
  while (n / (2 * blocks) >= LEAST) blocks *= 2;
  const PetscInt size = n / blocks, covered = size * blocks;
  PetscCall(product.Subtract(size, size, 0, 0, size, blocks));
  for (PetscInt count = blocks / 2, step = size; count > 0; count /= 2, step *= 2)
    PetscCall(product.Subtract(step, step, step, 0, 2 * step, count));
  PetscCall(product.Subtract(n - covered, n, covered, 0, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CublasFinalize()
{
  PetscFunctionBegin;
  if (cublas.handle) PetscCall(Check(cublas.destroy(cublas.handle)));
  cublas.handle = nullptr; // the library stays: others may use it
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
