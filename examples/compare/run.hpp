/// One matrix through PETSc's own types and every format of sparsegpu.
#pragma once

#include "report.hpp"

#include <petscmat.h>

struct Settings {
  std::vector<std::string> formats; ///< of sparsegpu, "auto" among them; empty: all
  std::string              backend; ///< "kokkos" or "cuda"; empty: all there are
  PetscBool                check_only = PETSC_FALSE;
  PetscInt                 products   = 10;          ///< at least so many are timed
  PetscBool                device     = PETSC_FALSE; ///< there is a GPU
};

/// Fills c->results from the AIJ matrix A; `progress` begins the progress line. Collective.
/// Errors: those of the library for names it does not know and for a GPU that is not there.
PetscErrorCode RunCase(Mat A, const Settings &settings, const std::string &progress, Case *c);
