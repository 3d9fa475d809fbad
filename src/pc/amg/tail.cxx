/// The coarse tail on the host, one row after the other: the arithmetic of the device's, for tests.
#include "pc/amg/tail.hpp"
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

namespace
{
struct HostTeam {
  template <class Done>
  void Product(PetscInt rows, const PetscInt *list, const TailMatrix &A, const Scalar *x, bool, const Done &done) const
  {
    for (PetscInt k = 0; k < rows; k++) {
      const PetscInt row = list ? list[k] : k;
      Scalar         sum(0);
      for (PetscInt e = A.csr.i[row]; e < A.csr.i[row + 1]; e++) sum += A.csr.a[e] * x[A.csr.j[e]];
      done(row, sum);
    }
  }
  void Dense(PetscInt n, const Scalar *A, const Scalar *x, Scalar *y) const
  {
    for (PetscInt row = 0; row < n; row++) {
      y[row] = Scalar(0);
      for (PetscInt j = 0; j < n; j++) y[row] += A[row * n + j] * x[j];
    }
  }
  template <class Done> void Each(PetscInt rows, bool, const Done &done) const
  {
    for (PetscInt row = 0; row < rows; row++) done(row, Scalar(0));
  }
  void Sync(bool) const {}
};

PetscErrorCode RunTail_Host(const Tail &tail, bool zero, bool *launched)
{
  const HostTeam      team;
  TailCycle<HostTeam> cycle(tail, team);

  PetscFunctionBegin;
  cycle.Run(zero);
  *launched = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode PlanTail(Space space, Tail *tail)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    PetscCall(PlanTail_CUDA(tail));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)space;
  tail->blocks = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunTail(Space space, const Tail &tail, bool zero, bool *launched)
{
  PetscFunctionBegin;
  (void)space; // where there is no CUDA
  PetscCall(SPARSEGPU_LAUNCH(space, RunTail_CUDA(tail, zero, launched), RunTail_Host(tail, zero, launched)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
