/// The passes of block conjugate gradients on the host, on any number of processes, with one reduction for all entries
/// of Gram matrices.
#include <algorithm>
#include "ksp/cg/block_rows.hpp"
#include "ksp/cg/cg.hpp"

namespace sparsegpu::cg
{

namespace
{
/// All entries from the upper triangle.
void FillHermitian(int count, Scalar *A)
{
  const int width = BlockWidth(count);

  for (int j = 0; j < count; j++) {
    A[j + width * j] = Scalar(RealPart(A[j + width * j]));
    for (int i = 0; i < j; i++) A[j + width * i] = Conj(A[i + width * j]);
  }
}

/// The weight of N in a row of weight d.
PetscReal NormWeight(Norm norm, PetscReal d)
{
  return norm == Norm::Preconditioned ? d * d : 1;
}
} // namespace

/// The first `matrices` of grams_ over all ranks.
PetscErrorCode BlockSolve::SumGrams(int matrices)
{
  const int width = BlockWidth(v_.count), count = matrices * width * width;

  PetscFunctionBegin;
  if (!alone_)
    PetscCallMPI(
        MPI_Allreduce(MPI_IN_PLACE, grams_.data(), count, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)ksp_)));
  for (int m = 0; m < matrices; m++) FillHermitian(v_.count, grams_.data() + m * width * width);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// xi and the step of the sums of pass 2.
Outcome BlockSolve::MakeStep()
{
  Scalar    room[BLOCK_ROOM * BLOCK_ENTRIES];
  BlockRoom small = RoomIn(room, BlockWidth(v_.count));

  small.gram = grams_.data();
  return StepBlock(Team{0, 1}, v_.count, small, &state_);
}

/// Norms, tau and rho of the sums of pass 3.
Outcome BlockSolve::MakeFactor(bool begins)
{
  const int  width = BlockWidth(v_.count);
  const Team team{0, 1};
  PetscReal  norms[BLOCK_MOST] = {};
  Scalar     room[BLOCK_ROOM * BLOCK_ENTRIES];
  BlockRoom  small = RoomIn(room, width);

  small.gram = grams_.data();
  if (!begins && norm_ != Norm::None)
    NormsOfBlock(team, v_.count, grams_.data() + (matrices_ > 1 ? width * width : 0), small, state_, norms);
  for (int c = 0; c < v_.count; c++)
    if (!Finite(norms[c])) return CURVATURE_NOT_FINITE;
  const Outcome outcome = FactorBlock(team, v_.count, begins, small, &state_);
  for (int c = 0; c < v_.count && !begins; c++) told_[c] = Told{norms[c], outcome, 0, 0};
  return outcome;
}

/// `rows` rows of Q' of pass 3 from row `begin` on, in place of Q and in `next`, column j from next[j * BLOCK_PIECE]
/// on.
void BlockSolve::NextRows(PetscInt begin, PetscInt rows, Scalar *next)
{
  const int          count = v_.count, width = BlockWidth(count);
  const BlockColumns to(next, BLOCK_PIECE, 0, count);
  Scalar             minus_xi[BLOCK_ENTRIES];

  for (int e = 0; e < width * width; e++) minus_xi[e] = Scalar(-1) * state_.xi[e];
  std::fill_n(next, count * BLOCK_PIECE, Scalar(0));
  Combine(Part::Upper, rows, count, state_.inverse, BlockColumns(v_.r, v_.ld, begin, count), to);
  Combine(Part::All, rows, count, minus_xi, BlockColumns(v_.w, v_.ldw, begin, count), to);
  for (int j = 0; j < count; j++) std::copy_n(to.v[j], rows, v_.r + static_cast<size_t>(j) * v_.ld + begin);
}

/// Q' of pass 3 in place of Q, and the Gram matrices T and, of two, N; at the beginning those of R.
void BlockSolve::GramsOfResidual(bool begins)
{
  const int         count = v_.count, width = BlockWidth(count), matrices = begins ? 1 : matrices_;
  Scalar            next[BLOCK_MOST * BLOCK_PIECE], weighted[BLOCK_MOST * BLOCK_PIECE];
  const auto *const inverse = v_.inverse;

  std::fill(grams_.begin(), grams_.end(), Scalar(0));
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE) {
    const PetscInt rows = std::min(BLOCK_PIECE, v_.rows - begin);
    if (!begins) NextRows(begin, rows, next);
    for (int j = 0; j < count && begins; j++)
      std::copy_n(v_.r + static_cast<size_t>(j) * v_.ld + begin, rows, next + j * BLOCK_PIECE);
    const BlockColumns left(next, BLOCK_PIECE, 0, count), right(inverse ? weighted : next, BLOCK_PIECE, 0, count);
    for (int m = 0; m < matrices; m++) {
      for (int j = 0; j < count && inverse; j++)
        for (PetscInt r = 0; r < rows; r++) {
          const PetscReal d = RealPart(inverse[begin + r]), weight = m == 0 ? d : NormWeight(norm_, d);
          weighted[j * BLOCK_PIECE + r] = Scalar(weight) * next[j * BLOCK_PIECE + r];
        }
      AddGram(count, rows, left, right, grams_.data() + m * width * width);
    }
  }
}

