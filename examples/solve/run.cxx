#include "solve.hpp"
#include "energy.hpp"

#include <algorithm>

#include <petsctime.h>
#include <sparsegpu.h>

std::vector<Method> AllMethods(bool device)
{
  std::vector<Method> methods;
  const bool          native_device = device &&
#if defined(PETSC_HAVE_CUDA)
                             true;
#else
                             false;
#endif
  for (const char *type : {"aij", "aijcusparse"}) {
    const bool on_device = type[3] != 0;
    if (on_device && !native_device) continue;
    for (const char *ksp : {"richardson", "gmres", "fgmres", "cg", "bcgs"})
      for (const char *pc : {"jacobi", "ilu", "none"}) methods.push_back({type, ksp, pc, false, on_device});
    methods.push_back({type, "cg", "gamg", false, on_device});
    for (const char *pc : {"lu", "cholesky"}) methods.push_back({type, "preonly", pc, false, on_device});
  }
  methods.push_back({MATSPARSEGPU, KSPSPARSEGPUJACOBI, "none", true, native_device});
  for (const char *ksp : {KSPSPARSEGPUGMRES, KSPSPARSEGPUCG, KSPSPARSEGPUBCGS})
    for (const char *pc : {"jacobi", PCSPARSEGPU, "none"})
      methods.push_back({MATSPARSEGPU, ksp, pc, true, native_device});
  methods.push_back({MATSPARSEGPU, KSPSPARSEGPUCG, PCSPARSEGPUAMG, true, native_device});
  for (const char *pc : {"lu", "cholesky"}) methods.push_back({MATSPARSEGPU, "preonly", pc, true, native_device});
  return methods;
}

namespace
{
bool Contains(const std::vector<std::string> &names, const std::string &name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}
} // namespace

bool Selection::Names(const std::string &pc) const
{
  return Contains(pcs, pc);
}

bool Selection::Has(const Method &m) const
{
  return (solvers.empty() || Contains(solvers, m.ksp)) && (pcs.empty() || Contains(pcs, m.pc)) &&
         (types.empty() || Contains(types, m.type));
}

