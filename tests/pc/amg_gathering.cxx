static const char help[] =
    "Coarse levels of multigrid on fewer processes: who has rows, what the view tells, and iterations as on one.\n\n";

#include "amg.hpp"
#include "amg_list.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

/// Processes that have rows of A.
static PetscErrorCode Active(Mat A, PetscInt *active)
{
  PetscInt mine;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &mine, nullptr));
  mine = mine > 0;
  PetscCallMPI(MPI_Allreduce(&mine, active, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The levels of `ksp`: from a level to the next coarser one processes stay, or at most half of them do, of which each
/// has `limit` unknowns on average, or there is one. The view has the number of each level.
static PetscErrorCode CheckLevels(const std::string &what, KSP ksp, PetscInt limit)
{
  PC          pc;
  PetscInt    levels, before = 0;
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCheck(levels > 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: one level", what.c_str());
  PetscCall(View(ksp, &text));
  for (PetscInt l = levels - 1; l >= 0; --l) {
    KSP      smoother;
    Mat      A;
    PetscInt active, rows;

    PetscCall(PCMGGetSmoother(pc, l, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, nullptr));
    PetscCall(Active(A, &active));
    PetscCall(MatGetSize(A, &rows, nullptr));
    const bool kept = active == before && (active == 1 || (limit && rows / limit * 2 > active));
    const bool less = 2 * active <= before && (active == 1 || active * limit <= rows);
    PetscCheck(before == 0 || limit == 0 || kept || less, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: level %" PetscInt_FMT ", %" PetscInt_FMT " unknowns: %" PetscInt_FMT
               " processes, on the finer one %" PetscInt_FMT,
               what.c_str(), l, rows, active, before);
    PetscCheck(l > 0 || limit == 0 || active == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: the coarsest level is on %" PetscInt_FMT " processes", what.c_str(), active);
    before = active;
    if (PetscGlobalRank) continue;
    char line[64];
    PetscCall(PetscSNPrintf(line, sizeof(line), "    %5d %11d ", (int)l, (int)rows));
    const size_t at = text.find(line);
    PetscCheck(at != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no level %" PetscInt_FMT " in\n%s",
               what.c_str(), l, text.c_str());
    double number = 0, each = 0;
    int    block = 0, processes = 0;
    PetscCheck(sscanf(text.c_str() + at + strlen(line), "%d %lf %lf %d", &block, &number, &each, &processes) == 4 &&
                   processes == (int)active,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " processes on level %" PetscInt_FMT ":\n%s",
               what.c_str(), active, l, text.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Case {
  const char *name;
  bool        elasticity;
  Grid        grid;
};

static PetscErrorCode Create(MPI_Comm comm, const char type[], const Case &c, Mat *A, std::vector<PetscReal> *points)
{
  PetscFunctionBeginUser;
  points->clear();
  if (c.elasticity)
    PetscCall(CreateElasticity(comm, type, 9, 8, 9, A, points));
  else
    PetscCall(CreateGrid(comm, type, c.grid, A));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveWithLevels(const std::string &what, Mat A, std::vector<PetscReal> *points, PetscInt limit,
                                      Result *result)
{
  KSP      ksp;
  PC       pc;
  PetscInt rows;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  if (!points->empty()) PetscCall(PCSetCoordinates(pc, 3, rows / 3, points->data()));
  PetscCall(Solve(ksp, A, result));
  if (limit >= 0) PetscCall(CheckLevels(what, ksp, limit));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Iterations are at most 15 % more than those of one process, or one: both solve for the same right-hand side.
static PetscErrorCode TestIterations()
{
  NamedGrid jumps, rotated;

  PetscFunctionBeginUser;
  PetscCall(FindGrid("jumps", 100, &jumps));
  PetscCall(FindGrid("rotated", 60, &rotated));
  const Case cases[] = {{"27-point", false, {20, 20, 20, 1, false, All}},
                        {"7-point", false, {22, 20, 20, 1, false, Faces}},
                        {"jumps", false, jumps.grid},
                        {"rotated", false, rotated.grid},
                        {"three unknowns", false, {30, 31, 1, 3, false, Faces}},
                        {"elasticity", true, {}}};
  for (const char *type : TYPES)
    for (const Case &c : cases) {
      std::vector<PetscReal> points;
      Mat                    alone, A;
      Result                 one, result;

      PetscCall(Create(PETSC_COMM_SELF, type, c, &alone, &points));
      PetscCall(SolveWithLevels(c.name, alone, &points, -1, &one));
      PetscCall(MatDestroy(&alone));
      PetscCall(Create(PETSC_COMM_WORLD, type, c, &A, &points));
      for (PetscInt limit : {0, 60, 300, 1000}) {
        const std::string what = std::string(c.name) + ", " + type + ", limit " + std::to_string(limit);
        const Option      set("-pc_sparsegpuamg_process_eq_limit", std::to_string(limit));
        const PetscInt    most = one.iterations + PetscMax(1, (PetscInt)(0.15 * (double)one.iterations));
        PetscCall(SolveWithLevels(what, A, &points, limit, &result));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, on one process %" PetscInt_FMT "\n",
                              what.c_str(), result.iterations, one.iterations));
        PetscCheck(limit < 1000 || result.iterations <= most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s: %" PetscInt_FMT " iterations, on one process %" PetscInt_FMT, what.c_str(), result.iterations,
                   one.iterations);
        PetscCall(CheckConverged(what, result, 300, 1000));
      }
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values are in gathered operators, too, without new aggregates: two solves with the old levels and a new
/// preconditioner apply alike. PCReset() and other sizes afterwards.
static PetscErrorCode TestNewValues()
{
  const Grid grid{60, 42, 1, 1, false, Faces}, small{31, 30, 1, 2, false, Faces};

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  for (const char *type : TYPES)
    for (const char *limit : {"100", "1000"}) {
      const Option      set("-pc_sparsegpuamg_process_eq_limit", limit);
      const std::string what = std::string(type) + ", limit " + limit;
      Mat               A, B;
      KSP               ksp, fresh;
      PC                pcs[2];
      Vec               r, z[2];
      PetscReal         norm, difference;
      PetscInt          made[2][2];
      Result            result;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, grid, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(KSPSetUp(ksp));
      PetscCall(EventCount("SparseGPUAggreg", &made[0][0]));
      PetscCall(EventCount("SparseGPUClassic", &made[0][1]));
      for (int round = 0; round < 3; ++round) {
        PetscCall(MatScale(A, 5));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSetUp(ksp));
      }
      PetscCall(EventCount("SparseGPUAggreg", &made[1][0]));
      PetscCall(EventCount("SparseGPUClassic", &made[1][1]));
      PetscCheck(made[0][0] == made[1][0] && made[0][1] == made[1][1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: coarsened again for new values", what.c_str());
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &fresh));
      PetscCall(KSPSetUp(fresh));
      PetscCall(KSPGetPC(ksp, &pcs[0]));
      PetscCall(KSPGetPC(fresh, &pcs[1]));
      PetscCall(MatCreateVecs(A, &r, &z[0]));
      PetscCall(VecDuplicate(z[0], &z[1]));
      PetscCall(SetNoise(r));
      for (int k = 0; k < 2; ++k) PetscCall(PCApply(pcs[k], r, z[k]));
      PetscCall(VecNorm(z[1], NORM_2, &norm));
      PetscCall(VecAXPY(z[0], -1, z[1]));
      PetscCall(VecNorm(z[0], NORM_2, &difference));
      PetscCheck(norm > 0 && difference <= 1000 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: new values differ from a new set-up by %g of %g", what.c_str(), (double)difference, (double)norm);
      PetscCall(PCReset(pcs[0]));
      PetscCall(KSPReset(ksp));
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, small, &B));
      PetscCall(KSPSetOperators(ksp, B, B));
      PetscCall(Solve(ksp, B, &result));
      PetscCall(CheckConverged(what + " after PCReset()", result, 14));
      for (Vec *v : {&r, &z[0], &z[1]}) PetscCall(VecDestroy(v));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(KSPDestroy(&fresh));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Options of the coarsest solve reach it where one process has it.
static PetscErrorCode TestCoarsest()
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  struct Asked {
    const char *options, *fact;
  };
  const Asked cases[] = {{"-mg_levels_ksp_max_it 2", size > 1 ? "type: bjacobi" : "type: lu"},
                         {"-mg_coarse_sub_pc_type cholesky", size > 1 ? "type: cholesky" : "type: lu"},
                         {"-mg_coarse_pc_type redundant", "type: redundant"},
                         {"-mg_coarse_sub_pc_factor_mat_solver_type sparsegpu",
                          size > 1 ? "package used to perform factorization: sparsegpu" : "type: lu"},
                         {"-pc_sparsegpuamg_process_eq_limit 0", size > 1 ? "type: redundant" : "type: lu"}};
  for (const Asked &asked : cases) {
    const Options set(asked.options);
    Mat           A;
    KSP           ksp;
    Result        result;
    std::string   text;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {40, 42, 1, 1, false, Faces}, &A));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged(asked.options, result, 13));
    PetscCall(View(ksp, &text));
    if (!PetscGlobalRank) PetscCall(CheckText(asked.options, text, {asked.fact}));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"iterations", TestIterations}, {"new_values", TestNewValues}, {"coarsest", TestCoarsest}});
}
