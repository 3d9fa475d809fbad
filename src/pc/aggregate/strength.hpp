/// Which connections of nodes are strong: function objects for ForEach() (operations.hpp).
#pragma once

#include "device/scalar.hpp"
#include "pc/aggregate/graph.hpp"

namespace sparsegpu::aggregate
{

/// The magnitude, alike on all backends.
SPARSEGPU_HD PetscReal Size(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  const PetscReal re = v.re < 0 ? -v.re : v.re, im = v.im < 0 ? -v.im : v.im;
  const PetscReal large = re < im ? im : re, small = re < im ? re : im;
  if (!(large > 0)) return large + small; // 0, or NaN
  const PetscReal q = small / large;
  return large * static_cast<PetscReal>(sqrt(fma(q, q, PetscReal(1))));
#else
  return v < 0 ? -v : v;
#endif
}

/// A number of 64 random bits for a pair of nodes.
SPARSEGPU_HD unsigned long long Mix(PetscCount i, PetscCount j)
{
  unsigned long long h =
      static_cast<unsigned long long>(i) * 0x9e3779b97f4a7c15ull + static_cast<unsigned long long>(j);
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

/// How large entry e of the node pattern is.
struct Measure {
  const PetscReal       *largest; ///< of blocks, or null
  const Scalar          *a;       ///< of single unknowns
  SPARSEGPU_HD PetscReal operator()(PetscCount e) const { return largest ? largest[e] : Size(a[e]); }
};

/// What sums up to 0 over connections that all have one back, and to another number, but for one case in 2^64, over
/// others.
SPARSEGPU_HD unsigned long long Unpaired(PetscCount i, PetscCount j)
{
  return i < j ? Mix(i, j) : 0 - Mix(j, i);
}

/// Which entries connect strongly.
struct Strength {
  Graph             graph;
  Measure           measure;
  PetscReal         threshold;
  const PetscReal  *scale; ///< [nodes of columns] root of the size of the diagonal entry; read where threshold > 0
  SPARSEGPU_HD bool operator()(PetscCount i, PetscCount e) const
  {
    const PetscReal size = measure(e);
    return threshold > 0 ? size > threshold * (scale[i] * scale[graph.j[e]]) : !(size == 0);
  }
};

// Of each node.

/// An operation that joins the entries of a row has three steps, so that neighbouring threads can share the row: Of()
/// joins those from `first` on in steps of `step`, Join() two such parts, and Finish() ends the row.
template <class Operation> struct OfRows {
  using JoinsRows = void;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Operation &own = static_cast<const Operation &>(*this);
    own.Finish(k, own.Of(k, 0, 1));
  }
};

struct FindScale : OfRows<FindScale> {
  Graph      graph;
  Measure    measure;
  PetscReal *scale;
  FindScale(const Graph &g, const Measure &m, PetscReal *s) : graph(g), measure(m), scale(s) {}
  SPARSEGPU_HD PetscReal Of(PetscCount i, int first, int step) const
  {
    PetscReal size = 0;
    for (PetscInt e = graph.i[i] + first; e < graph.i[i + 1]; e += step)
      if (graph.j[e] == i) size = measure(e);
    return size;
  }
  SPARSEGPU_HD PetscReal Join(PetscReal a, PetscReal b) const { return a > b ? a : b; }
  SPARSEGPU_HD void      Finish(PetscCount i, PetscReal size) const { scale[i] = static_cast<PetscReal>(sqrt(size)); }
};

struct CountStrong : OfRows<CountStrong> {
  struct Part {
    unsigned long long hash;
    PetscInt           count, diagonal;
  };
  Strength            strength;
  Graph               graph;
  PetscInt           *kept;      ///< strong entries, and the one on the diagonal
  unsigned char      *alone;     ///< no strong entry off the diagonal
  unsigned long long *hash;      ///< of all nodes together 0 where each connection has one back
  int                *unordered; ///< = 1 where columns do not ascend; else left alone
  CountStrong(const Strength &s, PetscInt *k, unsigned char *a, unsigned long long *h, int *u)
      : strength(s),
        graph(s.graph),
        kept(k),
        alone(a),
        hash(h),
        unordered(u)
  {
  }
  SPARSEGPU_HD Part Of(PetscCount i, int first, int step) const
  {
    Part part{0, 0, 0};
    for (PetscInt e = graph.i[i] + first; e < graph.i[i + 1]; e += step) {
      const PetscInt j = graph.j[e];
      if (e > graph.i[i] && graph.j[e - 1] > j) *unordered = 1;
      if (j == i) {
        part.diagonal = 1;
      } else if (strength(i, e)) {
        part.count++;
        part.hash += Unpaired(i, j);
      }
    }
    return part;
  }
  SPARSEGPU_HD Part Join(const Part &a, const Part &b) const
  {
    return Part{a.hash + b.hash, a.count + b.count, a.diagonal | b.diagonal};
  }
  SPARSEGPU_HD void Finish(PetscCount i, const Part &all) const
  {
    kept[i]  = all.count + all.diagonal;
    alone[i] = all.count == 0;
    hash[i]  = all.hash;
  }
};

/// count[node] = entries that are neither strong nor on the diagonal.
struct CountWeak : OfRows<CountWeak> {
  Strength  strength;
  Graph     graph;
  PetscInt *count;
  CountWeak(const Strength &s, PetscInt *c) : strength(s), graph(s.graph), count(c) {}
  SPARSEGPU_HD PetscInt Of(PetscCount i, int first, int step) const
  {
    PetscInt weak = 0;
    for (PetscInt e = graph.i[i] + first; e < graph.i[i + 1]; e += step) weak += graph.j[e] != i && !strength(i, e);
    return weak;
  }
  SPARSEGPU_HD PetscInt Join(PetscInt a, PetscInt b) const { return a + b; }
  SPARSEGPU_HD void     Finish(PetscCount i, PetscInt all) const { count[i] = all; }
};

/// The columns of those entries e of row k for which keeps(k, e), from begin[k] on.
template <class Keeps> struct KeepColumns {
  Keeps             keeps;
  const PetscInt   *i, *j, *begin;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    PetscInt at = begin[k];
    for (PetscInt e = i[k]; e < i[k + 1]; e++)
      if (keeps(k, e)) to[at++] = j[e];
  }
};
/// Strong entries, and the one on the diagonal.
struct Connects {
  Strength          strength;
  SPARSEGPU_HD bool operator()(PetscCount i, PetscInt e) const { return strength.graph.j[e] == i || strength(i, e); }
};
using KeepStrong = KeepColumns<Connects>;

/// strong[e] = 1 of an entry e of A whose block is; the columns of a block row of the pattern ascend.
struct MarkStrong {
  Strength          strength;
  PetscInt          block_size;
  const PetscInt   *i, *j; ///< of A
  unsigned char    *strong;
  SPARSEGPU_HD void operator()(PetscCount row) const
  {
    const PetscCount node = row / block_size;
    const Graph     &g    = strength.graph;
    for (PetscInt e = i[row]; e < i[row + 1]; e++) {
      const PetscInt to = j[e] / block_size;
      PetscInt       at = e;
      if (block_size > 1) {
        PetscInt end = g.i[node + 1];
        for (at = g.i[node]; at < end;) {
          const PetscInt middle = at + (end - at) / 2;
          if (g.j[middle] < to)
            at = middle + 1;
          else
            end = middle;
        }
      }
      strong[e] = to == node || strength(node, at);
    }
  }
};

} // namespace sparsegpu::aggregate
