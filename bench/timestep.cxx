static char help[] =
    "A loop over time steps, as programs with implicit time stepping have it: diffusion on a grid of n x n x n nodes whose\n"
    "coefficients change in each step. A step computes the values of the matrix where its vectors live, gives them to\n"
    "MatSetValuesCOO(), sets the preconditioner up anew and solves. Runs with every -mat_type, -ksp_type and -pc_type\n"
    "(default: sparsegpu, gmres, ilu), so that PETSc's own types are compared in runs of their own. One table: seconds a\n"
    "step of which so many are values, set-up and solve, and what goes between host and GPU in a step once the first few\n"
    "are over. On a GPU a part that does not wait for its work leaves it to the next one; a step waits.\n"
    "  -n n             : nodes in each direction\n"
    "  -stencil 7|27    : neighbours, the node itself among them\n"
    "  -steps n -warm n : steps, and how many of these at the beginning neither medians nor copies count\n"
    "  -dt seconds      : length of a step: the longer, the harder the systems\n";

#include <petscksp.h>
#include <petsctime.h>
#include <algorithm>
#include <cmath>
#include <vector>
#include "petsc/compat.hpp"
#include "residual.hpp"
#include "sparsegpu.h"
#include "timestep_entries.hpp"

namespace
{
/// Bytes and numbers of copies between host and GPU so far, as -log_view counts them.
struct Copies {
  PetscLogDouble to_gpu = 0, to_gpu_count = 0, to_host = 0, to_host_count = 0;
};
Copies CopiesNow()
{
  Copies now;
#if defined(PETSC_HAVE_DEVICE) && defined(PETSC_USE_LOG)
  now.to_gpu        = petsc_ctog_sz;
  now.to_gpu_count  = petsc_ctog_ct;
  now.to_host       = petsc_gtoc_sz;
  now.to_host_count = petsc_gtoc_ct;
#endif
  return now;
}

/// Seconds of one step.
struct Times {
  PetscLogDouble values = 0, setup = 0, solve = 0;
  PetscInt       iterations = 0;
  PetscLogDouble All() const { return values + setup + solve; }
};

struct Loop {
  Settings settings;
  Mat      A       = nullptr;
  KSP      ksp     = nullptr;
  Vec      base[3] = {}, values = nullptr; ///< [entries]
  Vec      u = nullptr, b = nullptr;

  PetscErrorCode Create();
  PetscErrorCode Step(PetscInt step, Times *times);
  PetscErrorCode Destroy();

private:
  PetscErrorCode NewValues(PetscInt step);
};

/// A vector of the type of the matrix's.
PetscErrorCode MakeVector(VecType type, const std::vector<PetscScalar> &from, Vec *v)
{
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, static_cast<PetscInt>(from.size()), static_cast<PetscInt>(from.size())));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecGetArrayWrite(*v, &array));
  std::copy(from.begin(), from.end(), array);
  PetscCall(VecRestoreArrayWrite(*v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Loop::Create()
{
  const PetscInt n = settings.n, rows = n * n * n;
  Entries        e;
  VecType        type;
  PC             pc;
  PetscBool      given;

  PetscFunctionBegin;
  for (PetscInt z = 0; z < n; z++)
    for (PetscInt y = 0; y < n; y++)
      for (PetscInt x = 0; x < n; x++) AddRow(settings, x, y, z, &e);
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, rows, rows, rows, rows));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-mat_type", &given));
  if (!given) PetscCall(MatSetType(A, MATSPARSEGPU)); // a second type would keep the vectors of the first
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetPreallocationCOO(A, static_cast<PetscCount>(e.i.size()), e.i.data(), e.j.data()));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecGetType(u, &type));
  PetscCall(MakeVector(type, e.identity, &base[0]));
  PetscCall(MakeVector(type, e.constant, &base[1]));
  PetscCall(MakeVector(type, e.varying, &base[2]));
  PetscCall(VecDuplicate(base[0], &values));
  PetscCall(VecSet(u, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCILU));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of the backward Euler method, at the end of the step.
