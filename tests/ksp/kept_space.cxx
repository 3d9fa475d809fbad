static const char help[] = "What a deflated restart keeps of a cycle of GMRES, on the host and on a GPU.\n\n";

#include "../testing.hpp"
#include "ksp/gmres/deflation.hpp"

#include <cmath>

using namespace sparsegpu;
using namespace sparsegpu::gmres;

namespace
{
constexpr PetscInt ROWS = 700, STEPS = 20;

/// What is real, times a number of modulus 1 where PETSc's numbers are complex, another one for each row.
PetscScalar Turned(PetscReal real, PetscInt row)
{
#if defined(PETSC_USE_COMPLEX)
  return real * PetscExpComplex(PETSC_i * (PetscReal)(row % 7) / 3);
#else
  (void)row;
  return real;
#endif
}

/// An operator that is not normal: a diagonal from 0.01 to 2 with pairs of rows turned, so that some eigenvalues are
/// complex, and a coupling to the row below; (A x)_i from x_i and its neighbours, by a matrix of PETSc's.
PetscErrorCode CreateOperator(Vec like, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(like, &begin, &end));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, end - begin, end - begin, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 3,
                         nullptr, A));
  for (PetscInt i = begin; i < end; ++i) {
    const PetscScalar d = Turned((PetscReal)(0.01 + 1.99 * i / ROWS), i), turned = Turned(i < 6 ? 0.02 : 0.1, i + 3);
    PetscCall(MatSetValue(*A, i, i, d, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i % 2 ? i - 1 : i + 1, i % 2 ? -turned : turned, INSERT_VALUES));
    if (i % 2 && i + 1 < ROWS) PetscCall(MatSetValue(*A, i, i + 1, Turned(0.05, i + 5), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Solver {
  Mat       A = nullptr;
  Vec       b = nullptr, x = nullptr;
  bool      apart = false; ///< operands are not the basis: the half of it, and A is doubled
  Columns   V, W;
  Arnoldi   arnoldi;
  Deflation deflation;

  Columns *preconditioned() { return apart ? &W : nullptr; }
};

PetscErrorCode Copy(Columns *from, PetscInt c, Vec to)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(from->Read(c, &v));
  PetscCall(VecCopy(v, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A cycle from the residual of x on, which is added to x; norm: of the residual before.
PetscErrorCode RunCycle(Solver *s, bool pipelined, PetscReal *norm)
{
  const PetscInt kept = s->deflation.kept();
  Vec            from, to, y;
  bool           inside;
  Outcome        outcome;
  PetscReal      residual;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->b, &from));
  PetscCall(VecDuplicate(s->b, &y));
  s->arnoldi.SetKept(kept, s->deflation.operands());
  PetscCall(MatMult(s->A, s->x, y));
  PetscCall(s->V.Write(kept, &to));
  PetscCall(VecWAXPY(to, -1, y, s->b));
  PetscCall(s->V.WriteEnd(kept));
  PetscCall(s->arnoldi.Normalize(norm, &inside));
  PetscCheck(!inside, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The residual lies in what is kept");
  PetscCall(s->V.Changed(kept));
  if (pipelined)
    PetscCall(s->arnoldi.BeginPipeline(*norm, -1, PETSC_MAX_REAL, PETSC_MAX_INT));
  else
    PetscCall(s->arnoldi.Begin(*norm));
  for (PetscInt k = kept; k < STEPS; ++k) {
    PetscCall(Copy(&s->V, k, from));
    if (s->apart) {
      PetscCall(VecScale(from, (PetscReal)0.5));
      PetscCall(s->W.Write(k, &to));
      PetscCall(VecCopy(from, to));
      PetscCall(s->W.WriteEnd(k));
    }
    PetscCall(MatMult(s->A, from, y));
    PetscCall(s->V.Write(k + 1, &to));
    PetscCall(VecCopy(y, to));
    PetscCall(s->V.WriteEnd(k + 1));
    if (pipelined) {
      PetscCall(s->arnoldi.LaunchStep(k));
      PetscCall(s->arnoldi.AwaitStep(k, &outcome, &residual));
      if (outcome == STEP_AGAIN) PetscCall(s->arnoldi.StepAgain(k, &outcome, &residual));
    } else {
      PetscCall(s->arnoldi.Step(k, &outcome, &residual));
    }
    PetscCall(s->V.Changed(k + 1));
    PetscCheck(outcome == STEP_GOES_ON, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": %d", k, outcome);
  }
  PetscCall(s->arnoldi.Combine(STEPS, s->apart ? &s->W : &s->V, y));
  PetscCall(VecAXPY(s->x, 1, y));
  PetscCall(s->deflation.Renew(PETSC_COMM_WORLD, &s->arnoldi, STEPS, &s->V, s->preconditioned()));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C = A U, C^H C = I and C^H r = 0 to rounding errors; U lies in the span of C and r, with the inner products that the
/// next cycle believes, as far as the eigenvectors of the small matrix are exact.
PetscErrorCode CheckKept(Solver *s, const std::string &what, PetscReal bound)
{
  const PetscInt kept = s->deflation.kept();
  Columns       *U    = s->apart ? &s->W : s->deflation.operands();
  Vec            c, u, r, other;
  PetscReal      norm, size;
  PetscScalar    dot;

  PetscFunctionBeginUser;
  for (Vec *v : {&c, &u, &r, &other}) PetscCall(VecDuplicate(s->b, v));
  PetscCall(MatMult(s->A, s->x, r));
  PetscCall(VecAYPX(r, -1, s->b));
  PetscCall(VecNormalize(r, nullptr));
  for (PetscInt q = 0; q < kept; ++q) {
    PetscCall(Copy(U, q, u));
    PetscCall(VecNorm(u, NORM_2, &size));
    PetscCall(MatMult(s->A, u, c));
    PetscCall(Copy(&s->V, q, other));
    PetscCall(VecAXPY(c, -1, other));
    PetscCall(VecNorm(c, NORM_2, &norm)); // |A| is about 2
    PetscCheck(norm <= bound * 2 * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: image %" PetscInt_FMT " is off by %g, %g allowed", what.c_str(), q, (double)norm,
               (double)(bound * 2 * size));
    PetscCall(VecDot(r, other, &dot));
    PetscCheck(PetscAbsScalar(dot) <= bound * 1000, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: image %" PetscInt_FMT " and the residual: %g", what.c_str(), q, (double)PetscAbsScalar(dot));
    for (PetscInt p = 0; p <= q; ++p) {
      PetscCall(Copy(&s->V, p, c));
      PetscCall(VecDot(other, c, &dot));
      PetscCheck(PetscAbsScalar(dot - (PetscReal)(p == q)) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: images %" PetscInt_FMT " and %" PetscInt_FMT ": %g", what.c_str(), p, q,
                 (double)PetscAbsScalar(dot));
    }
    if (s->apart) continue; // A is applied to the half of vectors: these are the operands of another operator
    // what is left of u without its parts in C and r
    PetscCall(VecCopy(u, other));
    for (PetscInt p = 0; p <= kept; ++p) {
      if (p < kept)
        PetscCall(Copy(&s->V, p, c));
      else
        PetscCall(VecCopy(r, c));
      PetscCall(VecDot(u, c, &dot));
      PetscCall(VecAXPY(other, -dot, c));
      const Scalar      believed = s->deflation.space().inside[(size_t)(q * (kept + 1) + p)];
      const PetscScalar inside   = *reinterpret_cast<const PetscScalar *>(&believed);
      PetscCheck(PetscAbsScalar(dot - inside) <= PetscSqrtReal(bound) * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: inner product %" PetscInt_FMT ", %" PetscInt_FMT " is off by %g of %g", what.c_str(), p, q,
                 (double)PetscAbsScalar(dot - inside), (double)size);
    }
    PetscCall(VecNorm(other, NORM_2, &norm));
    PetscCheck(norm <= PetscSqrtReal(bound) * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: operand %" PetscInt_FMT " lies outside by %g of %g", what.c_str(), q, (double)norm, (double)size);
  }
  for (Vec *v : {&c, &u, &r, &other}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Over some cycles, with as many vectors kept as fit each of the kernels, and more than there are sums in registers.
static PetscErrorCode Invariants()
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCall(testing::VectorTypes(&types));
  for (const std::string &type : types)
    for (const PetscInt most : {1, 3, 8, 16})
      for (const int way : {0, 1, 2}) { // by steps, by steps with operands apart, all at once
        const std::string what = type + ", " + std::to_string(most) + " kept, way " + std::to_string(way);
        Solver            s;
        PetscReal         norm;
        s.apart = way == 1;
        if (way == 2 && (type != "cuda" || PetscGlobalSize > 1)) continue;
        PetscCall(VecCreate(PETSC_COMM_WORLD, &s.b));
        PetscCall(VecSetSizes(s.b, PETSC_DECIDE, ROWS));
        PetscCall(VecSetType(s.b, type.c_str()));
        PetscCall(VecSet(s.b, Turned(1, 1)));
        PetscCall(VecDuplicate(s.b, &s.x));
        PetscCall(VecSet(s.x, 0));
        PetscCall(CreateOperator(s.b, &s.A));
        PetscCall(s.V.Allocate(s.b, STEPS + 1));
        if (s.apart) PetscCall(s.W.Allocate(s.b, STEPS));
        PetscCall(s.arnoldi.Allocate(PETSC_COMM_WORLD, &s.V, STEPS));
        s.arnoldi.criterion.kept = 0.5;
        PetscCall(s.deflation.Allocate(s.b, most, !s.apart, false));
        PetscCall(s.deflation.Reserve(STEPS, s.V.space()));
        for (int cycle = 0; cycle < 4; ++cycle) {
          PetscCall(RunCycle(&s, way == 2, &norm));
          const PetscInt kept = s.deflation.kept();
          PetscCheck(kept <= most && (most == 1 || kept >= most - 1), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                     "%s, cycle %d: %" PetscInt_FMT " vectors", what.c_str(), cycle, kept);
          // rounding errors of inner products and of sums of STEPS columns, and what orthogonalisation loses once
          PetscCall(CheckKept(&s, what, (cycle + 1) * 100 * STEPS * PetscSqrtReal(ROWS) * PETSC_MACHINE_EPSILON));
        }
        PetscCall(VecDestroy(&s.b));
        PetscCall(VecDestroy(&s.x));
        PetscCall(MatDestroy(&s.A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of an operator with three small eigenvalues and others in 1 .. 2 these three are kept: the images are in the space
/// of their eigenvectors, which are unit vectors.
static PetscErrorCode Smallest()
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCall(testing::VectorTypes(&types));
  for (const std::string &type : types) {
    Solver             s;
    Vec                c;
    PetscReal          norm, outside;
    PetscInt           begin, end;
    const PetscScalar *a;
    PetscCall(VecCreate(PETSC_COMM_WORLD, &s.b));
    PetscCall(VecSetSizes(s.b, PETSC_DECIDE, ROWS));
    PetscCall(VecSetType(s.b, type.c_str()));
    PetscCall(VecSet(s.b, 1));
    for (Vec *v : {&s.x, &c}) PetscCall(VecDuplicate(s.b, v));
    PetscCall(VecSet(s.x, 0));
    PetscCall(VecGetOwnershipRange(s.b, &begin, &end));
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, end - begin, end - begin, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 0,
                           nullptr, &s.A));
    for (PetscInt i = begin; i < end; ++i)
      PetscCall(MatSetValue(s.A, i, i, (PetscScalar)(i < 3 ? 0.01 * (i + 1) : 1 + (PetscReal)i / ROWS), INSERT_VALUES));
    PetscCall(MatAssemblyBegin(s.A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s.A, MAT_FINAL_ASSEMBLY));
    PetscCall(s.V.Allocate(s.b, STEPS + 1));
    PetscCall(s.arnoldi.Allocate(PETSC_COMM_WORLD, &s.V, STEPS));
    PetscCall(s.deflation.Allocate(s.b, 3, true, false));
    PetscCall(s.deflation.Reserve(STEPS, s.V.space()));
    PetscCall(RunCycle(&s, false, &norm));
    PetscCheck(s.deflation.kept() == 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors",
               s.deflation.kept());
    for (PetscInt q = 0; q < 3; ++q) {
      PetscCall(Copy(&s.V, q, c));
      PetscCall(VecGetArrayRead(c, &a));
      outside = 0;
      for (PetscInt i = std::max<PetscInt>(begin, 3); i < end; ++i) outside += PetscSqr(PetscAbsScalar(a[i - begin]));
      PetscCall(VecRestoreArrayRead(c, &a));
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &outside, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
      PetscCheck(PetscSqrtReal(outside) <= (PetscReal)1e-2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: image %" PetscInt_FMT " lies outside by %g", type.c_str(), q, (double)PetscSqrtReal(outside));
    }
    for (Vec *v : {&s.b, &s.x, &c}) PetscCall(VecDestroy(v));
    PetscCall(MatDestroy(&s.A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return testing::Main(argc, argv, help, {{"invariants", Invariants}, {"smallest", Smallest}});
}
