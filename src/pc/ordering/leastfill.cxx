/// The graph is compressed, its dense nodes come last, and candidates compete for each of its components.
#include "pc/ordering/leastfill.hpp"
#include <memory>
#include <numeric>
#include <petsc/private/matimpl.h>
#include "pc/factor/rows.hpp"
#include "pc/ordering/cores.hpp"
#include "pc/ordering/graph.hpp"
#include "pc/ordering/matrix.hpp"
#include "pc/ordering/search.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ordering
{

namespace
{
/// Nodes that are not dense, as one graph.
Part WithoutDense(const WeightedGraph &G, const Indices &dense)
{
  Indices part(G.pattern.n, 0);
  for (const PetscInt k : dense) part[k] = -1;
  return std::move(Split(G, part, 1).front());
}

/// A compressed graph where that is much smaller; else the graph itself, whose nodes AMD knows how to merge.
CompressedGraph CompressIfSmaller(SymmetricPattern &&A)
{
  constexpr PetscReal SMALLER = static_cast<PetscReal>(0.8); // of the nodes
  CompressedGraph     C;
  if (CompressTo(A, static_cast<PetscInt>(SMALLER * A.n), &C)) return C;
  C.graph.weight.assign(A.n, 1);
  C.begin.resize(static_cast<size_t>(A.n) + 1);
  C.member.resize(A.n);
  C.graph.pattern = std::move(A);
  std::iota(C.begin.begin(), C.begin.end(), 0);
  std::iota(C.member.begin(), C.member.end(), 0);
  return C;
}

PetscErrorCode Tell(Mat A, const LeastFillReport &report)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(A,
                      "Ordering %" PetscInt_FMT " unknowns: %" PetscInt_FMT " nodes, %" PetscInt_FMT
                      " of them dense, %" PetscInt_FMT " components\n",
                      A->rmap->n, report.nodes, report.dense, report.components));
  for (const Candidate &c : report.candidates)
    PetscCall(PetscInfo(A,
                        "Ordering %s: %g flops of a direct factorization, chains of %" PetscInt_FMT
                        " unknowns; taken for %" PetscInt_FMT " of %" PetscInt_FMT " components%s%s\n",
                        c.name, c.cost.flops, c.cost.height, c.taken, c.tried, *c.why ? "; no order: " : "", c.why));
  PetscCall(PetscInfo(A, "Ordering taken: %g flops of a direct factorization, chains of %" PetscInt_FMT " unknowns\n",
                      report.cost.flops, report.cost.height));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadFactorizations(Mat A, PetscReal *factorizations)
{
  PetscFunctionBegin;
  *factorizations = 100;
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Ordering leastfill", "Mat");
  PetscOptionsObject->options = ((PetscObject)A)->options;
  PetscCall(PetscOptionsReal("-mat_ordering_leastfill_factorizations",
                             "Factorizations that the ordering is to serve: the more, the slower candidates are tried",
                             "MATORDERINGLEASTFILL", *factorizations, factorizations, nullptr));
  PetscOptionsEnd();
  PetscCheck(*factorizations >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_ordering_leastfill_factorizations %g must be non-negative", (double)*factorizations);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OrderGraph(CompressedGraph C, PetscReal factorizations, Space space, Indices *order,
                          LeastFillReport *report)
{
  const PetscInt          n = static_cast<PetscInt>(C.member.size());
  Indices                 dense, component;
  Part                    rest;
  std::unique_ptr<Search> search;

  PetscFunctionBegin;
  PetscCallCXX(dense = DenseNodes(C.graph));
  if (dense.empty()) {
    PetscCallCXX(rest.node.resize(C.graph.pattern.n));
    std::iota(rest.node.begin(), rest.node.end(), 0);
    std::swap(rest.graph, C.graph);
  } else {
    PetscCallCXX(rest = WithoutDense(C.graph, dense));
  }
  *report       = LeastFillReport();
  report->dense = static_cast<PetscInt>(dense.size());
  report->nodes = rest.graph.pattern.n + report->dense;
  PetscCallCXX(report->components = FindComponents(rest.graph.pattern, &component));
  PetscCallCXX(search =
                   std::make_unique<Search>(rest.graph, component, report->components, factorizations, space, Cores()));
  PetscCall(search->Run());
  order->clear();
  PetscCallCXX(order->reserve(n));
  const auto eliminate = [&](PetscInt k) {
    order->insert(order->end(), C.member.begin() + C.begin[k], C.member.begin() + C.begin[k + 1]);
  };
  Indices nodes;
  PetscCallCXX(nodes = search->Order());
  for (const PetscInt k : nodes) eliminate(rest.node[k]);
  for (const PetscInt k : dense) eliminate(k);
  PetscCallCXX(report->candidates = search->Candidates());
  report->cost = search->Total();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetOrdering_LeastFill(Mat A, MatOrderingType, IS *row, IS *column)
{
  Indices     order;
  std::string taken;
  Space       space;
  bool        moves;

  PetscFunctionBegin;
  PetscCall(factor::FactorSpace(A, &space));
  PetscCall(LeastFillOf(A, space, &order, &taken, &moves));
  if (moves) {
    PetscCallCXX(order.resize(A->rmap->n));
    std::iota(order.begin(), order.end(), 0);
    PetscCallCXX(taken = NOT_YET);
    PetscCall(PetscInfo(A, "Diagonal entries are missing: rows will move, and be ordered then\n"));
  }
  PetscCall(CreateOrder(order, row, column));
  PetscCall(SetTaken(*row, taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::string LeastFillReport::Taken() const
{
  std::string text;
  size_t      names = 0;
  for (const Candidate &c : candidates) names += c.taken > 0;
  for (const Candidate &c : candidates) {
    if (c.taken == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(c.name);
    if (names > 1) text += " of " + std::to_string(c.taken);
  }
  return names > 1 ? text + " components" : text;
}

PetscErrorCode LeastFillOf(Mat A, Space space, Indices *order, std::string *taken, bool *moves)
{
  SymmetricPattern pattern;
  LeastFillReport  report;
  PetscReal        factorizations;

  PetscFunctionBegin;
  PetscCall(ReadFactorizations(A, &factorizations));
  PetscCall(GraphOf(A, &pattern, moves));
  if (moves && *moves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LeastFill(std::move(pattern), factorizations, space, order, &report));
  PetscCall(Tell(A, report));
  if (taken) PetscCallCXX(*taken = report.Taken());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LeastFillOf(Mat A, CompressedGraph &&graph, Space space, Indices *order, std::string *taken)
{
  LeastFillReport report;
  PetscReal       factorizations;

  PetscFunctionBegin;
  PetscCall(ReadFactorizations(A, &factorizations));
  PetscCall(OrderGraph(std::move(graph), factorizations, space, order, &report));
  PetscCall(Tell(A, report));
  PetscCallCXX(*taken = report.Taken());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LeastFill(SymmetricPattern A, PetscReal factorizations, Space space, Indices *order,
                         LeastFillReport *report)
{
  CompressedGraph C;

  PetscFunctionBegin;
  PetscCallCXX(C = CompressIfSmaller(std::move(A)));
  PetscCall(OrderGraph(std::move(C), factorizations, space, order, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterLeastFill()
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGLEASTFILL, MatGetOrdering_LeastFill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
