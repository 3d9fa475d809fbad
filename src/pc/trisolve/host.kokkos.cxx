/// Triangular solves on the host by Kokkos: level scheduling, or Jacobi sweeps.
#include "pc/trisolve/host.hpp"
#include <algorithm>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;

/// Starting all threads takes microseconds, a short row tens of nanoseconds: fewer rows are left to the calling thread.
static constexpr PetscInt WORTHWHILE = 256;

template <class Body> static PetscErrorCode EachRow(const char *name, PetscInt begin, PetscInt end, const Body &body)
{
  PetscFunctionBegin;
  if (end - begin < WORTHWHILE)
    for (PetscInt k = begin; k < end; k++) body(k);
  else
    PetscCallCXX(Kokkos::parallel_for(name, Range(begin, end), body));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows by level, in ascending order within a level: order [rows], begin [levels + 1].
static PetscErrorCode SortByLevel(const FactorView &F, bool upper, std::vector<PetscInt> *order,
                                  std::vector<PetscInt> *begin)
{
  std::vector<PetscInt> level, next;
  PetscInt              levels = 0;

  PetscFunctionBegin;
  PetscCallCXX(level.assign(F.rows, 0));
  for (PetscInt k = 0; k < F.rows; k++) {
    const PetscInt r = upper ? F.rows - 1 - k : k, end = upper ? F.i[r + 1] : F.diagonal[r];
    for (PetscInt e = upper ? F.diagonal[r] + 1 : F.i[r]; e < end; e++)
      level[r] = std::max(level[r], level[F.j[e]] + 1);
    levels = std::max(levels, level[r] + 1);
  }
  PetscCallCXX(begin->assign(static_cast<size_t>(levels) + 1, 0));
  for (const PetscInt l : level) (*begin)[l + 1]++;
  for (PetscInt l = 0; l < levels; l++) (*begin)[l + 1] += (*begin)[l];
  PetscCallCXX(next = *begin);
  PetscCallCXX(order->resize(F.rows));
  for (PetscInt r = 0; r < F.rows; r++) (*order)[next[level[r]]++] = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostLevels::Analyse(const FactorView &factors, Stream)
{
  PetscFunctionBegin;
  factors_ = factors;
  for (const bool upper : {false, true}) PetscCall(SortByLevel(factors, upper, &order_[upper], &begin_[upper]));
  PetscCallCXX(unknowns_.resize(factors.rows));
  lower_levels = static_cast<PetscInt>(begin_[0].size()) - 1;
  upper_levels = static_cast<PetscInt>(begin_[1].size()) - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostLevels::SetValues(const Scalar *values, Stream)
{
  PetscFunctionBegin;
  values_ = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostLevels::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream)
{
  const FactorView F = factors_;
  const Scalar    *a = values_;
  Scalar          *w = unknowns_.data();

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
    const PetscInt *order = order_[0].data();
    const auto      lower = [=](const PetscInt k) {
      const PetscInt r   = order[k];
      Scalar         sum = b[F.row[r]];
      for (PetscInt e = F.i[r]; e < F.diagonal[r]; e++) sum = sum - a[e] * w[F.j[e]];
      w[r] = F.lower_diagonal ? sum * a[F.diagonal[r]] : sum;
    };
    for (PetscInt l = 0; l < lower_levels; l++) PetscCall(EachRow("LowerLevel", begin_[0][l], begin_[0][l + 1], lower));
    order            = order_[1].data();
    const auto upper = [=](const PetscInt k) {
      const PetscInt r   = order[k];
      Scalar         sum = w[r];
      for (PetscInt e = F.i[r + 1] - 1; e > F.diagonal[r]; e--) sum = sum - a[e] * w[F.j[e]];
      w[r]           = F.lower_diagonal ? sum : sum * a[F.diagonal[r]];
      x[F.column[r]] = w[r];
    };
    for (PetscInt l = 0; l < upper_levels; l++) PetscCall(EachRow("UpperLevel", begin_[1][l], begin_[1][l + 1], upper));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t HostLevels::Bytes() const
{
  size_t bytes = unknowns_.size() * sizeof(Scalar);
  for (const bool upper : {false, true}) bytes += (order_[upper].size() + begin_[upper].size()) * sizeof(PetscInt);
  return bytes;
}

PetscErrorCode HostJacobi::Analyse(const FactorView &factors, Stream)
{
  PetscFunctionBegin;
  factors_ = factors;
  PetscCallCXX(work_.resize(3 * static_cast<size_t>(factors.rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostJacobi::SetValues(const Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(values_.Set(values, factors_.nonzeros, options.single, Space::Host, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// next = d (in - N now), d the factor's inverse diagonal, or 1; `now` null: zero.
template <class Values> static PetscErrorCode JacobiSweep(const FactorView &factors, bool upper, const Values &a,
                                                          const Scalar *in, const PetscInt *in_at, const Scalar *now,
                                                          Scalar *next, const PetscInt *next_at)
{
  const FactorView F = factors;

  PetscFunctionBegin;
  PetscCall(EachRow("JacobiSweep", 0, F.rows, [=](const PetscInt r) {
    Scalar sum(0);
    if (now) {
      const PetscInt end = upper ? F.i[r + 1] : F.diagonal[r];
      for (PetscInt e = upper ? F.diagonal[r] + 1 : F.i[r]; e < end; e++) sum += a[e] * now[F.j[e]];
    }
    Scalar result = in[in_at ? in_at[r] : r] - sum;
    if (upper != F.lower_diagonal) result = result * a[F.diagonal[r]];
    next[next_at ? next_at[r] : r] = result;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostJacobi::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream)
{
  Scalar *w[3] = {work_.data(), work_.data() + factors_.rows, work_.data() + 2 * static_cast<size_t>(factors_.rows)};

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCall(values_.With([&](const auto &a) -> PetscErrorCode {
    PetscFunctionBegin;
    for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
      Scalar *now = nullptr, *next = w[0], *other = w[1];
      for (PetscInt k = 0; k <= options.sweeps; k++) { // the first has no products: y = D^-1 b
        PetscCall(JacobiSweep(factors_, false, a, b, factors_.row, now, next, nullptr));
        now = next;
        std::swap(next, other);
      }
      const Scalar *lower = now;
      now                 = nullptr; // `next` is free, and so is the third
      other               = w[2];
      for (PetscInt k = 0; k <= options.sweeps; k++) {
        const bool last = k == options.sweeps;
        PetscCall(
            JacobiSweep(factors_, true, a, lower, nullptr, now, last ? x : next, last ? factors_.column : nullptr));
        now = next;
        std::swap(next, other);
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostTransposed::Build(const FactorView &F)
{
  std::vector<PetscInt> next;

  PetscFunctionBegin;
  PetscCallCXX(i_.assign(static_cast<size_t>(F.rows) + 1, 0));
  PetscCallCXX(j_.resize(F.nonzeros));
  PetscCallCXX(from_.resize(F.nonzeros));
  PetscCallCXX(diagonal_.resize(F.rows));
  for (PetscInt e = 0; e < F.nonzeros; e++) i_[F.j[e] + 1]++;
  for (PetscInt r = 0; r < F.rows; r++) i_[r + 1] += i_[r];
  PetscCallCXX(next = i_);
  for (PetscInt r = 0; r < F.rows; r++)
    for (PetscInt e = F.i[r]; e < F.i[r + 1]; e++) {
      const PetscInt t = next[F.j[e]]++;
      j_[t]            = r;
      from_[t]         = e;
      if (e == F.diagonal[r]) diagonal_[r] = t;
    }
  view = FactorView{F.rows, F.nonzeros, i_.data(), j_.data(), diagonal_.data(), F.column, F.row, !F.lower_diagonal};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostTransposed::SetValues(const Scalar *values)
{
  PetscFunctionBegin;
  PetscCallCXX(values_.resize(from_.size())); // of a pattern alone there are none
  for (size_t t = 0; t < from_.size(); t++) values_[t] = values[from_[t]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
