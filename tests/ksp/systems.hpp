/// Linear systems for the solvers, solved under any options, and what came out.
#pragma once

#include "../family.hpp"

namespace testing
{

struct Outcome {
  PetscInt               iterations = 0;
  KSPConvergedReason     reason     = KSP_CONVERGED_ITERATING;
  PetscReal              told       = 0;        ///< the residual norm that the solver ended with
  PetscReal              residual = 0, rhs = 0; ///< norms of b - A x and of b
  std::vector<PetscReal> history;
  Vec                    x = nullptr;

  Outcome()                           = default;
  Outcome(const Outcome &)            = delete;
  Outcome &operator=(const Outcome &) = delete;
  ~Outcome() { PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&x)); }
};

/// A vector on the host that A can be applied to, whatever vectors A makes.
inline PetscErrorCode HostVector(Mat A, Vec *v)
{
  PetscInt local, global;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &local, nullptr));
  PetscCall(MatGetSize(A, &global, nullptr));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v));
  PetscCall(VecSetSizes(*v, local, global));
  PetscCall(VecSetType(*v, VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// b = A applied to entries of full mantissa. Collective.
inline PetscErrorCode KnownRhs(Mat A, Vec b)
{
  Vec      x;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, nullptr));
  PetscCall(VecGetSize(x, &n));
  PetscCall(SetVector(x, Input(n, 5, Poison::None)));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves A x = b with the options that are set; x is the guess where it is not null. Before the solve `prepare`, if
/// given, sees the KSP.
inline PetscErrorCode SolveWith(Mat A, Vec b, Vec guess, Outcome *out, PetscErrorCode (*prepare)(KSP, void *) = nullptr,
                                void *context = nullptr)
{
  KSP              ksp;
  Vec              r;
  const PetscReal *norms;
  PetscInt         count;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &out->x));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetResidualHistory(ksp, nullptr, 100000, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  if (guess) {
    PetscCall(VecCopy(guess, out->x));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  }
  if (prepare) PetscCall(prepare(ksp, context));
  PetscCall(KSPSolve(ksp, b, out->x));
  PetscCall(KSPGetIterationNumber(ksp, &out->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &out->reason));
  PetscCall(KSPGetResidualNorm(ksp, &out->told));
  PetscCall(KSPGetResidualHistory(ksp, &norms, &count));
  out->history.assign(norms, norms + count);
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, out->x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &out->residual));
  PetscCall(VecNorm(b, NORM_2, &out->rhs));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does KSPView() say `fact` after a solve with the options that are set? `name`: of a file meanwhile.
inline PetscErrorCode ViewTells(Mat A, Vec b, const char name[], const char fact[], bool *tells)
{
  KSP         ksp;
  Vec         x;
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(
      TextOf(PetscObjectComm((PetscObject)A), name, &text, [&](PetscViewer viewer) { return KSPView(ksp, viewer); }));
  *tells = text.find(fact) != std::string::npos;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A diagonally dominant 5-point matrix, not symmetric; complex where scalars are.
inline Problem Convection(PetscInt nx, PetscInt ny)
{
  Problem p = conformance::Grid("convection", nx, ny, false);
#if defined(PETSC_USE_COMPLEX)
  for (conformance::Entry &e : p.entries) e.v += PetscCMPLX(0, (e.i == e.j ? 0.3 : 0.1));
#endif
  return p;
}

/// For solves that are compared step by step: in single precision those of two orders of summation part before 1e-4,
/// when rounding errors have grown by 10^5.
inline std::string SameSteps()
{
  return PetscDefined(USE_REAL_SINGLE) ? " -ksp_rtol 1e-2" : " -ksp_rtol 1e-4";
}

/// As many iterations, but for one that rounding errors decide, for the same reason; the residual norm that ours tells
/// of is the true one, up to what is lost in `iterations` steps.
inline PetscErrorCode CheckSame(const std::string &what, const Outcome &ours, const Outcome &petsc)
{
  PetscFunctionBeginUser;
  PetscCheck(std::abs(ours.iterations - petsc.iterations) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " iterations, PETSc takes %" PetscInt_FMT, what.c_str(), ours.iterations,
             petsc.iterations);
  // in an invariant space the recurrence's norm is 0 or a rounding error, the true one a rounding error: either reason
  const auto      small = [](KSPConvergedReason r) { return r == KSP_CONVERGED_ATOL || r == KSP_CONVERGED_RTOL; };
  const PetscReal exact = PetscSqrtReal(PETSC_MACHINE_EPSILON) * ours.rhs;
  const bool      both = small(ours.reason) && small(petsc.reason) && ours.residual <= exact && petsc.residual <= exact;
  PetscCheck(ours.reason == petsc.reason || both, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: reason %d, PETSc's %d",
             what.c_str(), (int)ours.reason, (int)petsc.reason);
  PetscCheck((PetscInt)ours.history.size() == ours.iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %d norms in the history of %" PetscInt_FMT " iterations", what.c_str(), (int)ours.history.size(),
             ours.iterations);
  // one iteration more or less changes the residual by at most the factor between the last two of PETSc's
  const size_t    last = petsc.history.size();
  const PetscReal slack =
      last > 1 && petsc.history[last - 1] > 0 ? petsc.history[last - 2] / petsc.history[last - 1] : 1;
  PetscCheck(ours.residual <=
                 2 * std::max<PetscReal>(slack, 1) * petsc.residual + 100 * PETSC_MACHINE_EPSILON * ours.rhs,
             PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: residual %g, PETSc's %g", what.c_str(), (double)ours.residual,
             (double)petsc.residual);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
