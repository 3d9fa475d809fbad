static const char help[] = "-ksp_sparsegpugmres_deflation on systems that spoil what is kept, and ends of solves.\n\n";

#include "deflated.hpp"
#include "nonsymmetric.hpp"

using namespace testing;
using conformance::Builder;

/// Six small eigenvalues, the others in 1 .. 1.5, and a small coupling above the diagonal.
static Problem FewSmall(PetscInt n)
{
  Builder b("six small eigenvalues", n, n);

  for (PetscInt r = 0; r < n; ++r) {
    b.Add(r, r, (PetscScalar)(r < 6 ? 1e-4 * (PetscReal)(r + 1) : 1 + (PetscReal)r / (2 * n)));
    if (r + 1 < n) b.Add(r, r + 1, nonsymmetric::Coupling((PetscReal)1e-3));
  }
  return b;
}

/// What is kept stays as orthogonal as it was through many cycles: eigenvalues that are 10,000 times smaller than the
/// others cost a cycle or two, down to the last digits. Where cycles are short, and an automatic restart would make
/// them shorter still, at least half of the steps are their own. A singular system that has a solution is solved.
static PetscErrorCode Hard()
{
  const struct {
    Problem     problem;
    const char *options;
    PetscInt    most; ///< iterations
  } CASES[] = {
      {FewSmall(700), "-pc_type none -ksp_gmres_restart 30 -ksp_sparsegpugmres_deflation 6 -ksp_rtol 1e-12", 60},
      {FewSmall(700), "-pc_type none -ksp_gmres_restart 12 -ksp_sparsegpugmres_deflation 6 -ksp_rtol 1e-12", 70},
      {FewSmall(700), "-pc_type none -ksp_gmres_restart 12 -ksp_sparsegpugmres_deflation 6 -ksp_rtol 1e-8", 60},
      {Flow(31, 29, 0.3, false),
       "-pc_type none -ksp_sparsegpugmres_restart_auto -ksp_sparsegpugmres_deflation 8 -ksp_rtol 1e-8", 300},
      {Flow(30, 30, 0, true), "-pc_type none -ksp_gmres_restart 20 -ksp_sparsegpugmres_deflation 5 -ksp_rtol 1e-8",
       300}};

  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("PETSc's numbers are of single precision");
  for (const auto &c : CASES)
    for (const char *side : {" -ksp_pc_side left", " -ksp_pc_side right"}) {
      const Options set(std::string(c.options) + side + " -ksp_type " + KSPSPARSEGPUGMRES);
      System        s;
      Outcome       out;
      PetscCall(s.Create(c.problem));
      PetscCall(SolveWith(s.A, s.b, nullptr, &out));
      PetscCheck(out.reason > 0 && out.iterations <= c.most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s %s: reason %d after %" PetscInt_FMT " iterations, %" PetscInt_FMT " allowed",
                 c.problem.name.c_str(), c.options, (int)out.reason, out.iterations, c.most);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// A preconditioner that does nothing, until it gives NaN.
struct Spoilt {
  PetscInt good = 0; ///< applications that are left until then
};
PetscErrorCode ApplySpoilt(PC pc, Vec x, Vec y)
{
  Spoilt *spoilt;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &spoilt));
  PetscCall(VecCopy(x, y));
  if (spoilt->good-- <= 0) PetscCall(VecSet(y, (PetscReal)NAN));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// NaN in a cycle that keeps vectors ends the solve with what was there before; the same solver then solves, with
/// another size, too, once it is reset.
static PetscErrorCode Again()
{
  System             small, large;
  Spoilt             spoilt;
  const Options      set(Deflated(3, "-ksp_gmres_restart 8 -ksp_rtol 1e-6 -ksp_max_it 2000 -ksp_pc_side left"));
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscReal          norm;

  PetscFunctionBeginUser;
  PetscCall(small.Create(nonsymmetric::Convection(5, 21, 20, 1, 0.3, true)));
  PetscCall(large.Create(nonsymmetric::Convection(5, 37, 30, 1, 0.3, true)));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetApply(pc, ApplySpoilt));
  PetscCall(PCShellSetContext(pc, &spoilt));
  for (const System *s : {&small, &large, &small}) {
    Vec x;
    PetscCall(VecDuplicate(s->b, &x));
    PetscCall(KSPSetOperators(ksp, s->A, s->A));
    for (const PetscInt good :
         {(PetscInt)11, (PetscInt)13, (PetscInt)15, (PetscInt)PETSC_MAX_INT}) { // in the second cycle and behind it
      spoilt.good = good;
      PetscCall(KSPSolve(ksp, s->b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(KSPGetIterationNumber(ksp, &iterations));
      PetscCall(VecNorm(x, NORM_2, &norm));
      PetscCheck((reason > 0) == (good == PETSC_MAX_INT) && !PetscIsInfOrNanReal(norm), PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB,
                 "NaN after %" PetscInt_FMT " applications: reason %d, iteration %" PetscInt_FMT ", |x| = %g", good,
                 (int)reason, iterations, (double)norm);
    }
    PetscCall(VecDestroy(&x));
    PetscCall(KSPReset(ksp));
    PetscCall(KSPGetPC(ksp, &pc));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A guess that is the solution, a right-hand side of zeros and of NaN end as without.
static PetscErrorCode Ends()
{
  PetscFunctionBeginUser;
  for (const char *pc : {"none", "jacobi"}) {
    System        s;
    Vec           x, zero;
    const Options set(Deflated(3, std::string("-ksp_gmres_restart 6 -ksp_pc_side right -pc_type ") + pc));
    Outcome       first, second, none, bad;
    PetscCall(s.Create(nonsymmetric::Convection(5, 12, 11, 1, 0.3, true)));
    PetscCall(VecDuplicate(s.b, &zero));
    PetscCall(VecSet(zero, 0));
    PetscCall(SolveWith(s.A, s.b, nullptr, &first));
    PetscCall(VecDuplicate(first.x, &x));
    PetscCall(VecCopy(first.x, x));
    PetscCall(SolveWith(s.A, s.b, x, &second));
    PetscCall(SolveWith(s.A, zero, nullptr, &none));
    PetscCheck(first.reason > 0 && second.reason > 0 && second.iterations == 0 && none.reason > 0 &&
                   none.iterations == 0,
               PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reasons %d, %d, %d", (int)first.reason, (int)second.reason,
               (int)none.reason);
    PetscCall(VecSet(zero, (PetscReal)NAN));
    PetscCall(SolveWith(s.A, zero, nullptr, &bad));
    PetscCheck(bad.reason < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A right-hand side of NaN: reason %d",
               (int)bad.reason);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&zero));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"hard", Hard}, {"again", Again}, {"ends", Ends}});
}
