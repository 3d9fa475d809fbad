static const char help[] =
    "The orthogonalisation of GMRES, on the host and on a GPU, step by step and all at once.\n\n";

#include "../testing.hpp"
#include "ksp/gmres/arnoldi.hpp"

#include <cmath>

using namespace sparsegpu;
using namespace sparsegpu::gmres;

namespace
{
constexpr PetscInt ROWS = 300, STEPS = 40;

/// Entries of v from a function of the row.
template <class Entry> PetscErrorCode Fill(Vec v, Entry entry)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = begin; i < end; i++) a[i - begin] = entry(i);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A hard operator: the diagonal falls from 1 to `smallest`, so that powers of it are soon nearly dependent.
PetscErrorCode HardDiagonal(Vec like, PetscReal smallest, Vec *d)
{
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(like, d));
  PetscCall(Fill(*d, [=](PetscInt i) { return std::pow(smallest, (PetscReal)i / (ROWS - 1)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Cycle {
  Columns                V;
  Arnoldi                arnoldi;
  std::vector<PetscReal> residual; ///< after each step
  std::vector<Outcome>   outcome;
};

PetscErrorCode RunCycle(Vec d, const Criterion &criterion, bool pipelined, PetscInt steps, Cycle *c)
{
  Vec       from, to;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(c->V.Allocate(d, steps + 1));
  PetscCall(c->arnoldi.Allocate(PetscObjectComm((PetscObject)d), &c->V, steps));
  c->arnoldi.criterion = criterion;
  PetscCall(c->V.Write(0, &to));
  PetscCall(VecSet(to, 1));
  PetscCall(VecNormalize(to, &norm));
  PetscCall(c->V.WriteEnd(0));
  if (pipelined)
    PetscCall(c->arnoldi.BeginPipeline(norm, -1, PETSC_MAX_REAL, PETSC_MAX_INT));
  else
    PetscCall(c->arnoldi.Begin(norm));
  c->residual.resize((size_t)steps);
  c->outcome.resize((size_t)steps);
  const PetscInt ahead = pipelined ? 4 : 1; // steps that the host launches before it hears of the first
  for (PetscInt finished = 0, k = 0; finished < steps; finished++) {
    Outcome   *outcome  = &c->outcome[(size_t)finished];
    PetscReal *residual = &c->residual[(size_t)finished];
    for (; k < std::min(steps, finished + ahead); k++) {
      PetscCall(c->V.Read(k, &from));
      PetscCall(c->V.Write(k + 1, &to));
      PetscCall(VecPointwiseMult(to, d, from));
      PetscCall(c->V.WriteEnd(k + 1));
      if (pipelined)
        PetscCall(c->arnoldi.LaunchStep(k));
      else
        PetscCall(c->arnoldi.Step(k, outcome, residual));
      PetscCall(c->V.Changed(k + 1));
    }
    if (!pipelined) continue;
    PetscCall(c->arnoldi.AwaitStep(finished, outcome, residual));
    if (*outcome != STEP_AGAIN) continue;
    PetscCall(c->arnoldi.StepAgain(finished, outcome, residual));
    k = finished + 1; // those after it have done nothing
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// max |V^H V - I| by PETSc's own products.
PetscErrorCode Loss(Columns *V, PetscInt columns, PetscReal *loss)
{
  PetscFunctionBeginUser;
  *loss = 0;
  for (PetscInt i = 0; i < columns; i++)
    for (PetscInt j = 0; j <= i; j++) {
      Vec         v, a, b;
      PetscScalar dot;
      PetscCall(V->Read(i, &v));
      PetscCall(VecDuplicate(v, &a));
      PetscCall(VecCopy(v, a));
      PetscCall(V->Read(j, &b));
      PetscCall(VecDot(a, b, &dot));
      PetscCall(VecDestroy(&a));
      *loss = PetscMax(*loss, PetscAbsScalar(dot - (PetscScalar)(i == j ? 1 : 0)));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForVectors(PetscErrorCode (*run)(Vec like, bool pipelined, const std::string &what))
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCall(testing::VectorTypes(&types));
  for (const std::string &type : types)
    for (bool pipelined : {false, true}) {
      Vec like;
      if (pipelined && (type != "cuda" || PetscGlobalSize > 1)) continue;
      PetscCall(VecCreate(PETSC_COMM_WORLD, &like));
      PetscCall(VecSetSizes(like, PETSC_DECIDE, ROWS));
      PetscCall(VecSetType(like, type.c_str()));
      PetscCall((*run)(like, pipelined, type + (pipelined ? ", all at once" : "")));
      PetscCall(VecDestroy(&like));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The basis stays as orthogonal as the criterion says, on operators of which Gram-Schmidt once loses everything.
PetscErrorCode CheckOrthogonality(Vec like, bool pipelined, const std::string &what)
{
  Vec d;

  PetscFunctionBeginUser;
  for (PetscReal smallest : {(PetscReal)1e-1, (PetscReal)1e-4, (PetscReal)1e-12}) {
    for (PetscReal kept : {KEPT_PART * KEPT_PART, (PetscReal)0.5, PETSC_MAX_REAL}) {
      Cycle     c;
      Criterion criterion;
      PetscReal loss;
      criterion.kept = kept;
      PetscCall(HardDiagonal(like, smallest, &d));
      PetscCall(RunCycle(d, criterion, pipelined, STEPS, &c));
      PetscCall(Loss(&c.V, STEPS + 1, &loss));
      // with 1 / 2 and more a step passes the loss on and adds the rounding errors of ROWS products, by a factor of
      // sqrt(2); else the estimate, which leaves the number of products out, is held at ORTHOGONALITY. ROWS
      // errors add up to sqrt(ROWS) in the mean and to ROWS at most, which the few steps of single precision come
      // nearer
      const PetscReal products = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)ROWS : PetscSqrtReal((PetscReal)ROWS);
      const PetscReal rounding = PETSC_SQRT2 * STEPS * ROWS * PETSC_MACHINE_EPSILON;
      const PetscReal bound    = kept >= 0.5 ? rounding : products * ORTHOGONALITY;
      PetscCheck(loss <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %g, kept %g: |V^H V - I| = %g, %g allowed",
                 what.c_str(), (double)smallest, (double)kept, (double)loss, (double)bound);
      PetscCall(VecDestroy(&d));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Orthogonal()
{
  PetscFunctionBeginUser;
  PetscCall(ForVectors(CheckOrthogonality));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The residual norm that a step tells is that of b - A x of the combination.
PetscErrorCode CheckMinimum(Vec like, bool pipelined, const std::string &what)
{
  Vec d, x, r;

  PetscFunctionBeginUser;
  PetscCall(HardDiagonal(like, (PetscReal)0.05, &d));
  PetscCall(VecDuplicate(like, &x));
  PetscCall(VecDuplicate(like, &r));
  for (PetscInt steps : {1, 2, 7, 8, 9, 25}) {
    Cycle     c;
    PetscReal norm;
    PetscCall(RunCycle(d, Criterion(), pipelined, steps, &c));
    PetscCall(c.arnoldi.Combine(steps, &c.V, x));
    PetscCall(VecPointwiseMult(r, d, x));
    PetscCall(VecScale(r, -1));
    PetscCall(VecShift(r, 1)); // b = 1
    PetscCall(VecNorm(r, NORM_2, &norm));
    const PetscReal told = c.residual[(size_t)steps - 1];
    const PetscReal bound =
        ORTHOGONALITY * told + 100 * steps * PETSC_MACHINE_EPSILON * PetscSqrtReal((PetscReal)ROWS) / (PetscReal)0.05;
    PetscCheck(PetscAbsReal(norm - told) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %d steps tell of %g, the residual is %g", what.c_str(), (int)steps, (double)told, (double)norm);
    for (size_t k = 1; k < c.residual.size(); k++)
      PetscCheck(c.residual[k] <= c.residual[k - 1] && c.outcome[k] == STEP_GOES_ON, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: step %d leads from %g to %g, outcome %d", what.c_str(), (int)k, (double)c.residual[k - 1],
                 (double)c.residual[k], (int)c.outcome[k]);
  }
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Minimum()
{
  PetscFunctionBeginUser;
  PetscCall(ForVectors(CheckMinimum));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A direction that cannot be made orthogonal, as the basis itself is not: the cycle ends, and nothing is called zero.
PetscErrorCode CheckLost(Vec like, bool pipelined, const std::string &what)
{
  const PetscReal half = 1 / PETSC_SQRT2;
  Columns         V;
  Arnoldi         arnoldi;
  Vec             v;
  Outcome         outcome;
  PetscReal       first, second;

  PetscFunctionBeginUser;
  PetscCall(V.Allocate(like, 3));
  PetscCall(arnoldi.Allocate(PetscObjectComm((PetscObject)like), &V, 2));
  if (pipelined)
    PetscCall(arnoldi.BeginPipeline(1, -1, PETSC_MAX_REAL, PETSC_MAX_INT));
  else
    PetscCall(arnoldi.Begin(1));
  // e0, then e0 + e1 and, in the second step, e0 again
  const std::vector<std::vector<PetscReal>> entries = {{1, 0}, {1, 1}, {1, 0}};
  for (PetscInt k = 0; k < 2; k++) {
    for (PetscInt c = 0; c <= k + 1; c++) {
      const PetscReal scale = k == 1 && c == 1 ? half : 1; // of norm 1, but not orthogonal
      PetscCall(V.Write(c, &v));
      PetscCall(Fill(v, [&](PetscInt i) { return i < 2 ? scale * entries[(size_t)c][(size_t)i] : 0; }));
      PetscCall(V.WriteEnd(c));
    }
    if (pipelined) {
      PetscCall(arnoldi.LaunchStep(k));
      PetscCall(arnoldi.AwaitStep(k, &outcome, &second));
      if (outcome == STEP_AGAIN) PetscCall(arnoldi.StepAgain(k, &outcome, &second));
    } else {
      PetscCall(arnoldi.Step(k, &outcome, &second));
    }
    PetscCall(V.Changed(k + 1));
    if (k == 0) first = second;
    PetscCheck(outcome == (k == 0 ? STEP_GOES_ON : STEP_RESTART), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: outcome %d of step %d", what.c_str(), (int)outcome, (int)k);
  }
  PetscCheck(second == first, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the norm goes from %g to %g", what.c_str(),
             (double)first, (double)second);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Lost()
{
  PetscFunctionBeginUser;
  PetscCall(ForVectors(CheckLost));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return testing::Main(argc, argv, help, {{"orthogonal", Orthogonal}, {"minimum", Minimum}, {"lost", Lost}});
}
