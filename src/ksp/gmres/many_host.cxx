/// Cycles of several right-hand sides on the host: the passes of one, for each column; products, the preconditioner and
/// reductions for all at once. With vectors of one process the bits are those of single solves.
#include <algorithm>
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

Hessenberg ManySolve::HessenbergOnHost(int column)
{
  const size_t  stride = static_cast<size_t>(steps_) + 1, c = static_cast<size_t>(column);
  const size_t  triangle = stride * (stride - 1);
  Scalar *const r        = triangles_.data() + c * (triangle + 2 * stride);

  return Hessenberg{steps_ + 1, r, r + triangle, sines_.data() + c * stride, r + triangle + stride};
}

PetscErrorCode ManySolve::Unwrap()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&W_)); // which refers to P_
  PetscCall(MatDestroy(&P_));
  PetscCall(MatDestroy(&Q_));
  wrapped_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices for the slots in use.
PetscErrorCode ManySolve::Wrap()
{
  const bool device = space_ == Space::Device;

  PetscFunctionBegin;
  if (wrapped_ == slots_.count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Unwrap());
  PetscCall(DenseOver(A_, slots_.count, p_, v_.ld, space_, &P_));
  if (outside_) PetscCall(DenseOver(A_, slots_.count, device ? v_.v : q_, v_.ld, space_, &Q_));
  wrapped_ = slots_.count;
  if (device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatProductCreate(A_, P_, nullptr, &W_));
  PetscCall(MatProductSetType(W_, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(W_));
  PetscCall(MatProductSymbolic(W_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// W_ = A P_.
PetscErrorCode ManySolve::MultiplyOnHost()
{
  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)P_)); // its array has changed
  PetscCall(MatProductNumeric(W_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::PreconditionOnHost(Mat from, Mat to)
{
  PetscFunctionBegin;
  if (from != W_) PetscCall(PetscObjectStateIncrease((PetscObject)from)); // its array has changed
  PetscCall(PCMatApply(ksp_->pc, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// each(slot, its column of M).
template <class Each> PetscErrorCode ReadColumns(Mat M, int count, Each each)
{
  const PetscScalar *entries;
  PetscInt           ld;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(M, &ld));
  PetscCall(MatDenseGetArrayRead(M, &entries));
  for (int s = 0; s < count; s++) each(s, reinterpret_cast<const Scalar *>(entries) + static_cast<size_t>(s) * ld);
  PetscCall(MatDenseRestoreArrayRead(M, &entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ManySolve::ResidualsOnHost(PetscReal *norms)
{
  const bool   product = !first_cycle_ || !ksp_->guess_zero, left = outside_ && !right_;
  const size_t rows = static_cast<size_t>(v_.rows);
  const auto   rhs  = [&](int s) {
    return b_->data() + static_cast<size_t>(first_ + slots_.column[s]) * static_cast<size_t>(b_->ld());
  };
  const auto to = [&](int s) { return left ? Panel(p_, s) : BasisOnHost(slots_.column[s], 1).v; };

  PetscFunctionBegin;
  PetscCall(Wrap());
  for (int s = 0; s < slots_.count; s++) {
    const Scalar *x = x_->data() + static_cast<size_t>(first_ + slots_.column[s]) * static_cast<size_t>(x_->ld());
    if (product)
      std::copy_n(x, rows, Panel(p_, s));
    else
      std::copy_n(rhs(s), rows, to(s));
  }
  if (product) {
    PetscCall(MultiplyOnHost());
    PetscCall(ReadColumns(W_, slots_.count, [&](int s, const Scalar *w) {
      const Scalar *const b = rhs(s);
      Scalar *const       r = to(s);
      for (size_t k = 0; k < rows; k++) r[k] = b[k] - w[k];
    }));
    PetscCall(PetscLogFlops(static_cast<PetscLogDouble>(rows) * slots_.count));
  }
  if (left) {
    PetscCall(PreconditionOnHost(P_, Q_));
    for (int s = 0; s < slots_.count; s++) std::copy_n(Panel(q_, s), rows, BasisOnHost(slots_.column[s], 1).v);
  }
  PetscCall(NormaliseOnHost(norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By PETSc's vectors, which have the bits of single solves on one process; on several in one reduction.
PetscErrorCode ManySolve::NormaliseOnHost(PetscReal *norms)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp_);
  Vec            v[MANY];
  PetscInt       all;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B_, &all, nullptr));
  for (int s = 0; s < slots_.count; s++) {
    auto *entries = reinterpret_cast<PetscScalar *>(BasisOnHost(slots_.column[s], 1).v);
    if (alone_) {
      PetscCall(VecCreateSeqWithArray(comm, 1, v_.rows, entries, v + s));
      PetscCall(VecNormalize(v[s], norms + s));
    } else {
      PetscCall(VecCreateMPIWithArray(comm, 1, v_.rows, all, entries, v + s));
      PetscCall(VecNormBegin(v[s], NORM_2, norms + s));
    }
  }
  for (int s = 0; s < slots_.count; s++) {
    if (!alone_) {
      PetscCall(VecNormEnd(v[s], NORM_2, norms + s));
      if (norms[s] > 0) PetscCall(VecScale(v[s], 1 / norms[s]));
    }
    HessenbergOnHost(slots_.column[s]).rhs[0] = Scalar(norms[s]);
    PetscCall(VecDestroy(v + s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The inner products of the wanted slots, one after the other in dots_, over all ranks.
PetscErrorCode ManySolve::SumOverRanks(const bool *wanted, PetscInt columns)
{
  size_t used = 0;

  PetscFunctionBegin;
  for (int s = 0; s < slots_.count; s++) {
    if (!wanted[s]) continue;
    PetscCall(ColumnDots_Host(BasisOnHost(slots_.column[s], columns), columns, dots_.data() + used));
    used += static_cast<size_t>(columns);
  }
  PetscCall(PetscLogFlops(2.0 * static_cast<PetscLogDouble>(v_.rows) * static_cast<PetscLogDouble>(used)));
  if (!alone_ && used)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dots_.data(), static_cast<PetscMPIInt>(used), MPIU_SCALAR, MPIU_SUM,
                               PetscObjectComm((PetscObject)ksp_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors k + 1 = the operator applied to vectors k, then orthogonal to those before.
PetscErrorCode ManySolve::StepOnHost(PetscInt k)
{
  const PetscInt        columns = k + 2;
  const size_t          rows    = static_cast<size_t>(v_.rows);
  bool                  again[MANY];
  std::vector<HostStep> steps;

  PetscFunctionBegin;
  PetscCall(Wrap());
  for (int s = 0; s < slots_.count; s++)
    std::copy_n(BasisOnHost(slots_.column[s], k + 1).w, rows, Panel(outside_ && right_ ? q_ : p_, s));
  if (outside_ && right_) PetscCall(PreconditionOnHost(Q_, P_));
  PetscCall(MultiplyOnHost());
  if (outside_ && !right_) PetscCall(PreconditionOnHost(W_, Q_));
  PetscCall(ReadColumns(outside_ && !right_ ? Q_ : W_, slots_.count, [&](int s, const Scalar *w) {
    std::copy_n(w, rows, BasisOnHost(slots_.column[s], columns).w);
  }));
  PetscCallCXX(steps.reserve(MANY));
  for (int s = 0; s < slots_.count; s++) steps.emplace_back(HessenbergOnHost(slots_.column[s]), k);
  for (int pass = 0; pass < 2; pass++) {
    const Scalar *dots = dots_.data();
    for (int s = 0; s < slots_.count; s++) again[s] = steps[s].again();
    PetscCall(SumOverRanks(again, columns));
    for (int s = 0; s < slots_.count; s++) {
      if (!again[s]) continue;
      steps[s].Take(dots, criterion_, cycles_[slots_.column[s]].fallen);
      PetscCall(ColumnUpdate_Host(BasisOnHost(slots_.column[s], columns), columns, dots, steps[s].scale(),
                                  !steps[s].again()));
      PetscCall(PetscLogFlops(2.0 * static_cast<PetscLogDouble>(v_.rows) * columns));
      dots += columns;
    }
  }
  for (int s = 0; s < slots_.count; s++) {
    const int c  = slots_.column[s];
    outcomes_[c] = steps[s].End(norms_ + c);
    if (!steps[s].lost()) cycles_[c].fallen = norms_[c] / cycles_[c].residual;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first `count` columns of panel q = M^-1 of panel p's, in either space.
PetscErrorCode ManySolve::PreconditionCorrections(int count)
{
  Mat from, to;

  PetscFunctionBegin;
  PetscCall(DenseOver(A_, count, p_, v_.ld, space_, &from));
  PetscCall(DenseOver(A_, count, q_, v_.ld, space_, &to));
  PetscCall(PreconditionColumns(ksp_->pc, from, to, space_));
  PetscCall(MatDestroy(&from));
  PetscCall(MatDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::CorrectOnHost(const ManyEnds &ends)
{
  const bool   right = outside_ && right_;
  const size_t rows  = static_cast<size_t>(v_.rows);

  PetscFunctionBegin;
  for (int e = 0; e < ends.count; e++) {
    const int      c     = slots_.column[ends.slot[e]];
    const PetscInt steps = ends.steps[e];
    SolveTriangle(HessenbergOnHost(c), steps, dots_.data());
    PetscCall(ColumnCombine_Host(BasisOnHost(c, steps), steps, dots_.data(), false, Panel(p_, e)));
    PetscCall(PetscLogFlops(2.0 * static_cast<PetscLogDouble>(v_.rows) * static_cast<PetscLogDouble>(steps + 1)));
  }
  if (right) PetscCall(PreconditionCorrections(ends.count));
  for (int e = 0; e < ends.count; e++) {
    const int           c = slots_.column[ends.slot[e]];
    const Scalar *const y = Panel(right ? q_ : p_, e);
    Scalar *const       x = x_->data() + static_cast<size_t>(first_ + c) * static_cast<size_t>(x_->ld());
    for (size_t k = 0; k < rows; k++) x[k] += y[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