/// The same around a preconditioner that is applied from outside.
PetscErrorCode BlockSolve::GramsAround(bool begins)
{
  const int count = v_.count, width = BlockWidth(count), matrices = begins ? 1 : matrices_;
  Scalar    next[BLOCK_MOST * BLOCK_PIECE];

  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < v_.rows && !begins; begin += BLOCK_PIECE)
    NextRows(begin, std::min(BLOCK_PIECE, v_.rows - begin), next);
  PetscCall(ApplyPreconditioner());
  std::fill(grams_.begin(), grams_.end(), Scalar(0));
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE) {
    const PetscInt      rows = std::min(BLOCK_PIECE, v_.rows - begin);
    const BlockColumns  r(v_.r, v_.ld, begin, count), z(v_.z, v_.ld, begin, count);
    const BlockColumns &normed = norm_ == Norm::Preconditioned ? z : r;
    AddGram(count, rows, r, z, grams_.data());
    if (matrices > 1) AddGram(count, rows, normed, normed, grams_.data() + width * width);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Pass 4; at the beginning P = D Q alone.
void BlockSolve::Advance(bool begins)
{
  const int count = v_.count, width = BlockWidth(count);
  Scalar    next[BLOCK_MOST * BLOCK_PIECE], adjoint[BLOCK_ENTRIES]; // tau^H

  for (int e = 0; e < width * width; e++) adjoint[e] = Conj(state_.tau[e / width + e % width * width]);
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE) {
    const PetscInt     rows = std::min(BLOCK_PIECE, v_.rows - begin);
    const BlockColumns p(v_.p, v_.ld, begin, count), to(next, BLOCK_PIECE, 0, count);
    BlockColumns       x(v_.x, v_.ldx, begin, count);
    for (int c = 0; c < count; c++) x.v[c] = v_.x + static_cast<size_t>(v_.column[c]) * v_.ldx + begin;
    if (!begins) Combine(Part::All, rows, count, state_.step, p, x);
    std::fill_n(next, count * BLOCK_PIECE, Scalar(0));
    Combine(Part::Upper, rows, count, state_.inverse, BlockColumns(outside_ ? v_.z : v_.r, v_.ld, begin, count), to);
    for (int j = 0; j < count && v_.inverse && !outside_; j++)
      for (PetscInt r = 0; r < rows; r++) to.v[j][r] = v_.inverse[begin + r] * to.v[j][r];
    if (!begins) Combine(Part::Lower, rows, count, adjoint, p, to);
    for (int j = 0; j < count; j++) std::copy_n(to.v[j], rows, p.v[j]);
  }
}

PetscErrorCode BlockSolve::BeginOnHost()
{
  PetscBool identity;

  PetscFunctionBegin;
  PetscCallCXX(grams_.resize(2 * BLOCK_ENTRIES));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCNONE, &identity)); // not by v_: the same on all ranks
  matrices_ = HasTwoGrams(identity, norm_) ? 2 : 1;
  state_    = BlockState{};
  if (outside_)
    PetscCall(GramsAround(true));
  else
    GramsOfResidual(true);
  PetscCall(SumGrams(1));
  outcome_ = MakeFactor(true);
  if (outcome_ == GOES_ON) Advance(true);
  PetscCall(PetscLogFlops(2.0 * v_.rows * v_.count * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockSolve::IterateOnHost()
{
  const int count = v_.count;

  PetscFunctionBegin;
  PetscCall(MultiplyOnHost());
  std::fill(grams_.begin(), grams_.end(), Scalar(0));
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE)
    AddGram(count, std::min(BLOCK_PIECE, v_.rows - begin), BlockColumns(v_.p, v_.ld, begin, count),
            BlockColumns(v_.w, v_.ldw, begin, count), grams_.data());
  PetscCall(SumGrams(1));
  outcome_ = MakeStep();
  if (outcome_ != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  if (outside_)
    PetscCall(GramsAround(false));
  else
    GramsOfResidual(false);
  PetscCall(SumGrams(matrices_));
  outcome_ = MakeFactor(false);
  if (outcome_ == GOES_ON) Advance(false);
  PetscCall(PetscLogFlops(11.0 * v_.rows * v_.count * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