PetscErrorCode Loop::NewValues(PetscInt step)
{
  const PetscReal   time     = settings.dt * static_cast<PetscReal>(step + 1);
  const PetscScalar constant = settings.dt * (1 + std::sin(time) / 2), varying = settings.dt * (1 + std::cos(time) / 2);
  const PetscScalar *array;
  PetscMemType       where;

  PetscFunctionBegin;
  PetscCall(VecWAXPY(values, constant, base[1], base[0])); // VecCopy() would leave what was made on the host there
  PetscCall(VecAXPY(values, varying, base[2]));
  PetscCall(VecGetArrayReadAndMemType(values, &array, &where));
  PetscCall(MatSetValuesCOO(A, array, INSERT_VALUES));
  PetscCall(VecRestoreArrayReadAndMemType(values, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Loop::Step(PetscInt step, Times *times)
{
  PetscLogDouble     begin, assembled, ready, end;
  PetscReal          norm;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(NewValues(step));
  PetscCall(VecCopy(u, b));
  PetscCall(VecShift(b, settings.dt)); // a source
  PetscCall(PetscTime(&assembled));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&ready));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(VecNorm(u, NORM_2, &norm)); // waits for the device
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "Step %" PetscInt_FMT ": %s", step,
             KSPConvergedReasons[reason]);
  PetscCheck(norm > 0, PETSC_COMM_SELF, PETSC_ERR_FP, "Step %" PetscInt_FMT ": the solution has norm %g", step,
             static_cast<double>(norm));
  times->values = assembled - begin;
  times->setup  = ready - assembled;
  times->solve  = end - ready;
  PetscCall(KSPGetIterationNumber(ksp, &times->iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Loop::Destroy()
{
  PetscFunctionBegin;
  for (Vec *v : {&base[0], &base[1], &base[2], &values, &u, &b}) PetscCall(VecDestroy(v));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode PrintMedian(const char name[], const std::vector<Times> &steps, Part part)
{
  std::vector<PetscLogDouble> all;

  PetscFunctionBegin;
  for (const Times &t : steps) all.push_back(part(t));
  std::sort(all.begin(), all.end());
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF, "%-8s %12.6f %12.6f %12.6f\n", name, all[all.size() / 2], all.front(), all.back()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `copied` in the steps that `all` has from settings.warm on.
PetscErrorCode Report(Loop *loop, const std::vector<Times> &all, const Copies &copied)
{
  const std::vector<Times> steady(all.begin() + loop->settings.warm, all.end());
  const PetscLogDouble     count = static_cast<PetscLogDouble>(steady.size());
  MatType                  type;
  VecType                  vectors;
  KSPType                  solver;
  PCType                   preconditioner;
  PC                       pc;
  PetscInt                 rows, entries, iterations = 0;
  PetscReal                residual;

  PetscFunctionBegin;
  for (const Times &t : all) iterations += t.iterations;
  PetscCall(MatGetType(loop->A, &type));
  PetscCall(VecGetType(loop->u, &vectors));
  PetscCall(KSPGetType(loop->ksp, &solver));
  PetscCall(KSPGetPC(loop->ksp, &pc));
  PetscCall(PCGetType(pc, &preconditioner));
  PetscCall(MatGetSize(loop->A, &rows, nullptr));
  PetscCall(VecGetSize(loop->values, &entries));
  PetscCall(RelativeResidual(loop->A, loop->b, loop->u, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%s, %s vectors, %s and %s: %" PetscInt_FMT " rows, %" PetscInt_FMT " nonzeros, %d steps\n",
                        type, vectors, solver, preconditioner, rows, entries, static_cast<int>(all.size())));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "seconds        median     shortest      longest\n"));
  PetscCall(PrintMedian("a step", steady, [](const Times &t) { return t.All(); }));
  PetscCall(PrintMedian("values", steady, [](const Times &t) { return t.values; }));
  PetscCall(PrintMedian("set-up", steady, [](const Times &t) { return t.setup; }));
  PetscCall(PrintMedian("solve", steady, [](const Times &t) { return t.solve; }));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "first step %.6f s\n", all.front().All()));
  PetscCall(PetscPrintf(
      PETSC_COMM_SELF, "%" PetscInt_FMT " iterations in all, %.1f a step; last relative residual %.2e\n", iterations,
      static_cast<double>(iterations) / static_cast<double>(all.size()), static_cast<double>(residual)));
#if defined(PETSC_HAVE_DEVICE) && defined(PETSC_USE_LOG)
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "copied a step: to the GPU %.0f bytes, %.1f times; to the host %.0f, %.1f\n",
                        copied.to_gpu / count, copied.to_gpu_count / count, copied.to_host / count,
                        copied.to_host_count / count));
#else
  (void)copied;
  (void)count;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "copied a step: this PETSc has no device and counts no copies\n"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadSettings(Settings *s)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &s->n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-stencil", &s->stencil, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-steps", &s->steps, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-warm", &s->warm, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-dt", &s->dt, nullptr));
  PetscCheck(s->n > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " must be positive", s->n);
  PetscCheck(static_cast<double>(s->n) * s->n * s->n * s->stencil < static_cast<double>(PETSC_MAX_INT), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " gives more nonzeros than PetscInt holds", s->n);
  PetscCheck(s->stencil == 7 || s->stencil == 27, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-stencil %" PetscInt_FMT " must be 7 or 27", s->stencil);
  PetscCheck(s->warm >= 0 && s->steps > s->warm, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-steps %" PetscInt_FMT " must be more than -warm %" PetscInt_FMT ", which must be non-negative", s->steps,
             s->warm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  Loop               loop;
  std::vector<Times> all;
  Copies             before;

  PetscFunctionBegin;
  PetscCall(ReadSettings(&loop.settings));
  PetscCall(loop.Create());
  for (PetscInt step = 0; step < loop.settings.steps; step++) {
    if (step == loop.settings.warm) before = CopiesNow();
    PetscCall(loop.Step(step, &all.emplace_back()));
  }
  Copies copied = CopiesNow();
  copied.to_gpu -= before.to_gpu;
  copied.to_gpu_count -= before.to_gpu_count;
  copied.to_host -= before.to_host;
  copied.to_host_count -= before.to_host_count;
  PetscCall(Report(&loop, all, copied));
  PetscCall(loop.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
