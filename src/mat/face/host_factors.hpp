/// Factorizations on the host of matrices whose values may be newest on the device: PETSc's own, and those of the
/// packages that it has interfaces to. A factorization is an operation of the factor F, not of the matrix A that it is
/// made of, and many of them read A's array without an accessor: nothing that A has could bring its values home first.
///
/// Therefore the creator of F that PETSc has for a package and a kind of factorization is replaced by one of ours,
/// which calls it and exchanges F's symbolic and numeric factorizations for ones that bring A's values home before the
/// package's own run. The exchanged functions are composed with F, so that they live and die with it. For a matrix of
/// another type nothing else happens. No other place of this library registers under a name that PETSc has: the package
/// of a factor is found under the name of the parent type, whose entry precedes all that could be registered for ours.
#pragma once

#include <petscmat.h>

namespace sparsegpu::face
{

/// For all packages that PETSc knows. The order in which PETSc searches them stays as it is. Later calls do nothing;
/// MatFinalizePackage(), before PETSc closes libraries, empties the table that the creators are in.
PetscErrorCode BringHomeForHostFactors();

} // namespace sparsegpu::face
