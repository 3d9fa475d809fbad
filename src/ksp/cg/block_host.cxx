/// The passes of block conjugate gradients on the host, on any number of processes: rows are taken BLOCK_PIECE at a
/// time, so that a piece of all columns stays in a core's first-level cache; one reduction for all entries of Gram
/// matrices.
#include <algorithm>
#include "ksp/cg/cg.hpp"
#include "ksp/common/passes.hpp"

namespace sparsegpu::cg
{

namespace
{
constexpr PetscInt BLOCK_PIECE = 128; ///< rows: 16 KB of 16 columns

/// to[r] += factor from[r]
void AddTo(PetscInt rows, const Scalar &factor, const Scalar *from, Scalar *to)
{
  for (PetscInt r = 0; r < rows; r++) to[r] += factor * from[r];
}

/// The upper triangle of `sums` += left^H right, of columns ldl and ldr entries apart.
void AddGram(int count, PetscInt rows, const Scalar *left, PetscInt ldl, const Scalar *right, PetscInt ldr,
             Scalar *sums)
{
  const int width = BlockWidth(count);

  for (int j = 0; j < count; j++)
    for (int i = 0; i <= j; i++) {
      const Scalar *const a = left + static_cast<size_t>(i) * ldl, *const b = right + static_cast<size_t>(j) * ldr;
      sums[i + width * j] += SumOfRows<Scalar>(0, rows, [=](PetscInt r, Scalar *sum) { *sum += Conj(a[r]) * b[r]; });
    }
}

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
    NormsOfBlock(team, v_.count, grams_.data() + (norm_ == Norm::Natural ? 0 : width * width), small, state_, norms);
  for (int c = 0; c < v_.count; c++)
    if (!Finite(norms[c])) return CURVATURE_NOT_FINITE;
  const Outcome outcome = FactorBlock(team, v_.count, begins, small, &state_);
  for (int c = 0; c < v_.count && !begins; c++) told_[c] = Told{norms[c], outcome, 0, 0};
  return outcome;
}

/// `rows` rows of Q' of pass 3 from row `begin` on; column j begins at next[j * BLOCK_PIECE].
void BlockSolve::NextRows(PetscInt begin, PetscInt rows, Scalar *next) const
{
  const int width = BlockWidth(v_.count);

  for (int j = 0; j < v_.count; j++) {
    Scalar *const to = next + j * BLOCK_PIECE;
    std::fill_n(to, rows, Scalar(0));
    for (int i = 0; i <= j; i++)
      AddTo(rows, state_.inverse[i + width * j], v_.r + static_cast<size_t>(i) * v_.ld + begin, to);
    for (int i = 0; i < v_.count; i++)
      AddTo(rows, Scalar(-1) * state_.xi[i + width * j], v_.w + static_cast<size_t>(i) * v_.ldw + begin, to);
  }
}

/// Q' of pass 3 in place of Q, and the Gram matrices T and, of two, N; at the beginning those of R.
void BlockSolve::GramsOfResidual(bool begins, int matrices)
{
  const int         count = v_.count, width = BlockWidth(count);
  Scalar            next[BLOCK_MOST * BLOCK_PIECE], weighted[BLOCK_MOST * BLOCK_PIECE];
  const auto *const inverse = v_.inverse;

  std::fill(grams_.begin(), grams_.end(), Scalar(0));
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE) {
    const PetscInt rows = std::min(BLOCK_PIECE, v_.rows - begin);
    if (!begins) NextRows(begin, rows, next);
    for (int j = 0; j < count; j++) {
      Scalar *const r = v_.r + static_cast<size_t>(j) * v_.ld + begin, *const to = next + j * BLOCK_PIECE;
      std::copy_n(begins ? r : to, rows, begins ? to : r);
    }
    for (int m = 0; m < matrices; m++) {
      for (int j = 0; j < count; j++)
        for (PetscInt r = 0; r < rows; r++) {
          const PetscReal d = inverse ? RealPart(inverse[begin + r]) : 1, weight = m == 0 ? d : NormWeight(norm_, d);
          weighted[j * BLOCK_PIECE + r] = Scalar(weight) * next[j * BLOCK_PIECE + r];
        }
      AddGram(count, rows, next, BLOCK_PIECE, weighted, BLOCK_PIECE, grams_.data() + m * width * width);
    }
  }
}

