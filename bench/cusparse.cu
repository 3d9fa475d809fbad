#include "cusparse.hpp"

#include <algorithm>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <vector>
#include "baseline_layout.hpp"

double EventSeconds(void (*product)(void *), void *argument, void *stream, int batches, int products)
{
  const cudaStream_t  s = static_cast<cudaStream_t>(stream);
  cudaEvent_t         begin, end;
  std::vector<double> seconds;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int k = 0; k < 5; k++) product(argument);
  for (int b = 0; b < batches; b++) {
    float ms;
    cudaEventRecord(begin, s);
    for (int k = 0; k < products; k++) product(argument);
    cudaEventRecord(end, s);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    seconds.push_back(ms / 1e3 / products);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(seconds.begin(), seconds.end());
  return cudaGetLastError() == cudaSuccess ? seconds[seconds.size() / 2] : -1;
}

bool DeviceCache(double *bytes, std::string *name, std::string *why)
{
  int               device = 0, l2 = 0;
  cudaDeviceProp    facts;
  const cudaError_t found = cudaGetDeviceCount(&device);
  if (found != cudaSuccess || device == 0 || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device) != cudaSuccess ||
      cudaGetDeviceProperties(&facts, device) != cudaSuccess) {
    *why =
        std::string("No CUDA device here: ") + (found != cudaSuccess ? cudaGetErrorString(found) : "none is visible");
    return false;
  }
  *bytes = l2;
  *name  = facts.name;
  return true;
}

const char *Name(Baseline baseline)
{
  static const char *const names[] = {"cusparse_alg1", "cusparse_alg2", "cusparse_sell", "cusparse_bsr"};
  return names[static_cast<int>(baseline)];
}

