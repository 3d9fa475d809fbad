/// MATSOLVERSPARSEGPU of incomplete factorizations: options, and PETSc's operations on the factor.
#include "pc/ilu/matsolver.hpp"
#include "pc/factor/matsolver.hpp"
#include "pc/ilu/factor.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ilu
{

Factor *FactorOf(Mat F)
{
  return static_cast<Factor *>(F->data);
}

namespace
{
PetscErrorCode MatFactorNumeric_SparseGPU(Mat F, Mat A, const MatFactorInfo *info)
{
  MatrixRows rows;

  PetscFunctionBegin;
  PetscCall(GetMatrixRows(A, &rows));
  PetscCheck(rows.csr.nonzeros == FactorOf(F)->MatrixNonzeros(), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has %" PetscInt_FMT " nonzeros, the symbolic factorization was made for %" PetscInt_FMT,
             rows.csr.nonzeros, FactorOf(F)->MatrixNonzeros());
  PetscCall(FactorOf(F)->Numeric(F, A, rows, *info));
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolve_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->Solve(b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatSolveTranspose_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->Solve(b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatForwardSolve_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveHalf(b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatBackwardSolve_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveHalf(b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_SparseGPU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveMany(B, X, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolveTranspose_SparseGPU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveMany(B, X, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the options of a factor say. It is checked later: an error between PetscOptionsBegin() and its end would lose
/// what the former allocates.
struct FactorOptions {
  char            engine[64], subdomains[64];
  PetscBool       engine_set, spins_set, check, subdomains_set;
  PetscEnum       cut, precision;
  PetscInt        spins;
  TrisolveOptions trisolve;
};
PetscErrorCode OfferFactorOptions(SparseGPUOptionItems PetscOptionsObject, FactorOptions *o)
{
  const char *const page = "MATSOLVERSPARSEGPU";

  PetscFunctionBegin;
  PetscCall(PetscOptionsString("-mat_sparsegpu_trisolve", "Triangular solves: auto, syncfree, level, jacobi or isai",
                               page, o->engine, o->engine, sizeof(o->engine), &o->engine_set));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_trisolve_sweeps", "jacobi: sweeps for each factor", page,
                            o->trisolve.sweeps, &o->trisolve.sweeps, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_trisolve_power",
                            "isai: the inverses have the pattern of the factors, 1, or of their squares, 2", page,
                            o->trisolve.power, &o->trisolve.power, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_trisolve_relax", "isai: relaxation steps with each factor", page,
                            o->trisolve.relax, &o->trisolve.relax, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_trisolve_warps", "On a GPU: warps at work at a time, 0: by the levels",
                            page, o->trisolve.warps, &o->trisolve.warps, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_trisolve_tile",
                            "On a GPU: warps that pass values through shared memory, 1, 4 or 8, 0: by the levels", page,
                            o->trisolve.tile, &o->trisolve.tile, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_trisolve_spins",
                            "On a GPU: polls without any progress after which a solve gives up", page, o->spins,
                            &o->spins, &o->spins_set));
  PetscCall(PetscOptionsString("-mat_sparsegpu_subdomains",
                               "Incomplete factors without couplings between so many parts of the rows, or auto", page,
                               o->subdomains, o->subdomains, sizeof(o->subdomains), &o->subdomains_set));
  PetscCall(PetscOptionsEnum("-mat_sparsegpu_subdomains_cut", "How subdomains are cut", page, CutNames, o->cut, &o->cut,
                             nullptr));
  PetscCall(PetscOptionsEnum("-mat_sparsegpu_factor_precision", "How the values of incomplete factors are kept", page,
                             PrecisionNames, o->precision, &o->precision, nullptr));
  PetscCall(PetscOptionsBool("-mat_sparsegpu_trisolve_check", "Wait for the end of each solve and tell how it went",
                             page, o->check, &o->check, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The options of the factor, or of its matrix where the factor has no prefix: all are checked before any is taken.
PetscErrorCode ReadFactorOptions(Mat F, Mat A)
{
  Factor          *factor = FactorOf(F);
  const char      *prefix = ((PetscObject)F)->prefix ? ((PetscObject)F)->prefix : ((PetscObject)A)->prefix;
  FactorOptions    o{};
  TrisolveOptions &wanted = o.trisolve;

  PetscFunctionBegin;
  wanted      = factor->options;
  o.spins     = static_cast<PetscInt>(wanted.spins);
  o.check     = factor->check ? PETSC_TRUE : PETSC_FALSE;
  o.cut       = static_cast<PetscEnum>(static_cast<int>(factor->subdomains.kind));
  o.precision = static_cast<PetscEnum>(static_cast<int>(wanted.single));
  PetscCall(PetscStrncpy(o.subdomains, factor->subdomains.Name().c_str(), sizeof(o.subdomains)));
  PetscCall(PetscStrncpy(o.engine, EngineNames[static_cast<int>(wanted.engine)], sizeof(o.engine)));
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), prefix, "Factors of sparsegpu", "Mat");
  PetscOptionsObject->options = ((PetscObject)A)->options;
  PetscCall(OfferFactorOptions(PetscOptionsObject, &o));
  PetscOptionsEnd();
  if (o.engine_set && !factor->engine_is_set) PetscCall(ParseEngine(o.engine, &wanted.engine));
  if (!factor->precision_is_set) wanted.single = static_cast<int>(o.precision) != 0;
  PetscCheck(!wanted.single || wanted.engine == Engine::Auto || !IsExact(wanted.engine), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Factors in single precision need the triangular solves auto, jacobi or isai, not %s",
             EngineNames[static_cast<int>(wanted.engine)]);
  if (!factor->subdomains_are_set) {
    if (o.subdomains_set) PetscCall(factor->subdomains.Parse(o.subdomains));
    factor->subdomains.kind = static_cast<CutKind>(static_cast<int>(o.cut));
  }
  PetscCheck(o.spins > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_spins %" PetscInt_FMT " must be positive", o.spins);
  if (o.spins_set) wanted.spins = o.spins;
  PetscCheck(wanted.warps >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_warps %" PetscInt_FMT " must be positive, or 0 for the default", wanted.warps);
  PetscCheck(wanted.tile == 0 || wanted.tile == 1 || wanted.tile == 4 || wanted.tile == 8, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_tile %" PetscInt_FMT " must be 1, 4 or 8 warps, or 0 for the default",
             wanted.tile);
  PetscCheck(wanted.sweeps >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_sweeps %" PetscInt_FMT " must be non-negative", wanted.sweeps);
  PetscCheck(wanted.power == 1 || wanted.power == 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_power %" PetscInt_FMT " must be 1 or 2", wanted.power);
  PetscCheck(wanted.relax >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_relax %" PetscInt_FMT " must be non-negative", wanted.relax);
  // Row r of the lower factor is exact after r sweeps, and stays so: more sweeps than rows change no bit. More
  // relaxation steps change rounding errors alone.
  wanted.sweeps   = PetscMin(wanted.sweeps, A->rmap->n);
  wanted.relax    = PetscMin(wanted.relax, A->rmap->n);
  factor->options = wanted;
  factor->check   = o.check == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, Incomplete kind)
{
  MatrixRows rows;
  Space      space;
  Factor    *factor = FactorOf(F);

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "An incomplete factorization needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n,
             A->cmap->n);
  PetscCheck(info->levels >= 0, PETSC_COMM_SELF, PETSC_ERR_USER, "Levels of fill must be non-negative, not %g",
             (double)info->levels);
  PetscCheck(info->dt <= 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s has no drop tolerance (asked for: %g)",
             MATSOLVERSPARSEGPU, (double)info->dt);
  if (factor->kind != Incomplete::None) factor->kind = kind;
  PetscCall(ReadFactorOptions(F, A));
  PetscCall(FactorSpace(A, &space));
  PetscCall(GetMatrixRows(A, &rows));
  PetscCall(factor->Symbolic(F, rows, row, column, *info, space));
  F->info.factor_mallocs    = 0;
  F->info.fill_ratio_given  = info->fill;
  F->info.fill_ratio_needed = rows.csr.nonzeros ? (double)factor->Nonzeros() / rows.csr.nonzeros : 0;
  F->info.nz_used = F->info.nz_allocated = factor->Nonzeros();
  F->info.memory                         = factor->Bytes();
  F->ops->lufactornumeric                = MatFactorNumeric_SparseGPU;
  F->ops->choleskyfactornumeric          = MatFactorNumeric_SparseGPU;
  F->ops->solve                          = MatSolve_SparseGPU;
  F->ops->solvetranspose                 = MatSolveTranspose_SparseGPU;
  F->ops->matsolve                       = MatMatSolve_SparseGPU;
  F->ops->matsolvetranspose              = MatMatSolveTranspose_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatILUFactorSymbolic_SparseGPU(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, row, column, info, Incomplete::LU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatICCFactorSymbolic_SparseGPU(Mat F, Mat A, IS order, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, order, order, info, Incomplete::Cholesky));
  F->ops->forwardsolve  = MatForwardSolve_SparseGPU; // of ILU there are none, as in PETSc
  F->ops->backwardsolve = MatBackwardSolve_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Factor(Mat F, PetscViewer viewer)
{
  bool wanted;

  PetscFunctionBegin;
  PetscCall(WantsFacts(viewer, &wanted));
  if (wanted) PetscCall(FactorOf(F)->View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_Factor(Mat F)
{
  PetscFunctionBegin;
  std::unique_ptr<Factor> factor(FactorOf(F));
  F->data = nullptr;
  PetscCall(ReleaseFactor(F));
  PetscCall(factor->Finish()); // reports a stuck solve at the last
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FillFactor(Mat F)
{
  PetscFunctionBegin;
  PetscCallCXX(F->data = new Factor);
  F->ops->ilufactorsymbolic = MatILUFactorSymbolic_SparseGPU;
  F->ops->iccfactorsymbolic = MatICCFactorSymbolic_SparseGPU;
  F->ops->view              = MatView_Factor;
  F->ops->destroy           = MatDestroy_Factor;
  for (const MatFactorType f : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(PetscStrallocpy(MATORDERINGNATURAL, const_cast<char **>(&F->preferredordering[f])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode RegisterIncompleteFactors()
{
  PetscFunctionBegin;
  for (const MatFactorType kind : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(RegisterFactor(kind, FactorMaker{FillFactor, true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
