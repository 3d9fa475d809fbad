/// Two matrices compared entry by entry, exactly.
#pragma once

#include "../family.hpp"

namespace testing
{

/// Both as Gather() has them.
inline PetscErrorCode CheckSameEntries(const Problem &ours, const Problem &aij, const std::string &what)
{
  const std::vector<conformance::Entry> &a = ours.entries, &b = aij.entries;

  PetscFunctionBeginUser;
  PetscCheck(a.size() == b.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu entries, aij has %zu", what.c_str(),
             a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k)
    PetscCheck(a[k].i == b[k].i && a[k].j == b[k].j && a[k].v == b[k].v, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: entry %zu is (%" PetscInt_FMT ", %" PetscInt_FMT ") = %g, not %g", what.c_str(), k, a[k].i, a[k].j,
               (double)PetscRealPart(a[k].v), (double)PetscRealPart(b[k].v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
