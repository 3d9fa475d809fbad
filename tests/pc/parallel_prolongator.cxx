static const char help[] = "Prolongators of parallel matrices against products of matrices.\n\n";

#include "falling_rows.hpp"
#include "node_matrix.hpp"
#include "pc/amg/filter.hpp"
#include "pc/amg/near_null_space.hpp"
#include "pc/amg/parallel_prolongator.hpp"

using namespace testing;
using namespace sparsegpu;
namespace agg = sparsegpu::aggregate;

namespace
{
/// A matrix, and the aggregates of its processes with a near null space of `vectors` vectors.
struct Made {
  Mat             A     = nullptr;
  Space           space = Space::Host;
  PetscInt        first = 0; ///< aggregate of this process
  agg::Aggregates aggregates;
  agg::Tentative  tentative;
};

/// Takes A over.
PetscErrorCode Make(const Known &known, Mat A, PetscReal threshold, PetscInt vectors, Made *m)
{
  Mat                 D;
  PetscInt            rows;
  agg::Options        options;
  std::vector<Scalar> entries;
  Array<Scalar>       B;

  PetscFunctionBeginUser;
  m->A = A;
  PetscCall(amg::DiagonalBlock(m->A, &D));
  PetscCall(agg::WorkSpace(D, &m->space));
  options.block_size = known.size;
  options.threshold  = threshold;
  PetscCall(MatGetLocalSize(m->A, &rows, nullptr));
  for (PetscInt v = 0; v < vectors; ++v)
    for (PetscInt r = 0; r < rows; ++r)
      entries.push_back(Scalar(v == 0 ? (PetscReal)1 : static_cast<PetscReal>(known.Hash(r, v) % 1000) / 1000));
  PetscCall(B.Copy(entries.data(), entries.size(), m->space));
  PetscCall(agg::FindAggregates(D, options, m->space, &m->aggregates));
  PetscCall(agg::FindTentative(m->aggregates, vectors, B, &m->tentative));
  PetscCallMPI(MPI_Scan(&m->aggregates.count, &m->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  m->first -= m->aggregates.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(Mat A, const agg::Aggregates &aggregates, const agg::Tentative &tentative, PetscReal damping,
                      PetscReal threshold, PetscInt columns, Mat *P)
{
  amg::ParallelProlongator prolongator;

  PetscFunctionBeginUser;
  PetscCall(prolongator.Create(A, aggregates, tentative, damping, threshold, columns, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// P0 has in the row of an unknown its block in the columns of its aggregate, and nothing else.
PetscErrorCode CheckTentative(const Made &m, Mat P0)
{
  const PetscInt        k = m.tentative.vectors;
  std::vector<PetscInt> of((size_t)m.aggregates.nodes);
  std::vector<Scalar>   values(m.tentative.values.size());
  PetscInt              begin, end, n;
  const PetscInt       *j;
  const PetscScalar    *a;

  PetscFunctionBeginUser;
  PetscCall(m.aggregates.of.ToHost(of.data()));
  PetscCall(m.tentative.values.ToHost(values.data()));
  PetscCall(MatGetOwnershipRange(P0, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    const PetscInt aggregate = of[(size_t)((r - begin) / m.aggregates.block_size)];
    PetscCall(MatGetRow(P0, r, &n, &j, &a));
    PetscCheck(n == (aggregate < 0 ? 0 : k), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Row %" PetscInt_FMT " of P0 has %" PetscInt_FMT " entries", r, n);
    for (PetscInt e = 0; e < n; ++e) {
      PetscScalar wanted;
      PetscCall(PetscMemcpy(&wanted, &values[(size_t)((r - begin) * k + e)], sizeof(wanted)));
      PetscCheck(j[e] == (m.first + aggregate) * k + e && a[e] == wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") of P0", r, j[e]);
    }
    PetscCall(MatRestoreRow(P0, r, &n, &j, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// P0 - damping D^-1 F P0, with D the diagonal of F; rows without one are those of P0, and those of nodes in no
/// aggregate are empty.
PetscErrorCode Reference(const Made &m, Mat F, Mat P0, PetscReal damping, Mat *P)
{
  Vec                   inverse;
  PetscScalar          *d;
  std::vector<PetscInt> of((size_t)m.aggregates.nodes);
  PetscInt              rows;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(F, nullptr, &inverse));
  PetscCall(MatGetDiagonal(F, inverse));
  PetscCall(VecReciprocal(inverse));
  PetscCall(m.aggregates.of.ToHost(of.data()));
  PetscCall(VecGetLocalSize(inverse, &rows));
  PetscCall(VecGetArray(inverse, &d));
  for (PetscInt r = 0; r < rows; ++r)
    if (of[(size_t)(r / m.aggregates.block_size)] < 0) d[r] = 0;
  PetscCall(VecRestoreArray(inverse, &d));
  PetscCall(MatMatMult(F, P0, MAT_INITIAL_MATRIX, 2, P));
  PetscCall(MatProductClear(*P));
  PetscCall(MatDiagonalScale(*P, inverse, nullptr));
  PetscCall(MatAYPX(*P, -damping, P0, DIFFERENT_NONZERO_PATTERN));
  PetscCall(VecDestroy(&inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The largest magnitude of P - Q in Frobenius' norm over that of Q.
PetscErrorCode Compare(Mat P, Mat Q, PetscReal *apart)
{
  PetscReal whole;
  Mat       difference;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &difference));
  PetscCall(MatAXPY(difference, -1, Q, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(difference, NORM_FROBENIUS, apart));
  PetscCall(MatNorm(Q, NORM_FROBENIUS, &whole));
  *apart /= whole;
  PetscCall(MatDestroy(&difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(const Known &known, MatType type, PetscReal threshold, PetscInt vectors)
{
  constexpr PetscReal DAMPING = (PetscReal)0.6;
  Made                m;
  Mat                 A, P0, P, F, Q;
  PetscReal           apart;
  PetscInt            size, columns;
  MatType             found;
  PetscBool           same;

  PetscFunctionBeginUser;
  PetscCall(Create(known, type, &A));
  PetscCall(Make(known, A, threshold, vectors, &m));
  const PetscInt mine = m.aggregates.count * vectors;
  PetscCall(Create(m.A, m.aggregates, m.tentative, 0, -1, mine, &P0));
  PetscCall(CheckTentative(m, P0));
  PetscCall(Create(m.A, m.aggregates, m.tentative, DAMPING, threshold, mine, &P));
  F = m.A;
  if (threshold > 0) PetscCall(amg::WithoutWeak(m.A, threshold, &F));
  PetscCall(Reference(m, F, P0, DAMPING, &Q));
  PetscCall(Compare(P, Q, &apart));
  PetscCheck(apart <= 1000 * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, nodes of %" PetscInt_FMT ", %" PetscInt_FMT " vectors, threshold %g: P is %g from that of products",
             type, known.size, vectors, (double)threshold, (double)apart);
  PetscCall(MatGetBlockSizes(P, &size, &columns));
  PetscCall(MatGetType(P, &found));
  PetscCall(PetscStrendswith(found, strcmp(type, MATAIJ) ? "sparsegpu" : "aij", &same));
  PetscCheck(size == known.size && columns == vectors && same, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s with blocks of %" PetscInt_FMT " x %" PetscInt_FMT, found, size, columns);
  if (F != m.A) PetscCall(MatDestroy(&F));
  for (Mat *M : {&P0, &P, &Q, &m.A}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices whose blocks on the diagonal are full: what is weak has a place there.
PetscErrorCode TestProducts()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (PetscInt size : {1, 2, 3})
      for (PetscReal threshold : {(PetscReal)-1, (PetscReal)0.02, (PetscReal)0.9})
        for (PetscInt vectors : {1, 3, 6})
          PetscCall(Check(Known{53, size, PETSC_FALSE, static_cast<unsigned>(size + vectors), true}, type, threshold,
                          vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values give, twice, the prolongator that is made for them.
PetscErrorCode TestValues()
{
  constexpr PetscInt VECTORS = 2;
  const PetscReal    damping = (PetscReal)0.6;

  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (PetscInt size : {1, 3}) {
      const Known              known{53, size, PETSC_FALSE, static_cast<unsigned>(size), true};
      amg::ParallelProlongator prolongator;
      Made                     m;
      Mat                      A, B, P, Q;
      Vec                      factors;
      bool                     refreshes, none;
      PetscCall(Create(known, type, &A));
      PetscCall(Make(known, A, -1, VECTORS, &m));
      const PetscInt mine = m.aggregates.count * VECTORS;
      PetscCall(prolongator.Refreshes(nullptr, &none));
      PetscCall(prolongator.Create(A, m.aggregates, m.tentative, damping, -1, mine, &P));
      PetscCall(prolongator.Refreshes(P, &refreshes));
      PetscCheck(!none && refreshes == (strcmp(type, MATAIJ) != 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Type %s", type);
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
      PetscCall(MatCreateVecs(A, &factors, nullptr));
      for (int round = 0; refreshes && round < 2; ++round) {
        PetscReal   apart;
        PetscRandom random;
        PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
        PetscCall(PetscRandomSetInterval(random, 1, 2));
        PetscCall(VecSetRandom(factors, random));
        PetscCall(PetscRandomDestroy(&random));
        PetscCall(MatDiagonalScale(B, nullptr, factors));
        PetscCall(prolongator.Refresh(B, damping, P));
        PetscCall(Create(B, m.aggregates, m.tentative, damping, -1, mine, &Q));
        PetscCall(Compare(P, Q, &apart));
        PetscCheck(apart == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Nodes of %" PetscInt_FMT ": %g from a new one", size,
                   (double)apart);
        PetscCall(MatDestroy(&Q));
      }
      PetscCall(VecDestroy(&factors));
      for (Mat *M : {&P, &B, &m.A}) PetscCall(MatDestroy(M));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All columns become those of the first process.
PetscErrorCode TestGathered()
{
  Made            m;
  const Known     known{53, 2, PETSC_FALSE, 3};
  Mat             A, apart, together;
  PetscMPIInt     rank;
  PetscInt        all, begin, end;
  constexpr int   VECTORS = 2;
  const PetscReal damping = (PetscReal)0.6, threshold = (PetscReal)0.9;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(Create(known, MATSPARSEGPU, &A));
  PetscCall(Make(known, A, threshold, VECTORS, &m));
  const PetscInt mine = m.aggregates.count * VECTORS;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(Create(m.A, m.aggregates, m.tentative, damping, threshold, mine, &apart));
  PetscCall(Create(m.A, m.aggregates, m.tentative, damping, threshold, rank ? 0 : all, &together));
  PetscCall(MatGetOwnershipRange(apart, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    PetscInt           n[2];
    const PetscInt    *j[2];
    const PetscScalar *a[2];
    PetscCall(MatGetRow(apart, r, &n[0], &j[0], &a[0]));
    std::vector<PetscInt>    columns(j[0], j[0] + n[0]);
    std::vector<PetscScalar> values(a[0], a[0] + n[0]);
    PetscCall(MatRestoreRow(apart, r, &n[0], &j[0], &a[0]));
    PetscCall(MatGetRow(together, r, &n[1], &j[1], &a[1]));
    PetscCheck(n[1] == (PetscInt)columns.size() && std::equal(columns.begin(), columns.end(), j[1]) &&
                   std::equal(values.begin(), values.end(), a[1]),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " is another one", r);
    PetscCall(MatRestoreRow(together, r, &n[1], &j[1], &a[1]));
  }
  for (Mat *M : {&apart, &together, &m.A}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows in falling order give the prolongator of rows in rising order.
PetscErrorCode TestUnordered()
{
  constexpr PetscInt VECTORS = 2;
  const PetscReal    damping = (PetscReal)0.6, threshold = (PetscReal)0.9;

  PetscFunctionBeginUser;
  for (PetscInt size : {1, 2, 3}) {
    const Known known{53, size, PETSC_FALSE, static_cast<unsigned>(size), true};
    Reversed    reversed;
    Made        m, other;
    Mat         A, P, Q;
    PetscReal   apart;
    PetscCall(Create(known, MATAIJ, &A));
    PetscCall(reversed.Take(A));
    PetscCall(MatSetBlockSize(reversed.matrix, size));
    PetscCall(Make(known, A, threshold, VECTORS, &m));
    PetscCall(Make(known, reversed.matrix, threshold, VECTORS, &other));
    const PetscInt mine = m.aggregates.count * VECTORS;
    PetscCall(Create(A, m.aggregates, m.tentative, damping, threshold, mine, &P));
    PetscCall(Create(other.A, other.aggregates, other.tentative, damping, threshold, mine, &Q));
    PetscCall(Compare(P, Q, &apart));
    PetscCheck(apart <= 1000 * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Nodes of %" PetscInt_FMT ": P is %g from that of ordered rows", size, (double)apart);
    for (Mat *M : {&P, &Q, &m.A, &other.A}) PetscCall(MatDestroy(M));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(
      argc, argv, help,
      {{"products", TestProducts}, {"values", TestValues}, {"gathered", TestGathered}, {"unordered", TestUnordered}});
}
