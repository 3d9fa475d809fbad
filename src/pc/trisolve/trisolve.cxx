/// The names of the engines, their construction, and row by row solves on the host.
#include "pc/trisolve/trisolve.hpp"
#include <algorithm>
#include "pc/trisolve/host.hpp"
#include "pc/trisolve/isai.hpp"
#include "petsc/compat.hpp"
#if defined(SPARSEGPU_HAVE_CUDA)
  #include "pc/trisolve/jacobi.hpp"
  #include "pc/trisolve/sweep.hpp"
  #include "pc/trisolve/syncfree.hpp"
#endif

namespace sparsegpu::trisolve
{

const char *const EngineNames[ENGINES] = {"auto", "syncfree", "level", "jacobi", "isai"};

const char *const PrecisionNames[5] = {"full", "single", "SparseGPUPrecision", "", nullptr};

PetscErrorCode ParseEngine(const char *name, Engine *engine)
{
  PetscFunctionBegin;
  for (int e = 0; e < ENGINES; e++) {
    PetscBool same;
    PetscCall(PetscStrcasecmp(name, EngineNames[e], &same));
    if (!same) continue;
    *engine = static_cast<Engine>(e);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
          "No triangular solve is called %s; there are auto, syncfree, level, jacobi, isai", name);
}

std::string TrisolveOptions::EngineText() const
{
  std::string text = EngineNames[static_cast<int>(engine)];
  if (engine == Engine::Jacobi) text += ", " + std::to_string(sweeps) + " sweeps";
  if (engine == Engine::Isai && power > 1) text += " of power " + std::to_string(power);
  if (engine == Engine::Isai && relax > 0)
    text += ", " + std::to_string(relax) + (relax == 1 ? " relaxation step" : " relaxation steps");
  return text;
}

std::unique_ptr<Trisolve> MakeTrisolve(Engine engine)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  switch (engine) {
  case Engine::Auto: return std::unique_ptr<Trisolve>(new Sweep);
  case Engine::Syncfree: return std::unique_ptr<Trisolve>(new Syncfree(false));
  case Engine::Level: return std::unique_ptr<Trisolve>(new Syncfree(true));
  case Engine::Jacobi: return std::unique_ptr<Trisolve>(new JacobiSweeps);
  case Engine::Isai: return std::unique_ptr<Trisolve>(new Isai);
  }
#endif
  return nullptr;
}

std::unique_ptr<Trisolve> MakeTrisolve_Host(Engine engine)
{
  if (engine == Engine::Level) return std::unique_ptr<Trisolve>(new HostLevels);
  if (engine == Engine::Jacobi) return std::unique_ptr<Trisolve>(new HostJacobi);
  if (engine == Engine::Isai) return std::unique_ptr<Trisolve>(new HostIsai);
  return nullptr;
}

Trisolve::~Trisolve()
{
  PetscCallAbort(PETSC_COMM_SELF, DeviceFreePinned(stuck_));
}

PetscErrorCode Trisolve::AllocateStuck()
{
  PetscFunctionBegin;
  PetscCall(CheckStuck());
  if (!stuck_) PetscCall(DeviceAllocatePinned(sizeof(int), reinterpret_cast<void **>(&stuck_)));
  *stuck_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Trisolve::CheckStuck()
{
  PetscFunctionBegin;
  if (!stuck_ || !*static_cast<volatile int *>(stuck_)) PetscFunctionReturn(PETSC_SUCCESS);
  *stuck_ = 0;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU,
          "A triangular solve made no progress in %lld polls (-mat_sparsegpu_trisolve_spins) and gave up",
          options.spins);
}

PetscErrorCode CountLevels(const FactorPattern &p, PetscInt *lower_levels, PetscInt *upper_levels)
{
  std::vector<PetscInt> level;

  PetscFunctionBegin;
  *lower_levels = *upper_levels = p.rows ? 1 : 0;
  PetscCallCXX(level.assign(p.rows, 0));
  for (PetscInt r = 0; r < p.rows; r++) {
    PetscInt l = 0;
    for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) l = std::max(l, level[p.j[e]] + 1);
    level[r]      = l;
    *lower_levels = std::max(*lower_levels, l + 1);
  }
  for (PetscInt r = p.rows - 1; r >= 0; r--) {
    PetscInt l = 0;
    for (PetscInt e = p.diagonal[r] + 1; e < p.i[r + 1]; e++) l = std::max(l, level[p.j[e]] + 1);
    level[r]      = l;
    *upper_levels = std::max(*upper_levels, l + 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// NATURAL: all in the matrix's order, and x is the scratch memory, which saves a third of the bytes beside the
/// factors.
template <bool NATURAL, class Values>
static void SolveRows(const FactorPattern &p, const Values &a, const Scalar *b, Scalar *x, Scalar *w)
{
  for (PetscInt r = 0; r < p.rows; r++) {
    Scalar sum = b[NATURAL ? r : p.row[r]];
    for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) sum = sum - a[e] * w[p.j[e]];
    w[r] = sum;
  }
  for (PetscInt r = p.rows - 1; r >= 0; r--) {
    Scalar sum = w[r];
    for (PetscInt e = p.i[r + 1] - 1; e > p.diagonal[r]; e--) sum = sum - a[e] * w[p.j[e]];
    w[r] = sum * a[p.diagonal[r]];
    if (!NATURAL) x[p.column[r]] = w[r];
  }
}

template <class Values>
static void SolveTransposedRows(const FactorPattern &p, const Values &a, const Scalar *b, Scalar *x, Scalar *w)
{
  for (PetscInt r = 0; r < p.rows; r++) w[r] = b[p.column[r]];
  for (PetscInt r = 0; r < p.rows; r++) {
    w[r] = w[r] * a[p.diagonal[r]];
    for (PetscInt e = p.diagonal[r] + 1; e < p.i[r + 1]; e++) w[p.j[e]] = w[p.j[e]] - a[e] * w[r];
  }
  for (PetscInt r = p.rows - 1; r >= 0; r--) {
    for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) w[p.j[e]] = w[p.j[e]] - a[e] * w[r];
    x[p.row[r]] = w[r];
  }
}

PetscErrorCode Solve_Host(const FactorPattern &p, const KeptValues &values, const Scalar *b, Scalar *x, Scalar *w,
                          bool transpose)
{
  PetscFunctionBegin;
  PetscCall(values.With([&](const auto &a) -> PetscErrorCode {
    if (transpose)
      SolveTransposedRows(p, a, b, x, w);
    else if (p.natural)
      SolveRows<true>(p, a, b, x, x);
    else
      SolveRows<false>(p, a, b, x, w);
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
