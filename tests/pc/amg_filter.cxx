static const char help[] =
    "A matrix without its weak couplings against its definition, on any number of processes.\n\n";

#include "../testing.hpp"
#include "pc/amg/filter.hpp"

#include <cmath>

using namespace testing;
using sparsegpu::amg::WithoutWeak;

namespace
{
/// A matrix of which each process knows every entry. Nodes are coupled to some of those 1, 7 and 13 away.
struct Known {
  PetscInt  nodes, size; ///< size: unknowns of a node
  PetscBool zeros;       ///< some entries are stored zeros
  unsigned  seed;

  unsigned Hash(PetscInt r, PetscInt c) const
  {
    unsigned h = static_cast<unsigned>(r) * 2654435761u ^ (static_cast<unsigned>(c) + seed) * 2246822519u;
    h          = (h ^ (h >> 15)) * 2654435769u;
    return h ^ (h >> 13);
  }
  PetscInt rows() const { return nodes * size; }
  bool     Has(PetscInt r, PetscInt c) const
  {
    const PetscInt apart = PetscAbs(r / size - c / size);
    if (apart == 0) return Hash(r, c) % 8 > 0; // rows without a diagonal entry among them
    return (apart == 1 || apart == 7 || apart == 13) && Hash(r, c) % 4 > 0;
  }
  PetscScalar Value(PetscInt r, PetscInt c) const
  {
    const unsigned h = Hash(c, r);
    if (zeros && h % 16 == 0) return 0;
    const PetscReal v =
        (1 + static_cast<PetscReal>(h / 64 % 1024) / 1024) * std::pow(10, -static_cast<PetscReal>(h % 4));
    const PetscReal signed_v = h / 16 % 2 ? v : -v;
#if defined(PETSC_USE_COMPLEX)
    return PetscCMPLX(signed_v, h / 32 % 2 ? v / 2 : 0);
#else
    return signed_v;
#endif
  }
  /// The largest magnitude of a block.
  PetscReal Largest(PetscInt node, PetscInt other) const
  {
    PetscReal most = 0;
    for (PetscInt r = node * size; r < (node + 1) * size; ++r)
      for (PetscInt c = other * size; c < (other + 1) * size; ++c)
        if (Has(r, c)) most = PetscMax(most, PetscAbsScalar(Value(r, c)));
    return most;
  }
  bool Stays(PetscReal threshold, PetscInt r, PetscInt c) const
  {
    const PetscInt node = r / size, other = c / size;
    if (node == other) return true;
    return Largest(node, other) > threshold * PetscSqrtReal(Largest(node, node) * Largest(other, other));
  }
};

/// Processes have different numbers of nodes, the last but one none.
PetscErrorCode Create(const Known &known, MatType type, Mat *A)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const PetscInt shares = size > 2 ? size - 1 : size, share = size > 2 && rank == size - 1 ? rank - 1 : rank;
  const bool     none = size > 2 && rank == size - 2;
  const PetscInt mine = none ? 0 : known.nodes * (share + 1) / shares - known.nodes * share / shares;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, mine * known.size, mine * known.size, known.rows(), known.rows()));
  PetscCall(MatSetBlockSize(*A, known.size));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscInt begin, end;
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r)
    for (PetscInt c = 0; c < known.rows(); ++c)
      if (known.Has(r, c)) PetscCall(MatSetValue(*A, r, c, known.Value(r, c), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Row r of F. Sums are of fewer than 100 terms below 3.
PetscErrorCode CheckRow(const Known &known, PetscReal threshold, Mat F, PetscInt r, PetscInt *left)
{
  constexpr PetscReal      TERMS = 100, LARGEST = 3;
  std::vector<PetscInt>    columns;
  std::vector<PetscScalar> values, leaving((size_t)known.size, 0);
  PetscInt                 n;
  const PetscInt          *j;
  const PetscScalar       *a;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < known.rows(); ++c) {
    if (!known.Has(r, c)) continue;
    if (known.Stays(threshold, r, c)) {
      columns.push_back(c);
      values.push_back(known.Value(r, c));
    } else {
      leaving[(size_t)(c % known.size)] += known.Value(r, c);
      ++*left;
    }
  }
  for (size_t e = 0; e < columns.size(); ++e) {
    if (columns[e] / known.size != r / known.size) continue;
    const PetscScalar sum = values[e] + leaving[(size_t)(columns[e] % known.size)];
    if (columns[e] != r || PetscAbsScalar(sum) > PetscAbsScalar(values[e]) / 4) values[e] = sum;
  }
  PetscCall(MatGetRow(F, r, &n, &j, &a));
  PetscCheck(n == (PetscInt)columns.size() && std::equal(columns.begin(), columns.end(), j), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has %" PetscInt_FMT " columns instead of %zu, or others", r, n,
             columns.size());
  for (PetscInt e = 0; e < n; ++e)
    PetscCheck(PetscAbsScalar(a[e] - values[(size_t)e]) <= 4 * TERMS * LARGEST * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is %g instead of %g", r, j[e],
               (double)PetscRealPart(a[e]), (double)PetscRealPart(values[(size_t)e]));
  PetscCall(MatRestoreRow(F, r, &n, &j, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(const Known &known, MatType type, PetscReal threshold, bool weak)
{
  Mat       A, F;
  PetscInt  begin, end, left = 0, size;
  MatType   wanted, found;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Create(known, type, &A));
  PetscCall(WithoutWeak(A, threshold, &F));
  PetscCheck(weak == (F != A), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, blocks of %" PetscInt_FMT ", threshold %g: %s",
             type, known.size, (double)threshold, weak ? "nothing was weak" : "a matrix without need");
  PetscCall(MatGetOwnershipRange(F, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) PetscCall(CheckRow(known, threshold, F, r, &left));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck((left > 0) == weak, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The case is not what it is to test");
  PetscCall(MatGetBlockSize(F, &size));
  PetscCall(MatGetType(A, &wanted));
  PetscCall(MatGetType(F, &found));
  PetscCall(PetscStrcmp(wanted, found, &same));
  PetscCheck(size == known.size && same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s with blocks of %" PetscInt_FMT, found,
             size);
  if (F != A) PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDefinition()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (PetscInt size : {1, 2, 3, 5})
      for (PetscReal threshold : {(PetscReal)0.02, (PetscReal)0.9, (PetscReal)10}) {
        if (size > 1 && threshold < (PetscReal)0.9) continue; // one of a block's entries is larger
        for (PetscBool zeros : {PETSC_FALSE, PETSC_TRUE})
          PetscCall(Check(Known{41, size, zeros, static_cast<unsigned>(size)}, type, threshold, true));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A threshold that no coupling is below: diagonal blocks are not zero.
PetscErrorCode TestNothingWeak()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (PetscInt size : {2, 3}) PetscCall(Check(Known{41, size, PETSC_FALSE, 7}, type, (PetscReal)1e-6, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"definition", TestDefinition}, {"nothing_weak", TestNothingWeak}});
}
