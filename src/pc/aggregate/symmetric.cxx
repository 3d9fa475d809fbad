/// Connections in both directions. Only those that are missing are sorted, unless columns do not ascend.
#include "device/backend_call.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "pc/aggregate/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
PetscErrorCode Check(const Graph &graph, PetscCount count)
{
  PetscFunctionBegin;
  PetscCheck(CanSortCoordinates(graph.nodes, graph.nodes, count), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%lld connections of %" PetscInt_FMT " nodes, some in one direction alone, have no numbers",
             static_cast<long long>(count), graph.nodes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Take(Array<PetscInt> &&i, Array<PetscInt> &&j, StrongGraph *strong)
{
  strong->i             = std::move(i);
  strong->j             = std::move(j);
  strong->graph.i       = strong->i.data();
  strong->graph.j       = strong->j.data();
  strong->graph.entries = static_cast<PetscInt>(strong->j.size());
}

/// All connections in both directions are sorted, and each is kept once.
PetscErrorCode SortAll(Space space, StrongGraph *strong)
{
  const Graph       graph = strong->graph;
  const PetscCount  count = 2 * static_cast<PetscCount>(graph.entries);
  Array<PetscInt>   row, column;
  SortedCoordinates sorted;

  PetscFunctionBegin;
  PetscCall(Check(graph, count));
  PetscCall(row.Allocate(static_cast<size_t>(count), space));
  PetscCall(column.Allocate(static_cast<size_t>(count), space));
  PetscCall(ForEach(space, graph.nodes, BothDirections{graph, strong->alone.data(), row.data(), column.data()}));
  PetscCall(SortCoordinates(graph.nodes, graph.nodes, count, row.data(), column.data(), space, &sorted));
  Take(std::move(sorted.i), std::move(sorted.j), strong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddMissing(Space space, StrongGraph *strong)
{
  const Graph       graph = strong->graph;
  const size_t      ends  = static_cast<size_t>(graph.nodes) + 1;
  const Missing     missing{graph, strong->alone.data()};
  PetscInt          total = 0;
  Array<PetscInt>   begin, row, column, i, j;
  SortedCoordinates sorted;

  PetscFunctionBegin;
  PetscCall(begin.Allocate(ends, space));
  PetscCall(ForEach(space, graph.nodes, CountMissing{missing, begin.data()}));
  PetscCall(RunningSumIn(space, graph.nodes, &begin, &total));
  if (total == 0) PetscFunctionReturn(PETSC_SUCCESS); // those in one direction lead to nodes that are alone
  PetscCall(Check(graph, static_cast<PetscCount>(graph.entries) + total));
  PetscCall(row.Allocate(static_cast<size_t>(total), space));
  PetscCall(column.Allocate(static_cast<size_t>(total), space));
  PetscCall(ForEach(space, graph.nodes, ListMissing{missing, begin.data(), row.data(), column.data()}));
  PetscCall(SortCoordinates(graph.nodes, graph.nodes, total, row.data(), column.data(), space, &sorted));
  PetscCall(i.Allocate(ends, space));
  PetscCall(j.Allocate(static_cast<size_t>(graph.entries) + static_cast<size_t>(total), space));
  PetscCall(ForEach(space, static_cast<PetscCount>(ends),
                    JoinGraphs{graph, sorted.i.data(), sorted.j.data(), i.data(), j.data()}));
  Take(std::move(i), std::move(j), strong);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Symmetrize(Space space, const Array<int> &unordered, StrongGraph *strong)
{
  int any = 0;

  PetscFunctionBegin;
  if (space == Space::Host) {
    any = *unordered.data();
  } else {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(&any, unordered.data(), sizeof(any), stream));
  }
  PetscCall(any ? SortAll(space, strong) : AddMissing(space, strong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
