static const char help[] = "-ksp_sparsegpugmres_deflation: restarts that keep what slows a cycle down.\n\n";

#include "deflated.hpp"
#include "nonsymmetric.hpp"
#include "residual_monitor.hpp"

using namespace testing;

/// The accuracy asked for, in no more iterations than without, but for a cycle.
static PetscErrorCode Accuracy()
{
  const bool single = sizeof(PetscReal) == sizeof(float);

  PetscFunctionBeginUser;
  for (const Problem &p : nonsymmetric::All())
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *more : {"", " -ksp_pc_side left", " -ksp_gmres_cgs_refinement_type refine_always",
                               " -ksp_sparsegpugmres_flexible", " -ksp_sparsegpugmres_restart_auto"}) {
        const PetscReal   rtol    = single ? 1e-4 : 1e-9;
        const std::string options = "-ksp_pc_side right -ksp_max_it 3000 -ksp_gmres_restart 9 -ksp_rtol " +
                                    std::to_string(single ? 1e-4 : 1e-9) + " -pc_type " + pc + more;
        System  s;
        Outcome kept, plain;
        PetscCall(s.Create(p));
        {
          const Options set(Deflated(3, options));
          const Option  tolerance("-ksp_rtol", single ? "1e-4" : "1e-9");
          PetscCall(SolveWith(s.A, s.b, nullptr, &kept));
        }
        {
          const Options set(Deflated(0, options));
          const Option  tolerance("-ksp_rtol", single ? "1e-4" : "1e-9");
          PetscCall(SolveWith(s.A, s.b, nullptr, &plain));
        }
        // the residual of x is computed here by other products: |A| |x| < 100 |b| in all of these; that of the left
        // side is another norm
        const bool      left  = strstr(more, "left") != nullptr;
        const PetscReal bound = (left ? 100 : 1) * rtol * kept.rhs + 100 * 100 * PETSC_MACHINE_EPSILON * kept.rhs;
        PetscCheck(kept.reason > 0 && kept.residual <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s %s: reason %d, residual %g of %g", p.name.c_str(), options.c_str(), (int)kept.reason,
                   (double)kept.residual, (double)kept.rhs);
        PetscCheck(kept.history.size() == (size_t)kept.iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%d norms of %" PetscInt_FMT " iterations", (int)kept.history.size(), kept.iterations);
        PetscCheck(kept.iterations <= plain.iterations + 9, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " without", p.name.c_str(), options.c_str(),
                   kept.iterations, plain.iterations);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A Laplacian, which restarts slow down most: fewer iterations the more vectors are kept, two thirds of them with 4.
static PetscErrorCode Saves()
{
  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("PETSc's numbers are of single precision");
  System s;
  PetscCall(s.Create(Flow(60, 60, 0, false)));
  for (const char *side : {"left", "right"}) {
    PetscInt plain = 0, before = PETSC_MAX_INT / 2;
    for (const PetscInt kept : {0, 4, 8, 15}) {
      const Options set(Deflated(kept, std::string("-pc_type jacobi -ksp_rtol 1e-8 -ksp_pc_side ") + side));
      Outcome       out;
      PetscCall(SolveWith(s.A, s.b, nullptr, &out));
      if (kept == 0) plain = out.iterations;
      PetscCheck(out.reason > 0 && out.iterations <= before + 5 && (kept == 0 || 3 * out.iterations <= 2 * plain),
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%" PetscInt_FMT " kept, %s: reason %d, %" PetscInt_FMT " iterations; %" PetscInt_FMT
                 " without, %" PetscInt_FMT " with fewer",
                 kept, side, (int)out.reason, out.iterations, plain, before);
      before = out.iterations;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A monitor sees norms that are those of the iterates, from the first iteration of a cycle that keeps vectors on.
static PetscErrorCode Monitored()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(Flow(60, 50, 0.02, false)));
  for (const char *pc : {"none", "jacobi", "bjacobi"})
    for (const char *flexible : {"", " -ksp_sparsegpugmres_flexible"})
      for (Vec guess : {(Vec) nullptr, s.guess}) {
        const std::string rtol = sizeof(PetscReal) == sizeof(float) ? "1e-4" : "1e-9";
        const Options     set(
                Deflated(5, "-ksp_pc_side right -ksp_rtol " + rtol + " -ksp_gmres_restart 14 -pc_type " + pc + flexible));
        Outcome out;
        // rounding errors of products with |A| |x| < 100 |b|, and of inner products of 3000 rows
        const PetscReal bound = 100 * PetscSqrtReal(3000) * PETSC_MACHINE_EPSILON * 14;
        PetscCall(CheckMonitored(s.A, s.b, guess, std::string(pc) + flexible, bound, &out));
        PetscCheck(out.iterations > 28, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations: too few",
                   out.iterations);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Limits of iterations before, at and after the end of a cycle that keeps vectors: so many are made, and the residual
/// told is that of the solution.
static PetscErrorCode Limits()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(Flow(37, 30, 0.3, false)));
  for (const PetscInt limit : {1, 7, 8, 9, 12, 13, 14, 23}) // cycles end after 8, 13, 18 ... iterations
    for (const char *more : {"", " -ksp_norm_type none", " -ksp_converged_maxits"}) {
      const Options set(Deflated(3, "-pc_type jacobi -ksp_pc_side right -ksp_rtol 1e-6 -ksp_gmres_restart 8 "
                                    "-ksp_max_it " +
                                        std::to_string(limit) + more));
      const bool    none = strstr(more, "none") != nullptr, maxits = strstr(more, "maxits") != nullptr;
      Outcome       out;
      PetscCall(SolveWith(s.A, s.b, nullptr, &out));
      PetscCheck(out.iterations == limit && out.reason == (maxits ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS),
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Limit %" PetscInt_FMT "%s: reason %d after %" PetscInt_FMT, limit,
                 more, (int)out.reason, out.iterations);
      PetscCheck(none || std::abs(out.told - out.residual) <= PetscSqrtReal(PETSC_MACHINE_EPSILON) * out.rhs,
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Limit %" PetscInt_FMT "%s: told of %g, the residual is %g", limit,
                 more, (double)out.told, (double)out.residual);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The view tells; what does not go together is refused, with the number named.
static PetscErrorCode Told()
{
  System s;
  bool   tells;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 21, 20, 1, 0.3, true)));
  for (const PetscInt kept : {0, 5}) {
    const Options set(Deflated(kept, "-pc_type jacobi -ksp_max_it 100"));
    PetscCall(ViewTells(s.A, s.b, "deflation_view", "keeps up to 5 vectors", &tells));
    PetscCheck(tells == (kept > 0) || PetscGlobalRank > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " kept: the view is of another restart", kept);
  }
  const struct {
    PetscInt    kept;
    const char *more, *named;
  } BAD[] = {{17, "", "17"},
             {-1, "", "-1"},
             {5, " -ksp_gmres_restart 9", "not 5"},
             {5, " -ksp_sparsegpugmres_basis single", "double"}};
  for (const auto &bad : BAD) {
    const Options set(std::string("-pc_type jacobi -ksp_type ") + KSPSPARSEGPUGMRES + bad.more);
    const Option  number("-ksp_sparsegpugmres_deflation", std::to_string(bad.kept).c_str());
    KSP           ksp;
    std::string   message;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(ExpectError(
        bad.named, [&] { return KSPSetFromOptions(ksp); }, &message));
    PetscCheck(message.find(bad.named) != std::string::npos, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: '%s'", bad.named,
               message.c_str());
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"accuracy", Accuracy}, {"saves", Saves}, {"monitored", Monitored}, {"limits", Limits}, {"told", Told}});
}
