/// A PETSc object that its scope destroys, also when an error leaves the scope early.
#pragma once

#include <petscmat.h>

#include "petsc/compat.hpp"

template <class Object, PetscErrorCode (*Destroy)(Object *)> struct Owned {
  Object object = nullptr;

  Owned()                         = default;
  Owned(const Owned &)            = delete;
  Owned &operator=(const Owned &) = delete;
  ~Owned() { PetscCallAbort(PETSC_COMM_SELF, Destroy(&object)); }
  Object *operator&() { return &object; }
          operator Object() const { return object; }
};

using OwnedMat = Owned<Mat, MatDestroy>;
using OwnedVec = Owned<Vec, VecDestroy>;
