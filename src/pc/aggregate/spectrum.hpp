/// What bounds and estimates of eigenvalues, and near null spaces, do to each row: function objects for ForEach()
/// (operations.hpp).
#pragma once

#include "pc/aggregate/strength.hpp"

namespace sparsegpu::aggregate
{

/// sum[r] = the sum of the magnitudes of row r over that of its diagonal entry; 0 where that is 0 or missing.
struct BoundRow : OfRows<BoundRow> {
  struct Part {
    PetscReal all, diagonal;
  };
  Graph         graph; ///< of single unknowns
  const Scalar *a;
  Scalar       *sum;
  BoundRow(const Graph &g, const Scalar *v, Scalar *s) : graph(g), a(v), sum(s) {}
  SPARSEGPU_HD Part Of(PetscCount r, int first, int step) const
  {
    Part part{0, 0};
    for (PetscInt e = graph.i[r] + first; e < graph.i[r + 1]; e += step) {
      const PetscReal size = Size(a[e]);
      part.all += size;
      if (graph.j[e] == r) part.diagonal = size;
    }
    return part;
  }
  SPARSEGPU_HD Part Join(const Part &x, const Part &y) const { return Part{x.all + y.all, x.diagonal + y.diagonal}; }
  SPARSEGPU_HD void Finish(PetscCount r, const Part &p) const
  {
    sum[r] = Scalar(p.diagonal > 0 ? p.all / p.diagonal : 0);
  }
};

/// The root of D^-1: its magnitude, or that and its phase, so that the product of the two is 1/d; 0 where d is 0.
struct ScaleOfDiagonal {
  bool              phase;
  Scalar           *d;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const PetscReal size = Size(d[r]), root = static_cast<PetscReal>(sqrt(size));
    if (!(size > 0))
      d[r] = Scalar(0);
    else
      d[r] = phase ? Scalar(root) * Inverse(d[r]) : Scalar(1 / root);
  }
};

/// Numbers of magnitude 1/2 to 3/2 and of both signs, which depend on the number of the row alone.
struct StartOfSearch {
  PetscInt          first;
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const unsigned long long random = Mix(first + r, 1);
    const PetscReal size = PetscReal(0.5) + static_cast<PetscReal>(random >> 41) / static_cast<PetscReal>(1 << 23);
    x[r]                 = Scalar(random & 1 ? size : -size);
  }
};

/// The vectors that are 1 in one unknown of each node and 0 elsewhere, by columns.
struct FillUnits {
  PetscInt          block_size, rows;
  Scalar           *B;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    for (PetscInt c = 0; c < block_size; c++)
      B[static_cast<PetscCount>(c) * rows + r] = Scalar(r % block_size == c ? 1 : 0);
  }
};
struct FillOnes {
  Scalar           *B;
  SPARSEGPU_HD void operator()(PetscCount r) const { B[r] = Scalar(1); }
};
/// The rows of point k in the rigid body modes: translations, then rotations about the centre, each of an axis towards
/// the next.
struct FillRigidModes {
  PetscInt          dimension, rows;
  const PetscReal  *points; ///< [points * dimension]
  PetscReal         centre[3];
  Scalar           *to; ///< [3 or 6 modes * rows]
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscReal *const x = points + k * dimension;
    for (PetscInt mode = 0; mode < (dimension == 2 ? 3 : 6); mode++) {
      const PetscInt axis = mode - dimension, next = axis == 2 ? 0 : axis + 1;
      for (PetscInt c = 0; c < dimension; c++) {
        PetscReal v = c == mode ? 1 : 0;
        if (mode >= dimension && c == axis) v = centre[next] - x[next];
        if (mode >= dimension && c == next) v = x[axis] - centre[axis];
        to[mode * static_cast<PetscCount>(rows) + k * dimension + c] = Scalar(v);
      }
    }
  }
};

} // namespace sparsegpu::aggregate
