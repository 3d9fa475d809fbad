static char help[] =
    "Incomplete factorizations and triangular solves on the GPU against cuSPARSE (csrilu02, SpSV, SpSM), in one\n"
    "process, with the same factors. Prints one JSON line per matrix.\n"
    "  -gen name,name:abmc,... -gen_size n : generated matrices (and chain) of about n nonzeros, in block multi-colour\n"
    "                                        order where asked for\n"
    "  -levels k                           : ILU(k); csrilu02 only knows k = 0\n"
    "  -engine auto|syncfree|level|jacobi -tile n -warps n : ours\n"
    "  -entries n -numeric_warps n         : ours; -quick: one right-hand side and no csrilu02\n"
    "  -rhs n                              : up to n right-hand sides of 1, 4, 16\n"
    "  -batches n -solves n                : the median of n batches of n solves\n";

#include <cmath>
#include <cstdio>
#include <petscksp.h>
#include "cusparse.hpp"
#include "pc/ilu/ilu.hpp"
#include "pc/trisolve/transpose.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"
#include "triangular.hpp"

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
using namespace sparsegpu;

struct Settings {
  PetscInt        batches = 5, solves = 20, levels = 0;
  TrisolveOptions options;
  PetscInt        numeric_warps = 0, rhs = 16;
  PetscBool       quick = PETSC_FALSE;
};

struct Work {
  Trisolve     *solver;
  int           count, rows;
  const double *b;
  double       *x;
  Stream        stream;
};
static void SolveOnce(void *p)
{
  const Work *w = static_cast<Work *>(p);
  PetscCallAbort(PETSC_COMM_SELF, w->solver->Solve(w->count, w->b, w->rows, w->x, w->rows, w->stream));
}

/// Wall seconds of a call, and everything that it started.
template <class F> static double Wall(F call)
{
  return WallSeconds([](void *f) { PetscCallAbort(PETSC_COMM_SELF, (*static_cast<F *>(f))()); }, &call);
}

