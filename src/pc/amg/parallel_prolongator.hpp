/// The smoothed prolongator of a parallel matrix, by the one pass that makes that of a sequential one.
#pragma once

#include "pc/aggregate/aggregate.hpp"

namespace sparsegpu::amg
{

/// *P, a new matrix of A's type, (I - damping D^-1 A) P0 of aggregates that do not reach over processes; `columns` of
/// its columns are this process's. threshold > 0: A is without its couplings below it, see WithoutWeak(). Collective.
/// Errors, on all processes: PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE.
PetscErrorCode CreateParallelProlongator(Mat A, const aggregate::Aggregates &aggregates,
                                         const aggregate::Tentative &tentative, PetscReal damping, PetscReal threshold,
                                         PetscInt columns, Mat *P);

} // namespace sparsegpu::amg
