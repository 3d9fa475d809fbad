/// Options are read into a copy, so that a bad one changes nothing.
#include "pc/amg/settings.hpp"
#include "pc/classical/classical.hpp"

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

/// Those given are of the finest levels; other levels are visited once.
PetscErrorCode ReadVisits(PC pc, Settings *s, SparseGPUOptionItems PetscOptionsObject)
{
  const MPI_Comm                   comm  = PetscObjectComm((PetscObject)pc);
  PetscInt                         given = MAX_LEVELS;
  PetscBool                        found;
  std::array<PetscInt, MAX_LEVELS> visits;

  PetscFunctionBegin;
  visits.fill(1);
  PetscCall(
      PetscOptionsIntArray("-pc_sparsegpuamg_visits",
                           "Of the next coarser level, for each level; classical: 1,2 where no cycle is asked for",
                           "PCSPARSEGPUAMG", visits.data(), &given, &found));
  if (found) {
    s->visits       = visits;
    s->visits_asked = true;
  }
  for (PetscInt l = 0; l < MAX_LEVELS; l++)
    PetscCheck(s->visits[l] >= 1 && s->visits[l] <= MAX_VISITS, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_sparsegpuamg_visits %" PetscInt_FMT " of level %" PetscInt_FMT
               " must be at least 1, and at most %" PetscInt_FMT,
               s->visits[l], l, MAX_VISITS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(PC pc, const Settings &s)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(s.coarse_eq_limit >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_coarse_eq_limit %" PetscInt_FMT " must be non-negative", s.coarse_eq_limit);
  PetscCheck(s.process_eq_limit >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_process_eq_limit %" PetscInt_FMT " must be positive, or 0 for no gathering",
             s.process_eq_limit);
  PetscCheck(s.tail >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_tail %" PetscInt_FMT " must be positive, or 0 for no coarse tail", s.tail);
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

PetscErrorCode CheckClassical(PC pc, const Settings &s)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(s.strong_threshold >= 0 && s.strong_threshold < 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_strong_threshold %g must be at least 0 and below 1", (double)s.strong_threshold);
  PetscCheck(s.max_row_sum > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_max_row_sum %g must be positive; 1 or more: no row is looked at", (double)s.max_row_sum);
  PetscCheck(s.truncation >= 0 && s.truncation < 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_truncation %g must be at least 0 and below 1", (double)s.truncation);
  PetscCheck(s.complexity == 0 || s.complexity >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_complexity %g must be at least 1, or 0 for no limit", (double)s.complexity);
  PetscCheck(s.max_elements >= 0 && s.max_elements <= classical::Options::MOST_ELEMENTS, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpuamg_max_elements %" PetscInt_FMT " must be between 1 and %" PetscInt_FMT ", or 0 for all",
             s.max_elements, classical::Options::MOST_ELEMENTS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An option whose values are names, which `allowed` lists for people.
template <class Value, size_t COUNT> PetscErrorCode ReadName(PC pc, const char option[], const char text[],
                                                             const char *const (&names)[COUNT], const char allowed[],
                                                             Value *value, SparseGPUOptionItems PetscOptionsObject)
{
  char      name[64];
  PetscBool given, same;

  PetscFunctionBegin;
  PetscCall(PetscOptionsString(option, text, "PCSPARSEGPUAMG", names[static_cast<size_t>(*value)], name, sizeof(name),
                               &given));
  for (size_t t = 0; t < COUNT && given; t++) {
    PetscCall(PetscStrcasecmp(name, names[t], &same));
    if (!same) continue;
    *value = static_cast<Value>(t);
    given  = PETSC_FALSE;
  }
  PetscCheck(!given, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "%s %s must be %s", option, name,
             allowed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadNames(PC pc, Settings *s, SparseGPUOptionItems PetscOptionsObject)
{
  const char *const types[] = {"auto", "aggregation", "classical"}, *const cycles[] = {"mg", "v", "w", "k"};
  const char *const smoothers[]  = {"chebyshev", "l1jacobi", "gauss_seidel", "symmetric_gauss_seidel", "ilu"};
  const char *const precisions[] = {"full", "single"};
  const char *const finest[]     = {"chebyshev", "l1jacobi", "gauss_seidel", "symmetric_gauss_seidel",
                                    "ilu",       "auto",     "same"};

  PetscFunctionBegin;
  PetscCall(ReadName(pc, "-pc_sparsegpuamg_type", "Coarsening: auto, aggregation or classical", types,
                     "auto, aggregation or classical", &s->type, PetscOptionsObject));
  PetscCall(ReadName(pc, "-pc_sparsegpuamg_cycle_type", "v, w or k; mg: as -pc_mg_cycle_type", cycles,
                     "v, w, k, or mg for that of -pc_mg_cycle_type", &s->cycle, PetscOptionsObject));
  PetscCall(ReadName(pc, "-pc_sparsegpuamg_smoother", "What smooths on levels", smoothers,
                     "chebyshev, l1jacobi, gauss_seidel, symmetric_gauss_seidel or ilu", &s->smoother,
                     PetscOptionsObject));
  PetscCall(ReadName(pc, "-pc_sparsegpuamg_precision", "Of values that products of a cycle read", precisions,
                     "full or single", &s->precision, PetscOptionsObject));
  PetscCall(ReadName(pc, "-pc_sparsegpuamg_finest_smoother", "What smooths on the finest level", finest,
                     "chebyshev, l1jacobi, gauss_seidel, symmetric_gauss_seidel, ilu, auto or same",
                     &s->finest_smoother, PetscOptionsObject));
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
  struct RealOption {
    const char *name, *text;
    PetscReal Settings::*value;
  };
  struct BoolOption {
    const char *name, *text;
    bool Settings::*value;
  };
  const IntOption ints[] = {
      {"-pc_mg_levels", "Levels at most", &Settings::levels},
      {"-pc_sparsegpuamg_levels", "Levels at most", &Settings::levels},
      {"-pc_sparsegpuamg_coarse_eq_limit", "A level of so many unknowns is the coarsest", &Settings::coarse_eq_limit},
      {"-pc_sparsegpuamg_process_eq_limit", "Unknowns of coarse levels for each process", &Settings::process_eq_limit},
      {"-pc_sparsegpuamg_agg_nsmooths", "Steps that smooth the prolongator", &Settings::nsmooths},
      {"-pc_sparsegpuamg_max_elements", "Entries in a row of classical interpolation", &Settings::max_elements}};
  const RealOption reals[] = {
      {"-pc_sparsegpuamg_strong_threshold", "Of strong couplings, over the largest", &Settings::strong_threshold},
      {"-pc_sparsegpuamg_max_row_sum", "Of rows with couplings, over the diagonal", &Settings::max_row_sum},
      {"-pc_sparsegpuamg_truncation", "Least entry of interpolation, over the largest", &Settings::truncation},
      {"-pc_sparsegpuamg_complexity", "A level is left out of a hierarchy that has more", &Settings::complexity}};
  const BoolOption bools[] = {
      {"-pc_sparsegpuamg_reuse_interpolation", "For new values in the old pattern", &Settings::reuse_interpolation},
      {"-pc_sparsegpuamg_filter", "Weak couplings do not smooth the prolongator", &Settings::filter},
      {"-pc_sparsegpuamg_fused_cycle", "Smoothers in few passes, where they are the default", &Settings::fused_cycle},
      {"-pc_sparsegpuamg_use_sa_esteig", "Smoothers take the prolongator's eigenvalues", &Settings::use_sa_esteig}};
  Settings  next  = *this;
  PetscBool asked = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(ReadNames(pc, &next, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-pc_sparsegpuamg_aggressive_coarsening", "Finest levels whose next one is much smaller",
                            "PCSPARSEGPUAMG", next.aggressive, &next.aggressive, &asked));
  if (asked) next.aggressive_asked = true;
  PetscCall(PetscOptionsInt("-pc_sparsegpuamg_tail", "Unknowns of levels in the coarse tail", "PCSPARSEGPUAMG",
                            next.tail, &next.tail, &asked));
  if (asked) next.tail_asked = true;
  for (const RealOption &o : reals)
    PetscCall(PetscOptionsReal(o.name, o.text, "PCSPARSEGPUAMG", next.*o.value, &(next.*o.value), nullptr));
  for (const IntOption &o : ints) {
    PetscCall(PetscOptionsInt(o.name, o.text, "PCSPARSEGPUAMG", next.*o.value, &(next.*o.value), nullptr));
    if (o.value == &Settings::levels) PetscCall(CheckLevels(pc, o.name, next.levels)); // PCMG reads one of them, too
  }
  for (const BoolOption &o : bools) {
    PetscBool value = next.*o.value ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscOptionsBool(o.name, o.text, "PCSPARSEGPUAMG", value, &value, nullptr));
    next.*o.value = value;
  }
  PetscCall(ReadVisits(pc, &next, PetscOptionsObject));
  PetscCall(ReadThresholds(&next, PetscOptionsObject));
  PetscCall(Check(pc, next));
  PetscCall(CheckClassical(pc, next));
  *this = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Settings::SameHierarchy(const Settings &other) const
{
  return type == other.type && levels == other.levels && coarse_eq_limit == other.coarse_eq_limit &&
         process_eq_limit == other.process_eq_limit && nsmooths == other.nsmooths && aggressive == other.aggressive &&
         aggressive_asked == other.aggressive_asked && filter == other.filter && threshold == other.threshold &&
         strong_threshold == other.strong_threshold && max_row_sum == other.max_row_sum &&
         truncation == other.truncation && complexity == other.complexity && max_elements == other.max_elements;
}

} // namespace sparsegpu::amg