/// The same around a preconditioner that is applied from outside.
PetscErrorCode BlockSolve::GramsAround(bool begins, int matrices)
{
  const int width = BlockWidth(v_.count);
  Scalar    next[BLOCK_MOST * BLOCK_PIECE];

  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < v_.rows && !begins; begin += BLOCK_PIECE) {
    const PetscInt rows = std::min(BLOCK_PIECE, v_.rows - begin);
    NextRows(begin, rows, next);
    for (int j = 0; j < v_.count; j++)
      std::copy_n(next + j * BLOCK_PIECE, rows, v_.r + static_cast<size_t>(j) * v_.ld + begin);
  }
  PetscCall(ApplyPreconditioner());
  std::fill(grams_.begin(), grams_.end(), Scalar(0));
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE) {
    const PetscInt rows = std::min(BLOCK_PIECE, v_.rows - begin);
    const Scalar  *r = v_.r + begin, *z = v_.z + begin, *normed = norm_ == Norm::Preconditioned ? z : r;
    AddGram(v_.count, rows, r, v_.ld, z, v_.ld, grams_.data());
    if (matrices > 1) AddGram(v_.count, rows, normed, v_.ld, normed, v_.ld, grams_.data() + width * width);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Pass 4; at the beginning P = D Q alone.
void BlockSolve::Advance(bool begins)
{
  const int count = v_.count, width = BlockWidth(count);
  Scalar    next[BLOCK_PIECE];

  Scalar *const from = outside_ ? v_.z : v_.r;
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE) {
    const PetscInt rows = std::min(BLOCK_PIECE, v_.rows - begin);
    const auto     part = [&](Scalar *v, int c, PetscInt ld) { return v + static_cast<size_t>(c) * ld + begin; };
    for (int j = 0; j < count && !begins; j++)
      for (int i = 0; i < count; i++)
        AddTo(rows, state_.step[i + width * j], part(v_.p, i, v_.ld),
              part(v_.x, static_cast<int>(v_.column[j]), v_.ldx));
    for (int j = 0; j < count; j++) { // of P columns from j on are needed: tau is a triangle
      std::fill_n(next, rows, Scalar(0));
      for (int i = 0; i <= j; i++) AddTo(rows, state_.inverse[i + width * j], part(from, i, v_.ld), next);
      for (PetscInt r = 0; r < rows && v_.inverse && !outside_; r++) next[r] = v_.inverse[begin + r] * next[r];
      for (int i = j; i < count && !begins; i++)
        AddTo(rows, Conj(state_.tau[j + width * i]), part(v_.p, i, v_.ld), next);
      std::copy_n(next, rows, part(v_.p, j, v_.ld));
    }
  }
}

PetscErrorCode BlockSolve::BeginOnHost()
{
  PetscFunctionBegin;
  PetscCallCXX(grams_.resize(2 * BLOCK_ENTRIES));
  state_ = BlockState{};
  if (outside_)
    PetscCall(GramsAround(true, 1));
  else
    GramsOfResidual(true, 1);
  PetscCall(SumGrams(1));
  outcome_ = MakeFactor(true);
  if (outcome_ == GOES_ON) Advance(true);
  PetscCall(PetscLogFlops(2.0 * v_.rows * v_.count * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockSolve::IterateOnHost()
{
  const int matrices = HasTwoGrams(norm_) ? 2 : 1;

  PetscFunctionBegin;
  PetscCall(MultiplyOnHost());
  std::fill(grams_.begin(), grams_.end(), Scalar(0));
  for (PetscInt begin = 0; begin < v_.rows; begin += BLOCK_PIECE)
    AddGram(v_.count, std::min(BLOCK_PIECE, v_.rows - begin), v_.p + begin, v_.ld, v_.w + begin, v_.ldw, grams_.data());
  PetscCall(SumGrams(1));
  outcome_ = MakeStep();
  if (outcome_ != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  if (outside_)
    PetscCall(GramsAround(false, matrices));
  else
    GramsOfResidual(false, matrices);
  PetscCall(SumGrams(matrices));
  outcome_ = MakeFactor(false);
  if (outcome_ == GOES_ON) Advance(false);
  PetscCall(PetscLogFlops(11.0 * v_.rows * v_.count * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
