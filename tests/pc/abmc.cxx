static const char help[] = "The ordering abmc: a permutation, few levels, and PETSc's own factorizations take it.\n\n";

#include "factors.hpp"
#include "pc/ordering/abmc.hpp"

using namespace testing;
using conformance::Entry;
using sparsegpu::ordering::BlockColours;
using sparsegpu::ordering::RowPattern;

/// Levels of the lower triangle of P A P^T.
static PetscErrorCode Levels(Mat A, const char ordering[], PetscInt *levels)
{
  IS                    rows, columns;
  const PetscInt       *order;
  PetscInt              n;
  std::vector<PetscInt> step, level;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatGetOrdering(A, ordering, &rows, &columns));
  PetscCall(ISGetIndices(rows, &order));
  step.assign(n, -1);
  for (PetscInt k = 0; k < n; ++k) {
    PetscCheck(order[k] >= 0 && order[k] < n && step[order[k]] < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: place %d holds row %d, out of range or for the second time", ordering, (int)k, (int)order[k]);
    step[order[k]] = k;
  }
  level.assign(n, 0);
  *levels = 0;
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt *columns_of;
    PetscInt        count;
    PetscCall(MatGetRow(A, order[k], &count, &columns_of, nullptr));
    for (PetscInt e = 0; e < count; ++e)
      if (step[columns_of[e]] < k) level[k] = PetscMax(level[k], level[step[columns_of[e]]] + 1);
    PetscCall(MatRestoreRow(A, order[k], &count, &columns_of, nullptr));
    *levels = PetscMax(*levels, level[k] + 1);
  }
  PetscCall(ISRestoreIndices(rows, &order));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On each backend, with rows that are on the device as yet or not.
static PetscErrorCode Permutation()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &p : conformance::All()) {
    if (p.rows != p.cols) continue;
    for (const std::string &backend : backends)
      for (const char *block : {"1", "5", "64", "100000"}) {
        const Option option("-mat_ordering_abmc_block", block);
        PetscInt     levels[2];
        Mat          A;
        PetscCall(CreateOn(backend, p, &A));
        PetscCall(Levels(A, MATORDERINGABMC, &levels[0]));
        if (backend == "cuda") PetscCall(MatScale(A, (PetscReal)0.5));
        PetscCall(Levels(A, MATORDERINGABMC, &levels[1]));
        PetscCheck(levels[0] == levels[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %d levels, then %d",
                   p.name.c_str(), backend.c_str(), (int)levels[0], (int)levels[1]);
        PetscCall(MatDestroy(&A));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// 120 x 120 points in blocks of 64: a chain in a block is shorter than 64 rows, and colours follow each other.
static PetscErrorCode FewLevels()
{
  const Option  option("-mat_ordering_abmc_block", "64");
  const Problem p = conformance::Grid("grid_120x120", 120, 120, false);
  PetscInt      natural, coloured;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(Levels(A, MATORDERINGNATURAL, &natural));
  PetscCall(Levels(A, MATORDERINGABMC, &coloured));
  PetscCheck(natural == 239, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d levels in natural order, not 239", (int)natural);
  PetscCheck(3 * coloured < natural, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d levels in blocks, %d in natural order",
             (int)coloured, (int)natural);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's ILU and ours under the ordering, by options alone: the same iterations, not many more than in natural order.
static PetscErrorCode Solves()
{
  const Problem p = conformance::Grid("grid_60x50", 60, 50, false);
  PetscInt      iterations[3];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) {
    const Option ordering("-pc_factor_mat_ordering_type", k ? MATORDERINGABMC : MATORDERINGNATURAL);
    const Option solver("-pc_factor_mat_solver_type", k == 2 ? MATSOLVERSPARSEGPU : MATSOLVERPETSC);
    const Option pc("-pc_type", PCILU);
    Mat          A;
    Vec          x, b;
    KSP          ksp;
    PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[k]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscCheck(std::abs(iterations[1] - iterations[2]) <= 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d iterations with PETSc's factors, %d with ours", (int)iterations[1], (int)iterations[2]);
  PetscCheck(iterations[1] <= 2 * iterations[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d iterations in blocks, %d in natural order", (int)iterations[1], (int)iterations[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The order of the host's blocks of a graph that is no grid is the same for any number of threads, and each row comes
/// once.
static PetscErrorCode Threads()
{
  Problem p = conformance::Grid("grid_150x140", 150, 140, false);
  p.entries.push_back(Entry{0, p.cols - 1, 1}); // no entry of a grid
  const auto            rows = (size_t)p.rows;
  std::vector<PetscInt> i(rows + 1, 0), j(p.entries.size()), first, order(rows);

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) i[(size_t)e.i + 1]++;
  for (size_t r = 0; r < rows; ++r) i[r + 1] += i[r];
  std::vector<PetscInt> next = i;
  for (const Entry &e : p.entries) j[(size_t)next[(size_t)e.i]++] = e.j;
  const RowPattern pattern{sparsegpu::Space::Host, p.rows, i[rows], i.data(), j.data()};
  for (PetscInt block : {1, 7, 32, 100000})
    for (int threads : {1, 2, 5}) {
      BlockColours found;
      PetscCall(BlockMulticolour(pattern, block, order.data(), &found, threads));
      if (threads == 1) {
        std::vector<PetscInt> sorted = order;
        first                        = order;
        std::sort(sorted.begin(), sorted.end());
        for (PetscInt r = 0; r < p.rows; ++r)
          PetscCheck(sorted[(size_t)r] == r, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Blocks of %d: row %d is not there once",
                     (int)block, (int)r);
      }
      PetscCheck(order == first, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Blocks of %d: %d threads find another order than one", (int)block, threads);
      PetscCheck(found.colours >= 1 && found.colours <= 16, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Blocks of %d: %d colours",
                 (int)block, (int)found.colours);
      PetscCheck(found.way == std::string("grown breadth first"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Blocks of %d: %s",
                 (int)block, found.way);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"permutation", Permutation}, {"few_levels", FewLevels}, {"solves", Solves}, {"threads", Threads}});
}
