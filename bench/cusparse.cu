#include "cusparse.hpp"

#include <algorithm>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <vector>

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

namespace
{
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

template <class T> T *Upload(const T *host, size_t n)
{
  void *p = nullptr;
  cudaMalloc(&p, std::max<size_t>(n, 1) * sizeof(T));
  if (host) cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T *>(p);
}
} // namespace

double CusparseSeconds(int algorithm, int rows, int cols, int nonzeros, const int *i, const int *j, const double *a,
                       const double *x, double *y, int batches, int products)
{
  int         *di = Upload(i, rows + 1), *dj = Upload(j, nonzeros);
  double      *da = Upload(a, nonzeros), *dx = Upload(x, cols), *dy = Upload<double>(nullptr, rows);
  const double one = 1, zero = 0;
  size_t       bytes = 0;
  Product      m;
  m.algorithm = algorithm == 1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2;
  m.buffer    = nullptr;
  cusparseCreate(&m.handle);
  cusparseCreateCsr(&m.A, rows, cols, nonzeros, di, dj, da, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  cusparseCreateDnVec(&m.x, cols, dx, CUDA_R_64F);
  cusparseCreateDnVec(&m.y, rows, dy, CUDA_R_64F);
  cusparseStatus_t status = cusparseSpMV_bufferSize(m.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.A, m.x, &zero,
                                                    m.y, CUDA_R_64F, m.algorithm, &bytes);
  cudaMalloc(&m.buffer, std::max<size_t>(bytes, 1));
  if (status == CUSPARSE_STATUS_SUCCESS)
    status = cusparseSpMV_preprocess(m.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.A, m.x, &zero, m.y, CUDA_R_64F,
                                     m.algorithm, m.buffer);
  const double seconds =
      status == CUSPARSE_STATUS_SUCCESS ? EventSeconds(Multiply, &m, nullptr, batches, products) : -1;
  cudaMemcpy(y, dy, sizeof(double) * rows, cudaMemcpyDeviceToHost);
  cusparseDestroyDnVec(m.x);
  cusparseDestroyDnVec(m.y);
  cusparseDestroySpMat(m.A);
  cusparseDestroy(m.handle);
  for (void *p : {static_cast<void *>(di), static_cast<void *>(dj), static_cast<void *>(da), static_cast<void *>(dx),
                  static_cast<void *>(dy), m.buffer})
    cudaFree(p);
  return seconds;
}
