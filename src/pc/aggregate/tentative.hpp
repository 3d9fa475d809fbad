/// Orthonormal columns of an aggregate by Gram-Schmidt in two passes, which are enough: Giraud, Langou, Rozloznik & van
/// den Eshof, Numer. Math. 101(1), 2005.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"
#include "pc/aggregate/names.hpp"

namespace sparsegpu::aggregate
{

/// Aggregates, what is to be represented on them, and the result.
struct Basis {
  const PetscInt *begin, *members; ///< of aggregates
  PetscInt        block_size, vectors, rows, columns;
  PetscReal       tolerance; ///< a vector that loses all but this part of its norm depends on those before it
  const Scalar   *B;         ///< [vectors * rows] by columns
  Scalar         *values;    ///< [rows * vectors] by rows; rows of nodes in no aggregate are left alone
  Scalar         *coarse;    ///< [vectors * columns] by columns
  Scalar         *inactive;  ///< [columns]
};

/// The blocks of aggregate a, by the members of `team`, which take its rows in turn: a team has a lane, a width, and a
/// sum over all lanes.
template <class Team> SPARSEGPU_HD void Orthonormalize(const Basis &p, PetscCount a, const Team &team)
{
  const PetscInt k = p.vectors, first = p.begin[a], size = (p.begin[a + 1] - first) * p.block_size;
  const auto     row = [&](PetscInt t) {
    return static_cast<PetscCount>(p.members[first + t / p.block_size]) * p.block_size + t % p.block_size;
  };
  const auto norm = [&](PetscInt c) {
    PetscReal sum = 0;
    for (PetscInt t = team.lane; t < size; t += team.width) {
      const Scalar v = p.values[row(t) * k + c];
      sum += RealPart(Conj(v) * v);
    }
    return static_cast<PetscReal>(sqrt(team.Sum(sum)));
  };

  for (PetscInt t = team.lane; t < size; t += team.width)
    for (PetscInt c = 0; c < k; c++) p.values[row(t) * k + c] = p.B[static_cast<PetscCount>(c) * p.rows + row(t)];
  for (PetscInt c = 0; c < k; c++) {
    Scalar *const   r      = p.coarse + static_cast<PetscCount>(c) * p.columns + a * k;
    const PetscReal before = norm(c);
    for (PetscInt b = team.lane; b < k; b += team.width) r[b] = Scalar(0);
    team.Wait();
    for (int pass = 0; pass < 2; pass++)
      for (PetscInt b = 0; b < c; b++) {
        Scalar dot(0);
        for (PetscInt t = team.lane; t < size; t += team.width)
          dot += Conj(p.values[row(t) * k + b]) * p.values[row(t) * k + c];
        dot = team.Sum(dot);
        for (PetscInt t = team.lane; t < size; t += team.width) {
          Scalar &v = p.values[row(t) * k + c];
          v         = v - dot * p.values[row(t) * k + b];
        }
        if (team.lane == 0) r[b] += dot;
      }
    const PetscReal after  = norm(c);
    const bool      active = after > p.tolerance * before;
    const Scalar    scale(active ? 1 / after : 0);
    for (PetscInt t = team.lane; t < size; t += team.width) {
      Scalar &v = p.values[row(t) * k + c];
      v         = active ? v * scale : Scalar(0);
    }
    if (team.lane != 0) continue;
    r[c]                  = Scalar(active ? after : 0);
    p.inactive[a * k + c] = Scalar(active ? 0 : 1);
  }
}

PetscErrorCode Orthonormalize_CUDA(PetscInt aggregates, const Basis &basis);

} // namespace sparsegpu::aggregate
