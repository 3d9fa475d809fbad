static const char help[] = "-ksp_sparsegpugmres_basis single: the accuracy of the full basis.\n\n";

#include "against_petsc.hpp"
#include "nonsymmetric.hpp"
#include "residual_monitor.hpp"

using namespace testing;

/// Of a basis in single precision; whole cycles in one launch would keep it in full.
static std::string Single(const std::string &options)
{
  return options + " -ksp_sparsegpugmres_basis single -ksp_sparsegpugmres_persistent off -ksp_type " +
         KSPSPARSEGPUGMRES;
}
static std::string Full(const std::string &options)
{
  return options + " -ksp_type " + KSPSPARSEGPUGMRES;
}

/// What convergence is tested with at the end is the norm of the true residual, far below the rounding errors of the
/// basis; a cycle that goes no further than these is as long as with the full basis.
static PetscErrorCode Accuracy()
{
  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("PETSc's numbers are of single precision");
  for (const Problem &p : nonsymmetric::All())
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *more : {"", " -ksp_gmres_restart 7", " -ksp_gmres_cgs_refinement_type refine_always",
                               " -ksp_sparsegpugmres_flexible"}) {
        const std::string options =
            std::string("-ksp_rtol 1e-11 -ksp_max_it 3000 -ksp_pc_side right -pc_type ") + pc + more;
        System  s;
        Outcome single, full;
        PetscCall(s.Create(p));
        {
          const Options set(Single(options));
          PetscCall(SolveWith(s.A, s.b, nullptr, &single));
        }
        {
          const Options set(Full(options));
          PetscCall(SolveWith(s.A, s.b, nullptr, &full));
        }
        // the residual of x is computed here by other products: |A| |x| < 100 |b| in all of these
        const PetscReal bound = (PetscReal)1e-11 * single.rhs + 100 * 100 * PETSC_MACHINE_EPSILON * single.rhs;
        PetscCheck(single.reason > 0 && single.residual <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s %s: reason %d, residual %g of %g", p.name.c_str(), options.c_str(), (int)single.reason,
                   (double)single.residual, (double)single.rhs);
        PetscCheck(single.history.size() == (size_t)single.iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%d norms of %" PetscInt_FMT " iterations", (int)single.history.size(), single.iterations);
        // a cycle begins anew where it has reached the rounding errors of the basis: at most twice on the way to 1e-11
        PetscCheck(single.iterations <= 2 * full.iterations + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with the full basis", p.name.c_str(),
                   options.c_str(), single.iterations, full.iterations);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A monitor sees norms that are those of the iterates, but for the rounding errors of the basis.
static PetscErrorCode Monitored()
{
  System s;

  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("PETSc's numbers are of single precision");
  PetscCall(s.Create(nonsymmetric::Convection(5, 37, 30, 1, 0.3, true)));
  for (const char *pc : {"none", "jacobi", "bjacobi"})
    for (const char *refinement : {"never", "ifneeded", "always"})
      for (Vec guess : {(Vec) nullptr, s.guess}) {
        const Options set(Single(std::string("-ksp_pc_side right -ksp_rtol 1e-9 -ksp_gmres_restart 25 -pc_type ") + pc +
                                 " -ksp_gmres_cgs_refinement_type refine_" + refinement));
        Outcome       out;
        // a step rounds one column by 2^-24 of its size; beside that the basis may lose 1e-3 of its orthogonality where
        // the residual is that small
        const PetscReal bound = (25 + 1) * (PetscReal)6e-8 * 10;
        PetscCall(CheckMonitored(s.A, s.b, guess, pc, bound, &out));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The view tells; so does the last norm, which is that of the true residual, where the recurrence of a long cycle is
/// far below.
static PetscErrorCode Told()
{
  const Problem p = nonsymmetric::Convection(5, 21, 20, 1, 0.3, true);
  System        s;
  bool          tells;

  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("PETSc's numbers are of single precision");
  PetscCall(s.Create(p));
  for (bool single : {true, false}) {
    const std::string options = "-pc_type jacobi -ksp_pc_side right -ksp_rtol 1e-10 -ksp_gmres_restart 200";
    const Options     set(single ? Single(options) : Full(options));
    Outcome           out;
    PetscCall(ViewTells(s.A, s.b, "compressed_view", "in single precision", &tells));
    PetscCheck(tells == single || PetscGlobalRank > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "The view is of another basis");
    PetscCall(SolveWith(s.A, s.b, nullptr, &out));
    PetscCheck(out.reason > 0 && std::abs(out.told - out.residual) <= (PetscReal)0.1 * out.residual, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "Reason %d; told of %g, the residual is %g", (int)out.reason, (double)out.told,
               (double)out.residual);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Limits that end a solve before, at and after the iteration whose true residual is to be looked at.
static PetscErrorCode Limits()
{
  System  s;
  Outcome whole;

  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("PETSc's numbers are of single precision");
  PetscCall(s.Create(nonsymmetric::Convection(5, 15, 14, 1, 0.3, true)));
  const std::string options = "-pc_type jacobi -ksp_rtol 1e-9 -ksp_gmres_restart 100";
  {
    const Options set(Single(options));
    PetscCall(SolveWith(s.A, s.b, nullptr, &whole));
  }
  for (PetscInt limit : {(PetscInt)1, whole.iterations - 1, whole.iterations, whole.iterations + 1})
    for (const char *more : {"", " -ksp_norm_type none", " -ksp_converged_maxits"}) {
      const Options set(Single(options + " -ksp_max_it " + std::to_string(limit) + more));
      Outcome       out;
      PetscCall(SolveWith(s.A, s.b, nullptr, &out));
      const bool     none  = strstr(more, "none") != nullptr;
      const PetscInt least = none ? limit : std::min(limit, whole.iterations);
      const auto     right = none                                 ? KSP_DIVERGED_ITS
                             : *more && limit <= whole.iterations ? KSP_CONVERGED_ITS // before norms are looked at
                             : limit >= whole.iterations          ? whole.reason
                                                                  : KSP_DIVERGED_ITS;
      PetscCheck(out.iterations == least && out.reason == right, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "Limit %" PetscInt_FMT "%s: reason %d after %" PetscInt_FMT " iterations; %d, %" PetscInt_FMT, limit,
                 more, (int)out.reason, out.iterations, (int)right, least);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"accuracy", Accuracy}, {"monitored", Monitored}, {"told", Told}, {"limits", Limits}});
}
