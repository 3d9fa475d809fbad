#include "spmm_baseline.hpp"

#include <cuda_runtime.h>
#include <cusparse.h>
#include "cusparse.hpp"

namespace
{
struct Product {
  cusparseHandle_t     handle;
  cusparseSpMatDescr_t A;
  cusparseDnMatDescr_t x, z;
  cusparseSpMMAlg_t    algorithm;
  void                *buffer;
};
constexpr cusparseOperation_t AS_IT_IS = CUSPARSE_OPERATION_NON_TRANSPOSE;
const double                  one = 1, zero = 0;

cusparseStatus_t Multiply(const Product &m)
{
  return cusparseSpMM(m.handle, AS_IT_IS, AS_IT_IS, &one, m.A, m.x, &zero, m.z, CUDA_R_64F, m.algorithm, m.buffer);
}

/// Negative if the algorithm is not for such matrices.
double Time(Product *m, int batches, int products)
{
  size_t bytes   = 0;
  double seconds = -1;
  m->buffer      = nullptr;
  if (cusparseSpMM_bufferSize(m->handle, AS_IT_IS, AS_IT_IS, &one, m->A, m->x, &zero, m->z, CUDA_R_64F, m->algorithm,
                              &bytes) != CUSPARSE_STATUS_SUCCESS ||
      cudaMalloc(&m->buffer, bytes + 1) != cudaSuccess)
    return -1;
  if (cusparseSpMM_preprocess(m->handle, AS_IT_IS, AS_IT_IS, &one, m->A, m->x, &zero, m->z, CUDA_R_64F, m->algorithm,
                              m->buffer) == CUSPARSE_STATUS_SUCCESS &&
      Multiply(*m) == CUSPARSE_STATUS_SUCCESS)
    seconds = EventSeconds([](void *p) { Multiply(*static_cast<Product *>(p)); }, m, nullptr, batches, products);
  cudaDeviceSynchronize();
  cudaFree(m->buffer);
  cudaGetLastError(); // a failure is told by the time
  return seconds;
}
} // namespace

double SpmmSeconds(const DeviceCsr &A, int columns, const double *x, double *z, int batches, int products,
                   int *algorithm)
{
  constexpr cusparseSpMMAlg_t algorithms[] = {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
  double                      best         = -1;
  Product                     m;

  *algorithm = 0;
  if (cusparseCreate(&m.handle) != CUSPARSE_STATUS_SUCCESS) return -1;
  for (int k = 0; k < 3; k++) {
    cusparseCreateCsr(&m.A, A.rows, A.cols, A.nonzeros, const_cast<int *>(A.i), const_cast<int *>(A.j),
                      const_cast<double *>(A.a), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                      CUDA_R_64F);
    cusparseCreateDnMat(&m.x, A.cols, columns, A.cols, const_cast<double *>(x), CUDA_R_64F, CUSPARSE_ORDER_COL);
    cusparseCreateDnMat(&m.z, A.rows, columns, A.rows, z, CUDA_R_64F, CUSPARSE_ORDER_COL);
    m.algorithm          = algorithms[k];
    const double seconds = Time(&m, batches, products);
    if (seconds >= 0 && (best < 0 || seconds < best)) {
      best       = seconds;
      *algorithm = k + 1;
    }
    cusparseDestroyDnMat(m.x);
    cusparseDestroyDnMat(m.z);
    cusparseDestroySpMat(m.A);
  }
  cusparseDestroy(m.handle);
  return best;
}
