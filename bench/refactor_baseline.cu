#include "refactor_baseline.hpp"
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <memory>
#include <numeric>
#include <vector>
#include "baseline.hpp"

namespace
{
/// The factors of Q A Q^T with rows P and columns Q of A, on the host.
struct HostFactors {
  std::vector<int>    P, Q, li, lj, ui, uj;
  std::vector<double> l, u;
};

const char *FactorOnHost(cusolverSpHandle_t handle, cusparseMatDescr_t type, int n, int nonzeros, const int *i,
                         const int *j, const double *a, HostFactors *F)
{
  std::vector<int>    order(n), bi(i, i + n + 1), bj(j, j + nonzeros), map(nonzeros), p(n), q(n);
  std::vector<double> b(nonzeros);
  std::vector<char>   buffer;
  csrluInfoHost_t     info = nullptr;
  size_t              bytes, inner;
  int                 lower, upper, singular;

  if (cusolverSpXcsrmetisndHost(handle, n, nonzeros, type, i, j, nullptr, order.data())) return "nested dissection";
  if (cusolverSpXcsrperm_bufferSizeHost(handle, n, n, nonzeros, type, i, j, order.data(), order.data(), &bytes))
    return "permutation";
  buffer.resize(bytes);
  std::iota(map.begin(), map.end(), 0);
  if (cusolverSpXcsrpermHost(handle, n, n, nonzeros, type, bi.data(), bj.data(), order.data(), order.data(), map.data(),
                             buffer.data()))
    return "permutation";
  for (int e = 0; e < nonzeros; e++) b[e] = a[map[e]];
  if (cusolverSpCreateCsrluInfoHost(&info)) return "factorization";
  const std::unique_ptr<std::remove_pointer_t<csrluInfoHost_t>, cusolverStatus_t (*)(csrluInfoHost_t)> owner(
      info, cusolverSpDestroyCsrluInfoHost);
  if (cusolverSpXcsrluAnalysisHost(handle, n, nonzeros, type, bi.data(), bj.data(), info)) return "analysis";
  if (cusolverSpDcsrluBufferInfoHost(handle, n, nonzeros, type, b.data(), bi.data(), bj.data(), info, &inner, &bytes))
    return "analysis";
  buffer.resize(bytes);
  if (cusolverSpDcsrluFactorHost(handle, n, nonzeros, type, b.data(), bi.data(), bj.data(), info, 0.1, buffer.data()))
    return "factorization";
  if (cusolverSpDcsrluZeroPivotHost(handle, info, 1e-14, &singular) || singular >= 0) return "zero pivot";
  if (cusolverSpXcsrluNnzHost(handle, &lower, &upper, info)) return "factorization";
  F->li.resize(n + 1);
  F->ui.resize(n + 1);
  F->lj.resize(lower);
  F->l.resize(lower);
  F->uj.resize(upper);
  F->u.resize(upper);
  if (cusolverSpDcsrluExtractHost(handle, p.data(), q.data(), type, F->l.data(), F->li.data(), F->lj.data(), type,
                                  F->u.data(), F->ui.data(), F->uj.data(), info, buffer.data()))
    return "extraction";
  F->P.resize(n);
  F->Q.resize(n);
  for (int k = 0; k < n; k++) {
    F->P[k] = order[p[k]];
    F->Q[k] = order[q[k]];
  }
  return nullptr;
}

const char *Refactor(int n, int nonzeros, const int *i, const int *j, const double *a, const double *b, double *x,
                     int runs, HostFactors *F, double begin, BaselineRefactor *times)
{
  const std::unique_ptr<std::remove_pointer_t<cusolverRfHandle_t>, cusolverStatus_t (*)(cusolverRfHandle_t)> rf(
      [] {
        cusolverRfHandle_t made = nullptr;
        cusolverRfCreate(&made);
        return made;
      }(),
      cusolverRfDestroy);
  std::vector<int>    hi(i, i + n + 1), hj(j, j + nonzeros);
  std::vector<double> ha(a, a + nonzeros), refactor, solve;

  cusolverRfSetNumericProperties(rf.get(), 0, 0);
  cusolverRfSetAlgs(rf.get(), CUSOLVERRF_FACTORIZATION_ALG0, CUSOLVERRF_TRIANGULAR_SOLVE_ALG1);
  cusolverRfSetMatrixFormat(rf.get(), CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L);
  cusolverRfSetResetValuesFastMode(rf.get(), CUSOLVERRF_RESET_VALUES_FAST_MODE_ON);
  if (cusolverRfSetupHost(n, nonzeros, hi.data(), hj.data(), ha.data(), static_cast<int>(F->l.size()), F->li.data(),
                          F->lj.data(), F->l.data(), static_cast<int>(F->u.size()), F->ui.data(), F->uj.data(),
                          F->u.data(), F->P.data(), F->Q.data(), rf.get()))
    return "set-up of the refactorization";
  if (cudaDeviceSynchronize() || cusolverRfAnalyze(rf.get())) return "analysis of the refactorization";
  const OnDevice<int>    di(hi), dj(hj), P(F->P), Q(F->Q);
  const OnDevice<double> da(ha), temporary{std::vector<double>(n)}, dx{std::vector<double>(b, b + n)};
  if (cudaDeviceSynchronize()) return "upload";
  times->first = Now() - begin;
  for (int run = 0; run < runs; run++) {
    double start = Now();
    if (cusolverRfResetValues(n, nonzeros, di.p, dj.p, da.p, P.p, Q.p, rf.get()) || cusolverRfRefactor(rf.get()) ||
        cudaDeviceSynchronize())
      return "refactorization";
    refactor.push_back(Now() - start);
    cudaMemcpy(dx.p, b, n * sizeof(double), cudaMemcpyHostToDevice);
    start = Now();
    if (cusolverRfSolve(rf.get(), P.p, Q.p, 1, temporary.p, n, dx.p, n) || cudaDeviceSynchronize()) return "solve";
    solve.push_back(Now() - start);
  }
  cudaMemcpy(x, dx.p, n * sizeof(double), cudaMemcpyDeviceToHost);
  times->refactor = Median(refactor);
  times->solve    = Median(solve);
  return nullptr;
}
} // namespace

BaselineRefactor CusolverRefactor(int rows, int nonzeros, const int *i, const int *j, const double *a, const double *b,
                                  double *x, int runs)
{
  const double       begin  = Now();
  cusolverSpHandle_t handle = nullptr;
  cusparseMatDescr_t type   = nullptr;
  HostFactors        F;
  BaselineRefactor   times;

  if (cusolverSpCreate(&handle) || cusparseCreateMatDescr(&type)) {
    times.why = "cuSOLVER";
    return times;
  }
  const char *why = FactorOnHost(handle, type, rows, nonzeros, i, j, a, &F);
  if (!why) why = Refactor(rows, nonzeros, i, j, a, b, x, runs, &F, begin, &times);
  cusparseDestroyMatDescr(type);
  cusolverSpDestroy(handle);
  if (why) {
    times     = BaselineRefactor();
    times.why = why;
  }
  return times;
}
