/// A step of coarsening: strong couplings, splitting, interpolation; and one that leaves a level out.
#include "pc/classical/classical.hpp"
#include "mat/face/pieces.hpp"
#include "mat/rows/running_sum.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/graph.hpp"
#include "pc/classical/matrix.hpp"
#include "pc/classical/operations.hpp"
#include "pc/classical/system.hpp"
#include "petsc/on_all.hpp"
#include "sparsegpu.h"

namespace sparsegpu::classical
{

namespace
{
PetscErrorCode Allocate(Space space, PetscInt rows, OwnedRows *all)
{
  PetscInt nonzeros = 0;

  PetscFunctionBegin;
  PetscCall(RunningSumIn(space, rows, &all->i, &nonzeros));
  PetscCall(all->j.Allocate(static_cast<size_t>(nonzeros), space));
  PetscCall(all->a.Allocate(static_cast<size_t>(nonzeros), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows View(const OwnedRows &rows, PetscInt count, PetscInt columns)
{
  return SparseRows{count, columns, static_cast<PetscInt>(rows.j.size()),
                    CsrArrays{rows.i.data(), rows.j.data(), rows.a.data()}};
}

/// The rows of P, in `kept`; *asymmetry: the sum over own rows, and *measured: of how many.
PetscErrorCode Interpolate(const System &system, const Interpolation &in, const Choice &choice, OwnedRows *kept,
                           unsigned long long *asymmetry)
{
  const Space               space = system.space();
  const PetscInt            nodes = system.nodes(), own = system.own();
  OwnedRows                 given, factor;
  Array<Scalar>             sum;
  Array<unsigned long long> unlike;

  PetscFunctionBegin;
  PetscCall(given.i.Allocate(static_cast<size_t>(nodes) + 1, space));
  PetscCall(ForEach(space, nodes, CountGiven{in, given.i.data()}));
  PetscCall(Allocate(space, nodes, &given));
  PetscCall(sum.Allocate(static_cast<size_t>(nodes), space));
  PetscCall(ForEach(space, nodes, FillGiven{in, given.i.data(), given.j.data(), given.a.data(), sum.data()}));
  PetscCall(factor.i.Allocate(static_cast<size_t>(own) + 1, space));
  const CountFactor count{in, given.i.data(), factor.i.data()};
  PetscCall(ForEach(space, own, count));
  PetscCall(Allocate(space, own, &factor));
  PetscCall(unlike.Allocate(static_cast<size_t>(own), space));
  PetscCall(ForEach(space, own,
                    FillFactor{count, sum.data(), factor.i.data(), factor.j.data(), factor.a.data(), unlike.data()}));
  PetscCall(aggregate::Sum(space, own, unlike.data(), asymmetry));
  PetscCall(MultiplyAndTruncate(space, View(factor, own, nodes), View(given, nodes, nodes), choice, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FieldsOfCoarse(const System &system, const Splitting &splitting, Fields *fields)
{
  PetscFunctionBegin;
  PetscCall(fields->of.Allocate(static_cast<size_t>(splitting.own), system.space()));
  PetscCall(ForEach(system.space(), system.own(),
                    TakeFields{splitting.number.data(), splitting.first, system.field(), fields->of.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(Mat A, const Options &options)
{
  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n && A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "A splitting of a matrix of %" PetscInt_FMT " x %" PetscInt_FMT ", which is not square", A->rmap->N,
             A->cmap->N);
  PetscCheck(options.max_elements >= 0 && options.max_elements <= Options::MOST_ELEMENTS,
             PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " entries in a row of interpolation: must be between 0 and %" PetscInt_FMT,
             options.max_elements, Options::MOST_ELEMENTS);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Coarsen(Mat A, const Options &options, const Fields &fields, CoarseLevel *coarse)
{
  System             system;
  StrongGraph        graph;
  Splitting          splitting;
  OwnedRows          rows;
  unsigned long long asymmetry[1] = {0};

  PetscFunctionBegin;
  *coarse = CoarseLevel();
  PetscCall(Check(A, options));
  PetscCall(system.Take(A));
  PetscCall(system.TakeFields(fields));
  PetscCall(FindStrong(system, options.threshold, options.max_row_sum, &graph));
  PetscCall(Split(system, graph, options.most_regular, &splitting));
  coarse->unknowns = splitting.all;
  coarse->isolated = splitting.isolated;
  coarse->rounds   = splitting.rounds;
  PetscCall(PetscInfo(A,
                      "%" PetscInt_FMT " coarse unknowns of %" PetscInt_FMT ", %" PetscInt_FMT
                      " isolated, in %" PetscInt_FMT " rounds\n",
                      splitting.all, splitting.of, splitting.isolated, splitting.rounds));
  const PetscReal most = options.stagnation * static_cast<PetscReal>(splitting.of);
  if (splitting.all == 0 || static_cast<PetscReal>(splitting.all) > most) PetscFunctionReturn(PETSC_SUCCESS);
  const Interpolation in{Strong{system.rows(), graph.unit.data(), graph.limit.data()},
                         system.global(),
                         splitting.state.data(),
                         graph.ordered,
                         options.symmetry != Symmetry::Unknown,
                         options.symmetry == Symmetry::Hermitian};
  const Choice        choice{options.max_elements, options.truncation, splitting.number.data()};
  coarse->fields.count = fields.count;
  PetscCall(OnAll(system.comm(), [&] {
    PetscFunctionBegin;
    PetscCall(Interpolate(system, in, choice, &rows, asymmetry));
    if (fields.count > 1) PetscCall(FieldsOfCoarse(system, splitting, &coarse->fields));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(system.SumUp(asymmetry));
  const PetscInt fine = splitting.of - splitting.all - splitting.isolated;
  coarse->asymmetry   = static_cast<PetscReal>(asymmetry[0]) /
                      (static_cast<PetscReal>(1 << FillFactor::SHIFT) * static_cast<PetscReal>(PetscMax(fine, 1)));
  PetscCall(CreateFromRows(A, system.space(), splitting.own, std::move(rows), &coarse->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The rows of a parallel matrix on the host, with the columns' numbers in it.
PetscErrorCode TakeHostRows(Mat W, OwnedRows *rows)
{
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;

  PetscFunctionBegin;
  for (PetscInt r = W->rmap->rstart; r < W->rmap->rend; r++) {
    PetscInt           n;
    const PetscInt    *columns;
    const PetscScalar *values;

    PetscCall(MatGetRow(W, r, &n, &columns, &values));
    PetscCallCXX(j.insert(j.end(), columns, columns + n));
    PetscCallCXX(
        a.insert(a.end(), reinterpret_cast<const Scalar *>(values), reinterpret_cast<const Scalar *>(values) + n));
    PetscCallCXX(i.push_back(static_cast<PetscInt>(j.size())));
    PetscCall(MatRestoreRow(W, r, &n, &columns, &values));
  }
  PetscCall(rows->i.Take(std::move(i), Space::Host));
  PetscCall(rows->j.Take(std::move(j), Space::Host));
  PetscCall(rows->a.Take(std::move(a), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Skip(Mat first, Mat second, const Options &options, Mat *P)
{
  const Choice choice{options.max_elements, options.truncation, nullptr};
  Mat          W;
  PetscMPIInt  size;
  Space        space = Space::Host;
  OwnedRows    rows;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)first), &size));
  PetscCall(MatMatMult(first, second, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &W));
  PetscCall(OnAll(PetscObjectComm((PetscObject)first), [&] {
    aggregate::Source source;
    OwnedRows         host;
    Factors           product{W->rmap->n};

    PetscFunctionBegin;
    if (size == 1) {
      PetscCall(aggregate::WorkSpace(W, &space));
      PetscCall(source.Take(W, space));
      product.i = source.rows.arrays.i;
      product.j = source.rows.arrays.j;
      product.a = source.rows.arrays.a;
    } else {
      PetscCall(TakeHostRows(W, &host));
      product.i = host.i.data();
      product.j = host.j.data();
      product.a = host.a.data();
    }
    PetscCall(Truncate(space, product, choice, &rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(CreateFromRows(first, space, second->cmap->n, std::move(rows), P));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