PetscErrorCode CheckSelection(const Selection &selection, bool device)
{
  struct List {
    const char                     *option;
    const std::vector<std::string> &names;
    std::string Method::*name;
  } const lists[] = {
      {"-solvers", selection.solvers, &Method::ksp},
      {"-pcs", selection.pcs, &Method::pc},
      {"-types", selection.types, &Method::type},
  };
  const std::vector<Method> methods = AllMethods(device);

  PetscFunctionBeginUser;
  for (const List &list : lists) {
    std::vector<std::string> known;
    std::string              text;
    for (const Method &m : methods) {
      if (Contains(known, m.*list.name)) continue;
      PetscCallCXX(known.push_back(m.*list.name));
      PetscCallCXX(text += (text.empty() ? "" : ", ") + m.*list.name);
    }
    for (const std::string &name : list.names)
      PetscCheck(Contains(known, name), PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s %s: known are %s",
                 list.option, name.c_str(), text.c_str());
  }
  PetscCheck(std::any_of(methods.begin(), methods.end(), [&](const Method &m) { return selection.Has(m); }),
             PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "No solver, preconditioner and matrix type of -solvers, -pcs and -types are run together: lu and cholesky "
             "go with preonly, %s and %s with our solvers on %s, ilu and gamg with PETSc's",
             PCSPARSEGPU, PCSPARSEGPUAMG, MATSPARSEGPU);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Waits for the device: the sum is needed on the host. A norm might be known from before.
PetscErrorCode Finish(Vec v)
{
  PetscScalar sum;

  PetscFunctionBeginUser;
  PetscCall(VecDot(v, v, &sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrepareSolver(const Method &method, Mat A, KSP ksp)
{
  PC          pc;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, method.ksp.c_str()));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, method.pc == "ilu" && size > 1 ? PCBJACOBI : method.pc.c_str()));
  if (method.Direct() && method.ours) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSPARSEGPU));
  PetscCall(KSPSetResidualHistory(ksp, nullptr, 1000000, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Milliseconds of one call, the mean of several.
template <class Call> PetscErrorCode TimeCalls(Vec result, double *ms, Call call)
{
  constexpr int  CALLS = 20;
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(call());
  PetscCall(Finish(result));
  PetscCall(PetscTime(&begin));
  for (int k = 0; k < CALLS; k++) PetscCall(call());
  PetscCall(Finish(result));
  PetscCall(PetscTime(&end));
  *ms = 1e3 * (end - begin) / CALLS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Joules of a solve, from as many as take long enough for a counter that moves some ten times a second.
PetscErrorCode MeasureEnergy(KSP ksp, Vec b, Vec x, double solve_s, double *joules)
{
  constexpr double SECONDS = 0.5;
  const int        solves  = static_cast<int>(std::min(1000.0, std::max(1.0, SECONDS / solve_s)));
  double           begin, end;
  bool             known;

  PetscFunctionBeginUser;
  PetscCall(GpuEnergy(&begin, &known));
  if (!known) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < solves; k++) {
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(Finish(x));
  PetscCall(GpuEnergy(&end, &known));
  if (known) *joules = (end - begin) / solves;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Measure(const System &system, const Method &method, PetscInt repeat, Run *run)
{
  constexpr double    LONG = 1; // second of a CPU: beside it what a first solve prepares is nothing
  OwnedMat            A;
  OwnedVec            b, x, y;
  OwnedKSP            ksp;
  PC                  pc;
  PetscLogDouble      begin, end;
  std::vector<double> seconds;
  const PetscReal    *norms;
  PetscInt            count;
  PetscReal           norm, size;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(system.A, method.type.c_str(), MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecCopy(system.b, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(VecNorm(b, NORM_2, &norm)); // the start of CUDA and of its libraries is nobody's
  PetscCall(PetscTime(&begin));
  PetscCall(PrepareSolver(method, A, ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(MatMult(A, b, y)); // what a type converts at its first product
  PetscCall(Finish(y));
  PetscCall(PetscTime(&end));
  run->setup_s = end - begin;
  for (PetscInt k = 0; k <= repeat; k++) { // the first is not counted, but where it is long
    PetscCall(VecSet(x, 0));
    PetscCall(Finish(x));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Finish(x));
    PetscCall(PetscTime(&end));
    const bool enough = k == 0 && !method.device && end - begin > LONG;
    if (k > 0 || enough) PetscCallCXX(seconds.push_back(end - begin));
    if (enough) break;
  }
  std::sort(seconds.begin(), seconds.end());
  run->solve_s = seconds[seconds.size() / 2];
  PetscCall(KSPGetIterationNumber(ksp, &run->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &run->reason));
  PetscCall(KSPGetResidualHistory(ksp, &norms, &count));
  PetscCallCXX(run->history.assign(norms, norms + count));
  if (method.device) PetscCall(MeasureEnergy(ksp, b, x, run->solve_s, &run->joules));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(TimeCalls(y, &run->mult_ms, [&] { return MatMult(A, b, y); }));
  PetscCall(TimeCalls(y, &run->pc_ms, [&] { return PCApply(pc, b, y); }));

  OwnedVec host; // checked by PETSc's own type
  PetscCall(VecDuplicate(system.b, &host));
  PetscCall(VecCopy(x, host));
  OwnedVec r;
  PetscCall(VecDuplicate(system.b, &r));
  PetscCall(MatMult(system.A, host, r));
  PetscCall(VecAYPX(r, -1, system.b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(system.b, NORM_2, &size));
  run->residual = size > 0 ? norm / size : norm;
  if (system.known.object) {
    PetscCall(VecAXPY(host, -1, system.known));
    PetscCall(VecNorm(host, NORM_2, &norm));
    PetscCall(VecNorm(system.known, NORM_2, &size));
    run->forward = size > 0 ? norm / size : norm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepMessage(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType,
                           const char *message, void *text)
{
  std::string *kept = static_cast<std::string *>(text);
  if (message && kept->empty()) *kept = message;
  return code;
}

/// Those that one would use for the same purpose.
char Kind(const Method &m)
{
  if (m.Direct()) return 'd';
  if (m.ksp == "richardson" || m.ksp == KSPSPARSEGPUJACOBI) return 's';
  if (m.ksp == "bcgs" || m.ksp == KSPSPARSEGPUBCGS) return 'b';
  return m.ksp == "cg" || m.ksp == KSPSPARSEGPUCG ? 'c' : 'g';
}
std::string Pc(const Method &m)
{
  if (m.ksp == KSPSPARSEGPUJACOBI) return "jacobi";
  if (m.pc == PCSPARSEGPUAMG) return "gamg";
  return m.pc == PCSPARSEGPU ? "ilu" : m.pc;
}
} // namespace

PetscErrorCode RunMethod(const System &system, const Method &method, PetscInt repeat, Run *run)
{
  std::string message;

  PetscFunctionBeginUser;
  run->method = method;
  PetscCall(PetscPushErrorHandler(KeepMessage, &message));
  const PetscErrorCode code = Measure(system, method, repeat, run);
  PetscCall(PetscPopErrorHandler());
  if (code) PetscCallCXX(run->error = message.empty() ? "error " + std::to_string(static_cast<int>(code)) : message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CompareRuns(std::vector<Run> *runs)
{
  for (Run &r : *runs) {
    for (const Run &n : *runs) {
      if (n.method.ours || !n.error.empty() || !r.error.empty() || Kind(n.method) != Kind(r.method) ||
          Pc(n.method) != Pc(r.method))
        continue;
      if (n.Converged() != r.Converged() || (!n.Converged() && n.iterations != r.iterations)) continue;
      const double ratio =
          r.method.Direct() ? (n.setup_s + n.solve_s) / (r.setup_s + r.solve_s) : n.solve_s / r.solve_s;
      double *best = n.method.device ? &r.over_native : &r.over_cpu;
      if (*best == NoNumber || ratio < *best) *best = ratio;
    }
  }
}
