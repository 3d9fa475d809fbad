#include "cudss_baseline.hpp"
#include <cudss.h>
#include <cstdint>
#include <cstdlib>
#include <vector>
#include "baseline.hpp"

namespace
{
/// cuDSS's objects for one matrix, destroyed in order. All that Set() took stays the caller's.
class Solver
{
public:
  ~Solver()
  {
    for (cudssMatrix_t m : {matrix_, b_, x_, many_b_, many_x_})
      if (m) cudssMatrixDestroy(m);
    if (data_) cudssDataDestroy(handle_, data_);
    if (config_) cudssConfigDestroy(config_);
    if (handle_) cudssDestroy(handle_);
  }

  bool KeepOnHost()
  {
    const int yes = 1;
    return !cudssConfigSet(config_, CUDSS_CONFIG_HYBRID_MEMORY_MODE, &yes, sizeof(yes));
  }
  /// Whether cuDSS took all of it; arrays on the device, those of many columns one column after the other.
  bool Set(cudssMatrixType_t type, int64_t n, int64_t nonzeros, int *i, int *j, double *a, double *b, double *x,
           int64_t columns, double *many_b, double *many_x)
  {
    const int                   steps = 1; // of refinement
    const cudssMatrixViewType_t view  = type == CUDSS_MTYPE_GENERAL ? CUDSS_MVIEW_FULL : CUDSS_MVIEW_UPPER;

    if (cudssCreate(&handle_) || cudssConfigCreate(&config_) || cudssDataCreate(handle_, &data_)) return false;
    const char *named = std::getenv("CUDSS_THREADING_LIB"); // cuDSS reads it for a null; without any one thread orders
    if (cudssSetThreadingLayer(handle_, named ? nullptr : SPARSEGPU_CUDSS_THREADS)) return false;
    if (cudssConfigSet(config_, CUDSS_CONFIG_IR_N_STEPS, &steps, sizeof(steps))) return false;
    if (columns > 0 && (cudssMatrixCreateDn(&many_b_, n, columns, n, many_b, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR) ||
                        cudssMatrixCreateDn(&many_x_, n, columns, n, many_x, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR)))
      return false;
    return !cudssMatrixCreateCsr(&matrix_, n, n, nonzeros, i, nullptr, j, a, CUDA_R_32I, CUDA_R_32I, CUDA_R_64F, type,
                                 view, CUDSS_BASE_ZERO) &&
           !cudssMatrixCreateDn(&b_, n, 1, n, b, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR) &&
           !cudssMatrixCreateDn(&x_, n, 1, n, x, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR);
  }
  /// As if nothing had been solved.
  bool Forget()
  {
    const bool forgotten = !cudssDataDestroy(handle_, data_);
    data_                = nullptr;
    return forgotten && !cudssDataCreate(handle_, &data_);
  }
  /// Phases of cuDSS for one column or many, to their end.
  bool Run(int phases, bool many, double *seconds)
  {
    const double begin = Now();
    const bool   done =
        !cudssExecute(handle_, phases, config_, data_, matrix_, many ? many_x_ : x_, many ? many_b_ : b_) &&
        cudaDeviceSynchronize() == cudaSuccess;
    *seconds = Now() - begin;
    return done;
  }
  /// Whether the last factorization met no pivot that its kind of matrix cannot have.
  bool Sound() const
  {
    int    info = 0;
    size_t written;
    return !cudssDataGet(handle_, data_, CUDSS_DATA_INFO, &info, sizeof(info), &written) && info == 0;
  }
  double Megabytes() const
  {
    int64_t bytes[16] = {};
    size_t  written;
    return cudssDataGet(handle_, data_, CUDSS_DATA_MEMORY_ESTIMATES, bytes, sizeof(bytes), &written)
               ? -1
               : static_cast<double>(bytes[0]) / 1e6;
  }

private:
  cudssHandle_t handle_ = nullptr;
  cudssConfig_t config_ = nullptr;
  cudssData_t   data_   = nullptr;
  cudssMatrix_t matrix_ = nullptr, b_ = nullptr, x_ = nullptr, many_b_ = nullptr, many_x_ = nullptr;
};

/// Why it failed, or null.
const char *TimeAll(Solver *solver, const BaselineRuns &wanted, BaselineDirect *times)
{
  const bool          many = wanted.columns > 0;
  std::vector<double> first, refactor, solve, columns;
  double              analysis, factor, seconds;

  for (int k = 0; k < wanted.firsts; k++) {
    if (k > 0 && !solver->Forget()) return "data";
    if (!solver->Run(CUDSS_PHASE_ANALYSIS, false, &analysis)) return "analysis";
    if (!solver->Run(CUDSS_PHASE_FACTORIZATION, false, &factor)) return "factorization";
    if (!solver->Sound()) return "pivot";
    first.push_back(analysis + factor);
  }
  times->first = Median(first);
  for (int run = 0; run < wanted.runs; run++) {
    if (!solver->Run(CUDSS_PHASE_REFACTORIZATION, false, &seconds)) return "refactorization";
    refactor.push_back(seconds);
    if (!solver->Run(CUDSS_PHASE_SOLVE, false, &seconds)) return "solve";
    solve.push_back(seconds);
    if (!many) continue;
    if (!solver->Run(CUDSS_PHASE_SOLVE, true, &seconds)) return "solve of many columns";
    columns.push_back(seconds);
  }
  times->refactor = Median(refactor);
  times->solve    = Median(solve);
  if (many) times->many = Median(columns);
  times->mb = solver->Megabytes();
  return nullptr;
}
} // namespace

BaselineDirect CudssDirect(DirectKind kind, int rows, int nonzeros, const int *i, const int *j, const double *a,
                           const double *b, double *x, const BaselineRuns &wanted)
{
  const int              columns = wanted.columns;
  const size_t           n = static_cast<size_t>(rows), block = n * static_cast<size_t>(columns);
  const OnDevice<int>    di(i, n + 1), dj(j, static_cast<size_t>(nonzeros));
  const OnDevice<double> da(a, static_cast<size_t>(nonzeros)), db(b, n), dx(nullptr, n), many_b(nullptr, block),
      many_x(nullptr, block);
  BaselineDirect times;

  times.why = "memory for the matrix";
  for (const void *p : {(const void *)di.p, (const void *)dj.p, (const void *)da.p, (const void *)db.p,
                        (const void *)dx.p, (const void *)many_b.p, (const void *)many_x.p})
    if (!p) return times;
  for (int c = 0; c < columns; c++)
    cudaMemcpy(many_b.p + static_cast<size_t>(c) * n, db.p, n * sizeof(double), cudaMemcpyDeviceToDevice);
  const std::vector<cudssMatrixType_t> types =
      kind == DirectKind::General ? std::vector<cudssMatrixType_t>{CUDSS_MTYPE_GENERAL}
                                  : std::vector<cudssMatrixType_t>{CUDSS_MTYPE_SPD, CUDSS_MTYPE_SYMMETRIC};
  for (cudssMatrixType_t type : types) {
    Solver         solver;
    BaselineDirect now;
    now.why = "set-up";
    if (solver.Set(type, rows, nonzeros, di.p, dj.p, da.p, db.p, dx.p, columns, many_b.p, many_x.p) &&
        (!wanted.hybrid || solver.KeepOnHost()))
      now.why = TimeAll(&solver, wanted, &now);
    times     = now.why ? BaselineDirect() : now;
    times.why = now.why ? now.why : "";
    if (!now.why) break;
  }
  cudaMemcpy(x, dx.p, n * sizeof(double), cudaMemcpyDeviceToHost);
  return times;
}
