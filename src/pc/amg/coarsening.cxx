/// Aggregates and prolongators, of each process and of all together.
#include "pc/amg/coarsening.hpp"
#include "pc/amg/filter.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"
#include "sparsegpu.h"

#include <algorithm>
#include <cstring>

namespace sparsegpu::amg
{

namespace
{
/// Damping of Jacobi's method over the largest eigenvalue: 4/3 minimises the energy of smoothed constants (Vanek et
/// al.); PCGAMG's, a little more, is as good there and serves estimates from below.
constexpr PetscReal DAMPING = 1.4;

/// Whether all rows have a diagonal entry, and so the pattern of A P holds that of P.
PetscErrorCode HasDiagonal(Mat A, bool *has)
{
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 25, 0)
  Mat       block;
  PetscBool missing;
  PetscInt  row, mine, any;

  PetscCall(DiagonalBlock(A, &block));
  PetscCall(MatMissingDiagonal(block, &missing, &row));
  mine = missing;
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  *has = !any;
#else
  (void)A;
  *has = false;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *P of P0, which it takes: `steps` products with A.
PetscErrorCode SmoothByProducts(Mat A, PetscReal damping, PetscInt steps, Mat *P)
{
  Vec  inverse;
  Mat  AP;
  bool subset = false;

  PetscFunctionBegin;
  if (steps == 0 || damping == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HasDiagonal(A, &subset));
  PetscCall(MatCreateVecs(A, nullptr, &inverse));
  PetscCall(MatGetDiagonal(A, inverse));
  PetscCall(VecReciprocal(inverse)); // leaves zeros: rows without a diagonal are not smoothed
  for (PetscInt s = 0; s < steps; s++) {
    PetscCall(MatMatMult(A, *P, MAT_INITIAL_MATRIX, 2, &AP));
    PetscCall(MatProductClear(AP));
    PetscCall(MatDiagonalScale(AP, inverse, nullptr));
    PetscCall(MatAYPX(AP, -damping, *P, subset ? SUBSET_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(P));
    *P = AP;
  }
  PetscCall(VecDestroy(&inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *P becomes of the type of A.
PetscErrorCode OfTypeOf(Mat A, Mat *P)
{
  MatType wanted, type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &wanted));
  PetscCall(MatGetType(*P, &type));
  if (strcmp(wanted, type)) PetscCall(MatConvert(*P, wanted, MAT_INPLACE_MATRIX, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost(const Array<Scalar> &from, std::vector<PetscScalar> *to)
{
  PetscFunctionBegin;
  PetscCallCXX(to->resize(from.size()));
  PetscCall(from.ToHost(reinterpret_cast<Scalar *>(to->data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode NearNullSpace::ToHost(std::vector<PetscScalar> *to) const
{
  PetscFunctionBegin;
  PetscCall(OnHost(values, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Coarsening::Release()
{
  aggregates_ = Aggregates();
  tentative_  = Tentative();
  parallel_.reset();
}

PetscErrorCode Coarsening::Aggregate(Mat A, PetscReal threshold, PetscInt distance, const NearNullSpace &fine)
{
  Options  options;
  Mat      D;
  PetscInt mine[3], all[3];

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(A, &D));
  PetscCall(MatGetBlockSize(A, &options.block_size));
  options.threshold = threshold;
  threshold_        = threshold;
  options.distance  = distance;
  PetscCall(OnAll(PetscObjectComm((PetscObject)A), [&] {
    PetscFunctionBegin;
    PetscCall(FindAggregates(D, options, fine.space, &aggregates_));
    PetscCall(FindTentative(aggregates_, fine.columns, fine.values, &tentative_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  mine[0] = aggregates_.count * fine.columns;
  mine[1] = tentative_.inactive_count;
  mine[2] = aggregates_.isolated;
  PetscCallMPI(MPI_Allreduce(mine, all, 3, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  columns_  = all[0];
  inactive_ = all[1] > 0;
  isolated_ = all[2];
  if (inactive_) PetscCall(OnHost(tentative_.inactive, &ones_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Coarsening::Gather(MPI_Comm comm, PetscInt limit, bool one)
{
  PetscFunctionBegin;
  PetscCall(gathering_.Plan(comm, aggregates_.count * tentative_.vectors, limit, one));
  if (inactive_) PetscCall(gathering_.Move(1, &ones_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Coarsening::Take(NearNullSpace *coarse)
{
  std::vector<PetscScalar> values;

  PetscFunctionBegin;
  coarse->space   = tentative_.space;
  coarse->rows    = gathering_.rows();
  coarse->columns = tentative_.vectors;
  if (!gathering_.moves()) {
    std::swap(coarse->values, tentative_.coarse);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(OnHost(tentative_.coarse, &values));
  PetscCall(gathering_.Move(coarse->columns, &values));
  PetscCall(coarse->values.Copy(reinterpret_cast<const Scalar *>(values.data()), values.size(), coarse->space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Coarsening::Prolong(Mat A, PetscReal emax, PetscInt steps, bool filtered, Mat *P, bool *replaced)
{
  const PetscReal damping = emax > 0 && steps > 0 ? DAMPING / emax : 0, threshold = filtered ? threshold_ : -1;
  const bool      fused = steps <= 1;
  Smoothing       smoothing;
  Mat             D;
  PetscBool       ours      = PETSC_FALSE;
  bool            refreshes = false;

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(A, &D));
  smoothing.damping  = fused ? damping : 0;
  smoothing.filtered = filtered;
  if (D == A && fused && *P) PetscCall(PetscObjectTypeCompare((PetscObject)*P, MATSEQAIJSPARSEGPU, &ours));
  if (parallel_ && fused) PetscCall(parallel_->Refreshes(*P, &refreshes));
  *replaced = !ours && !refreshes;
  if (ours) PetscCall(RefreshProlongator(A, aggregates_, tentative_, smoothing, *P));
  if (refreshes) PetscCall(parallel_->Refresh(A, smoothing.damping, *P));
  if (!*replaced) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(P));
  if (D == A) {
    PetscCall(CreateProlongator(A, aggregates_, tentative_, smoothing, P));
    PetscCall(OfTypeOf(A, P));
  } else {
    PetscCallCXX(parallel_ = std::make_unique<ParallelProlongator>());
    PetscCall(
        parallel_->Create(A, aggregates_, tentative_, smoothing.damping, fused ? threshold : -1, gathering_.rows(), P));
    if (fused) PetscCall(parallel_->Refreshes(*P, &refreshes));
    if (!refreshes) parallel_.reset();
  }
  if (fused) PetscFunctionReturn(PETSC_SUCCESS);
  Mat F = A;
  if (threshold > 0) PetscCall(WithoutWeak(A, threshold, &F));
  PetscCall(SmoothByProducts(F, damping, steps, P));
  if (F != A) PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Coarsening::Activate(Mat coarse) const
{
  Vec          ones;
  PetscScalar *x;

  PetscFunctionBegin;
  if (!inactive_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(coarse, &ones, nullptr));
  PetscCall(VecGetArrayWrite(ones, &x));
  std::copy(ones_.begin(), ones_.end(), x);
  PetscCall(VecRestoreArrayWrite(ones, &x));
  PetscCall(MatDiagonalSet(coarse, ones, ADD_VALUES));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
