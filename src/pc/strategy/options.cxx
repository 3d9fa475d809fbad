/// The options of PCSPARSEGPU, read into a copy by the caller so that a refused value changes nothing.
#include "pc/strategy/options.hpp"
#include "sparsegpu.h"

namespace sparsegpu::strategy
{

const char *const FactorNames[10] = {
    "ilu", "icc", "none", "blocks", "lu", "cholesky", "polynomial", "PCSparseGPUFactor", "", nullptr};

PcOptions::PcOptions()
{
  PetscCallAbort(PETSC_COMM_SELF, MatFactorInfoInitialize(&info));
  info.fill        = 1;
  info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info.shiftamount = 100 * PETSC_MACHINE_EPSILON;
}

PetscErrorCode PcOptions::ReadOrdering(SparseGPUOptionItems PetscOptionsObject)
{
  char      name[128];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsFList("-pc_factor_mat_ordering_type", "Ordering", "PCFactorSetMatOrderingType", MatOrderingList,
                              ordering.c_str(), name, sizeof(name), &set));
  if (set) PetscCallCXX(ordering = name);
  PetscCall(PetscOptionsFList("-pc_sparsegpu_ordering",
                              "Ordering; by default natural, or abmc for narrow levels on a GPU", "PCSPARSEGPU",
                              MatOrderingList, ordering.c_str(), name, sizeof(name), &set));
  if (set) PetscCallCXX(ordering = name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PcOptions::ReadSubdomains(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  char      text[64];
  PetscEnum kind = static_cast<PetscEnum>(static_cast<int>(subdomains.kind));
  PetscBool count_set, kind_set;

  PetscFunctionBegin;
  PetscCall(
      PetscOptionsString("-pc_sparsegpu_subdomains",
                         "Incomplete factors without couplings between so many parts of a process's rows, or auto",
                         "PCSPARSEGPU", subdomains.Name().c_str(), text, sizeof(text), &count_set));
  if (count_set) PetscCall(subdomains.Parse(text));
  PetscCall(PetscOptionsEnum("-pc_sparsegpu_subdomains_cut", "How subdomains are cut", "PCSPARSEGPU", CutNames, kind,
                             &kind, &kind_set));
  subdomains.kind = static_cast<CutKind>(static_cast<int>(kind));
  if (count_set || kind_set) subdomains_are_set = true;
  PetscCheck(Incomplete() || !(subdomains.automatic || subdomains.count > 1), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP, "-pc_sparsegpu_subdomains %s needs the factors ilu, icc or none, not %s",
             subdomains.Name().c_str(), FactorNames[static_cast<int>(factor)]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PcOptions::ReadPrecision(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  PetscEnum precision = static_cast<PetscEnum>(static_cast<int>(single));
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_sparsegpu_factor_precision", "How the values of incomplete factors are kept",
                             "PCSPARSEGPU", PrecisionNames, precision, &precision, &set));
  single = static_cast<int>(precision) != 0;
  if (set) precision_is_set = true;
  PetscCheck(!single || Incomplete(), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_sparsegpu_factor_precision single needs the factors ilu, icc or none, not %s",
             FactorNames[static_cast<int>(factor)]);
  PetscCheck(!single || engine == Engine::Auto || !IsExact(engine), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_sparsegpu_factor_precision single needs -pc_sparsegpu_solve auto, jacobi or isai, not %s",
             EngineNames[static_cast<int>(engine)]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PcOptions::ReadFactorInfo(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  PetscInt  levels = static_cast<PetscInt>(info.levels);
  PetscEnum shift  = static_cast<PetscEnum>(static_cast<int>(info.shifttype));
  PetscBool set, flag;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-pc_factor_levels", "Levels of fill", "PCFactorSetLevels", levels, &levels, nullptr));
  PetscCall(PetscOptionsInt("-pc_sparsegpu_levels", "Levels of fill", "PCSPARSEGPU", levels, &levels, nullptr));
  PetscCheck(levels >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Levels of fill must be non-negative, not %" PetscInt_FMT, levels);
  info.levels = static_cast<PetscReal>(PetscMin(levels, 1 << 30)); // single precision rounds the largest integer up
  PetscCall(PetscOptionsEnum("-pc_factor_shift_type", "What becomes of zero pivots", "PCFactorSetShiftType",
                             MatFactorShiftTypes, shift, &shift, &set));
  if (set) {
    shift_is_set   = true;
    info.shifttype = static_cast<PetscReal>(static_cast<int>(shift));
  }
  PetscCall(PetscOptionsReal("-pc_factor_shift_amount", "Added to the diagonal", "PCFactorSetShiftAmount",
                             info.shiftamount, &info.shiftamount, nullptr));
  PetscCall(PetscOptionsReal("-pc_factor_zeropivot", "Pivots up to this are zero", "PCFactorSetZeroPivot",
                             info.zeropivot, &info.zeropivot, nullptr));
  flag = info.diagonal_fill != 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-pc_factor_diagonal_fill", "Put in missing diagonal entries",
                             "PCFactorSetAllowDiagonalFill", flag, &flag, nullptr));
  info.diagonal_fill = flag;
  flag               = keep_order ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-pc_factor_reuse_ordering", "Keep the ordering when the pattern changes",
                             "PCFactorSetReuseOrdering", flag, &flag, nullptr));
  keep_order = flag == PETSC_TRUE;
  // as PCILU takes them: nothing is allocated by a guess here
  PetscCall(PetscOptionsReal("-pc_factor_fill", "Expected fill; not needed", "PCFactorSetFill", info.fill, &info.fill,
                             nullptr));
  PetscCall(PetscOptionsBool("-pc_factor_reuse_fill", "Expect the fill of the last factorization; not needed",
                             "PCFactorSetReuseFill", PETSC_FALSE, &flag, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PcOptions::Read(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  PetscInt  solves = static_cast<PetscInt>(engine);
  PetscEnum kind   = static_cast<PetscEnum>(static_cast<int>(factor));
  PetscBool set, flag = check ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_sparsegpu_factor",
                             "Incomplete or direct factorization, the matrix's own triangles, LU of small blocks, "
                             "or none of these: a polynomial",
                             "PCSPARSEGPU", FactorNames, kind, &kind, nullptr));
  factor = static_cast<FactorChoice>(static_cast<int>(kind));
  PetscCall(blocks.Read(PetscOptionsObject));
  PetscCall(polynomial.Read(pc, PetscOptionsObject));
  PetscCall(PetscOptionsEList("-pc_sparsegpu_solve", "Triangular solves", "PCSPARSEGPU", EngineNames, ENGINES,
                              EngineNames[solves], &solves, &set));
  if (set) engine_is_set = true;
  engine = static_cast<Engine>(solves);
  PetscCall(ReadPrecision(pc, PetscOptionsObject));
  PetscCall(ReadOrdering(PetscOptionsObject));
  PetscCall(ReadSubdomains(pc, PetscOptionsObject));
  PetscCall(ReadFactorInfo(pc, PetscOptionsObject));
  PetscCall(PetscOptionsBool("-pc_sparsegpu_check", "Wait for the end of each solve and tell how it went",
                             "PCSPARSEGPU", flag, &flag, nullptr));
  check = flag == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool PcOptions::NeedSetUpAfter(const PcOptions &before) const
{
  return factor != before.factor || engine != before.engine || single != before.single || ordering != before.ordering ||
         check != before.check || info.levels != before.info.levels ||
         info.diagonal_fill != before.info.diagonal_fill || !(blocks == before.blocks) ||
         !(polynomial == before.polynomial) || !(subdomains == before.subdomains);
}

} // namespace sparsegpu::strategy
