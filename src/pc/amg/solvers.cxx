/// Default solvers of levels, and what of them the hierarchy knows better than they do.
#include "pc/amg/solvers.hpp"

#include <cstring>

namespace sparsegpu::amg
{

namespace
{
/// Steps of Chebyshev's method where that is the coarsest solve.
constexpr PetscInt COARSE_STEPS = 8;

/// Whether an option of this prefix is given, and is not `standard`.
PetscErrorCode Overridden(KSP ksp, const char name[], const char standard[], bool *overridden)
{
  char        value[128];
  const char *prefix;
  PetscBool   given;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsGetString(((PetscObject)ksp)->options, prefix, name, value, sizeof(value), &given));
  *overridden = given && (!standard || strcmp(value, standard));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode TakesSpectrum(KSP ksp, bool *takes)
{
  const char *const options[][2] = {{"-ksp_type", KSPCHEBYSHEV},
                                    {"-pc_type", PCJACOBI},
                                    {"-pc_jacobi_type", "diagonal"},
                                    {"-ksp_chebyshev_eigenvalues", nullptr},
                                    {"-ksp_chebyshev_esteig", nullptr}};

  PetscFunctionBegin;
  *takes = true;
  for (const auto &option : options) {
    bool overridden = false;
    PetscCall(Overridden(ksp, option[0], option[1], &overridden));
    *takes = *takes && !overridden;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Chebyshev's method on the upper part of the spectrum, unless options, or now a program, have another idea.
PetscErrorCode SetSpectrum(KSP ksp, PetscReal begin, PetscReal emax, bool use)
{
  PC        pc;
  PetscBool chebyshev, jacobi;
  bool      takes;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCHEBYSHEV, &chebyshev));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
  PetscCall(TakesSpectrum(ksp, &takes));
  if (!use || !chebyshev || !jacobi || !takes) PetscFunctionReturn(PETSC_SUCCESS);
  if (emax == 0) emax = 1; // A = 0: any bound serves
  PetscCall(KSPChebyshevSetEigenvalues(ksp, SPECTRUM_END * emax, begin * emax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// visit(ksp) for the smoother before, and for that after the coarse correction where it is another.
template <class Visit> PetscErrorCode EachSmoother(PC pc, PetscInt level, Visit visit)
{
  const PC_MG_Levels *l = static_cast<PC_MG *>(pc->data)->levels[level];

  PetscFunctionBegin;
  PetscCall(visit(l->smoothd));
  if (l->smoothu != l->smoothd) PetscCall(visit(l->smoothu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfigureSmoother(KSP ksp, const Level &level, const Settings &settings)
{
  PC jacobi;

  PetscFunctionBegin;
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
  PetscCall(KSPGetPC(ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(KSPSetOperators(ksp, level.A, level.A));
  PetscCall(SetSpectrum(ksp, level.begin, level.emax, settings.use_sa_esteig));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfigureFactorization(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS)); // the pivot of a singular one is zero
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The one place that says what solves the coarsest level: PETSc's LU, on the host, which for some dozens of unknowns
/// is faster than any factorization on a device. Of several processes the one that has all rows solves, without a
/// message; where rows were left on more than one each solves the whole of it.
PetscErrorCode ConfigureDirect(PC mg, KSP ksp, const Level &level)
{
  PC          pc;
  KSP         inner = nullptr, *blocks;
  PetscInt    count;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPGetPC(ksp, &pc));
  if (size == 1) {
    PetscCall(ConfigureFactorization(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (level.processes > 1) {
    PetscCall(PCSetType(pc, PCREDUNDANT));
    PetscCall(PCRedundantGetKSP(pc, &inner));
  } else {
    PetscCall(PCSetType(pc, PCBJACOBI)); // the blocks of the others are empty
    PetscCall(PCSetUp(pc));              // makes the block's solver, and factors nothing
    PetscCall(PCBJacobiGetSubKSP(pc, &count, nullptr, &blocks));
    inner = blocks[0];
  }
  PetscCall(KSPSetType(inner, KSPPREONLY));
  PetscCall(KSPGetPC(inner, &pc));
  PetscCall(ConfigureFactorization(pc));
  if (level.processes == 1 && mg->setfromoptionscalled)
    PetscCall(KSPSetFromOptions(inner)); // PCBJACOBI has been set up
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A large coarsest level, which could not be made coarser: a diagonal matrix, or one whose couplings are all weak.
PetscErrorCode ConfigureLargeCoarsest(PC mg, KSP ksp, const Level &level, const Settings &settings)
{
  PC        jacobi;
  PetscReal emax;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetType(ksp, level.nonzeros > level.rows ? KSPCHEBYSHEV : KSPPREONLY));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, COARSE_STEPS));
  if (level.nonzeros <= level.rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LargestEigenvalue(mg, level.A, &emax));
  PetscCall(SetSpectrum(ksp, level.begin, emax, settings.use_sa_esteig));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfigureCoarsest(PC pc, KSP ksp, const Level &level, const Settings &settings)
{
  PetscFunctionBegin;
  PetscCall(KSPSetOperators(ksp, level.A, level.A));
  if (level.rows <= settings.DirectLimit())
    PetscCall(ConfigureDirect(pc, ksp, level));
  else
    PetscCall(ConfigureLargeCoarsest(pc, ksp, level, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ConfigureLevels(PC pc, const Hierarchy &hierarchy, const Settings &settings)
{
  const std::vector<Level> &levels = hierarchy.Levels();
  const PetscInt            finest = (PetscInt)levels.size() - 1; // PCMG numbers from the coarsest level on
  KSP                       coarsest;

  PetscFunctionBegin;
  PetscCall(PCMGGetSmoother(pc, 0, &coarsest));
  PetscCall(ConfigureCoarsest(pc, coarsest, levels[finest], settings));
  for (PetscInt l = 1; l <= finest; l++) {
    const Level &level = levels[finest - l];

    PetscCall(PCMGSetInterpolation(pc, l, level.P));
    PetscCall(EachSmoother(pc, l, [&](KSP ksp) { return ConfigureSmoother(ksp, level, settings); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefreshLevels(PC pc, const Hierarchy &hierarchy, const Settings &settings)
{
  const std::vector<Level> &levels = hierarchy.Levels();
  const PetscInt            finest = (PetscInt)levels.size() - 1;

  PetscFunctionBegin;
  for (PetscInt l = 0; l <= finest; l++) {
    const Level &level = levels[finest - l];
    Mat          P;

    PetscCall(EachSmoother(pc, l, [&](KSP ksp) {
      PetscFunctionBegin;
      // On the finest level PCMG goes on with the operators that the program gave.
      if (l < finest) PetscCall(KSPSetOperators(ksp, level.A, level.A));
      if (l > 0) PetscCall(SetSpectrum(ksp, level.begin, level.emax, settings.use_sa_esteig));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    if (l < finest) PetscCall(PCMGSetResidual(pc, l, nullptr, level.A)); // PCMG keeps the first one
    if (l == 0) continue;
    PetscCall(PCMGGetInterpolation(pc, l, &P));
    if (P == level.P) continue;
    PetscCall(PCMGSetInterpolation(pc, l, level.P));
    PetscCall(PCMGSetRestriction(pc, l, level.P));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
