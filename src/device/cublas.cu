/// cuBLAS is opened with dlopen() and called through pointers: programs that do not need it do not load it.
#include "device/cublas.hpp"
#include <algorithm>
#include <exception>
#include <thread>
#include <type_traits>
#include "device/cublas_open.cuh"
#include "device/short_parts.cuh"
#include "device/signals_blocked.hpp"

namespace sparsegpu
{

namespace
{
int Length(PetscInt v)
{
  return static_cast<int>(v);
}

/// Factors of a product: A [m x k] and B [n x k], which is transposed, or, `across`, both with their rows as columns.
template <class Number> struct Factors {
  const Number *A, *B;
  PetscInt      lda, ldb, k;
  bool          across;
};

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
                                                               PetscInt columns, const Factors<Number> &F, Number *C,
                                                               PetscInt ldc, PetscInt step, PetscInt count)
{
  const Number      minus(-1), one(1);
  const long long   step_a = static_cast<long long>(step) * (F.across ? F.lda : 1);
  const long long   step_b = static_cast<long long>(step) * (F.across ? F.ldb : 1);
  cublasOperation_t of_a = F.across ? CUBLAS_OP_T : CUBLAS_OP_N, of_b = F.across ? CUBLAS_OP_N : CUBLAS_OP_T;

  PetscFunctionBegin;
  PetscCall(Check(routines.products(cublas.handle, of_a, of_b, Length(rows), Length(columns), Length(F.k),
                                    As<T>(&minus), As<T>(F.A), Length(F.lda), step_a, As<T>(F.B), Length(F.ldb), step_b,
                                    As<T>(&one), As<T>(C), Length(ldc),
                                    static_cast<long long>(step) * (static_cast<long long>(ldc) + 1), Length(count))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C -= A B^T for blocks of C.
template <class Number> struct BlockProduct {
  Factors<Number> F;
  Number         *C;
  PetscInt        ldc;

  /// `count` blocks [rows x columns], the first at (i, j), `step` rows and columns apart.
  PetscErrorCode Subtract(PetscInt rows, PetscInt columns, PetscInt i, PetscInt j, PetscInt step, PetscInt count) const
  {
    Factors<Number> part = F;

    PetscFunctionBegin;
    if (rows == 0 || columns == 0 || count == 0) PetscFunctionReturn(PETSC_SUCCESS);
    part.A += static_cast<PetscCount>(i) * (F.across ? F.lda : 1);
    part.B += static_cast<PetscCount>(j) * (F.across ? F.ldb : 1);
    PetscCall(MultiplyBlocks(RoutinesOf<Number>(), rows, columns, part, C + i + static_cast<PetscCount>(j) * ldc, ldc,
                             step, count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The triangle is halved again and again: blocks of one size at a time, those below the diagonal, at last the small
/// ones on it, whose upper triangles are lost work; then the rows that are left over.
template <class Number> PetscErrorCode SubtractTriangle(const BlockProduct<Number> &product, PetscInt n)
{
  constexpr PetscInt LEAST  = 512; // rows of a block that fill a device, a few blocks at a time
  PetscInt           blocks = 1;

  PetscFunctionBegin;
  while (n / (2 * blocks) >= LEAST) blocks *= 2;
  const PetscInt size = n / blocks, covered = size * blocks;
  PetscCall(product.Subtract(size, size, 0, 0, size, blocks));
  for (PetscInt count = blocks / 2, step = size; count > 0; count /= 2, step *= 2)
    PetscCall(product.Subtract(step, step, step, 0, 2 * step, count));
  PetscCall(product.Subtract(n - covered, n, covered, 0, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr PetscCount PARTS       = PetscCount(1) << 24; ///< entries of parts of factors at a time
constexpr PetscCount SHORT_PARTS = 3 * 128;             ///< of them that a row of A or column of B has at least

/// Whether the factors are split; m + n up to 43,690 rows have room for enough of k at a time.
bool ByParts(PetscInt m, PetscInt n)
{
  const PetscCount both = static_cast<PetscCount>(m) + n;
  return cublas.parts && CublasServesByParts(m, n) && both * SHORT_PARTS < PARTS;
}

/// multiply(F) for parts of A [m x k] and B [k x n], or B [n x k] if `transposed`, as much of k at a time as there is
/// room for.
template <class Call> PetscErrorCode InParts(bool transposed, PetscInt m, PetscInt n, PetscInt k, const float *A,
                                             PetscInt lda, const float *B, PetscInt ldb, Stream stream,
                                             const Call &multiply)
{
  constexpr PetscInt ALIGNED = 4; // floats that tensor cores like columns to begin at a multiple of
  const cudaStream_t s       = static_cast<cudaStream_t>(stream);
  const PetscInt     most    = static_cast<PetscInt>(PARTS / 3 / (static_cast<PetscCount>(m) + n) / ALIGNED * ALIGNED);

  PetscFunctionBegin;
  PetscCall(Check(cublas.set_math(cublas.handle, CUBLAS_TF32_TENSOR_OP_MATH)));
  for (PetscInt k0 = 0; k0 < k; k0 += most) {
    const PetscInt   depth = std::min(most, k - k0);
    const PetscCount begin = k0;
    float *const a = cublas.parts, *const b = a + 3 * static_cast<PetscCount>(depth) * m;
    PetscCall(SplitShortFactor(true, m, A + begin * lda, lda, ShortColumns{a, depth, LowPart::First}, s));
    PetscCall(SplitShortFactor(transposed, n, B + (transposed ? begin * ldb : begin), ldb,
                               ShortColumns{b, depth, LowPart::Second}, s));
    PetscCall(multiply(Factors<float>{a, b, 3 * depth, 3 * depth, 3 * depth, true}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// The thread of the CublasBeside that has begun one; until it is joined all of `cublas` is its own. Never freed by the
/// end of the program, which may come meanwhile.
static std::thread *opening = nullptr;

CublasBeside::CublasBeside(bool possible)
{
  if (!possible || opening || cublas.tried) return;
  if (cudaGetDevice(&device_) != cudaSuccess) {
    (void)cudaGetLastError();
    device_ = -1;
  }
}

void CublasBeside::Begin()
{
  if (device_ < 0) return;
  const SignalsBlocked blocked;
  try {
    opening = new std::thread(OpenOn, device_);
    begun_  = true;
  } catch (const std::exception &) { // no thread is left: it is opened when it is needed
  }
}

CublasBeside::~CublasBeside()
{
  if (!begun_) return;
  opening->join();
  delete opening;
  opening = nullptr;
}

PetscErrorCode CublasFound(bool *found, bool again)
{
  PetscFunctionBegin;
  if (!cublas.tried) OpenLibrary();
  if (!cublas.told)
    PetscCall(PetscInfo(nullptr, "%s %s\n", LibraryName().c_str(), cublas.library ? "opened" : "not found"));
  cublas.told = true;
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

/// Three products of TF32 numbers take much less time then than one of full ones, splitting the factors included.
/// Smaller ones are not worth the accuracy that it costs: tensor cores truncate sums instead of rounding them.
bool CublasServesByParts(PetscInt m, PetscInt n)
{
  constexpr PetscInt   LEAST = 512;
  constexpr PetscCount MANY  = PetscCount(1) << 23;
  return std::min(m, n) >= LEAST && static_cast<PetscCount>(m) * n >= MANY;
}

PetscErrorCode CublasTakeParts(bool *taken)
{
  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  if (cublas.handle && !cublas.parts &&
      cudaMalloc(reinterpret_cast<void **>(&cublas.parts), PARTS * sizeof(float)) != cudaSuccess) {
    (void)cudaGetLastError();
    cublas.parts = nullptr;
    PetscCall(PetscInfo(nullptr, "No memory for products of single precision by tensor cores\n"));
  }
#endif
  *taken = cublas.parts != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode CublasSubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A,
                                                             PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                             PetscInt ldc, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckSizes(m, n, k, lda, ldb, ldc));
  PetscCall(Begin(stream));
  if constexpr (std::is_same_v<Number, float>) {
    if (ByParts(m, n)) {
      PetscCall(InParts(false, m, n, k, A, lda, B, ldb, stream, [&](const Factors<float> &F) {
        return BlockProduct<float>{F, C, ldc}.Subtract(m, n, 0, 0, 0, 1);
      }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(Multiply(RoutinesOf<Number>(), m, n, k, A, lda, B, ldb, C, ldc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// subtract(F) for A [m x k] and B [n x k], or for their parts.
template <class Number, class Call> static PetscErrorCode Transposed(PetscInt m, PetscInt n, PetscInt k,
                                                                     const Number *A, PetscInt lda, const Number *B,
                                                                     PetscInt ldb, Stream stream, const Call &subtract)
{
  PetscFunctionBegin;
  PetscCall(Begin(stream));
  if constexpr (std::is_same_v<Number, float>) {
    if (ByParts(m, n)) {
      PetscCall(InParts(true, m, n, k, A, lda, B, ldb, stream, subtract));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(subtract(Factors<Number>{A, B, lda, ldb, k, false}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode CublasSubtractTransposedProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                               const Number *B, PetscInt ldb, Number *C, PetscInt ldc, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckSizes(m, n, k, lda, ldb, ldc));
  PetscCall(Transposed(m, n, k, A, lda, B, ldb, stream, [&](const Factors<Number> &F) {
    return BlockProduct<Number>{F, C, ldc}.Subtract(m, n, 0, 0, 0, 1);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode CublasSubtractLowerProduct(PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                                                  const Number *B, PetscInt ldb, Number *C,
                                                                  PetscInt ldc, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckSizes(n, n, k, lda, ldb, ldc));
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Transposed(n, n, k, A, lda, B, ldb, stream, [&](const Factors<Number> &F) {
    return SubtractTriangle(BlockProduct<Number>{F, C, ldc}, n);
  }));
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
  if (cublas.parts) SparseGPUCallCUDA(cudaFree(cublas.parts));
  cublas.parts = nullptr;
  if (cublas.handle) PetscCall(Check(cublas.destroy(cublas.handle)));
  cublas.handle = nullptr; // the library stays: others may use it
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
