/// Default solvers of levels, and what of them the hierarchy knows better than they do.
#include "pc/amg/solvers.hpp"
#include "pc/smooth/pcsmoother.hpp"
#include "sparsegpu.h"

#include <cstring>
#include <initializer_list>

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

/// Option and what it may be given as; null: as nothing.
using Unchanged = std::initializer_list<std::pair<const char *, const char *>>;

PetscErrorCode NoneOverridden(KSP ksp, Unchanged options, bool *none)
{
  PetscFunctionBegin;
  *none = true;
  for (const auto &option : options) {
    bool overridden = false;
    PetscCall(Overridden(ksp, option.first, option.second, &overridden));
    *none = *none && !overridden;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TakesSpectrum(KSP ksp, bool *takes)
{
  PetscFunctionBegin;
  PetscCall(NoneOverridden(ksp,
                           {{"-ksp_type", KSPCHEBYSHEV},
                            {"-pc_type", PCJACOBI},
                            {"-pc_jacobi_type", "diagonal"},
                            {"-ksp_chebyshev_eigenvalues", nullptr},
                            {"-ksp_chebyshev_esteig", nullptr}},
                           takes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Settings::Smoother SmootherOf(const Hierarchy &hierarchy, const Settings &settings, bool finest)
{
  if (!finest || settings.finest_smoother == Settings::Smoother::Same) return settings.smoother;
  if (settings.finest_smoother != Settings::Smoother::Auto) return settings.finest_smoother;
  return hierarchy.TakesILU() && settings.smoother == Settings::Smoother::Chebyshev ? Settings::Smoother::ILU
                                                                                    : settings.smoother;
}

PetscErrorCode TakesUnscaled(KSP ksp, bool *takes)
{
  PetscFunctionBegin;
  PetscCall(NoneOverridden(ksp, {{"-ksp_richardson_scale", nullptr}, {"-ksp_richardson_self_scale", nullptr}}, takes));
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

PetscErrorCode ConfigureChebyshev(KSP ksp, const Level &level, const Settings &settings)
{
  PC jacobi;

  PetscFunctionBegin;
  PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
  PetscCall(KSPGetPC(ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(SetSpectrum(ksp, level.begin, level.emax, settings.use_sa_esteig));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Richardson's method; `steps` of it cost about what two steps of Chebyshev's do, or less.
PetscErrorCode ConfigureRichardson(KSP ksp, const Settings &settings, Settings::Smoother kind,
                                   smooth::Direction direction)
{
  const bool l1 = kind == Settings::Smoother::L1Jacobi;
  PC         pc;

  PetscFunctionBegin;
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, l1 ? 2 : 1));
  PetscCall(KSPGetPC(ksp, &pc));
  if (kind == Settings::Smoother::ILU)
    PetscCall(PCSetType(pc, PCSPARSEGPU));
  else
    PetscCall(smooth::ConfigureSmoother(pc, l1 ? smooth::Kind::L1Jacobi : smooth::Kind::GaussSeidel, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The smoothers of a level; that of Gauss-Seidel sweeps forward has another one, backward, after the coarse
/// correction, which makes the cycle symmetric.
PetscErrorCode ConfigureSmoothers(PC mg, PetscInt l, const Level &level, const Settings &settings,
                                  Settings::Smoother kind)
{
  const bool mirrored = kind == Settings::Smoother::GaussSeidel;
  KSP        down, up;
  PC         before, after;

  PetscFunctionBegin;
  PetscCall(PCMGGetSmoother(mg, l, &down)); // PCMGGetSmootherDown() makes another one for up
  if (mirrored) PetscCall(PCMGGetSmootherUp(mg, l, &up));
  PetscCall(EachSmoother(mg, l, [&](KSP ksp) {
    PetscFunctionBegin;
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
    PetscCall(KSPSetOperators(ksp, level.A, level.A));
    if (kind == Settings::Smoother::Chebyshev)
      PetscCall(ConfigureChebyshev(ksp, level, settings));
    else
      PetscCall(ConfigureRichardson(ksp, settings, kind,
                                    !mirrored     ? smooth::Direction::Symmetric
                                    : ksp == down ? smooth::Direction::Forward
                                                  : smooth::Direction::Backward));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (!mirrored) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(down, &before));
  PetscCall(KSPGetPC(up, &after));
  PetscCall(smooth::ShareSmoother(after, before));
  // PCMG takes a smoother that has another one after the correction to begin from zero, in each visit of a W-cycle, too
  PetscCall(KSPSetInitialGuessNonzero(down, PETSC_TRUE));
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
/// P between PCMG's level l and the next coarser one, and what restricts.
PetscErrorCode SetTransfers(PC pc, const Hierarchy &hierarchy, PetscInt l, Mat P)
{
  Mat R = nullptr;

  PetscFunctionBegin;
  PetscCall(PCMGSetInterpolation(pc, l, P));
  if (hierarchy.Conjugates()) PetscCall(MatHermitianTranspose(P, MAT_INITIAL_MATRIX, &R));
  PetscCall(PCMGSetRestriction(pc, l, R ? R : P));
  PetscCall(MatDestroy(&R));
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

    PetscCall(SetTransfers(pc, hierarchy, l, level.P));
    PetscCall(ConfigureSmoothers(pc, l, level, settings, SmootherOf(hierarchy, settings, l == finest)));
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
    if (P != level.P || hierarchy.Conjugates()) PetscCall(SetTransfers(pc, hierarchy, l, level.P));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