static double Difference(const std::vector<double> &x, const std::vector<double> &y)
{
  double difference = 0, norm = 0;
  for (size_t r = 0; r < x.size(); r++) {
    difference += (x[r] - y[r]) * (x[r] - y[r]);
    norm += y[r] * y[r];
  }
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

static PetscErrorCode Bench(const HostRows &A, const Settings &settings)
{
  const int             n = A.rows, runs = 5;
  Stream                stream;
  OnDevice<int>         i(A.i), j(A.j);
  OnDevice<double>      a(A.a);
  std::vector<double>   symbolic, analysis, numeric, values_time, rhs(16 * static_cast<size_t>(n));
  DevicePattern         pattern;
  FactorPattern         host;
  std::vector<PetscInt> source;
  PetscInt              missing, zero_row;
  PetscReal             zero;
  Pivots                pivots;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  for (size_t r = 0; r < rhs.size(); r++) rhs[r] = 1 + std::sin(1.0 + 0.37 * static_cast<double>(r));
  OnDevice<double> b(rhs), x(rhs.size()), y(rhs.size());

  std::unique_ptr<Trisolve> solver;
  std::unique_ptr<Numeric>  factorization;
  Array<Scalar>             values;
  for (int run = 0; run < runs; run++) {
    solver.reset();
    factorization.reset(new Numeric);
    factorization->warps = settings.numeric_warps;
    if (settings.levels == 0) {
      symbolic.push_back(Wall([&] {
        return Symbolic_CUDA(n, static_cast<PetscInt>(A.j.size()), i.p, j.p, Incomplete::LU, nullptr, nullptr, &pattern,
                             &missing, stream);
      }));
    } else if (run == 0) {
      host.rows = n;
      host.row.resize(n);
      for (int r = 0; r < n; r++) host.row[r] = r;
      host.column = host.row;
      symbolic.push_back(Wall([&]() -> PetscErrorCode {
        PetscFunctionBegin;
        const CsrView csr{n, n, static_cast<PetscInt>(A.j.size()), A.i.data(), A.j.data(), A.a.data()};
        PetscCall(Symbolic_Host(csr, Incomplete::LU, settings.levels, false, &host, &source));
        pattern.rows     = n;
        pattern.nonzeros = static_cast<PetscInt>(host.j.size());
        PetscCall(pattern.i.Take(std::move(host.i), Space::Device));
        PetscCall(pattern.j.Take(std::move(host.j), Space::Device));
        PetscCall(pattern.diagonal.Take(std::move(host.diagonal), Space::Device));
        PetscCall(pattern.source.Take(std::move(source), Space::Device));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
    }
    if (run == 0) PetscCall(values.Allocate(pattern.nonzeros, Space::Device));
    solver          = MakeTrisolve(settings.options.engine);
    solver->options = settings.options;
    analysis.push_back(Wall([&] { return solver->Analyse(pattern.View(), stream); }));
    Sweep *schedule = settings.options.engine == Engine::Auto ? static_cast<Sweep *>(solver.get()) : nullptr;
    symbolic.back() += Wall([&] { return factorization->Build(pattern.View(), Incomplete::LU, schedule, stream); });
    for (int again = 0; again < 2; again++)
      numeric.push_back(Wall([&] {
        return factorization->Factor(a.p, pattern.identical ? nullptr : pattern.source.data(), pivots, 1ll << 24,
                                     values.data(), &zero_row, &zero, stream);
      }));
    values_time.push_back(Wall([&] { return solver->SetValues(values.data(), stream); }));
  }
  const double lower_rows = solver->lower_levels ? (double)n / solver->lower_levels : 0;
  printf("{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"levels\":%d,\"rows_per_level\":%.1f", A.name.c_str(), n,
         (int)pattern.nonzeros, (int)(solver->lower_levels + solver->upper_levels), lower_rows);
  printf(",\"symbolic_ms\":%.3f,\"numeric_ms\":%.3f,\"analysis_ms\":%.3f,\"new_values_ms\":%.3f",
         Median(symbolic) * 1e3, Median(numeric) * 1e3, Median(analysis) * 1e3, Median(values_time) * 1e3);
  fflush(stdout);

  // the peer's factors: its own, or ours with the diagonal turned round
  OnDevice<int>    fi(static_cast<size_t>(n) + 1), fj(static_cast<size_t>(pattern.nonzeros));
  OnDevice<double> peer_values(static_cast<size_t>(pattern.nonzeros));
  std::vector<int> host_i(n + 1), host_j(pattern.nonzeros), host_diagonal(n);
  PetscCall(DeviceCopyOut(host_i.data(), pattern.i.data(), (n + 1) * sizeof(int), stream));
  PetscCall(DeviceCopyOut(host_j.data(), pattern.j.data(), host_j.size() * sizeof(int), stream));
  PetscCall(DeviceCopyOut(host_diagonal.data(), pattern.diagonal.data(), n * sizeof(int), stream));
  std::vector<double> host_values(pattern.nonzeros);
  PetscCall(DeviceCopyOut(host_values.data(), values.data(), host_values.size() * sizeof(double), stream));
  for (int r = 0; r < n; r++) host_values[host_diagonal[r]] = 1 / host_values[host_diagonal[r]];
  if (settings.levels == 0 && !settings.quick) {
    const PeerFactor peer = CusparseIlu(n, pattern.nonzeros, i.p, j.p, a.p, peer_values.p, 2);
    const double     off  = Difference(host_values, peer_values.Host());
    printf(
        ",\"csrilu02_symbolic_ms\":%.3f,\"csrilu02_numeric_ms\":%.3f,\"vs_csrilu02\":%.2f,\"factor_difference\":%.1e",
        peer.symbolic * 1e3, peer.numeric * 1e3, (peer.symbolic + peer.numeric) / (Median(symbolic) + Median(numeric)),
        off);
    PetscCheck(off < 1e-9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the factors differ by %g", A.name.c_str(), off);
  }
  OnDevice<int>    si(host_i), sj(host_j);
  OnDevice<double> sv(host_values);

  TransposedFactors         transposed;
  std::unique_ptr<Trisolve> transposed_solver = MakeTrisolve(settings.options.engine);
  transposed_solver->options                  = settings.options;
  PetscCall(transposed.Build(pattern.View(), stream));
  PetscCall(transposed.SetValues(values.data(), stream));
  PetscCall(transposed_solver->Analyse(transposed.view, stream));
  PetscCall(transposed_solver->SetValues(transposed.values(), stream));
  const double tolerance = settings.options.engine == Engine::Jacobi ? 1e30 : 1e-10;
  for (const bool transpose : {false, true})
    for (const int count : {1, 4, 16}) {
      if ((transpose && count > 1) || count > settings.rhs || (settings.quick && (transpose || count > 1))) continue;
      fflush(stdout);
      Work         work{transpose ? transposed_solver.get() : solver.get(), count, n, b.p, x.p, stream};
      const double ours = EventSeconds(SolveOnce, &work, stream, static_cast<int>(settings.batches),
                                       static_cast<int>(count == 16 ? (settings.solves + 3) / 4 : settings.solves));
      PetscCall(DeviceSynchronize(stream));
      printf(",\"done\":%d", count);
      fflush(stdout);
      PetscCall(work.solver->CheckStuck());
      const PeerSolve     peer = CusparseSolve(n, pattern.nonzeros, si.p, sj.p, sv.p, count, transpose, b.p, y.p, 3,
                                               static_cast<int>(count == 16 ? 2 : (settings.solves + 3) / 4));
      std::vector<double> hx = x.Host(), hy = y.Host();
      hx.resize(static_cast<size_t>(n) * count);
      hy.resize(static_cast<size_t>(n) * count);
      const double      off  = Difference(hx, hy);
      const std::string what = transpose ? "_transposed" : count == 1 ? "" : "_" + std::to_string(count);
      fflush(stdout);
      printf(",\"solve%s_ms\":%.4f,\"cusparse%s_ms\":%.4f,\"vs_cusparse%s\":%.2f", what.c_str(), ours * 1e3,
             what.c_str(), peer.both * 1e3, what.c_str(), peer.both / ours);
      if (count == 1 && !transpose) {
        const double set_up = Median(analysis) + Median(values_time);
        printf(
            ",\"cusparse_lower_ms\":%.4f,\"cusparse_upper_ms\":%.4f,\"cusparse_analysis_ms\":%.3f,\"cusparse_update_ms\":%.3f,"
            "\"analysis_vs_cusparse\":%.2f,\"analysis_in_solves\":%.2f,\"new_values_in_solves\":%.2f,\"us_per_level\":%.3f,"
            "\"mb\":%.1f,\"cusparse_mb\":%.1f",
            peer.lower * 1e3, peer.upper * 1e3, peer.analysis * 1e3, peer.update * 1e3,
            peer.analysis / Median(analysis), Median(analysis) / ours, Median(values_time) / ours,
            1e6 * ours / PetscMax(solver->lower_levels + solver->upper_levels, 1), solver->Bytes() / 1e6,
            peer.bytes / 1e6);
        for (const int applies : {1, 10, 50, 200})
          printf(",\"total_%d_ms\":%.3f,\"total_%d_vs\":%.2f", applies, 1e3 * (set_up + applies * ours), applies,
                 (peer.analysis + applies * peer.both) / (set_up + applies * ours));
      }
      PetscCheck(off < tolerance, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: solution%s differs by %g", A.name.c_str(),
                 what.c_str(), off);
    }
  printf("}\n");
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  char     *names[64];
  PetscInt  count = 64, nonzeros = 5000000;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-gen", names, &count, &set));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-gen_size", &nonzeros, nullptr));
#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
  Settings  settings;
  char      engine[32];
  PetscBool found, given;
  PetscCall(DeviceFound(&found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a GPU");
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &settings.batches, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-solves", &settings.solves, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-levels", &settings.levels, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-tile", &settings.options.tile, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-warps", &settings.options.warps, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rhs", &settings.rhs, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-quick", &settings.quick, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-entries", &settings.options.entries, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-numeric_warps", &settings.numeric_warps, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-engine", engine, sizeof(engine), &given));
  if (given) PetscCall(ParseEngine(engine, &settings.options.engine));
  PetscCheck(set, PETSC_COMM_SELF, PETSC_ERR_USER, "Name matrices: -gen name,name");
  for (PetscInt k = 0; k < count; k++) PetscCall(Bench(MakeRows(names[k], static_cast<int>(nonzeros)), settings));
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "This benchmark needs a PETSc with double precision, real scalars and 32-bit integers");
#endif
  for (PetscInt k = 0; set && k < count; k++) PetscCall(PetscFree(names[k]));
  PetscCall(PetscFinalize());
  return 0;
}
