/// What orderings read of a Mat, and what they return.
#pragma once

#include <petscmat.h>
#include <string>
#include "pc/ordering/names.hpp"
#include "pc/symbolic/elimination.hpp"

namespace sparsegpu::ordering
{

/// Whether so many unknowns have no diagonal entry, or a zero, that pivots on the diagonal of a symmetric pattern will
/// be poor: an unknown that comes before its neighbours has none then, and of saddle points 6 to 45 % of them do. A
/// few are left to the values that elimination makes there.
inline bool ManyLackPivots(PetscInt lacking, PetscInt rows)
{
  constexpr PetscInt FEW = 512, PART = 5;
  return lacking > FEW && lacking > rows / PART;
}

/// The pattern of A + A^T without its diagonal. *moves, unless null: A lacks diagonal entries and has no symmetric
/// pattern, or lacks many, so that a factorization with pivots on the diagonal has to move rows first: then there may
/// be no pattern. Errors: PETSC_ERR_SUP where the type of A gives no rows; PETSC_ERR_ARG_SIZ if it is not square.
PetscErrorCode GraphOf(Mat A, SymmetricPattern *pattern, bool *moves = nullptr);
/// Row order[k] is eliminated k-th, and so is that column.
PetscErrorCode CreateOrder(const Indices &order, IS *row, IS *column);
/// The indices of the process.
PetscErrorCode TakeIndices(IS is, Indices *all);
/// What an ordering says of how it was found goes along with its rows; empty where it says nothing.
PetscErrorCode SetTaken(IS row, const std::string &taken);
PetscErrorCode GetTaken(IS row, std::string *taken);
/// MatGetOrdering(), of the columns. *taken, unless null: GetTaken().
PetscErrorCode OrderOf(Mat A, const char type[], Indices *order, std::string *taken = nullptr);
/// The same of a symmetric pattern, whose weights PETSc's types do not know.
PetscErrorCode OrderByPetsc(const SymmetricPattern &A, const char type[], Indices *order);

} // namespace sparsegpu::ordering
