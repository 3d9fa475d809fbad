/// The coarse tail of a cycle, levels of at most some thousand unknowns and the coarsest solve, as one recursion that a
/// single kernel runs: phases over rows, each of which reads what others have written before it. What Cycle does level
/// by level takes some ten launches a level, each of which takes longer than its work.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"
#if defined(__CUDACC__)
  #include "device/load.cuh"
#endif

namespace sparsegpu::amg
{

// The recursion calls what its team has, which is the device's in a kernel and the host's elsewhere.
#if defined(__CUDACC__)
  #define SPARSEGPU_TAIL __device__
#else
  #define SPARSEGPU_TAIL
#endif

constexpr int TAIL_LEVELS = 8; ///< at most, beside the coarsest one

/// A sparse matrix, and how many threads share a row: a power of two.
struct TailMatrix {
  PetscInt        rows  = 0;
  int             lanes = 1;
  rows::CsrArrays csr;
};

/// Steps of x = before * (iterate before) + now * x + residual * inverse (b - A x), or sweeps by colours.
struct TailSmoother {
  PetscInt        before = 0, after = 0;    ///< steps before and after the coarse correction
  PetscReal       begin = 0, end = 0;       ///< of Chebyshev's method, the part of the spectrum; end 0: another method
  PetscInt        colors = 0;               ///< of Gauss-Seidel sweeps; else 0
  const PetscInt *color  = nullptr;         ///< [colors + 1] first of each in `list`
  const PetscInt *list   = nullptr;         ///< [rows] by colour
  bool            up[2] = {}, down[2] = {}; ///< sweeps by ascending, then by descending colours: before, after
};

struct TailLevel {
  TailMatrix    A, P, R;           ///< operator, interpolation from the next level, its transpose
  const Scalar *inverse;           ///< [rows] what the smoother divides by
  Scalar       *b, *x, *other, *r; ///< [rows]
  TailSmoother  smoother;
  PetscInt      visits = 1;     ///< of the next level for each of this one
  bool          solo   = false; ///< so little that one thread block does it: barriers of the grid take longer
};

struct Tail {
  int           levels = 0;                ///< beside the coarsest
  TailLevel     level[TAIL_LEVELS];        ///< finest first
  PetscInt      coarsest = 0;              ///< its unknowns
  const Scalar *solve    = nullptr;        ///< [coarsest * coarsest] by rows: b -> x
  Scalar       *b = nullptr, *x = nullptr; ///< [coarsest]
  PetscInt      blocks = 0;                ///< of a launch; 0: the device does not take it
};

/// What another thread may have written in the phase before.
SPARSEGPU_HD Scalar Fresh(const Scalar *p)
{
#if defined(__CUDA_ARCH__)
  return load_shared(p);
#else
  return *p;
#endif
}

// What is done to row r once `sum`, a row of a product, is known.
struct TailStep {
  PetscReal         before, now, residual;
  const Scalar     *inverse, *b, *x;
  Scalar           *next;
  SPARSEGPU_HD void operator()(PetscInt r, const Scalar &sum) const
  {
    Scalar v = Scalar(residual) * inverse[r] * (Fresh(b + r) - sum);
    if (now != 0) v += Scalar(now) * Fresh(x + r);
    if (before != 0) v += Scalar(before) * Fresh(next + r);
    next[r] = v;
  }
};
struct TailRelax {
  const Scalar     *inverse, *b;
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscInt r, const Scalar &sum) const
  {
    x[r] = Fresh(x + r) + inverse[r] * (Fresh(b + r) - sum);
  }
};
struct TailResidual {
  const Scalar     *b;
  Scalar           *r;
  SPARSEGPU_HD void operator()(PetscInt row, const Scalar &sum) const { r[row] = Fresh(b + row) - sum; }
};
struct TailAdd {
  const Scalar     *x; ///< null: 0
  Scalar           *to;
  SPARSEGPU_HD void operator()(PetscInt row, const Scalar &sum) const { to[row] = x ? Fresh(x + row) + sum : sum; }
};
struct TailZero {
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscInt row, const Scalar &) const { x[row] = Scalar(0); }
};

