/// The moved matrix becomes a Mat, so that any of PETSc's orderings serves.
#include "pc/lu/reorder.hpp"
#include <algorithm>
#include <cstring>
#include <petsc/private/petscimpl.h>
#include "pc/ordering/leastfill.hpp"
#include "pc/ordering/matrix.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

PetscErrorCode Reorder(const CsrView &B, void *context, std::vector<PetscInt> *order)
{
  const Reordering *c      = static_cast<Reordering *>(context);
  const char       *prefix = ((PetscObject)c->F)->prefix ? ((PetscObject)c->F)->prefix : ((PetscObject)c->A)->prefix;
  char              type[64];
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;
  PetscBool             set;
  Mat                   M;

  PetscFunctionBegin;
  if (B.a) { // as they are
    PetscCall(ordering::LeastFillOf(c->A, c->space, order, c->taken));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncpy(type, MATORDERINGLEASTFILL, sizeof(type)));
  PetscCall(PetscOptionsGetString(((PetscObject)c->A)->options, prefix, "-pc_factor_mat_ordering_type", type,
                                  sizeof(type), &set));
  PetscCallCXX(i.assign(B.i, B.i + B.rows + 1));
  PetscCallCXX(j.assign(B.j, B.j + B.nonzeros));
  PetscCallCXX(a.assign(B.nonzeros, Scalar(1)));
  for (PetscInt r = 0; r < B.rows; r++) std::sort(j.begin() + i[r], j.begin() + i[r + 1]);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B.rows, B.cols, i.data(), j.data(),
                                      reinterpret_cast<PetscScalar *>(a.data()), &M));
  PetscCall(PetscObjectSetOptions((PetscObject)M, ((PetscObject)c->A)->options));
  PetscCall(MatSetOptionsPrefix(M, ((PetscObject)c->A)->prefix));
  if (!strcmp(type, MATORDERINGLEASTFILL) || !strcmp(type, MATORDERINGEXTERNAL))
    PetscCall(ordering::LeastFillOf(M, c->space, order, c->taken));
  else
    PetscCall(ordering::OrderOf(M, type, order, c->taken));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
