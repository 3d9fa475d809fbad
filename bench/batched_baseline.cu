#include "batched_baseline.hpp"

#include <algorithm>
#include <cmath>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>
#include "cusparse.hpp"

namespace
{
struct Call {
  cublasHandle_t handle;
  int            n, count;
  const double  *matrices, *b;
  double        *factors, *x;
  double       **factor_of, **x_of; // [count], on the device
  int           *pivots, *info, host_info;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

  size_t MatrixBytes() const { return sizeof(double) * n * n * count; }
  size_t VectorBytes() const { return sizeof(double) * n * count; }
};

void CopyMatrices(void *p)
{
  const Call *c = static_cast<Call *>(p);
  cudaMemcpyAsync(c->factors, c->matrices, c->MatrixBytes(), cudaMemcpyDeviceToDevice, nullptr);
}
void Factor(void *p)
{
  Call *c = static_cast<Call *>(p);
  CopyMatrices(p);
  const cublasStatus_t s = cublasDgetrfBatched(c->handle, c->n, c->factor_of, c->n, c->pivots, c->info, c->count);
  if (s != CUBLAS_STATUS_SUCCESS) c->status = s;
}
void CopyVectors(void *p)
{
  const Call *c = static_cast<Call *>(p);
  cudaMemcpyAsync(c->x, c->b, c->VectorBytes(), cudaMemcpyDeviceToDevice, nullptr);
}
void Solve(void *p)
{
  Call *c = static_cast<Call *>(p);
  CopyVectors(p);
  const cublasStatus_t s = cublasDgetrsBatched(c->handle, CUBLAS_OP_N, c->n, 1, c->factor_of, c->n, c->pivots, c->x_of,
                                               c->n, &c->host_info, c->count);
  if (s != CUBLAS_STATUS_SUCCESS) c->status = s;
}

double BackwardError(int n, const double *a, const double *b, const double *x)
{
  double residual = 0, norm_a = 0, norm_x = 0, norm_b = 0;
  for (int i = 0; i < n; i++) {
    double r = b[i], row = 0;
    for (int j = 0; j < n; j++) {
      r -= a[i + static_cast<size_t>(j) * n] * x[j];
      row += std::abs(a[i + static_cast<size_t>(j) * n]);
    }
    residual = std::max(residual, std::abs(r));
    norm_a   = std::max(norm_a, row);
    norm_x   = std::max(norm_x, std::abs(x[i]));
    norm_b   = std::max(norm_b, std::abs(b[i]));
  }
  return residual / (norm_a * norm_x + norm_b);
}

template <class T> T *Room(size_t n)
{
  void *p = nullptr;
  return cudaMalloc(&p, std::max<size_t>(n, 1) * sizeof(T)) == cudaSuccess ? static_cast<T *>(p) : nullptr;
}
} // namespace

BaselineBatch CublasBatch(int n, int count, const double *matrices, const double *b, bool pivoting, int batches)
{
  const size_t          size = static_cast<size_t>(n) * n;
  BaselineBatch         baseline;
  Call                  c;
  std::vector<double *> factor_of, x_of;

  c.n         = n;
  c.count     = count;
  c.matrices  = matrices;
  c.b         = b;
  c.factors   = Room<double>(size * count);
  c.x         = Room<double>(static_cast<size_t>(n) * count);
  c.factor_of = Room<double *>(count);
  c.x_of      = Room<double *>(count);
  c.info      = Room<int>(count);
  c.pivots    = pivoting ? Room<int>(static_cast<size_t>(n) * count) : nullptr; // null: cuBLAS does not pivot
  if (c.factors && c.x && c.factor_of && c.x_of && c.info && cublasCreate(&c.handle) == CUBLAS_STATUS_SUCCESS) {
    for (int t = 0; t < count; t++) {
      factor_of.push_back(c.factors + size * t);
      x_of.push_back(c.x + static_cast<size_t>(n) * t);
    }
    cudaMemcpy(c.factor_of, factor_of.data(), count * sizeof(double *), cudaMemcpyHostToDevice);
    cudaMemcpy(c.x_of, x_of.data(), count * sizeof(double *), cudaMemcpyHostToDevice);
    const double copy_matrices = EventSeconds(CopyMatrices, &c, nullptr, batches, 3);
    const double factor        = EventSeconds(Factor, &c, nullptr, batches, 3);
    const double copy_vectors  = EventSeconds(CopyVectors, &c, nullptr, batches, 3);
    const double solve         = EventSeconds(Solve, &c, nullptr, batches, 3);
    if (c.status == CUBLAS_STATUS_SUCCESS && factor > 0 && solve > 0) {
      baseline.factor = factor - copy_matrices;
      baseline.solve  = solve - copy_vectors;
      std::vector<double> a(size), right(n), x(n);
      for (int t = 0; t < count; t += std::max(1, count / 7)) {
        cudaMemcpy(a.data(), matrices + size * t, size * sizeof(double), cudaMemcpyDeviceToHost);
        cudaMemcpy(right.data(), b + static_cast<size_t>(n) * t, n * sizeof(double), cudaMemcpyDeviceToHost);
        cudaMemcpy(x.data(), x_of[t], n * sizeof(double), cudaMemcpyDeviceToHost);
        baseline.error = std::max(baseline.error, BackwardError(n, a.data(), right.data(), x.data()));
      }
    }
    cublasDestroy(c.handle);
  }
  for (void *p : {static_cast<void *>(c.factors), static_cast<void *>(c.x), static_cast<void *>(c.factor_of),
                  static_cast<void *>(c.x_of), static_cast<void *>(c.info), static_cast<void *>(c.pivots)})
    cudaFree(p);
  return baseline;
}
