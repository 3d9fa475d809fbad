/// A solver of ours against PETSc's of the same method, both with the options that are set.
#pragma once

#include <algorithm>
#include "systems.hpp"

namespace testing
{

/// A matrix of ours with a right-hand side and a guess.
struct System {
  Mat A = nullptr;
  Vec b = nullptr, guess = nullptr;

  System()                          = default;
  System(const System &)            = delete;
  System &operator=(const System &) = delete;
  ~System()
  {
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&guess));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&b));
    PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&A));
  }
  PetscErrorCode Create(const Problem &p, const char format[] = nullptr, Layout layout = Layout::Even)
  {
    PetscFunctionBeginUser;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, layout, &A));
    PetscCall(MatCreateVecs(A, &guess, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(VecSet(guess, (PetscReal)0.5));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

inline PetscErrorCode SolveAs(const char type[], Mat A, Vec b, Vec guess, Outcome *out)
{
  const Option option("-ksp_type", type);

  PetscFunctionBeginUser;
  PetscCall(SolveWith(A, b, guess, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// CheckSame(), and the first norms, where rounding errors have not grown yet.
inline PetscErrorCode Compare(const char ours_type[], const char petsc_type[], Mat A, Vec b, Vec guess,
                              const std::string &options)
{
  const Options set(options);
  Outcome       ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(SolveAs(ours_type, A, b, guess, &ours));
  PetscCall(SolveAs(petsc_type, A, b, guess, &petsc));
  PetscCall(CheckSame(options, ours, petsc));
  if (!petsc.history.empty()) petsc.history.back() = petsc.told; // where bcgs ends exactly it logs the norm before
  for (size_t k = 0; k < std::min<size_t>(3, std::min(ours.history.size(), petsc.history.size())); ++k)
    PetscCheck(std::abs(ours.history[k] - petsc.history[k]) <= PetscSqrtReal(PETSC_MACHINE_EPSILON) * petsc.history[0],
               PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: norm %d is %g, PETSc's %g", options.c_str(), (int)k,
               (double)ours.history[k], (double)petsc.history[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same reason, iteration and number of norms where a solve breaks off. Of a norm that is zero, or would be without
/// rounding errors, either test may be told; without norms, whether it is, or the limit of iterations.
inline PetscErrorCode CompareEnd(const char ours_type[], const char petsc_type[], const std::string &what, Mat A, Vec b,
                                 Vec guess, const std::string &options)
{
  const Options set(options);
  Outcome       ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(SolveAs(ours_type, A, b, guess, &ours));
  PetscCall(SolveAs(petsc_type, A, b, guess, &petsc));
  const auto small = [](KSPConvergedReason r) { return r == KSP_CONVERGED_ATOL || r == KSP_CONVERGED_RTOL; };
  const bool none  = options.find("-ksp_norm_type none") != std::string::npos;
  const auto ends  = [&](KSPConvergedReason r) { return small(r) || (none && r == KSP_DIVERGED_ITS); };
  const bool alike = ours.reason == petsc.reason || (ends(ours.reason) && ends(petsc.reason));
  PetscCheck(alike && ours.iterations == petsc.iterations && ours.history.size() == petsc.history.size(),
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s %s: reason %d after %" PetscInt_FMT " iterations with %d norms; PETSc's %d, %" PetscInt_FMT ", %d",
             what.c_str(), options.c_str(), (int)ours.reason, ours.iterations, (int)ours.history.size(),
             (int)petsc.reason, petsc.iterations, (int)petsc.history.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
