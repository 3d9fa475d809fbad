/// Options are offered with their help, so that -help lists them, and checked afterwards: an error between
/// PetscOptionsBegin() and its end would lose what the former allocates.
#include "pc/lu/options.hpp"
#include <petsc/private/matimpl.h>
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

namespace
{
struct Given {
  LuOptions options;
  PetscInt  spins;
  char      matching[64], pivoted[64], host[64], spill[64];
  PetscEnum precision;
};

PetscErrorCode Offer(SparseGPUOptionItems PetscOptionsObject, Given *given)
{
  const char *const page = "MATSOLVERSPARSEGPU";
  LuOptions        *o    = &given->options;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_lu_refine",
                            "Steps of iterative refinement at most, before GMRES; 0: neither", page, o->refine,
                            &o->refine, nullptr));
  PetscCall(PetscOptionsString(
      "-mat_sparsegpu_lu_matching",
      "Rows moved, or unknowns paired, and scaled for strong pivots: auto (where they are poor), on, off", page,
      given->matching, given->matching, sizeof(given->matching), nullptr));
  PetscCall(PetscOptionsString("-mat_sparsegpu_lu_pivoted",
                               "Partial pivoting on the host: auto (where fronts miss the bound), on, off", page,
                               given->pivoted, given->pivoted, sizeof(given->pivoted), nullptr));
  PetscCall(PetscOptionsString("-mat_sparsegpu_lu_host",
                               "The host factors a system on a GPU: auto (where it is predicted to be faster), on, off",
                               page, given->host, given->host, sizeof(given->host), nullptr));
  PetscCall(PetscOptionsString("-mat_sparsegpu_lu_spill",
                               "Factors of large fronts in the host's memory, where solves on a GPU read them: auto "
                               "(where the GPU's does not suffice), on, off",
                               page, given->spill, given->spill, sizeof(given->spill), nullptr));
  PetscCall(PetscOptionsEnum("-mat_sparsegpu_lu_precision",
                             "How factors are kept and computed; single: solves are refined, or full takes over", page,
                             LuPrecisionNames, given->precision, &given->precision, nullptr));
  PetscCall(PetscOptionsReal("-mat_sparsegpu_lu_exchange",
                             "Rows of a tile change places where a pivot is smaller than this part of its column", page,
                             o->exchange, &o->exchange, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_lu_spins",
                            "On a GPU: polls without any progress after which a factorization or solve gives up", page,
                            given->spins, &given->spins, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *choice: the place of the name among `names`.
PetscErrorCode Choose(const char option[], const char name[], const char *const names[3], PetscInt *choice)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 3; k++)
    if (!strcmp(name, names[k])) {
      *choice = k;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s %s must be auto, on or off", option, name);
}
} // namespace

PetscErrorCode ReadOptions(Mat F, Mat A)
{
  const char *prefix = ((PetscObject)F)->prefix ? ((PetscObject)F)->prefix : ((PetscObject)A)->prefix;
  Given       given;
  LuOptions  &wanted = given.options;

  PetscFunctionBegin;
  wanted      = DirectOf(F)->options;
  given.spins = static_cast<PetscInt>(wanted.spins);
  PetscCall(PetscStrncpy(given.matching, LuMatchingNames[wanted.matching], sizeof(given.matching)));
  PetscCall(PetscStrncpy(given.pivoted, LuPivotedNames[wanted.pivoted], sizeof(given.pivoted)));
  PetscCall(PetscStrncpy(given.host, LuHostNames[wanted.host], sizeof(given.host)));
  PetscCall(PetscStrncpy(given.spill, LuSpillNames[wanted.spill], sizeof(given.spill)));
  given.precision = static_cast<PetscEnum>(static_cast<int>(wanted.single));
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), prefix, "Direct factorizations of sparsegpu", "Mat");
  PetscOptionsObject->options = ((PetscObject)A)->options;
  PetscCall(Offer(PetscOptionsObject, &given));
  PetscOptionsEnd();
  PetscCheck(given.spins > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_spins %" PetscInt_FMT " must be positive", given.spins);
  PetscCheck(wanted.refine >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_refine %" PetscInt_FMT " must be non-negative", wanted.refine);
  PetscCheck(wanted.exchange >= 0 && wanted.exchange <= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_exchange %g must be between 0 and 1", (double)wanted.exchange);
  PetscCall(Choose("-mat_sparsegpu_lu_matching", given.matching, LuMatchingNames, &wanted.matching));
  PetscCall(Choose("-mat_sparsegpu_lu_pivoted", given.pivoted, LuPivotedNames, &wanted.pivoted));
  PetscCall(Choose("-mat_sparsegpu_lu_host", given.host, LuHostNames, &wanted.host));
  PetscCall(Choose("-mat_sparsegpu_lu_spill", given.spill, LuSpillNames, &wanted.spill));
  wanted.spins         = given.spins;
  wanted.single        = static_cast<int>(given.precision) != 0;
  DirectOf(F)->options = wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
