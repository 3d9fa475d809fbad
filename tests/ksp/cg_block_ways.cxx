static const char help[] =
    "KSPMatSolve() of KSPSPARSEGPUCG with -ksp_sparsegpucg_block: limits, failures, no blocks, the same bits.\n\n";

#include "blocks.hpp"
#include "repeats.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
/// A block with the options: reason and iterations.
PetscErrorCode CheckEnd(const Columns &s, const std::string &options, KSPConvergedReason reason, PetscInt iterations)
{
  const Options set(options + AS_BLOCKS);
  Together      all;

  PetscFunctionBeginUser;
  PetscCall(SolveTogether(s, &all));
  PetscCheck(all.reason == reason && (iterations < 0 || all.iterations == iterations), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s %s: reason %d after %" PetscInt_FMT " iterations, not %d after %" PetscInt_FMT, s.type.c_str(),
             options.c_str(), (int)all.reason, all.iterations, (int)reason, iterations);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Limits()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 29, 31, 1, true)));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 6, type));
    PetscCall(s.Fill());
    for (PetscInt limit : {1, 2, 9}) {
      const std::string options = "-pc_type jacobi -ksp_rtol 1e-6 -ksp_max_it " + std::to_string(limit);
      PetscCall(CheckEnd(s, options, KSP_DIVERGED_ITS, limit));
      PetscCall(CheckEnd(s, options + " -ksp_converged_maxits", KSP_CONVERGED_ITS, limit));
      PetscCall(CheckEnd(s, options + " -ksp_norm_type none", KSP_DIVERGED_ITS, limit));
    }
    PetscCall(CheckEnd(s, "-pc_type jacobi -ksp_rtol 1e-6 -ksp_divtol 1.0001 -ksp_norm_type unpreconditioned",
                       KSP_CONVERGED_RTOL, -1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices that are not definite, or hold NaN; a right-hand side with NaN among others.
PetscErrorCode Ends()
{
  constexpr PetscInt   n   = 40;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  conformance::Builder negative("negative definite", n, n), indefinite("indefinite", n, n), poisoned("NaN", n, n);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    negative.Add(r, r, -(PetscReal)(1 + r % 5));
    indefinite.Add(r, r, r % 3 ? (PetscReal)(r + 1) : -(PetscReal)(r + 1));
    poisoned.Add(r, r, r == n / 2 ? nan : (PetscReal)(1 + r));
  }
  for (const std::string &type : DenseTypes())
    for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
      const std::string options = std::string("-ksp_rtol 1e-6 -pc_type none -ksp_norm_type ") + norm;
      System            matrices[3];
      Columns           s[3];
      for (int k = 0; k < 3; ++k) {
        PetscCall(matrices[k].Create(k == 0 ? Problem(negative) : k == 1 ? Problem(indefinite) : Problem(poisoned)));
        PetscCall(s[k].Create(matrices[k].A, 4, type));
        PetscCall(s[k].Fill());
      }
      PetscCall(CheckBlock(s[0], std::string("-pc_type none -ksp_norm_type ") + norm, 1e-6));
      PetscCall(CheckEnd(s[1], options, KSP_DIVERGED_INDEFINITE_MAT, -1));
      PetscCall(CheckEnd(s[2], options, KSP_DIVERGED_NANORINF, -1));
      std::vector<PetscScalar> bad = Input(n, 3, Poison::None);
      bad[7]                       = nan;
      PetscCall(s[0].Set(1, bad)); // the others are solved without it
      PetscCall(CheckEnd(s[0], options, KSP_DIVERGED_NANORINF, 5));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where there are no blocks the option changes nothing: the same bits as without it.
PetscErrorCode NoBlocks()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 17, 16, 1, true)));
  for (const std::string &type : DenseTypes())
    for (const char *options :
         {"-pc_type ksp -ksp_ksp_type preonly -ksp_pc_type jacobi", "-pc_type jacobi -ksp_sparsegpucg_type cr",
          "-pc_type jacobi -ksp_sparsegpucg_flexible", "-pc_type jacobi -ksp_sparsegpucg_together off"}) {
      Columns  s;
      Together with, without;
      PetscCall(s.Create(matrix.A, 4, type));
      PetscCall(s.Fill());
      const std::string all = std::string("-ksp_rtol 1e-5 ") + options;
      {
        const Options set(all);
        PetscCall(SolveTogether(s, &without));
      }
      const Options set(all + AS_BLOCKS);
      PetscCall(SolveTogether(s, &with));
      PetscCheck(with.view.find(BLOCK) == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a block", options);
      PetscCall(CheckEqual(with.X, without.X, options));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same bits again, of systems with all widths; on a device however late the host hears of norms.
PetscErrorCode Repeats()
{
  const Options options("-ksp_rtol 1e-6 -pc_type jacobi" + AS_BLOCKS);

  PetscFunctionBeginUser;
  for (PetscInt side : {16, 190})
    for (PetscInt count : {3, 8, 16}) {
      System matrix;
      PetscCall(matrix.Create(spd::Diffusion(5, side + 1, side, 1, true)));
      for (const std::string &type : DenseTypes()) {
        Columns  s;
        Together first;
        if (side > 100 && type == MATDENSE) continue;
        PetscCall(s.Create(matrix.A, count, type));
        PetscCall(s.Fill());
        PetscCall(SolveTogether(s, &first));
        for (int k = 0; k < (s.on_host ? 1 : 8); ++k) {
          std::optional<BusyProcessors> processors;
          Together                      again;
          if (k > 4) processors.emplace();
          PetscCall(SolveTogether(s, &again));
          PetscCall(CheckEqual(first.X, again.X, std::to_string(count) + " columns, solved again"));
        }
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"limits", Limits}, {"ends", Ends}, {"no_blocks", NoBlocks}, {"repeats", Repeats}});
}
