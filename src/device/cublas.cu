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
template <class Number> using Product  = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                                           int, int, const Number *, const Number *, int,
                                                           const Number *, int, const Number *, Number *, int);
template <class Number> using Products = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                                            int, int, const Number *, const Number *, int, long long,
                                                            const Number *, int, long long, const Number *, Number *,
                                                            int, long long, int);

/// The products of one of cuBLAS's types.
template <class Number> struct Routines {
  Product<Number>  product  = nullptr;
  Products<Number> products = nullptr;
};

struct Library {
  bool           tried                                       = false;
  bool           lacks_memory                                = false;
  void          *library                                     = nullptr;
  cublasHandle_t handle                                      = nullptr;
  cublasStatus_t (*create)(cublasHandle_t *)                 = nullptr;
  cublasStatus_t (*destroy)(cublasHandle_t)                  = nullptr;
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t) = nullptr;
#if defined(PETSC_USE_COMPLEX)
  Routines<cuDoubleComplex> full;
  Routines<cuComplex>       single;
#else
  Routines<double> full;
  Routines<float>  single;
#endif
};
Library cublas;

#if defined(PETSC_USE_COMPLEX)
constexpr char FULL[] = "cublasZgemm", SINGLE[] = "cublasCgemm";
#else
constexpr char FULL[] = "cublasDgemm", SINGLE[] = "cublasSgemm";
#endif

/// The routines for Number, Scalar or Single.
template <class Number> const auto &RoutinesOf()
{
  if constexpr (sizeof(RealOfScalar<Number>) == sizeof(float))
    return cublas.single;
  else
    return cublas.full;
}

template <class Function> bool Find(const char name[], Function *function)
{
  *function = reinterpret_cast<Function>(dlsym(cublas.library, name));
  return *function != nullptr;
}

