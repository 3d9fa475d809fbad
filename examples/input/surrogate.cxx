#include "surrogate.hpp"

#include <cstdint>

#include "rows.hpp"

const std::vector<ThesisMatrix> ThesisMatrices = {
    {"c-26", 4307, 34537, 2000, true, true, false},
    {"crystk02", 13965, 968583, 900, true, true, false},
    {"Andrews", 60000, 760154, 25000, true, true, false},
    {"thermomech_TC", 102158, 711558, 5000, true, true, false},
    {"ecology2", 999999, 4995991, 1001, true, true, true},
    {"thermal2", 1228045, 8580313, 5000, true, true, true},
    {"G3_circuit", 1585478, 7660826, 5000, true, true, true},
    {"pwtk", 217918, 11524432, 2000, true, false, true},
    {"af_0_k101", 503625, 17550675, 900, true, false, true},
    {"af_shell9", 504855, 17588845, 1300, true, false, true},
    {"cage14", 1505785, 27130349, 100000, false, false, true},
};

namespace
{
uint64_t Hash(uint64_t a, uint64_t b) // splitmix64
{
  uint64_t z = (a + 1) * 0x9e3779b97f4a7c15ull + b * 0xd1b54a32d192ed03ull;
  z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z          = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
/// In [1/2, 3/2].
double Size(uint64_t a, uint64_t b)
{
  return 0.5 + static_cast<double>(Hash(a, b) >> 11) * 0x1p-53;
}

/// pair(i, j) for all pairs of places off the diagonal: row i has its share of them with rows after it, round the
/// corner, each at its own part of the reach.
template <class Pair> void ForPairs(const ThesisMatrix &m, Pair pair)
{
  const int64_t pairs = (m.nonzeros - m.rows) / 2;
  for (int64_t i = 0; i < m.rows; i++) {
    const int64_t own = (i + 1) * pairs / m.rows - i * pairs / m.rows;
    for (int64_t s = 0; s < own; s++) {
      const int64_t low = 1 + s * m.reach / own, high = 1 + (s + 1) * m.reach / own;
      const int64_t offset = low + static_cast<int64_t>(Hash(i, s) % static_cast<uint64_t>(high - low));
      pair(static_cast<PetscInt>(i), static_cast<PetscInt>((i + offset) % m.rows));
    }
  }
}

void Fill(const ThesisMatrix &m, Rows *all)
{
  all->start.assign(m.rows + 1, 0);
  for (PetscInt r = 0; r < m.rows; r++) all->start[r + 1] = 1;
  ForPairs(m, [&](PetscInt i, PetscInt j) {
    all->start[i + 1]++;
    all->start[j + 1]++;
  });
  for (PetscInt r = 0; r < m.rows; r++) all->start[r + 1] += all->start[r];
  all->column.resize(all->start[m.rows]);
  all->value.resize(all->start[m.rows]);
  std::vector<PetscInt> next(all->start.begin(), all->start.end() - 1);
  std::vector<double>   diagonal(m.rows, 0);
  for (PetscInt r = 0; r < m.rows; r++) all->column[next[r]++] = r; // the value follows
  const auto add = [&](PetscInt i, PetscInt j, double size) {
    all->column[next[i]]  = j;
    all->value[next[i]++] = static_cast<PetscReal>(-size);
    diagonal[i] += size;
  };
  ForPairs(m, [&](PetscInt i, PetscInt j) {
    add(i, j, Size(i, j));
    add(j, i, m.symmetric ? Size(i, j) : Size(j, i));
  });
  for (PetscInt r = 0; r < m.rows; r++) all->value[all->start[r]] = static_cast<PetscReal>(1.02 * diagonal[r]);
}
} // namespace

PetscErrorCode CreateSurrogate(MPI_Comm comm, const ThesisMatrix &original, Mat *A)
{
  Rows        all, mine;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  all.rows = all.cols = original.rows;
  if (rank == 0) {
    PetscCallCXX(Fill(original, &all));
    PetscCall(SortRows(&all));
  }
  PetscCall(ScatterRows(comm, &all, &mine));
  PetscCall(MatFromRows(comm, mine, 1, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
