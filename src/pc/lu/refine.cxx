/// Refinement by restarted GMRES, preconditioned with the factors.
#include "pc/lu/refine.hpp"
#include <algorithm>
#include <cmath>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
constexpr PetscInt STEPS = LU_BASIS - 2; ///< of a cycle: their vectors, the one that they lead to, and a work vector

/// The least squares problem of a cycle, kept triangular by rotations.
class LeastSquares
{
public:
  explicit LeastSquares(PetscReal norm)
  {
    std::fill_n(&h_[0][0], (STEPS + 1) * STEPS, Scalar(0));
    std::fill_n(g_, STEPS + 1, Scalar(0));
    g_[0] = Scalar(norm);
  }
  /// Column j of the Hessenberg matrix: h [j + 1], and below it `next`. The norm of the residual afterwards.
  PetscReal Append(PetscInt j, const Scalar *h, PetscReal next);
  /// y [count] with the first columns; false if they are dependent.
  bool Solve(PetscInt count, Scalar *y) const;

private:
  Scalar    h_[STEPS][STEPS + 1]; ///< [column][row]
  Scalar    g_[STEPS + 1], s_[STEPS];
  PetscReal c_[STEPS];
};

PetscReal LeastSquares::Append(PetscInt j, const Scalar *h, PetscReal next)
{
  Scalar *column = h_[j];

  std::copy_n(h, j + 1, column);
  for (PetscInt k = 0; k < j; k++) {
    const Scalar a = column[k], b = column[k + 1];
    column[k]     = Scalar(c_[k]) * a + s_[k] * b;
    column[k + 1] = Scalar(c_[k]) * b - Conj(s_[k]) * a;
  }
  const PetscReal size = Magnitude(column[j]), length = std::hypot(size, next);
  const Scalar    direction = size > 0 ? Scalar(1 / size) * column[j] : Scalar(1);
  c_[j]                     = length > 0 ? size / length : 1;
  s_[j]                     = length > 0 ? Scalar(next / length) * direction : Scalar(0);
  column[j]                 = Scalar(length) * direction;
  g_[j + 1]                 = Scalar(0) - Conj(s_[j]) * g_[j];
  g_[j]                     = Scalar(c_[j]) * g_[j];
  return Magnitude(g_[j + 1]);
}

bool LeastSquares::Solve(PetscInt count, Scalar *y) const
{
  for (PetscInt k = count - 1; k >= 0; k--) {
    Scalar sum = g_[k];
    if (!(Magnitude(h_[k][k]) > 0)) return false;
    for (PetscInt j = k + 1; j < count; j++) sum = sum - h_[j][k] * y[j];
    y[k] = sum * Inverse(h_[k][k]);
  }
  return true;
}

