/// PETSc's six products from one function z = op(A) x + y; y may be null or z.
#pragma once

#include <petsc/private/matimpl.h>
#include "mat/converted/converted.hpp"
#include "mat/face/names.hpp"

namespace sparsegpu::face
{

/// z = op(A) x + y of a parallel matrix. Collective.
PetscErrorCode MultiplyParallel(Mat A, Operation operation, Vec x, Vec y, Vec z);

template <PetscErrorCode (*multiply)(Mat, Operation, Vec, Vec, Vec)> struct Products {
  template <Operation operation> static PetscErrorCode Mult(Mat A, Vec x, Vec z)
  {
    PetscFunctionBegin;
    PetscCall(multiply(A, operation, x, nullptr, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <Operation operation> static PetscErrorCode MultAdd(Mat A, Vec x, Vec y, Vec z)
  {
    PetscFunctionBegin;
    PetscCall(multiply(A, operation, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Set(struct _MatOps *operations)
  {
    operations->mult                      = Mult<Operation::Normal>;
    operations->multadd                   = MultAdd<Operation::Normal>;
    operations->multtranspose             = Mult<Operation::Transpose>;
    operations->multtransposeadd          = MultAdd<Operation::Transpose>;
    operations->multhermitiantranspose    = Mult<Operation::ConjugateTranspose>;
    operations->multhermitiantransposeadd = MultAdd<Operation::ConjugateTranspose>;
  }
};

} // namespace sparsegpu::face
