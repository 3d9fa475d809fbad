/// Direct solvers that are not PETSc's.
#include "cudss_baseline.hpp"
#include "direct_times.hpp"
#include "petsc/compat.hpp"
#include "refactor_baseline.hpp"

#if defined(SPARSEGPU_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && \
    defined(PETSC_USE_REAL_DOUBLE)
bool HasOutside(const std::string &solver)
{
  #if defined(SPARSEGPU_CUDSS_THREADS)
  return solver == "cusolverrf" || solver == "cudss";
  #else
  return solver == "cusolverrf";
  #endif
}

/// A system on the host: the rows of A, and arrays of b and x.
struct HostSystem {
  PetscInt           n;
  const PetscInt    *i, *j;
  const PetscScalar *a, *b;
  PetscScalar       *x;
};

/// What failed, or "".
static std::string Measure(const std::string &solver, const HostSystem &s, const Settings &settings, bool cholesky,
                           Times *times)
{
  const int runs = static_cast<int>(settings.runs);

  #if defined(SPARSEGPU_CUDSS_THREADS)
  if (solver == "cudss") {
    const DirectKind     kind = cholesky ? DirectKind::PositiveDefinite : DirectKind::General;
    const BaselineDirect baseline =
        CudssDirect(kind, s.n, s.i[s.n], s.i, s.j, s.a, s.b, s.x,
                    BaselineRuns{runs, static_cast<int>(settings.firsts), static_cast<int>(settings.columns),
                                 settings.hybrid == PETSC_TRUE});
    times->first    = baseline.first;
    times->refactor = baseline.refactor;
    times->solve    = baseline.solve;
    times->many     = baseline.many;
    times->mb       = baseline.mb;
    return baseline.why;
  }
  #else
  (void)cholesky;
  #endif
  const BaselineRefactor baseline = CusolverRefactor(s.n, s.i[s.n], s.i, s.j, s.a, s.b, s.x, runs);
  times->first                    = baseline.first;
  times->refactor                 = baseline.refactor;
  times->solve                    = baseline.solve;
  return baseline.why;
}

PetscErrorCode TimeOutside(Mat A, const std::string &solver, const Settings &settings, Times *times)
{
  HostSystem s;
  char       type[32] = "";
  PetscBool  done;
  Vec        rhs, solution;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-pc_type", type, sizeof(type), nullptr));
  PetscCall(MatCreateVecs(A, &solution, &rhs));
  PetscCall(VecSet(solution, 1));
  PetscCall(MatMult(A, solution, rhs));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &s.n, &s.i, &s.j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &s.a));
  PetscCall(VecGetArrayRead(rhs, &s.b));
  PetscCall(VecGetArray(solution, &s.x));
  const std::string why = Measure(solver, s, settings, std::string(type) == PCCHOLESKY, times);
  PetscCall(VecRestoreArray(solution, &s.x));
  PetscCall(VecRestoreArrayRead(rhs, &s.b));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &s.a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &s.n, &s.i, &s.j, &done));
  PetscCall(BackwardError(A, rhs, solution, &times->error));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  PetscCheck(times->first >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s failed", solver.c_str(), why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
bool HasOutside(const std::string &)
{
  return false;
}

PetscErrorCode TimeOutside(Mat, const std::string &, const Settings &, Times *)
{
  return PETSC_ERR_SUP;
}
#endif
