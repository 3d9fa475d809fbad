static char help[] =
    "Triangular solves on the GPU, and the factorizations that they need, against cuSPARSE (SpSV, SpSM, csrilu02), in\n"
    "one process, with the same factors. Prints one JSON line per matrix and fill. Set-up through PETSc: bench/factor.\n"
    "  -gen name,name@nonzeros,name:abmc,... -gen_size n : generated matrices (and chain), in block multi-colour order\n"
    "                                        where asked for; by default a set of twelve\n"
    "  -f FILE,FILE                        : Matrix Market or PETSc binary, with a dominant diagonal put in\n"
    "  -seconds n                          : no matrix is begun after that\n"
    "  -levels 0,1,2                       : ILU(k); csrilu02 only knows k = 0\n"
    "  -engine auto|syncfree|level|jacobi -tile n -warps n : ours\n"
    "  -entries n -numeric_warps n         : ours; -quick: one right-hand side and no csrilu02\n"
    "  -rhs n                              : up to n right-hand sides of 1, 4, 16\n"
    "  -batches n -solves n                : the median of n batches of n solves\n";

#include <cmath>
#include <cstdio>
#include <petscksp.h>
#include "cusparse.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"
#include "triangular_ours.hpp"

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
using namespace sparsegpu;
using namespace sparsegpu::trisolve;

namespace
{
struct Settings {
  PetscInt              batches = 5, solves = 20;
  std::vector<PetscInt> levels;
  TrisolveOptions       options;
  PetscInt              numeric_warps = 0, rhs = 16;
  double                bandwidth = 0, hop = 0;
  PetscBool             quick    = PETSC_FALSE;
  int                   failures = 0;
};

/// The factors as cuSPARSE takes them, right-hand sides and solutions, all on the device.
struct Problem {
  OnDevice<int>    i, j;
  OnDevice<double> a, b, x, y;
  int              rows;
};
} // namespace

