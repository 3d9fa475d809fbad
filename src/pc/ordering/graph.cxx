/// Equal nodes are found by sums of hashed neighbours, then by comparison; components by breadth-first search.
#include "pc/ordering/graph.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sparsegpu::ordering
{

namespace
{
/// Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: its finalizer.
uint64_t Mixed(PetscInt node)
{
  uint64_t z = (static_cast<uint64_t>(node) + 1) * 0x9e3779b97f4a7c15u;
  z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// of [A.n]: the smallest node that each equals, itself where there is none smaller.
Indices EqualNodes(const SymmetricPattern &A)
{
  std::vector<uint64_t> sum(A.n);
  Indices               of(A.n, -1), mark(A.n, -1);
  for (PetscInt k = 0; k < A.n; k++) {
    sum[k] = Mixed(k);
    for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) sum[k] += Mixed(A.j[e]);
  }
  for (PetscInt k = 0; k < A.n; k++) {
    if (of[k] >= 0) continue;
    of[k] = k;
    for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) {
      const PetscInt other = A.j[e];
      if (of[other] >= 0 || sum[other] != sum[k] || A.i[other + 1] - A.i[other] != A.i[k + 1] - A.i[k]) continue;
      if (mark[k] != k) {
        mark[k] = k;
        for (PetscCount f = A.i[k]; f < A.i[k + 1]; f++) mark[A.j[f]] = k;
      }
      bool same = true;
      for (PetscCount f = A.i[other]; f < A.i[other + 1] && same; f++) same = mark[A.j[f]] == k;
      if (same) of[other] = k;
    }
  }
  return of;
}
} // namespace

bool CompressTo(const SymmetricPattern &A, PetscInt most, CompressedGraph *compressed)
{
  const Indices    of = EqualNodes(A);
  Indices          number(A.n, -1);
  CompressedGraph &C     = *compressed;
  WeightedGraph   &G     = C.graph;
  PetscInt         nodes = 0;
  for (PetscInt k = 0; k < A.n; k++) nodes += of[k] == k;
  if (nodes > most) return false;
  C = CompressedGraph();
  for (PetscInt k = 0; k < A.n; k++) {
    if (of[k] == k) {
      number[k] = G.pattern.n++;
      G.weight.push_back(0);
    }
    ++G.weight[number[of[k]]];
  }
  C.begin.assign(1, 0);
  for (const PetscInt weight : G.weight) C.begin.push_back(C.begin.back() + weight);
  Indices at(C.begin.begin(), C.begin.end() - 1);
  C.member.resize(A.n);
  for (PetscInt k = 0; k < A.n; k++) C.member[at[number[of[k]]]++] = k;
  G.pattern.i.assign(1, 0);
  for (PetscInt k = 0; k < A.n; k++) {
    if (of[k] != k) continue;
    for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++)
      if (number[A.j[e]] >= 0) G.pattern.j.push_back(number[A.j[e]]);
    G.pattern.i.push_back(static_cast<PetscCount>(G.pattern.j.size()));
  }
  return true;
}

std::vector<Part> Split(const WeightedGraph &G, const Indices &part, PetscInt parts)
{
  std::vector<Part> result(parts);
  Indices           number(G.pattern.n, -1);
  for (PetscInt k = 0; k < G.pattern.n; k++)
    if (part[k] >= 0) {
      number[k] = static_cast<PetscInt>(result[part[k]].node.size());
      result[part[k]].node.push_back(k);
    }
  for (Part &p : result) {
    SymmetricPattern &B = p.graph.pattern;
    B.n                 = static_cast<PetscInt>(p.node.size());
    B.i.assign(1, 0);
    for (const PetscInt k : p.node) {
      p.graph.weight.push_back(G.weight[k]);
      for (PetscCount e = G.pattern.i[k]; e < G.pattern.i[k + 1]; e++)
        if (part[G.pattern.j[e]] == part[k]) B.j.push_back(number[G.pattern.j[e]]);
      B.i.push_back(static_cast<PetscCount>(B.j.size()));
    }
  }
  return result;
}

Indices DenseNodes(const WeightedGraph &G)
{
  const SymmetricPattern &A         = G.pattern;
  const double            many      = std::max(16.0, 10 * std::sqrt(static_cast<double>(A.n)));
  const auto              neighbour = [&](PetscInt k) { return A.i[k + 1] - A.i[k]; };
  Indices                 dense;
  for (PetscInt k = 0; k < A.n; k++)
    if (static_cast<double>(neighbour(k)) > many) dense.push_back(k);
  std::stable_sort(dense.begin(), dense.end(), [&](PetscInt a, PetscInt b) { return neighbour(a) < neighbour(b); });
  return dense;
}

PetscInt FindComponents(const SymmetricPattern &A, Indices *component)
{
  PetscInt count = 0;
  Indices  queue;
  component->assign(A.n, -1);
  for (PetscInt root = 0; root < A.n; root++) {
    if ((*component)[root] >= 0) continue;
    (*component)[root] = count;
    queue.assign(1, root);
    while (!queue.empty()) {
      const PetscInt k = queue.back();
      queue.pop_back();
      for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) {
        if ((*component)[A.j[e]] >= 0) continue;
        (*component)[A.j[e]] = count;
        queue.push_back(A.j[e]);
      }
    }
    count++;
  }
  return count;
}

SymmetricPattern Expanded(const WeightedGraph &G)
{
  const SymmetricPattern &A = G.pattern;
  SymmetricPattern        B;
  Indices                 first(1, 0);
  for (const PetscInt weight : G.weight) first.push_back(first.back() + weight);
  B.n = first.back();
  B.i.assign(1, 0);
  const auto connect = [&](PetscInt node, PetscInt but) {
    for (PetscInt u = first[node]; u < first[node + 1]; u++)
      if (u != but) B.j.push_back(u);
  };
  for (PetscInt k = 0; k < A.n; k++)
    for (PetscInt u = first[k]; u < first[k + 1]; u++) {
      connect(k, u);
      for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) connect(A.j[e], -1);
      B.i.push_back(static_cast<PetscCount>(B.j.size()));
    }
  return B;
}

CompressedGraph PairedGraph(const SymmetricPattern &A, const Indices &partner)
{
  CompressedGraph   C;
  Indices           node(A.n), seen;
  SymmetricPattern &pattern = C.graph.pattern;

  C.begin.assign(1, 0);
  C.member.reserve(A.n);
  for (PetscInt k = 0; k < A.n; k++) {
    if (partner[k] < k) continue; // with the first of the two
    node[k] = node[partner[k]] = static_cast<PetscInt>(C.graph.weight.size());
    C.member.push_back(k);
    if (partner[k] > k) C.member.push_back(partner[k]);
    C.graph.weight.push_back(partner[k] > k ? 2 : 1);
    C.begin.push_back(static_cast<PetscInt>(C.member.size()));
  }
  pattern.n = static_cast<PetscInt>(C.graph.weight.size());
  pattern.i.assign(1, 0);
  pattern.j.reserve(A.j.size());
  seen.assign(pattern.n, -1);
  for (PetscInt c = 0; c < pattern.n; c++) {
    seen[c] = c;
    for (PetscInt m = C.begin[c]; m < C.begin[c + 1]; m++)
      for (PetscCount e = A.i[C.member[m]]; e < A.i[C.member[m] + 1]; e++) {
        const PetscInt other = node[A.j[e]];
        if (seen[other] == c) continue;
        seen[other] = c;
        pattern.j.push_back(other);
      }
    pattern.i.push_back(static_cast<PetscCount>(pattern.j.size()));
  }
  return C;
}

} // namespace sparsegpu::ordering
