/// Who sends what: from the ghosts that each rank wants.
#include <algorithm>
#include <climits>
#include "comm/channel.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
{
/// How many entries of each rank this one receives, in *counts and graph->receive_start.
PetscErrorCode CountReceived(PetscLayout layout, PetscInt count, const PetscInt columns[], Graph *graph,
                             std::vector<int> *counts)
{
  const PetscInt *ranges;
  PetscInt        at = 0;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  const size_t size = counts->size();
  PetscCallCXX(graph->receive_start.assign(size + 1, 0));
  for (size_t r = 0; r < size; r++) {
    while (at < count && columns[at] < ranges[r + 1]) at++;
    graph->receive_start[r + 1] = at;
    (*counts)[r]                = static_cast<int>(at - graph->receive_start[r]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Starts(const std::vector<int> &counts, std::vector<int> *starts)
{
  PetscFunctionBegin;
  PetscCallCXX(starts->assign(counts.size() + 1, 0));
  for (size_t r = 0; r < counts.size(); r++) (*starts)[r + 1] = (*starts)[r] + counts[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Asks the owners for the columns: each learns what it sends.
PetscErrorCode AskOwners(PetscLayout layout, const PetscInt columns[], const std::vector<int> &wanted, Graph *graph,
                         std::string *why)
{
  std::vector<int>      sent(wanted.size()), from, to;
  std::vector<PetscInt> asked;
  PetscInt              first;
  double                total = 0;

  PetscFunctionBegin;
  const MPI_Comm comm = layout->comm;
  PetscCallMPI(MPI_Alltoall(wanted.data(), 1, MPI_INT, sent.data(), 1, MPI_INT, comm));
  for (int n : sent) total += n;
  if (total > INT_MAX) PetscCallCXX(*why = "a rank sends more than 2147483647 entries");
  PetscCall(AgreeOnReason(comm, why));
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Starts(wanted, &from));
  PetscCall(Starts(sent, &to));
  PetscCallCXX(asked.resize(static_cast<size_t>(to.back())));
  PetscCallMPI(MPI_Alltoallv(columns, wanted.data(), from.data(), MPIU_INT, asked.data(), sent.data(), to.data(),
                             MPIU_INT, comm));
  PetscCall(PetscLayoutGetRange(layout, &first, nullptr));
  PetscCallCXX(graph->send.resize(asked.size()));
  std::transform(asked.begin(), asked.end(), graph->send.begin(),
                 [first](PetscInt column) { return static_cast<int>(column - first); });
  PetscCallCXX(graph->send_start.assign(to.begin(), to.end()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode GraphOfGhosts(PetscLayout layout, PetscInt count, const PetscInt columns[], Graph *graph,
                             std::string *why)
{
  std::vector<int> wanted;
  PetscMPIInt      size;

  PetscFunctionBegin;
  if (!std::is_sorted(columns, columns + count)) PetscCallCXX(*why = "the ghosts do not ascend");
  if (count > INT_MAX || layout->n > INT_MAX) PetscCallCXX(*why = "a rank has more than 2147483647 columns or ghosts");
  PetscCall(AgreeOnReason(layout->comm, why));
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(layout->comm, &size));
  PetscCallCXX(wanted.resize(static_cast<size_t>(size)));
  PetscCall(CountReceived(layout, count, columns, graph, &wanted));
  PetscCall(AskOwners(layout, columns, wanted, graph, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Graph Reversed(const Graph &graph)
{
  Graph other;
  other.send_start    = graph.receive_start;
  other.receive_start = graph.send_start;
  return other;
}

} // namespace sparsegpu::comm