class Gmres
{
public:
  Gmres(LuEngine *engine, PetscInt rows, bool transpose) : engine_(engine), rows_(rows), transpose_(transpose) {}
  PetscErrorCode Begin()
  {
    PetscFunctionBegin;
    PetscCall(engine_->Basis(STEPS + 2, &basis_));
    work_ = Column(STEPS + 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The correction for the residual that was kept is left in correction(); *steps: solves with the factors; 0: none.
  PetscErrorCode Cycle(bool scaled, PetscInt *steps);
  const Scalar  *correction() const { return basis_; }

private:
  Scalar        *Column(PetscInt k) { return basis_ + static_cast<size_t>(k) * static_cast<size_t>(rows_); }
  PetscErrorCode Normalize(Scalar *v, PetscReal *norm);
  PetscErrorCode Orthogonalize(PetscInt count, Scalar *w, Scalar *h);

  LuEngine *engine_;
  PetscInt  rows_;
  bool      transpose_;
  Scalar   *basis_ = nullptr, *work_ = nullptr;
};

/// v becomes a unit vector, unless its norm is not positive and finite.
PetscErrorCode Gmres::Normalize(Scalar *v, PetscReal *norm)
{
  Scalar square;

  PetscFunctionBegin;
  PetscCall(engine_->Dots(1, v, v, &square));
  *norm = std::sqrt(RealPart(square));
  if (*norm > 0 && *norm <= PETSC_MAX_REAL) PetscCall(engine_->Combine(0, nullptr, nullptr, 1 / *norm, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Classical Gram-Schmidt, twice.
PetscErrorCode Gmres::Orthogonalize(PetscInt count, Scalar *w, Scalar *h)
{
  Scalar part[STEPS];

  PetscFunctionBegin;
  std::fill_n(h, count, Scalar(0));
  for (int round = 0; round < 2; round++) {
    PetscCall(engine_->Dots(count, basis_, w, part));
    for (PetscInt k = 0; k < count; k++) {
      h[k] += part[k];
      part[k] = Scalar(-1) * part[k];
    }
    PetscCall(engine_->Combine(count, part, basis_, 1, w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gmres::Cycle(bool scaled, PetscInt *steps)
{
  const PetscReal enough = std::sqrt(PETSC_MACHINE_EPSILON); // a next cycle begins with the true residual
  const PetscInt  most   = std::min(STEPS, rows_);
  Scalar          h[STEPS], y[STEPS];
  PetscReal       norm, next, left;
  PetscInt        done = 0;

  PetscFunctionBegin;
  *steps = 0;
  PetscCall(engine_->KeptResidual(basis_, scaled, transpose_));
  PetscCall(Normalize(basis_, &norm));
  if (!(norm > 0 && norm <= PETSC_MAX_REAL)) PetscFunctionReturn(PETSC_SUCCESS);
  LeastSquares problem(norm);
  for (PetscInt j = 0; j < most; j++) {
    PetscCall(engine_->Precondition(Column(j), work_, scaled, transpose_));
    PetscCall(engine_->Multiply(work_, Column(j + 1), scaled, transpose_));
    PetscCall(Orthogonalize(j + 1, Column(j + 1), h));
    PetscCall(Normalize(Column(j + 1), &next));
    ++*steps;
    if (!(next <= PETSC_MAX_REAL)) break;
    left = problem.Append(j, h, next);
    done = j + 1;
    if (left <= enough * norm || next == 0) break;
  }
  if (done == 0 || !problem.Solve(done, y)) {
    *steps = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(engine_->Combine(done, y, basis_, 0, work_));
  PetscCall(engine_->Precondition(work_, basis_, scaled, transpose_));
  ++*steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RefineByGmres(LuEngine *engine, PetscInt rows, const Scalar *b, Scalar *x, bool transpose,
                             PetscReal goal, PetscInt *steps, ResidualSize *size)
{
  constexpr int   CYCLES = 8; // bounds the cost of a solve that cannot succeed
  const LuColumns one    = FirstColumns(1);
  Gmres           gmres(engine, rows, transpose);
  bool            scaled = true, again = true;

  PetscFunctionBegin;
  if (!(size->error < PETSC_INFINITY)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(gmres.Begin());
  for (int cycle = 0; cycle < CYCLES && size->error > goal; cycle++) {
    ResidualSize next;
    PetscInt     taken;
    PetscCall(engine->Residual(one, b, rows, x, rows, transpose,
                               &next)); // the kept residual may belong to an x that was undone
    PetscCall(gmres.Cycle(scaled, &taken));
    *steps += taken;
    if (taken == 0) break;
    PetscCall(engine->AddTo(x, gmres.correction()));
    PetscCall(engine->Residual(one, b, rows, x, rows, transpose, &next));
    const bool slow = !(next.error <= static_cast<PetscReal>(0.9) * size->error);
    if (next.error < size->error)
      *size = next;
    else
      PetscCall(engine->Undo(0, x));
    if (slow && !again) break;
    again = !slow; // where one scaling of the residual stagnates, try the other
    if (slow) scaled = !scaled;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
