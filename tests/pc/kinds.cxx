static const char help[] = "Kinds of rows, against a plain loop over each row.\n\n";

#include "../testing.hpp"
#include "amg_list.hpp"
#include "pc/classical/kinds.hpp"

#include <map>

using namespace testing;
using sparsegpu::classical::CountKinds;
using sparsegpu::classical::Kind;
using sparsegpu::classical::KindCounts;
using sparsegpu::classical::KINDS;
using sparsegpu::classical::MOST_SAMPLES;

namespace
{
using Row = std::map<PetscInt, PetscScalar>;

/// The part of v along the unit that has couplings of a positive diagonal positive.
PetscReal AgainstDiagonal(PetscScalar diagonal, PetscScalar v)
{
  return -PetscRealPart(v * PetscConj(diagonal)) / PetscAbsScalar(diagonal);
}

/// The definition, for rows of at most 64 entries.
Kind KindOf(PetscInt r, const Row &row, const std::vector<Row> &rows)
{
  PetscReal         couplings = 0, most = 0, opposed = 0, sum = 0, against = 0, unlike = 0, both = 0;
  const auto        found    = row.find(r);
  const PetscScalar diagonal = found == row.end() ? (PetscScalar)0 : found->second;

  for (const auto &[j, a] : row)
    if (j != r) couplings += PetscAbsScalar(a);
  if (couplings <= (PetscReal)0.8 * PetscAbsScalar(diagonal) || couplings == 0) return Kind::Dominated;
  if (!(PetscAbsScalar(diagonal) > 0) || PetscIsInfOrNanReal(couplings)) return Kind::Unfit;
  for (const auto &[j, a] : row) {
    if (j == r) continue;
    const PetscReal v = AgainstDiagonal(diagonal, a);
    most              = PetscMax(most, v);
    opposed           = PetscMax(opposed, -v);
    (v > 0 ? sum : against) += PetscAbsReal(v);
  }
  if (against > sum / 2 || most == 0) return Kind::Unfit;
  if (opposed > most / 8) return Kind::Opposed;
  int all = 0, weak = 0, tiny = 0;
  for (const auto &[j, a] : row) {
    const PetscReal part = PetscAbsReal(AgainstDiagonal(diagonal, a)) / most;
    if (j == r || part <= 64 * PETSC_MACHINE_EPSILON) continue;
    all++;
    weak += part < (PetscReal)0.2499;
    tiny += part < (PetscReal)1e-4;
  }
  if (tiny) return Kind::Jumping;
  if (2 * weak >= all) return Kind::Directed;
  for (const auto &[j, a] : row) {
    if (j == r) continue;
    const auto        back = rows[(size_t)j].find(r);
    const PetscScalar b    = back == rows[(size_t)j].end() ? (PetscScalar)0 : back->second;
    unlike += PetscMin(PetscAbsScalar(a - b), PetscAbsScalar(a - PetscConj(b)));
    both += PetscAbsScalar(a) + PetscAbsScalar(b);
  }
  return unlike > both / 12 ? Kind::Skewed : Kind::Even;
}

PetscErrorCode CheckCounts(const std::string &what, const KindCounts &found, const unsigned long long (&wanted)[KINDS])
{
  PetscFunctionBeginUser;
  for (int c = 0; c < KINDS; c++)
    PetscCheck(found.of[c] == wanted[c], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %llu rows of kind %d, not %llu",
               what.c_str(), found.of[c], c, wanted[c]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Random rows of all kinds, and rows that are out of the ordinary: empty, without a diagonal, of NaN. On several
/// processes those that look back to others' rows are left out of what is compared.
static PetscErrorCode TestDefinition()
{
  PetscMPIInt        size;
  unsigned long long met[KINDS] = {0};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (unsigned seed = 1; seed <= 40; ++seed) {
      const PetscInt     n = seed % 8 ? 97 : 1 + (PetscInt)seed / 8;
      std::vector<Row>   rows((size_t)n);
      unsigned long long wanted[KINDS] = {0}, state = seed * 0x9e3779b97f4a7c15ull;
      const auto         random = [&state] { // in (0, 1)
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (PetscReal)((double)(state >> 40) / (double)(1 << 24) + 1e-9);
      };
      for (PetscInt r = 0; r < n; ++r) {
        const int kind = (int)(random() * 8);
        PetscReal sum  = 0;
        for (PetscInt d = 1; d <= 3 && kind != 7; ++d)
          for (PetscInt c : {(r + d) % n, (r + n - d % n) % n}) {
            PetscReal v = kind < 3 ? 1 + random() / 50 : std::pow((PetscReal)10, (kind == 3 ? -6 : -1) * random());
            if (kind == 4 && random() < 0.3) v = -v / (random() < 0.5 ? 2 : 20);
            if (c == r) continue;
            rows[(size_t)r][c] = -v;
            sum += std::abs(v);
          }
        if (kind == 5) sum *= -1;
        if (kind == 6) sum = random() < 0.5 ? 0 : sum * 2;
        if (kind != 2 || sum > 0) rows[(size_t)r][r] = sum;
        if (r % 41 == 40) rows[(size_t)r][r] = std::nan("");
#if defined(PETSC_USE_COMPLEX)
        for (auto &entry : rows[(size_t)r])
          if (seed % 3 == 0) entry.second *= PetscScalar((PetscReal)0.6, (PetscReal)0.8);
#endif
      }
      Mat        A;
      PetscInt   begin, end;
      KindCounts found;
      PetscCall(amg_tests::CreateEmpty(PETSC_COMM_WORLD, type, n, 1, 8, &A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt r = begin; r < end; ++r)
        for (const auto &[j, a] : rows[(size_t)r]) PetscCall(MatSetValue(A, r, j, a, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      for (PetscInt r = 0; r < n; ++r) {
        Kind kind = KindOf(r, rows[(size_t)r], rows);
        if (size > 1 && kind == Kind::Skewed) kind = Kind::Even;
        wanted[(int)kind]++;
      }
      PetscCall(CountKinds(A, size == 1, &found));
      PetscCall(CheckCounts(std::string(type) + ", seed " + std::to_string(seed), found, wanted));
      for (int c = 0; c < KINDS; c++) met[c] += found.of[c];
      PetscCall(MatDestroy(&A));
    }
  for (int c = 0; c < KINDS; c++)
    PetscCheck(met[c] > 0 || (size > 1 && c == (int)Kind::Skewed), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "no random row is of kind %d", c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of many rows a sample is counted: one of each `stride` neighbours, the same rows on any number of processes, and
/// shares that are those of all rows but for the spread of a sample.
static PetscErrorCode TestSample()
{
  const PetscInt     n = 2 * MOST_SAMPLES + 12345, stride = 3;
  amg_tests::Grid    line;
  Mat                A, S;
  KindCounts         found, whole;
  unsigned long long wanted[KINDS];

  PetscFunctionBeginUser;
  line.nx     = n;
  line.weight = [](PetscInt x, PetscInt, PetscInt, int dx, int, int) -> PetscScalar { // every tenth is weak
    return PetscMin(x, x + dx) % 10 == 0 ? 1e-6 : 1;
  };
  PetscCall(amg_tests::CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, line, &A));
  PetscCall(amg_tests::CreateGrid(PETSC_COMM_SELF, MATSPARSEGPU, line, &S));
  PetscCall(CountKinds(A, false, &found));
  PetscCall(CountKinds(S, false, &whole));
  std::copy(whole.of, whole.of + KINDS, wanted);
  PetscCall(CheckCounts("a sample", found, wanted));
  const auto most = (unsigned long long)((n + stride - 1) / stride);
  PetscCheck(found.all() == most || found.all() == most - 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%llu rows in the sample, not %llu", found.all(), most);
  const double share = (double)found.Share(Kind::Jumping), spread = std::sqrt(0.2 * 0.8 / (double)most);
  PetscCheck(std::abs(share - 0.2) < 5 * spread, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%g of rows jump, not 0.2", share);
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One row that is coupled to all others is not read once for each of them.
static PetscErrorCode TestDenseRow()
{
  const PetscInt n = 20000;
  Mat            A;
  PetscInt       begin, end;
  KindCounts     found;

  PetscFunctionBeginUser;
  PetscCall(amg_tests::CreateEmpty(PETSC_COMM_WORLD, MATSPARSEGPU, n, 1, 5, &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    for (PetscInt c : {r - 1, r + 1, (PetscInt)0})
      if (c >= 0 && c < n && c != r) PetscCall(MatSetValue(A, r, c, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, r, r, r ? 3 : n - 1, INSERT_VALUES));
    for (PetscInt c = 1; r == 0 && c < n; ++c) PetscCall(MatSetValue(A, r, c, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CountKinds(A, true, &found));
  const unsigned long long even = (unsigned long long)n - 2, short_ones = 2; // rows 1 and n - 1
  PetscCheck(found.of[(int)Kind::Even] == even && found.of[(int)Kind::Dominated] == short_ones, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%llu even rows, not %llu; %llu dominated", found.of[(int)Kind::Even], even,
             found.of[(int)Kind::Dominated]);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"definition", TestDefinition}, {"sample", TestSample}, {"dense_row", TestDenseRow}});
}