namespace
{
/// An array on the device, freed with its owner; null where CUDA refuses it.
template <class T> struct Upload {
  T *p = nullptr;

  Upload(const T *host, size_t n)
  {
    if (cudaMalloc(reinterpret_cast<void **>(&p), std::max<size_t>(n, 1) * sizeof(T)) != cudaSuccess)
      p = nullptr;
    else if (host)
      cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit Upload(const std::vector<T> &host) : Upload(host.data(), host.size()) {}
  Upload(const Upload &)            = delete;
  Upload &operator=(const Upload &) = delete;
  ~Upload() { cudaFree(p); }
};

struct Product {
  cusparseHandle_t     handle;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t x, y;
  cusparseSpMVAlg_t    algorithm;
  void                *buffer;
};

void Multiply(void *p)
{
  const Product *m   = static_cast<Product *>(p);
  const double   one = 1, zero = 0;
  cusparseSpMV(m->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m->A, m->x, &zero, m->y, CUDA_R_64F, m->algorithm,
               m->buffer);
}

/// The product of a matrix that is described already; rows and cols are those of its vectors, which may end in padding.
double Time(cusparseSpMatDescr_t matrix, cusparseSpMVAlg_t algorithm, const HostCsr &A, int rows, int cols,
            const double *x, double *y, int batches, int products, std::string *why)
{
  std::vector<double> padded(x, x + A.cols);
  padded.resize(cols, 0);
  const Upload<double> dx(padded), dy(nullptr, rows);
  const double         one = 1, zero = 0;
  size_t               bytes   = 0;
  double               seconds = -1;
  Product              m;
  m.A         = matrix;
  m.algorithm = algorithm;
  cusparseCreate(&m.handle);
  cusparseCreateDnVec(&m.x, cols, dx.p, CUDA_R_64F);
  cusparseCreateDnVec(&m.y, rows, dy.p, CUDA_R_64F);
  cusparseStatus_t   status = cusparseSpMV_bufferSize(m.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.A, m.x, &zero,
                                                      m.y, CUDA_R_64F, m.algorithm, &bytes);
  const Upload<char> buffer(nullptr, bytes);
  m.buffer = buffer.p;
  if (status == CUSPARSE_STATUS_SUCCESS)
    status = cusparseSpMV_preprocess(m.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.A, m.x, &zero, m.y, CUDA_R_64F,
                                     m.algorithm, m.buffer);
  if (status == CUSPARSE_STATUS_SUCCESS || status == CUSPARSE_STATUS_NOT_SUPPORTED) { // no preprocessing: none needed
    status = cusparseSpMV(m.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.A, m.x, &zero, m.y, CUDA_R_64F,
                          m.algorithm, m.buffer);
    if (status == CUSPARSE_STATUS_SUCCESS) seconds = EventSeconds(Multiply, &m, nullptr, batches, products);
  }
  if (seconds < 0) *why = std::string("failed: ") + cusparseGetErrorString(status);
  cudaMemcpy(y, dy.p, sizeof(double) * A.rows, cudaMemcpyDeviceToHost);
  cusparseDestroyDnVec(m.x);
  cusparseDestroyDnVec(m.y);
  cusparseDestroySpMat(m.A);
  cusparseDestroy(m.handle);
  return seconds;
}

double CsrSeconds(cusparseSpMVAlg_t algorithm, const HostCsr &A, const double *x, double *y, int batches, int products,
                  std::string *why)
{
  const Upload<int>    i(A.i, static_cast<size_t>(A.rows) + 1), j(A.j, A.nonzeros);
  const Upload<double> a(A.a, A.nonzeros);
  cusparseSpMatDescr_t matrix;
  cusparseCreateCsr(&matrix, A.rows, A.cols, A.nonzeros, i.p, j.p, a.p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  return Time(matrix, algorithm, A, A.rows, A.cols, x, y, batches, products, why);
}

double SellSeconds(const HostCsr &A, const double *x, double *y, int batches, int products, std::string *why)
{
  SellArrays sell;
  if (!MakeSell(A, &sell)) {
    *why = "more than four times the entries with padding";
    return -1;
  }
  const Upload<int>    begin(sell.begin), column(sell.column);
  const Upload<double> value(sell.value);
  cusparseSpMatDescr_t matrix;
  cusparseCreateSlicedEll(&matrix, A.rows, A.cols, A.nonzeros, static_cast<int64_t>(sell.value.size()),
                          SellArrays::HEIGHT, begin.p, column.p, value.p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  return Time(matrix, CUSPARSE_SPMV_SELL_ALG1, A, A.rows, A.cols, x, y, batches, products, why);
}

double BsrSeconds(const HostCsr &A, const double *x, double *y, int batches, int products, std::string *why)
{
#if CUSPARSE_VERSION >= 12603 // the oldest that products of BSR were seen in
  BsrArrays bsr;
  if (!MakeBsr(A, &bsr)) {
    *why = "no size of block is nearly full";
    return -1;
  }
  const Upload<int>    begin(bsr.begin), column(bsr.column);
  const Upload<double> value(bsr.value);
  const int            rows = static_cast<int>(bsr.begin.size()) - 1, cols = (A.cols + bsr.size - 1) / bsr.size;
  cusparseSpMatDescr_t matrix;
  cusparseCreateBsr(&matrix, rows, cols, static_cast<int64_t>(bsr.column.size()), bsr.size, bsr.size, begin.p, column.p,
                    value.p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F,
                    CUSPARSE_ORDER_ROW);
  return Time(matrix, CUSPARSE_SPMV_BSR_ALG1, A, rows * bsr.size, cols * bsr.size, x, y, batches, products, why);
#else
  *why = "this cuSPARSE has no products of BSR";
  return -1;
#endif
}
} // namespace

double CusparseSeconds(Baseline baseline, const HostCsr &A, const double *x, double *y, int batches, int products,
                       std::string *why)
{
  switch (baseline) {
  case Baseline::CsrAlg1: return CsrSeconds(CUSPARSE_SPMV_CSR_ALG1, A, x, y, batches, products, why);
  case Baseline::CsrAlg2: return CsrSeconds(CUSPARSE_SPMV_CSR_ALG2, A, x, y, batches, products, why);
  case Baseline::Sell: return SellSeconds(A, x, y, batches, products, why);
  default: return BsrSeconds(A, x, y, batches, products, why);
  }
}
