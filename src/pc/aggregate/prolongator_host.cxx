/// The smoothed prolongator on the host: one pass over the rows of A for its pattern, one for its values, with a table
/// of the places that the aggregates have in the present row.
#include <algorithm>
#include "device/backend_call.hpp"
#include "device/scalar.hpp"
#include "pc/aggregate/operations.hpp"
#include "pc/aggregate/prolongator.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
PetscErrorCode FindPattern_Host(const ProlongatorInput &in, ProlongatorPattern *pattern)
{
  const CsrArrays      &a = in.A.arrays;
  std::vector<PetscInt> begin, columns, last; ///< last[aggregate]: the node in whose row it was met last

  PetscFunctionBegin;
  PetscCallCXX(begin.assign(static_cast<size_t>(in.nodes) + 1, 0));
  PetscCallCXX(last.assign(static_cast<size_t>(in.aggregates), -1));
  for (PetscInt node = 0; node < in.nodes; node++) {
    const size_t first = columns.size();
    const auto   meet  = [&](PetscInt aggregate) {
      if (aggregate < 0 || last[static_cast<size_t>(aggregate)] == node) return;
      last[static_cast<size_t>(aggregate)] = node;
      columns.push_back(aggregate);
    };
    if (in.of[node] >= 0) {
      PetscCallCXX(meet(in.of[node]));
      if (in.damping != 0)
        for (PetscInt e = a.i[node * in.block_size]; e < a.i[(node + 1) * in.block_size]; e++)
          if (!in.strong || in.strong[e]) PetscCallCXX(meet(in.of[NodeOf(a.j[e], in.block_size)]));
      std::sort(columns.begin() + static_cast<std::ptrdiff_t>(first), columns.end());
    }
    begin[static_cast<size_t>(node) + 1] = static_cast<PetscInt>(columns.size());
  }
  PetscCall(pattern->i.Take(std::move(begin), Space::Host));
  PetscCall(pattern->j.Take(std::move(columns), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row of A as the smoother takes it.
struct RowOfA {
  PetscInt row;
  Scalar   inverse; ///< of the diagonal entry, 0 where that is 0 or missing
  bool     lumped;  ///< weak entries are added to the diagonal block; else they are dropped
};
RowOfA LookAtRow(const ProlongatorInput &in, PetscInt row)
{
  const CsrArrays &a = in.A.arrays;
  const PetscInt   r = row % in.block_size;
  Scalar           diagonal(0), weak(0);
  for (PetscInt e = a.i[row]; e < a.i[row + 1]; e++) {
    if (a.j[e] == row) diagonal = a.a[e];
    if (a.j[e] == row && !in.strong) break;
    if (in.strong && !in.strong[e] && a.j[e] % in.block_size == r) weak += a.a[e];
  }
  const Scalar whole = diagonal + weak;
  const bool   lump  = Magnitude(whole) > Magnitude(diagonal) / 4;
  if (lump) diagonal = whole;
  return RowOfA{row, Magnitude(diagonal) > 0 ? Inverse(diagonal) : Scalar(0), lump};
}

/// (A P0) of one row, in the places [aggregates] of its row of P.
void MultiplyRow(const ProlongatorInput &in, const RowOfA &row, const PetscInt *place, Scalar *p)
{
  const CsrArrays &a  = in.A.arrays;
  const PetscInt   bs = in.block_size, k = in.vectors, node = NodeOf(row.row, bs);
  for (PetscInt e = a.i[row.row]; e < a.i[row.row + 1]; e++) {
    PetscInt column = a.j[e];
    if (in.strong && !in.strong[e]) {
      if (!row.lumped) continue;
      column = node * bs + column % bs;
    }
    const PetscInt aggregate = in.of[NodeOf(column, bs)];
    if (aggregate < 0) continue;
    const Scalar *const from = in.P0 + static_cast<PetscCount>(column) * k;
    Scalar *const       to   = p + place[aggregate] * k;
    for (PetscInt c = 0; c < k; c++) to[c] += a.a[e] * from[c];
  }
}

PetscErrorCode FindValues_Host(const ProlongatorInput &in, const PetscInt *i, const PetscInt *j, Scalar *p)
{
  const PetscInt        k = in.vectors;
  std::vector<PetscInt> place;

  PetscFunctionBegin;
  PetscCallCXX(place.assign(static_cast<size_t>(in.aggregates), 0));
  for (PetscInt row = 0; row < in.A.rows; row++) {
    const PetscInt node = NodeOf(row, in.block_size), own = in.of[node], begin = i[row], length = i[row + 1] - begin;
    if (own < 0) continue;
    std::fill(p + begin, p + begin + length, Scalar(0));
    for (PetscInt q = 0; q < length; q += k) place[static_cast<size_t>(j[begin + q] / k)] = q / k;
    if (in.damping != 0) {
      const RowOfA a     = LookAtRow(in, row);
      const Scalar scale = in.blocks ? Scalar(1) : Scalar(-in.damping) * a.inverse;
      MultiplyRow(in, a, place.data(), p + begin);
      for (PetscInt q = 0; q < length; q++) p[begin + q] = scale * p[begin + q];
    }
    if (in.blocks && in.damping != 0) continue;
    for (PetscInt c = 0; c < k; c++)
      p[begin + place[static_cast<size_t>(own)] * k + c] += in.P0[static_cast<PetscCount>(row) * k + c];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindProlongatorPattern(Space space, const ProlongatorInput &in, ProlongatorPattern *pattern)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, FindProlongatorPattern_CUDA(in, pattern), FindPattern_Host(in, pattern)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindProlongatorValues(Space space, const ProlongatorInput &in, const PetscInt *i, const PetscInt *j,
                                     Scalar *p)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, FindProlongatorValues_CUDA(in, i, j, p), FindValues_Host(in, i, j, p)));
  if (in.blocks && in.damping != 0) PetscCall(ForEach(space, in.nodes, ApplyNodeBlocks{in, i, j, p}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
