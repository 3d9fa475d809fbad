static const char help[] =
    "KSPMatSolve() of KSPSPARSEGPUGMRES: preconditioners, what is solved column by column, little memory.\n\n";

#include <sys/resource.h>
#include <unistd.h>
#include "repeats.hpp"
#include "nonsymmetric.hpp"

using namespace testing;

namespace
{
/// Any preconditioner that is the same for all columns.
PetscErrorCode Preconditioners()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(nonsymmetric::Convection(5, 40, 35, 1, 0.2, true)));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 5, type));
    PetscCall(s.Fill());
    for (PetscInt c = 0; c < s.count; ++c) PetscCall(s.Scale(c, PetscPowReal(10, -(PetscReal)(c * 3 % 5))));
    for (const char *pc :
         {"jacobi -pc_jacobi_type rowmax", "pbjacobi", "asm", "sparsegpuamg", "sparsegpu -ksp_pc_side right",
          "sparsegpu -ksp_gmres_restart 5", "sparsegpu -ksp_gmres_restart 5 -ksp_pc_side right",
          "sparsegpu -pc_sparsegpu_factor lu", "bjacobi -sub_pc_type ilu -sub_pc_factor_levels 1",
          "ksp -ksp_ksp_type preonly -ksp_pc_type jacobi"}) {
      const bool singly = !strncmp(pc, "ksp", 3);
      PetscCall(Compare(s, std::string("-ksp_rtol 1e-30 -ksp_atol 1e-6 -ksp_max_it 1000 -pc_type ") + pc,
                        !singly && s.Serves(pc)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Count(KSP, PetscInt, PetscReal, void *calls)
{
  ++*static_cast<PetscInt *>(calls);
  return PETSC_SUCCESS;
}
PetscErrorCode Watch(KSP ksp, void *calls)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, Count, calls, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is to be seen of each solve, or is stored in another way, is done column by column; a KSP is used again.
PetscErrorCode OneByOne()
{
  System   matrix;
  PetscInt calls = 0;
  KSP      ksp;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(nonsymmetric::Convection(5, 17, 16, 1, 0.4, true)));
  const Options options("-ksp_rtol 1e-5 -pc_type jacobi");
  for (const std::string &type : DenseTypes()) {
    Columns  s;
    Together seen;
    PetscCall(s.Create(matrix.A, 4, type));
    PetscCall(s.Fill());
    PetscCall(SolveTogether(s, &seen, Watch, &calls));
    PetscCheck(seen.view.find(TOGETHER) == std::string::npos && calls >= seen.total + s.count, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "%d calls of the monitor in %d iterations", (int)calls, (int)seen.total);
    for (const char *more :
         {"-ksp_sparsegpugmres_basis single -ksp_sparsegpugmres_persistent off", "-ksp_sparsegpugmres_flexible",
          "-ksp_sparsegpugmres_restart_auto", "-ksp_sparsegpugmres_together off"}) {
      const Options set(more);
      Together      all;
      PetscCall(SolveTogether(s, &all));
      PetscCheck(all.reason > 0 && all.view.find(TOGETHER) == std::string::npos, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: reason %d\n%s", more, (int)all.reason, all.view.c_str());
    }
  }
  const Options type("-ksp_type sparsegpugmres -ksp_sparsegpugmres_together on");
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  for (int turn = 0; turn < 5; ++turn) {
    Columns  s;
    Together fresh;
    if (turn == 2) PetscCall(MatScale(matrix.A, 3));
    if (turn == 3) PetscCall(KSPGMRESSetRestart(ksp, 7));
    const Option restart("-ksp_gmres_restart", turn < 3 ? "30" : "7");
    PetscCall(KSPSetOperators(ksp, matrix.A, matrix.A));
    PetscCall(s.Create(matrix.A, 3 + 5 * (turn % 3), turn % 2 ? DenseTypes().front() : DenseTypes().back()));
    PetscCall(s.Fill(turn));
    PetscCall(KSPMatSolve(ksp, s.B, s.X));
    PetscCall(SolveTogether(s, &fresh)); // by a KSP of its own
    PetscCall(CheckEqual(s.X, fresh.X, "turn " + std::to_string(turn)));
    Outcome single;
    Vec     b, x;
    PetscCall(MatCreateVecs(matrix.A, &x, &b));
    PetscCall(KnownRhs(matrix.A, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(SolveAs(KSPSPARSEGPUGMRES, matrix.A, b, nullptr, &single));
    PetscBool same;
    PetscCall(VecEqual(x, single.x, &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Turn %d: another solution of a single solve", turn);
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns that are solved at very different steps: of a small system, and of one whose rows are shared among blocks.
PetscErrorCode Repeats()
{
  const Options options("-ksp_rtol 1e-30 -ksp_atol 1e-6 -ksp_max_it 2000 -pc_type jacobi");

  PetscFunctionBeginUser;
  PetscCall(CheckRepeatsOf({16, 190}, [](PetscInt side, System *matrix) {
    return matrix->Create(nonsymmetric::Convection(5, side + 1, side, 1, 0.4, true));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bases that do not fit: fewer columns at a time, with the same result.
PetscErrorCode Memory()
{
  constexpr PetscInt COLUMNS = 32, ROWS = 100 * 60, STEPS = 400;
  const Options      options("-ksp_rtol 1e-3 -pc_type jacobi -ksp_gmres_restart 400");
  System             matrix;
  Columns            s;
  Together           all;
  struct rlimit      before, less;
  size_t             pages = 0;

  PetscFunctionBeginUser;
  if (PetscGlobalSize > 1 || DenseTypes().size() > 1) return Skip("a limit of memory is for a process without a GPU");
  PetscCall(matrix.Create(nonsymmetric::Convection(5, 100, 60, 1, 0.4, false)));
  PetscCall(s.Create(matrix.A, COLUMNS, MATDENSE));
  PetscCall(s.Fill());
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%zu", &pages) != 1) pages = 0;
    fclose(file);
  }
  if (!pages) return Skip("no /proc/self/statm");
  const size_t bases = (size_t)COLUMNS * ROWS * (STEPS + 1) * sizeof(PetscScalar);
  PetscCheck(getrlimit(RLIMIT_AS, &before) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS, "getrlimit");
  less          = before;
  less.rlim_cur = (rlim_t)(pages * (size_t)sysconf(_SC_PAGESIZE) + bases / 3); // 8 columns fit
  PetscCheck(setrlimit(RLIMIT_AS, &less) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS, "setrlimit");
  const PetscErrorCode error = SolveTogether(s, &all);
  PetscCheck(setrlimit(RLIMIT_AS, &before) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS, "setrlimit");
  PetscCall(error);
  PetscCheck(all.reason > 0 && all.view.find(TOGETHER) != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Reason %d\n%s", (int)all.reason, all.view.c_str());
  for (PetscInt c : {(PetscInt)0, COLUMNS - 1}) PetscCall(CheckColumn(s, all, c, "little memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  Solver = {KSPSPARSEGPUGMRES, KSPGMRES, "-ksp_sparsegpugmres_together"};
  return Main(
      argc, argv, help,
      {{"preconditioners", Preconditioners}, {"one_by_one", OneByOne}, {"repeats", Repeats}, {"memory", Memory}});
}