static double Difference(const std::vector<double> &x, const std::vector<double> &y)
{
  double difference = 0, norm = 0;
  for (size_t r = 0; r < x.size(); r++) {
    difference += (x[r] - y[r]) * (x[r] - y[r]);
    norm += y[r] * y[r];
  }
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

/// Without a bound: engine jacobi is not exact.
static void Check(double off, double bound, const char what[], Settings *s, JsonLine *line)
{
  if (off <= bound) return;
  line->Add("\"failed\":\"%s differ by %.1e\"", what, off);
  s->failures++;
}

/// csrilu02 against our set-up: its analysis finds the levels, which ours has from the analysis of the solver.
static void CompareFactorization(const HostRows &A, const Ours &ours, const std::vector<double> &values, Settings *s,
                                 JsonLine *line)
{
  const OnDevice<int>    i(A.i), j(A.j);
  const OnDevice<double> a(A.a);
  OnDevice<double>       theirs(A.a.size());
  const BaselineFactor   baseline = CusparseIlu(A.rows, ours.nonzeros(), i.p, j.p, a.p, theirs.p, 2);
  if (baseline.numeric < 0) {
    line->Add("\"csrilu02\":\"failed\"");
    return;
  }
  const double off = Difference(values, theirs.Host()), both = baseline.symbolic + baseline.numeric;
  line->Add("\"csrilu02_symbolic_ms\":%.3f,\"csrilu02_numeric_ms\":%.3f,\"vs_csrilu02\":%.2f,"
            "\"vs_csrilu02_with_analysis\":%.2f,\"numeric_vs_csrilu02\":%.2f,\"factor_difference\":%.1e",
            baseline.symbolic * 1e3, baseline.numeric * 1e3, both / (ours.symbolic + ours.numeric),
            both / (ours.symbolic + ours.numeric + ours.analysis), baseline.numeric / ours.numeric, off);
  Check(off, 1e-9, "factors", s, line);
}

/// L, U, L + U: times, what they cannot be faster than, set-up, memory and totals.
static PetscErrorCode CompareOne(Ours *ours, const Problem &p, double both, const BaselineSolve &baseline,
                                 const Settings &s, JsonLine *line)
{
  const double set_up = ours->analysis + ours->update;
  // every entry, every row's begin, b and x once; or a value from level to level
  const double bytes = 12.0 * ours->nonzeros() + (4.0 + 16.0) * p.rows;
  const double floor = PetscMax(bytes / s.bandwidth, ours->levels() * s.hop);
  double       alone[2];

  PetscFunctionBegin;
  for (const bool upper : {false, true}) {
    SolverOf factor;
    PetscCall(ours->MakeAlone(upper, &factor));
    PetscCall(ours->Time(factor.solver.get(), 1, p.b.p, p.x.p, (int)s.batches, (int)s.solves, &alone[upper]));
  }
  line->Add("\"lower_ms\":%.4f,\"upper_ms\":%.4f,\"cusparse_lower_ms\":%.4f,\"cusparse_upper_ms\":%.4f,"
            "\"lower_vs_cusparse\":%.2f,\"upper_vs_cusparse\":%.2f",
            alone[0] * 1e3, alone[1] * 1e3, baseline.lower * 1e3, baseline.upper * 1e3, baseline.lower / alone[0],
            baseline.upper / alone[1]);
  line->Add("\"floor_ms\":%.4f,\"bandwidth_ms\":%.4f,\"hops_ms\":%.4f,\"efficiency\":%.3f,\"us_per_level\":%.3f",
            floor * 1e3, bytes / s.bandwidth * 1e3, ours->levels() * s.hop * 1e3, floor / both,
            1e6 * both / PetscMax(ours->levels(), 1));
  line->Add("\"cusparse_analysis_ms\":%.3f,\"cusparse_update_ms\":%.3f,\"analysis_vs_cusparse\":%.2f,"
            "\"analysis_in_solves\":%.2f,\"new_values_in_solves\":%.2f",
            baseline.analysis * 1e3, baseline.update * 1e3, baseline.analysis / ours->analysis, ours->analysis / both,
            ours->update / both);
  line->Add("\"mb\":%.1f,\"set_up_mb\":%.1f,\"cusparse_mb\":%.1f", ours->solver()->Bytes() / 1e6, ours->Bytes() / 1e6,
            baseline.bytes / 1e6);
  for (const int applies : {1, 10, 50, 200})
    line->Add("\"total_%d_ms\":%.3f,\"total_%d_vs\":%.2f", applies, 1e3 * (set_up + applies * both), applies,
              (baseline.analysis + applies * baseline.both) / (set_up + applies * both));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bench(const HostRows &A, PetscInt fill, Settings *s)
{
  const size_t        n         = static_cast<size_t>(A.rows);
  const double        tolerance = s->options.engine == Engine::Jacobi ? 1e30 : 1e-10;
  std::vector<int>    i, j;
  std::vector<double> values, rhs(n * static_cast<size_t>(PetscMax(s->rhs, 1)));
  SolverOf            transposed;
  JsonLine            line;
  Ours                ours;

  PetscFunctionBegin;
  ours.options       = s->options;
  ours.numeric_warps = s->numeric_warps;
  PetscCall(ours.Factor(A, fill));
  line.Add(
      "\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"fill\":%d,\"factor_nnz\":%d,\"levels\":%d,\"rows_per_level\":%.1f",
      A.name.c_str(), A.rows, (int)A.j.size(), (int)fill, ours.nonzeros(), ours.levels(),
      ours.levels() ? 2.0 * A.rows / ours.levels() : 0);
  line.Add("\"symbolic_ms\":%.3f,\"numeric_ms\":%.3f,\"analysis_ms\":%.3f,\"new_values_ms\":%.3f", ours.symbolic * 1e3,
           ours.numeric * 1e3, ours.analysis * 1e3, ours.update * 1e3);
  PetscCall(ours.FetchFactors(&i, &j, &values));
  if (fill == 0 && !s->quick) CompareFactorization(A, ours, values, s, &line);

  for (size_t r = 0; r < rhs.size(); r++) rhs[r] = 1 + std::sin(1.0 + 0.37 * static_cast<double>(r));
  const Problem p{OnDevice<int>(i),
                  OnDevice<int>(j),
                  OnDevice<double>(values),
                  OnDevice<double>(rhs),
                  OnDevice<double>(rhs.size()),
                  OnDevice<double>(rhs.size()),
                  A.rows};
  if (!s->quick) PetscCall(ours.MakeTransposed(&transposed));
  for (const bool transpose : {false, true})
    for (const int count : {1, 4, 16}) {
      if ((transpose && count > 1) || count > s->rhs || (s->quick && (transpose || count > 1))) continue;
      const PetscInt    solves = count == 16 ? (s->solves + 3) / 4 : s->solves;
      const std::string what   = transpose ? "_transposed" : count == 1 ? "" : "_" + std::to_string(count);
      double            seconds;
      PetscCall(ours.Time(transpose ? transposed.solver.get() : ours.solver(), count, p.b.p, p.x.p, (int)s->batches,
                          (int)solves, &seconds));
      const std::vector<double> x        = p.x.Host(n * count);
      const BaselineSolve       baseline = CusparseSolve(A.rows, ours.nonzeros(), p.i.p, p.j.p, p.a.p, count, transpose,
                                                         p.b.p, p.y.p, 3, (int)(count == 16 ? 2 : (s->solves + 3) / 4));
      line.Add("\"solve%s_ms\":%.4f,\"cusparse%s_ms\":%.4f,\"vs_cusparse%s\":%.2f", what.c_str(), seconds * 1e3,
               what.c_str(), baseline.both * 1e3, what.c_str(), baseline.both / seconds);
      Check(Difference(x, p.y.Host(n * count)), tolerance, ("solutions" + what).c_str(), s, &line);
      if (count == 1 && !transpose) PetscCall(CompareOne(&ours, p, seconds, baseline, *s, &line));
    }
  line.Print();
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
  Settings  settings;
  char      engine[32];
  PetscInt  levels[8] = {0}, count = 8;
  PetscBool found, given;
  PetscCall(DeviceFound(&found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a GPU");
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &settings.batches, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-solves", &settings.solves, nullptr));
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-levels", levels, &count, &given));
  settings.levels.assign(levels, levels + (given ? count : 1));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-tile", &settings.options.tile, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-warps", &settings.options.warps, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rhs", &settings.rhs, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-quick", &settings.quick, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-entries", &settings.options.entries, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-numeric_warps", &settings.numeric_warps, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-engine", engine, sizeof(engine), &given));
  if (given) PetscCall(ParseEngine(engine, &settings.options.engine));
  settings.bandwidth = CopyBandwidth();
  settings.hop       = HopSeconds();
  JsonLine line;
  line.Add("\"copy_gbs\":%.0f,\"hop_us\":%.3f", settings.bandwidth / 1e9, settings.hop * 1e6);
  line.Print();
  EachRows(
      [](const HostRows &A, void *p) {
        Settings *s = static_cast<Settings *>(p);
        for (const PetscInt fill : s->levels) PetscCallAbort(PETSC_COMM_SELF, Bench(A, fill, s));
      },
      &settings);
  PetscCheck(settings.failures == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d results were wrong", settings.failures);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "This benchmark needs a PETSc with double precision, real scalars and 32-bit integers");
#endif
  PetscCall(PetscFinalize());
  return 0;
}