template <class Number> bool FindRoutines(const char name[], Routines<Number> *routines)
{
  const std::string plain = name;
  return Find((plain + "_v2").c_str(), &routines->product) &&
         Find((plain + "StridedBatched").c_str(), &routines->products);
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
  PetscCall(Check(cublas.set_stream(cublas.handle, static_cast<cudaStream_t>(stream))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSizes(PetscInt m, PetscInt n, PetscInt k, PetscInt lda, PetscInt ldb, PetscInt ldc)
{
  PetscFunctionBegin;
  PetscCheck(m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A product of %" PetscInt_FMT " x %" PetscInt_FMT " entries is too large for cuBLAS", m, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The arguments of cuBLAS: its number types have the layout of ours.
template <class To, class From> const To *As(const From *p)
{
  return reinterpret_cast<const To *>(p);
}
template <class To, class From> To *As(From *p)
{
  return reinterpret_cast<To *>(p);
}
int Length(PetscInt v)
{
  return static_cast<int>(v);
}

template <class Number, class T> PetscErrorCode Multiply(const Routines<T> &routines, PetscInt m, PetscInt n,
                                                         PetscInt k, const Number *A, PetscInt lda, const Number *B,
                                                         PetscInt ldb, Number *C, PetscInt ldc)
{
  const Number minus(-1), one(1);

  PetscFunctionBegin;
  PetscCall(
      Check(routines.product(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, Length(m), Length(n), Length(k), As<T>(&minus),
                             As<T>(A), Length(lda), As<T>(B), Length(ldb), As<T>(&one), As<T>(C), Length(ldc))));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Number, class T> PetscErrorCode MultiplyBlocks(const Routines<T> &routines, PetscInt rows,
                                                               PetscInt columns, PetscInt k, const Number *A,
                                                               PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                               PetscInt ldc, PetscInt step, PetscInt count)
{
  const Number minus(-1), one(1);

  PetscFunctionBegin;
  PetscCall(Check(routines.products(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_T, Length(rows), Length(columns), Length(k),
                                    As<T>(&minus), As<T>(A), Length(lda), step, As<T>(B), Length(ldb), step,
                                    As<T>(&one), As<T>(C), Length(ldc),
                                    static_cast<long long>(step) * (static_cast<long long>(ldc) + 1), Length(count))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A lower triangle's products of blocks with A B^T.
template <class Number> struct LowerProduct {
  PetscInt      k;
  const Number *A, *B;
  Number       *C;
  PetscInt      lda, ldb, ldc;

  /// `count` blocks [rows x columns], the first at (i, j), `step` rows and columns apart.
  PetscErrorCode Subtract(PetscInt rows, PetscInt columns, PetscInt i, PetscInt j, PetscInt step, PetscInt count) const
  {
    PetscFunctionBegin;
    if (rows == 0 || columns == 0 || count == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MultiplyBlocks(RoutinesOf<Number>(), rows, columns, k, A + i, lda, B + j, ldb,
                             C + i + static_cast<PetscCount>(j) * ldc, ldc, step, count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

PetscErrorCode CublasFound(bool *found, bool again)
{
  PetscFunctionBegin;
  if (!cublas.tried) {
    cublas.tried = true;
    // the version that the headers are of; one that is loaded already, PETSc's for instance, is the one found
    const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    cublas.library         = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (cublas.library && !(Find("cublasCreate_v2", &cublas.create) && Find("cublasDestroy_v2", &cublas.destroy) &&
                            Find("cublasSetStream_v2", &cublas.set_stream) && FindRoutines(FULL, &cublas.full) &&
                            FindRoutines(SINGLE, &cublas.single))) {
      dlclose(cublas.library);
      cublas.library = nullptr;
    }
    PetscCall(PetscInfo(nullptr, "%s %s\n", name.c_str(), cublas.library ? "opened" : "not found"));
  }
  if (cublas.library && !cublas.handle && (again || !cublas.lacks_memory)) {
    const cublasStatus_t status = cublas.create(&cublas.handle);
    cublas.lacks_memory         = status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
    if (cublas.lacks_memory) {
      (void)cudaGetLastError();
      cublas.handle = nullptr;
      PetscCall(PetscInfo(nullptr, "cuBLAS lacks memory of the GPU\n"));
    } else {
      PetscCall(Check(status));
    }
  }
  *found = cublas.handle != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode CublasSubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A,
                                                             PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                             PetscInt ldc, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckSizes(m, n, k, lda, ldb, ldc));
  PetscCall(Begin(stream));
  PetscCall(Multiply(RoutinesOf<Number>(), m, n, k, A, lda, B, ldb, C, ldc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode CublasSubtractTransposedProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                               const Number *B, PetscInt ldb, Number *C, PetscInt ldc, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckSizes(m, n, k, lda, ldb, ldc));
  PetscCall(Begin(stream));
  PetscCall((LowerProduct<Number>{k, A, B, C, lda, ldb, ldc}).Subtract(m, n, 0, 0, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The triangle is halved again and again: blocks of one size at a time, those below the diagonal, at last the small
/// ones on it, whose upper triangles are lost work; then the rows that are left over.
template <class Number> PetscErrorCode CublasSubtractLowerProduct(PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                                                  const Number *B, PetscInt ldb, Number *C,
                                                                  PetscInt ldc, Stream stream)
{
  constexpr PetscInt         LEAST = 512; // rows of a block that fill a device, a few blocks at a time
  const LowerProduct<Number> product{k, A, B, C, lda, ldb, ldc};
  PetscInt                   blocks = 1;

  PetscFunctionBegin;
  PetscCall(CheckSizes(n, n, k, lda, ldb, ldc));
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

template PetscErrorCode CublasSubtractProduct(PetscInt, PetscInt, PetscInt, const Scalar *, PetscInt, const Scalar *,
                                              PetscInt, Scalar *, PetscInt, Stream);
template PetscErrorCode CublasSubtractTransposedProduct(PetscInt, PetscInt, PetscInt, const Scalar *, PetscInt,
                                                        const Scalar *, PetscInt, Scalar *, PetscInt, Stream);
template PetscErrorCode CublasSubtractLowerProduct(PetscInt, PetscInt, const Scalar *, PetscInt, const Scalar *,
                                                   PetscInt, Scalar *, PetscInt, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode CublasSubtractProduct(PetscInt, PetscInt, PetscInt, const Single *, PetscInt, const Single *,
                                              PetscInt, Single *, PetscInt, Stream);
template PetscErrorCode CublasSubtractTransposedProduct(PetscInt, PetscInt, PetscInt, const Single *, PetscInt,
                                                        const Single *, PetscInt, Single *, PetscInt, Stream);
template PetscErrorCode CublasSubtractLowerProduct(PetscInt, PetscInt, const Single *, PetscInt, const Single *,
                                                   PetscInt, Single *, PetscInt, Stream);
#endif

PetscErrorCode CublasFinalize()
{
  PetscFunctionBegin;
  if (cublas.handle) PetscCall(Check(cublas.destroy(cublas.handle)));
  cublas.handle = nullptr; // the library stays: others may use it
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
