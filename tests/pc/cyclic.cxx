/// A pattern that is no triangle: rows 40 and 41, and rows 90 and 7, need each other. No factorization makes one; a
/// solve that meets it must end, with an error.
#include "pc/trisolve/trisolve.hpp"
#include <set>
#include "petsc/compat.hpp"

using namespace sparsegpu;
using namespace sparsegpu::trisolve;

static constexpr PetscInt ROWS  = 128;
static constexpr int      SPINS = 10000; ///< polls: far more than eight rows in a chain need

struct Factors {
  Array<PetscInt> i, j, diagonal;
  Array<Scalar>   a;
  FactorView      view;
};

enum class Cycle {
  None,
  Lower,
  Upper
};
static const char *const CycleNames[] = {"no cycle", "cycle in L", "cycle in U"};

/// Row r needs row r - 1 in L and row r + 1 in U, in chains of eight rows; the cycle comes on top.
static PetscErrorCode Build(Cycle cycle, Factors *f)
{
  std::vector<PetscInt> i(1, 0), j, diagonal;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < ROWS; r++) {
    const PetscInt     partner = r == 40 ? 41 : r == 41 ? 40 : r == 90 ? 7 : r == 7 ? 90 : r;
    std::set<PetscInt> lower, upper;
    if (r % 8 > 0) lower.insert(r - 1);
    if (r % 8 < 7) upper.insert(r + 1);
    if (partner != r && cycle == Cycle::Lower) lower.insert(partner);
    if (partner != r && cycle == Cycle::Upper) upper.insert(partner);
    j.insert(j.end(), lower.begin(), lower.end());
    diagonal.push_back(static_cast<PetscInt>(j.size()));
    j.push_back(r);
    j.insert(j.end(), upper.begin(), upper.end());
    i.push_back(static_cast<PetscInt>(j.size()));
  }
  const PetscInt      nonzeros = static_cast<PetscInt>(j.size());
  std::vector<Scalar> a(j.size(), Scalar(0.25));
  PetscCall(f->i.Take(std::move(i), Space::Device));
  PetscCall(f->j.Take(std::move(j), Space::Device));
  PetscCall(f->diagonal.Take(std::move(diagonal), Space::Device));
  PetscCall(f->a.Take(std::move(a), Space::Device));
  f->view = FactorView{ROWS, nonzeros, f->i.data(), f->j.data(), f->diagonal.data(), nullptr, nullptr, false};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One solve from the beginning; its error, or the engine's at the next look, is *error.
static PetscErrorCode Solve(Engine engine, const Factors &f, PetscErrorCode *error)
{
  std::unique_ptr<Trisolve> solver;
  Array<Scalar>             b, x;
  Stream                    stream;

  PetscFunctionBeginUser;
  PetscCall(DeviceStream(&stream));
  PetscCallCXX(solver = MakeTrisolve(engine));
  PetscCall(b.Take(std::vector<Scalar>(ROWS, Scalar(1)), Space::Device));
  PetscCall(x.Allocate(ROWS, Space::Device));
  solver->options.spins = SPINS;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  *error = solver->Analyse(f.view, stream);
  if (!*error) *error = solver->SetValues(f.a.data(), stream);
  if (!*error) *error = solver->Solve(1, b.data(), ROWS, x.data(), ROWS, stream);
  if (!*error) *error = DeviceSynchronize(stream);
  if (!*error) *error = solver->CheckStuck();
  PetscCall(PetscPopErrorHandler());
  PetscCall(DeviceSynchronize(stream)); // nothing may still run, and nothing may have faulted
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  PetscFunctionBeginUser;
  for (const Cycle cycle : {Cycle::None, Cycle::Lower, Cycle::Upper}) {
    Factors f;
    PetscCall(Build(cycle, &f));
    for (const Engine engine : {Engine::Auto, Engine::Syncfree, Engine::Level, Engine::Jacobi, Engine::Isai}) {
      // Jacobi's sweeps and products do not wait
      const bool     ends     = cycle == Cycle::None || !IsExact(engine);
      const int      expected = ends ? 0 : static_cast<int>(PETSC_ERR_GPU);
      PetscErrorCode error;
      PetscCall(Solve(engine, f, &error));
      PetscCheck(static_cast<int>(error) == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: error %d, not %d",
                 EngineNames[static_cast<int>(engine)], CycleNames[static_cast<int>(cycle)], static_cast<int>(error),
                 expected);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(DeviceFound(&device));
  if (device)
    PetscCall(Test());
  else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "skipped: there is no GPU\n"));
  PetscCall(PetscFinalize());
  return device ? 0 : 25; // 25: skipped, see tests/testing.hpp
}
