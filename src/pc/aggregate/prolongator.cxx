/// The smoothed prolongator as a matrix: its pattern is made where its values are, and the host gets a copy.
#include "pc/aggregate/prolongator.hpp"
#include <petsc/private/matimpl.h>
#include "mat/face/context.hpp"
#include "mat/face/fill_values.hpp"
#include "mat/face/pattern.hpp"
#include "mat/rows/sizes.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/operations.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
PetscErrorCode Input(const Source &source, const Aggregates &all, const Tentative &tentative,
                     const Smoothing &smoothing, ProlongatorInput *input)
{
  PetscFunctionBegin;
  PetscCheck(source.rows.rows == all.nodes * all.block_size, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A matrix of %" PetscInt_FMT " rows with aggregates of %" PetscInt_FMT " nodes of %" PetscInt_FMT,
             source.rows.rows, all.nodes, all.block_size);
  PetscCheck(!smoothing.blocks || all.block_size <= Smoothing::MOST_UNKNOWNS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Smoothing with the diagonal blocks of nodes of %" PetscInt_FMT " unknowns: at most %" PetscInt_FMT,
             all.block_size, Smoothing::MOST_UNKNOWNS);
  const bool filtered = smoothing.filtered && all.strong.size();
  PetscCheck(!filtered || all.strong.size() == static_cast<size_t>(source.rows.nonzeros), PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONGSTATE, "A matrix of %" PetscInt_FMT " nonzeros whose aggregates are of %zu",
             source.rows.nonzeros, all.strong.size());
  *input = ProlongatorInput{source.rows,
                            all.nodes,
                            all.block_size,
                            all.count,
                            tentative.vectors,
                            all.of.data(),
                            all.begin.data(),
                            all.members.data(),
                            tentative.values.data(),
                            filtered ? all.strong.data() : nullptr,
                            smoothing.damping,
                            smoothing.blocks && all.block_size > 1,
                            all.whole};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetValues(Space space, const ProlongatorInput &in, Mat P)
{
  PetscFunctionBegin;
  PetscCall(FillValues(P, space, [&](const PetscInt *i, const PetscInt *j, Scalar *p) {
    return FindProlongatorValues(space, in, i, j, p);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindProlongatorRows(Space space, const ProlongatorInput &in, Array<PetscInt> *i, Array<PetscInt> *j)
{
  const PetscInt     size = in.block_size * in.vectors;
  ProlongatorPattern blocks;

  PetscFunctionBegin;
  PetscCall(FindProlongatorPattern(space, in, &blocks));
  const PetscLogDouble all = static_cast<PetscLogDouble>(blocks.j.size()) * static_cast<PetscLogDouble>(size);
  PetscCheck(FitsPetscInt(all), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The prolongator has %.0f entries, more than PetscInt counts; configure PETSc with 64-bit indices", all);
  if (size == 1) {
    *i = std::move(blocks.i);
    *j = std::move(blocks.j);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(i->Allocate(static_cast<size_t>(in.A.rows) + 1, space));
  PetscCall(j->Allocate(blocks.j.size() * static_cast<size_t>(size), space));
  PetscCall(ForEach(
      space, static_cast<PetscCount>(in.A.rows) + 1,
      ExpandRows{in.A.rows, in.block_size, in.vectors, blocks.i.data(), blocks.j.data(), i->data(), j->data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateProlongator(Mat A, const Aggregates &all, const Tentative &tentative, const Smoothing &smoothing,
                                 Mat *P)
{
  const Space      space = all.space;
  Source           source;
  ProlongatorInput in;
  Array<PetscInt>  i, j;
  PetscBool        seq, mpi;
  Context         *context;
  Mat              M;

  PetscFunctionBegin;
  PetscCall(source.Take(A, space));
  PetscCall(Input(source, all, tentative, smoothing, &in));
  PetscCall(FindProlongatorRows(space, in, &i, &j));
  const PetscInt columns = all.count * tentative.vectors;
  PetscCall(MatCreate(PETSC_COMM_SELF, &M));
  *P = M;
  PetscCall(MatSetSizes(M, in.A.rows, columns, in.A.rows, columns));
  PetscCall(MatSetType(M, MATSEQAIJSPARSEGPU));
  PetscCall(MatSetBlockSizes(M, all.block_size, tentative.vectors));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) PetscCall(InheritSettings(A, M));
  PetscCall(GetContext(M, &context));
  context->read_here = true;
  PetscCall(TakePattern(M, std::move(i), std::move(j), space));
  PetscCall(SetValues(space, in, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefreshProlongator(Mat A, const Aggregates &all, const Tentative &tentative, const Smoothing &smoothing,
                                  Mat P)
{
  Source           source;
  ProlongatorInput in;

  PetscFunctionBegin;
  PetscCall(source.Take(A, all.space));
  PetscCall(Input(source, all, tentative, smoothing, &in));
  PetscCheck(P->rmap->n == in.A.rows && P->cmap->n == all.count * tentative.vectors, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A prolongator of %" PetscInt_FMT " x %" PetscInt_FMT ", not %" PetscInt_FMT " x %" PetscInt_FMT,
             P->rmap->n, P->cmap->n, in.A.rows, all.count * tentative.vectors);
  PetscCall(SetValues(all.space, in, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
