#include <algorithm>
#include <chrono>
#include <cuda_runtime.h>
#include <cusparse.h>
#include "cusparse.hpp"
#include "triangular.hpp"

template <class T> OnDevice<T>::OnDevice(const std::vector<T> &host) : OnDevice(host.size())
{
  cudaMemcpy(p, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
}
template <class T> OnDevice<T>::OnDevice(size_t count) : n(count)
{
  if (cudaMalloc(&p, std::max<size_t>(n, 1) * sizeof(T)) != cudaSuccess) p = nullptr;
}
template <class T> OnDevice<T>::~OnDevice()
{
  cudaFree(p);
}
template <class T> std::vector<T> OnDevice<T>::Host(size_t count) const
{
  std::vector<T> host(count);
  cudaMemcpy(host.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}
template struct OnDevice<int>;
template struct OnDevice<double>;
template struct OnDevice<char>;

double WallSeconds(void (*call)(void *), void *argument)
{
  cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  call(argument);
  cudaDeviceSynchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

namespace
{
template <class F> double Seconds(F call)
{
  return WallSeconds([](void *f) { (*static_cast<F *>(f))(); }, &call);
}
} // namespace

double CopyBandwidth()
{
  constexpr size_t bytes = 1ull << 30; // far beyond the caches
  OnDevice<char>   from(bytes), to(bytes);
  const auto       copy = [](void *p) {
    char *const *both = static_cast<char *const *>(p);
    cudaMemcpyAsync(both[1], both[0], bytes, cudaMemcpyDeviceToDevice, nullptr);
  };
  char        *both[2] = {from.p, to.p};
  const double seconds = from.p && to.p ? EventSeconds(copy, both, nullptr, 5, 4) : -1;
  return seconds > 0 ? 2.0 * bytes / seconds : -1;
}

/// Two blocks hand a number to each other, `rounds` times there and back.
static __global__ void hop_kernel(volatile int *mine, volatile int *theirs, int rounds)
{
  volatile int *told = blockIdx.x ? theirs : mine, *heard = blockIdx.x ? mine : theirs;
  for (int k = 1; k <= rounds; k++) {
    if (blockIdx.x == 0) *told = k;
    while (*heard < k) {}
    if (blockIdx.x == 1) *told = k;
  }
}
double HopSeconds()
{
  struct Flags {
    int *p;
  };
  constexpr int  rounds = 10000;
  OnDevice<char> memory(4096);
  Flags          flags{reinterpret_cast<int *>(memory.p)};
  const auto     run = [](void *f) {
    int *p = static_cast<Flags *>(f)->p;
    cudaMemsetAsync(p, 0, 4096, nullptr);
    hop_kernel<<<2, 1>>>(p, p + 512, rounds); // a block a multiprocessor: both run
  };
  const double seconds = memory.p ? EventSeconds(run, &flags, nullptr, 3, 1) : -1;
  return seconds > 0 ? seconds / (2 * rounds) : -1;
}

BaselineFactor CusparseIlu(int rows, int nonzeros, const int *i, const int *j, const double *a, double *values,
                           int runs)
{
  BaselineFactor      baseline;
  std::vector<double> symbolic, numeric;
  bool                ok = true;
  for (int run = 0; run < runs && ok; run++) {
    cusparseHandle_t   handle;
    cusparseMatDescr_t descr;
    csrilu02Info_t     info;
    int                bytes = 0;
    cusparseCreate(&handle);
    cusparseCreateMatDescr(&descr);
    cusparseCreateCsrilu02Info(&info);
    cudaMemcpy(values, a, nonzeros * sizeof(double), cudaMemcpyDeviceToDevice);
    char *buffer = nullptr;
    symbolic.push_back(Seconds([&] {
      ok = ok && cusparseDcsrilu02_bufferSize(handle, rows, nonzeros, descr, values, i, j, info, &bytes) == 0;
      cudaMalloc(&buffer, bytes);
      ok = ok && cusparseDcsrilu02_analysis(handle, rows, nonzeros, descr, values, i, j, info,
                                            CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer) == 0;
    }));
    numeric.push_back(Seconds([&] {
      ok = ok && cusparseDcsrilu02(handle, rows, nonzeros, descr, values, i, j, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                                   buffer) == 0;
    }));
    cudaFree(buffer);
    cusparseDestroyCsrilu02Info(info);
    cusparseDestroyMatDescr(descr);
    cusparseDestroy(handle);
  }
  if (!ok || cudaGetLastError() != cudaSuccess) return baseline;
  baseline.symbolic = Median(symbolic);
  baseline.numeric  = Median(numeric);
  return baseline;
}

namespace
{
/// One triangle with cuSPARSE: SpSV for vectors, SpSM for matrices.
struct Triangle {
  cusparseHandle_t     handle;
  cusparseOperation_t  op;
  cusparseSpMatDescr_t A;
  cusparseSpSVDescr_t  sv = nullptr;
  cusparseSpSMDescr_t  sm = nullptr;
  cusparseDnVecDescr_t b = nullptr, x = nullptr;
  cusparseDnMatDescr_t B = nullptr, X = nullptr;
  char                *buffer = nullptr;
  size_t               bytes  = 0;
  bool                 ok     = true;

  Triangle(cusparseHandle_t h, int rows, int nonzeros, const int *i, const int *j, double *values, bool upper,
           int count, bool transpose, const double *in, double *out)
      : handle(h),
        op(transpose ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE)
  {
    cusparseCreateCsr(&A, rows, rows, nonzeros, const_cast<int *>(i), const_cast<int *>(j), values, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
    cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = upper ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;
    cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill));
    cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof(diag));
    if (count == 1) {
      cusparseSpSV_createDescr(&sv);
      cusparseCreateDnVec(&b, rows, const_cast<double *>(in), CUDA_R_64F);
      cusparseCreateDnVec(&x, rows, out, CUDA_R_64F);
    } else {
      cusparseSpSM_createDescr(&sm);
      cusparseCreateDnMat(&B, rows, count, rows, const_cast<double *>(in), CUDA_R_64F, CUSPARSE_ORDER_COL);
      cusparseCreateDnMat(&X, rows, count, rows, out, CUDA_R_64F, CUSPARSE_ORDER_COL);
    }
  }
  ~Triangle()
  {
    if (sv) cusparseSpSV_destroyDescr(sv);
    if (sm) cusparseSpSM_destroyDescr(sm);
    if (b) cusparseDestroyDnVec(b);
    if (x) cusparseDestroyDnVec(x);
    if (B) cusparseDestroyDnMat(B);
    if (X) cusparseDestroyDnMat(X);
    cusparseDestroySpMat(A);
    cudaFree(buffer);
  }
  void Analyse()
  {
    const double one = 1;
    if (sv) {
      ok = ok &&
           cusparseSpSV_bufferSize(handle, op, &one, A, b, x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, sv, &bytes) == 0;
      cudaMalloc(&buffer, bytes);
      ok = ok &&
           cusparseSpSV_analysis(handle, op, &one, A, b, x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, sv, buffer) == 0;
    } else {
      const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
      ok = ok && cusparseSpSM_bufferSize(handle, op, none, &one, A, B, X, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, sm,
                                         &bytes) == 0;
      cudaMalloc(&buffer, bytes);
      ok = ok && cusparseSpSM_analysis(handle, op, none, &one, A, B, X, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, sm,
                                       buffer) == 0;
    }
  }
  void Solve()
  {
    const double one = 1;
    if (sv)
      ok = ok && cusparseSpSV_solve(handle, op, &one, A, b, x, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, sv) == 0;
    else
      ok = ok && cusparseSpSM_solve(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, B, X, CUDA_R_64F,
                                    CUSPARSE_SPSM_ALG_DEFAULT, sm) == 0;
  }
};
struct Pair {
  Triangle *first, *second;
};
} // namespace

BaselineSolve CusparseSolve(int rows, int nonzeros, const int *i, const int *j, double *values, int count,
                            bool transpose, const double *b, double *x, int batches, int solves)
{
  BaselineSolve    baseline;
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  {
    OnDevice<double> y(static_cast<size_t>(rows) * count);
    // the first to be solved: L, or, transposed, U
    Triangle first(handle, rows, nonzeros, i, j, values, transpose, count, transpose, b, y.p);
    Triangle second(handle, rows, nonzeros, i, j, values, !transpose, count, transpose, y.p, x);
    size_t   before = 0, after = 0, all = 0;
    cudaMemGetInfo(&before, &all);
    const double analysis = Seconds([&] {
      first.Analyse();
      second.Analyse();
    });
    cudaMemGetInfo(&after, &all);
    Pair       pair{&first, &second};
    const auto one = [](void *t) { static_cast<Triangle *>(t)->Solve(); };
    const auto two = [](void *p) {
      static_cast<Pair *>(p)->first->Solve();
      static_cast<Pair *>(p)->second->Solve();
    };
    baseline.both = EventSeconds(two, &pair, nullptr, batches, solves);
    if (count == 1 && !transpose) {
      baseline.lower = EventSeconds(one, &first, nullptr, batches, solves);
      baseline.upper = EventSeconds(one, &second, nullptr, batches, solves);
    }
    two(&pair);
    if (count == 1)
      baseline.update = Seconds([&] {
        cusparseSpSV_updateMatrix(handle, first.sv, values, CUSPARSE_SPSV_UPDATE_GENERAL);
        cusparseSpSV_updateMatrix(handle, second.sv, values, CUSPARSE_SPSV_UPDATE_GENERAL);
      });
    cudaDeviceSynchronize();
    baseline.bytes = before > after ? static_cast<double>(before - after) : 0;
    if (first.ok && second.ok && cudaGetLastError() == cudaSuccess) baseline.analysis = analysis;
  }
  cusparseDestroy(handle);
  return baseline;
}
