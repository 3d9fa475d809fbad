/// Options are read into a copy, so that a bad one changes nothing.
#include "pc/amg/settings.hpp"

namespace sparsegpu::amg
{

namespace
{
/// Given values take the places of the first levels; the others follow from the last one by the scale.
PetscErrorCode ReadThresholds(Settings *s, SparseGPUOptionItems PetscOptionsObject)
{
  PetscInt  given = MAX_LEVELS;
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PetscOptionsReal("-pc_sparsegpuamg_threshold_scale",
                             "Scale of the threshold from a level to the next coarser", "PCSPARSEGPUAMG",
                             s->threshold_scale, &s->threshold_scale, nullptr));
  PetscCall(PetscOptionsRealArray("-pc_sparsegpuamg_threshold",
                                  "Couplings below this, relative, are dropped, for each level", "PCSPARSEGPUAMG",
                                  s->threshold.data(), &given, &found));
  if (!found || given == 0) given = 1;
  for (PetscInt l = given; l < MAX_LEVELS; l++) s->threshold[l] = s->threshold[l - 1] * s->threshold_scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(PC pc, const Settings &s)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(s.coarse_eq_limit >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_coarse_eq_limit %" PetscInt_FMT " must be non-negative", s.coarse_eq_limit);
  PetscCheck(s.nsmooths >= 0 && s.nsmooths <= MAX_SMOOTHS, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_agg_nsmooths %" PetscInt_FMT " must be non-negative, and at most %" PetscInt_FMT,
             s.nsmooths, MAX_SMOOTHS);
  PetscCheck(s.aggressive >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_aggressive_coarsening %" PetscInt_FMT " must be non-negative", s.aggressive);
  PetscCheck(s.threshold_scale > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_threshold_scale %g must be positive", (double)s.threshold_scale);
  for (PetscInt l = 0; l < MAX_LEVELS; l++)
    PetscCheck(s.threshold[l] < 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_sparsegpuamg_threshold %g of level %" PetscInt_FMT
               " must be below 1; negative: no coupling is dropped",
               (double)s.threshold[l], l);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CheckLevels(PC pc, const char option[], PetscInt levels)
{
  PetscFunctionBegin;
  PetscCheck(levels >= 1 && levels <= MAX_LEVELS, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "%s %" PetscInt_FMT " must be between 1 and %" PetscInt_FMT, option, levels, MAX_LEVELS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Settings::Read(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  struct IntOption {
    const char *name, *text;
    PetscInt Settings::*value;
  };
  struct BoolOption {
    const char *name, *text;
    bool Settings::*value;
  };
  const IntOption ints[] = {
      {"-pc_mg_levels", "Levels at most", &Settings::levels},
      {"-pc_sparsegpuamg_levels", "Levels at most", &Settings::levels},
      {"-pc_sparsegpuamg_coarse_eq_limit", "A level of so many unknowns is the coarsest", &Settings::coarse_eq_limit},
      {"-pc_sparsegpuamg_agg_nsmooths", "Steps that smooth the prolongator", &Settings::nsmooths},
      {"-pc_sparsegpuamg_aggressive_coarsening", "Finest levels with roots three couplings apart",
       &Settings::aggressive}};
  const BoolOption bools[] = {
      {"-pc_sparsegpuamg_reuse_interpolation", "For new values in the old pattern", &Settings::reuse_interpolation},
      {"-pc_sparsegpuamg_filter", "Weak couplings do not smooth the prolongator", &Settings::filter},
      {"-pc_sparsegpuamg_fused_cycle", "Smoothers in few passes, where they are the default", &Settings::fused_cycle},
      {"-pc_sparsegpuamg_use_sa_esteig", "Smoothers take the prolongator's eigenvalues", &Settings::use_sa_esteig}};
  Settings next = *this;

  PetscFunctionBegin;
  for (const IntOption &o : ints) {
    PetscCall(PetscOptionsInt(o.name, o.text, "PCSPARSEGPUAMG", next.*o.value, &(next.*o.value), nullptr));
    if (o.value == &Settings::levels) PetscCall(CheckLevels(pc, o.name, next.levels)); // PCMG reads one of them, too
  }
  for (const BoolOption &o : bools) {
    PetscBool value = next.*o.value ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscOptionsBool(o.name, o.text, "PCSPARSEGPUAMG", value, &value, nullptr));
    next.*o.value = value;
  }
  PetscCall(ReadThresholds(&next, PetscOptionsObject));
  PetscCall(Check(pc, next));
  *this = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Settings::SameHierarchy(const Settings &other) const
{
  return levels == other.levels && coarse_eq_limit == other.coarse_eq_limit && nsmooths == other.nsmooths &&
         aggressive == other.aggressive && filter == other.filter && threshold == other.threshold;
}

} // namespace sparsegpu::amg