/// The cycle. `Team` is what runs it, all of whose threads call:
///   Product(rows, list, matrix, x, solo, done)  done(r, row r of the product) of the rows list[k], or k if list is
///   null Dense(n, matrix, x, y)                      y = matrix x Each(rows, solo, done)                      done(r,
///   0) Sync(solo)                                  what was written before is read after
template <class Team> class TailCycle
{
public:
  SPARSEGPU_TAIL TailCycle(const Tail &tail, const Team &team) : tail_(tail), team_(team) {}

  /// x ~ A^-1 b of the first level; `zero`: x is 0, whatever is in it.
  SPARSEGPU_TAIL void Run(bool zero)
  {
    PetscInt visits[TAIL_LEVELS] = {}; // of each level for the finer one
    int      l                   = 0;

    for (;;) {
      for (; l < tail_.levels; l++) {
        Descend(l, l == 0 ? zero : visits[l] == 0);
        if (l + 1 < tail_.levels) visits[l + 1] = 0;
      }
      team_.Dense(tail_.coarsest, tail_.solve, tail_.b, tail_.x);
      team_.Sync(tail_.level[tail_.levels - 1].solo);
      do {
        Ascend(--l);
        if (l > 0) team_.Sync(tail_.level[l - 1].solo);
      } while (l > 0 && ++visits[l] >= tail_.level[l - 1].visits);
      if (l == 0) return;
    }
  }

private:
  SPARSEGPU_TAIL void Descend(int l, bool zero)
  {
    const TailLevel &level = tail_.level[l];
    Scalar *const    now   = Smooth(level, 0, zero, level.x);

    if (now == level.x)
      in_other_ &= ~(1u << l);
    else
      in_other_ |= 1u << l;
    team_.Product(level.A.rows, nullptr, level.A, now, level.solo, TailResidual{level.b, level.r});
    team_.Sync(level.solo);
    Scalar *const coarse = l + 1 < tail_.levels ? tail_.level[l + 1].b : tail_.b;
    team_.Product(level.R.rows, nullptr, level.R, level.r, level.solo, TailAdd{nullptr, coarse});
    team_.Sync(level.solo);
  }
  /// The coarse correction goes where the steps after it begin, so that they end in x.
  SPARSEGPU_TAIL void Ascend(int l)
  {
    const TailLevel    &level  = tail_.level[l];
    const Scalar *const coarse = l + 1 < tail_.levels ? tail_.level[l + 1].x : tail_.x;
    const Scalar *const now    = in_other_ >> l & 1 ? level.other : level.x;
    const bool          odd    = level.smoother.colors == 0 && level.smoother.after % 2 == 1;
    Scalar *const       to     = odd ? level.other : level.x;

    team_.Product(level.P.rows, nullptr, level.P, coarse, level.solo, TailAdd{now, to});
    team_.Sync(level.solo);
    Smooth(level, 1, false, to);
  }
  /// Where the result is, which is in x or `other`; it can be read, but after the correction only by the next phase.
  SPARSEGPU_TAIL Scalar *Smooth(const TailLevel &level, int after, bool zero, Scalar *now)
  {
    const TailSmoother &s     = level.smoother;
    const PetscInt      steps = after ? s.after : s.before;

    if (s.colors == 0) return Steps(level, steps, after, zero, now);
    if (zero) {
      team_.Each(level.A.rows, level.solo, TailZero{now});
      team_.Sync(level.solo);
    }
    for (PetscInt k = 0; k < steps; k++) {
      const bool both = s.up[after] && s.down[after];
      if (s.up[after])
        for (PetscInt c = 0; c < s.colors; c++)
          Relax(level, c, now, after && k + 1 == steps && !both && c + 1 == s.colors);
      if (s.down[after])
        for (PetscInt c = s.colors - (both ? 2 : 1); c >= 0; c--)
          Relax(level, c, now, after && k + 1 == steps && c == 0);
    }
    return now;
  }
  SPARSEGPU_TAIL void Relax(const TailLevel &level, PetscInt c, Scalar *x, bool last)
  {
    const TailSmoother &s     = level.smoother;
    const PetscInt      begin = s.color[c], end = s.color[c + 1];

    team_.Product(end - begin, s.list + begin, level.A, x, level.solo, TailRelax{level.inverse, level.b, x});
    if (!last) team_.Sync(level.solo);
  }
  /// The coefficients are those of LevelSmoother::Chebyshev().
  SPARSEGPU_TAIL Scalar *Steps(const TailLevel &level, PetscInt steps, int after, bool zero, Scalar *x)
  {
    const TailSmoother &s         = level.smoother;
    const bool          chebyshev = s.end > 0;
    const PetscReal     scale     = chebyshev ? 2 / (s.end + s.begin) : 1;
    const PetscReal     mu        = chebyshev ? 1 / (1 - scale * s.begin) : 1;
    PetscReal           c0 = 1, c1 = mu;
    Scalar             *now = x, *next = x == level.x ? level.other : level.x;

    for (PetscInt k = 0; k < steps; k++) {
      const bool first = k == 0;
      PetscReal  omega = 1;
      if (chebyshev && !first) {
        const PetscReal c2 = 2 * mu * c1 - c0;
        omega              = 2 * mu * c1 / c2;
        c0                 = c1;
        c1                 = c2;
      }
      const bool     fresh  = !chebyshev || first || (zero && k == 1); // the iterate before is 0 or does not count
      const TailStep update = {
          fresh ? 0 : 1 - omega, first && zero ? 0 : omega, omega * scale, level.inverse, level.b, now, next};
      if (first && zero)
        team_.Each(level.A.rows, level.solo, update);
      else
        team_.Product(level.A.rows, nullptr, level.A, now, level.solo, update);
      if (!after || k + 1 < steps) team_.Sync(level.solo);
      Scalar *const swap = now;
      now                = next;
      next               = swap;
    }
    return now;
  }

  const Tail &tail_;
  const Team &team_;
  unsigned    in_other_ = 0; ///< bit l: the iterate of level l is not in x
};

/// How many threads share a row of so many entries on average.
inline int TailLanes(PetscReal mean)
{
  int lanes = 1;

  while (lanes < 32 && 3 * lanes <= mean) lanes *= 2;
  return lanes;
}
/// Whether a level of so many entries is one thread block's.
constexpr PetscInt TAIL_SOLO = 8192;

/// Sets tail->blocks.
PetscErrorCode PlanTail(Space space, Tail *tail);
PetscErrorCode PlanTail_CUDA(Tail *tail);
/// One cooperative launch on the device; *launched false: it does not take it, and nothing is done. Asynchronous,
/// bitwise reproducible.
PetscErrorCode RunTail(Space space, const Tail &tail, bool zero, bool *launched);
PetscErrorCode RunTail_CUDA(const Tail &tail, bool zero, bool *launched);

#undef SPARSEGPU_TAIL

} // namespace sparsegpu::amg
