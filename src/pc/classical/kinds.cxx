/// The rows of both blocks of a process, classified in one pass where they lie.
#include "pc/classical/kinds.hpp"
#include <petsc/private/matimpl.h>
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/graph.hpp"
#include "pc/aggregate/source.hpp"
#include "pc/classical/operations.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::classical
{

namespace
{
PetscErrorCode CountMine(Mat A, Mat D, Mat B, bool skewed, unsigned long long (&mine)[KINDS])
{
  Space                     space = Space::Host;
  aggregate::Source         own, others;
  Array<unsigned long long> tally;
  const PetscInt            stride = PetscMax((A->rmap->N - 1) / MOST_SAMPLES + 1, 1);
  const Sample              sample{A->rmap->rstart, A->rmap->rend, stride};
  const PetscInt            count = sample.Count();

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(aggregate::WorkSpace(D, &space));
  PetscCall(own.Take(D, space));
  if (B) PetscCall(others.Take(B, space));
  PetscCall(tally.Allocate(2 * static_cast<size_t>(count), space));
  PetscCall(
      ForEach(space, count, ClassifyRow{sample, own.rows.arrays, others.rows.arrays, skewed, count, tally.data()}));
  for (int half = 0; half < 2; half++) {
    unsigned long long packed = 0;
    PetscCall(aggregate::Sum(space, count, tally.data() + half * count, &packed));
    for (int c = 0; c < ClassifyRow::EACH && half * ClassifyRow::EACH + c < KINDS; c++)
      mine[half * ClassifyRow::EACH + c] = packed >> (ClassifyRow::BITS * c) & ((1ull << ClassifyRow::BITS) - 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CountKinds(Mat A, bool skewed, KindCounts *counts)
{
  const MPI_Comm     comm        = PetscObjectComm((PetscObject)A);
  unsigned long long mine[KINDS] = {0};
  PetscMPIInt        size;
  Mat                D = A, B = nullptr;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &D, &B, nullptr));
  PetscCall(OnAll(comm, [&] { return CountMine(A, D, B, skewed, mine); }));
  PetscCallMPI(MPI_Allreduce(mine, counts->of, KINDS, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
