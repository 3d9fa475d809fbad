static const char help[] = "KSPMatSolve() of KSPSPARSEGPUCG: each column as a solve for it alone.\n\n";

#include "columns.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
/// `rounding`: a residual that is zero but for rounding errors may be zero.
bool Alike(KSPConvergedReason a, KSPConvergedReason b, bool rounding)
{
  const auto small = [](KSPConvergedReason r) { return r == KSP_CONVERGED_RTOL || r == KSP_CONVERGED_ATOL; };
  return a == b || (rounding && small(a) && small(b));
}

/// A column twice, so that what the solver tells of both is what it tells of one: as a solve for it alone ends.
PetscErrorCode CompareEnd(const std::string &name, Mat A, const std::vector<PetscScalar> &b, const PetscScalar *guess,
                          const std::string &options, bool together = true, bool rounding = false)
{
  const Options     set(options);
  const std::string what = name + " " + options;

  PetscFunctionBeginUser;
  for (const std::string &type : DenseTypes()) {
    Columns  s;
    Together all;
    Outcome  one, petsc;
    PetscCall(s.Create(A, 2, type));
    for (PetscInt c = 0; c < 2; ++c) PetscCall(s.Set(c, b));
    if (guess) PetscCall(s.Guess(*guess));
    PetscCall(SolveTogether(s, &all));
    PetscCall(SolveColumn(KSPSPARSEGPUCG, s, 0, &one));
    PetscCall(SolveColumn(KSPCG, s, 0, &petsc));
    PetscCheck(PetscGlobalRank > 0 || !together || !s.expected || all.view.find(TOGETHER) != std::string::npos,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: one by one:\n%s", what.c_str(), all.view.c_str());
    PetscCheck(Alike(all.reason, one.reason, rounding) && all.iterations == one.iterations &&
                   all.total == 2 * one.iterations,
               PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, %s: reason %d after %" PetscInt_FMT " iterations, singly %d, %" PetscInt_FMT, what.c_str(),
               type.c_str(), (int)all.reason, all.iterations, (int)one.reason, one.iterations);
    PetscCheck(Alike(all.reason, petsc.reason, rounding) && all.iterations == petsc.iterations, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "%s, %s: reason %d after %" PetscInt_FMT " iterations, PETSc's cg %d, %" PetscInt_FMT,
               what.c_str(), type.c_str(), (int)all.reason, all.iterations, (int)petsc.reason, petsc.iterations);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices, norms, numbers of columns, a guess, with these preconditioners.
PetscErrorCode SameWith(const std::vector<const char *> &pcs)
{
  PetscFunctionBeginUser;
  for (const Problem &p : spd::All())
    for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
      if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
      if (PetscGlobalSize > 2 && layout == Layout::Even) continue; // two ranks have both, and all norms
      System matrix;
      PetscCall(matrix.Create(p, nullptr, layout));
      for (const std::string &type : DenseTypes())
        for (PetscInt count : {1, 2, 7}) {
          if (layout != Layout::Even && count != 2) continue;
          Columns s;
          PetscCall(s.Create(matrix.A, count, type));
          PetscCall(s.Fill());
          for (const char *pc : pcs)
            for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
              const std::string options = std::string("-ksp_rtol 1e-4 -pc_type ") + pc + " -ksp_norm_type " + norm;
              const bool        first = !strcmp(norm, "preconditioned"), there = s.Serves(pc);
              if (!first && (count != 2 || PetscGlobalSize > 2)) continue;
              PetscCall(s.NoGuess());
              PetscCall(Compare(s, options, there));
              if (count != 2) continue;
              if (p.rows > 1 && first) PetscCall(Compare(s, options + " -ksp_check_norm_iteration 4", there));
              PetscCall(s.Guess((PetscReal)0.5));
              PetscCall(Compare(s, options, there));
            }
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  PetscCall(SameWith({"none", "jacobi"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SameAround()
{
  PetscFunctionBeginUser;
  PetscCall(SameWith({"bjacobi", "sparsegpu"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Numbers of columns that fill blocks, and do not; all together and in batches.
PetscErrorCode Counts()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 23, 19, 1, true)));
  for (const std::string &type : DenseTypes())
    for (PetscInt count : {8, 33}) {
      Columns s;
      PetscCall(s.Create(matrix.A, count, type));
      PetscCall(s.Fill());
      for (const char *pc : {"jacobi", "bjacobi"})
        PetscCall(Compare(s, std::string("-ksp_rtol 1e-6 -pc_type ") + pc, s.Serves(pc)));
      // a batch of one column is solved by KSPSolve(); the view tells of the last one
      for (PetscInt batch : {1, 3, 8, 64})
        PetscCall(Compare(s, "-ksp_rtol 1e-6 -pc_type jacobi -ksp_matsolve_batch_size " + std::to_string(batch),
                          s.Serves("jacobi") && batch > 1 && count % batch != 1));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns that end at different iterations, in any order, alone and in the middle of others.
PetscErrorCode Leaving()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 25, 24, 1, true)));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 11, type));
    PetscCall(FillApart(&s));
    for (const char *pc : {"none", "jacobi", "bjacobi", "sparsegpu -pc_sparsegpu_factor icc"})
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"})
        PetscCall(Compare(s, std::string("-ksp_rtol 1e-30 -ksp_atol 1e-6 -pc_type ") + pc + " -ksp_norm_type " + norm,
                          s.Serves(pc)));
    Together all;
    {
      const Options options("-ksp_rtol 1e-30 -ksp_atol 1e-6 -pc_type jacobi");
      PetscCall(SolveTogether(s, &all));
    }
    PetscCall(CheckEndedApart(s, all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Limits of iterations, reached, met exactly and not at all.
PetscErrorCode Limits()
{
  System        s;
  const Options tolerance("-ksp_rtol 1e-4");

  PetscFunctionBeginUser;
  PetscCall(s.Create(spd::Diffusion(5, 19, 21, 1, true)));
  const std::vector<PetscScalar> b = Input(19 * 21, 11, Poison::None);
  for (const char *pc : {"jacobi", "bjacobi"}) {
    const std::string with = std::string(" -pc_type ") + pc;
    for (const char *limit : {"0", "1", "2", "9", "10000"})
      for (const char *more : {"", " -ksp_converged_maxits"})
        PetscCall(CompareEnd("limit", s.A, b, nullptr, "-ksp_max_it " + std::string(limit) + more + with,
                             Columns::Everywhere(pc)));
    for (const char *limit : {"0", "1", "7"})
      PetscCall(CompareEnd("no norm", s.A, b, nullptr, "-ksp_norm_type none -ksp_max_it " + std::string(limit) + with,
                           Columns::Everywhere(pc)));
#if PETSC_VERSION_GE(3, 19, 0)
    PetscCall(CompareEnd("least", s.A, b, nullptr, "-ksp_min_it 40" + with, Columns::Everywhere(pc)));
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Systems whose end is known: zeros, NaN, an exact guess, indefinite matrices and preconditioners.
PetscErrorCode Ends()
{
  constexpr PetscInt   n   = 24;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  const PetscScalar    two = 2;
  conformance::Builder identity("identity", n, n), poisoned("NaN", n, n), negative("negative definite", n, n),
      indefinite("indefinite", n, n), flat("zero curvature", 2, 2);

  PetscFunctionBeginUser;
  flat.Add(0, 0, 1).Add(1, 1, -1);
  for (PetscInt r = 0; r < n; ++r) {
    identity.Add(r, r, 4);
    negative.Add(r, r, -1 - r % 3);
    poisoned.Add(r, r, r == n / 2 ? nan : 2);
    indefinite.Add(r, r, r % 3 ? (PetscReal)(r + 1) : -(PetscReal)(r + 1));
  }
  for (const Problem &p : {Problem(identity), Problem(poisoned), Problem(negative), Problem(indefinite), Problem(flat)})
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural", "none"}) {
        if (p.name == "NaN" && !strcmp(pc, "bjacobi")) continue;
        System            s;
        const std::string options = // without norms few steps: later ones are made of rounding errors
            std::string(strcmp(norm, "none") ? "-ksp_max_it 3" : "-ksp_max_it 1") + " -ksp_rtol 1e-5 -pc_type " + pc +
            " -ksp_norm_type " + norm;
        const auto all      = [&](PetscScalar v) { return std::vector<PetscScalar>((size_t)p.rows, v); };
        const bool together = Columns::Everywhere(pc);
        PetscCall(s.Create(p));
        PetscCall(CompareEnd(p.name, s.A, all(1), nullptr, options, together, p.name == "indefinite"));
        PetscCall(CompareEnd(p.name + ", b = 0", s.A, all(0), nullptr, options, together));
        PetscCall(CompareEnd(p.name + ", b = NaN", s.A, all(nan), nullptr, options, together));
        if (p.name == "identity") // the residual is exactly zero
          PetscCall(CompareEnd(p.name + ", exact guess", s.A, all(8), &two, options, together));
        if (p.name == "identity")
          PetscCall(CompareEnd(p.name + ", guess, b = 0", s.A, all(0), &two, options, together));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zeros, NaN and eigenvectors of an indefinite matrix among others: these are solved as without them.
PetscErrorCode Among()
{
  constexpr PetscInt   n   = 40;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  conformance::Builder mixed("definite but for one", n, n);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) mixed.Add(r, r, r == 5 ? -1 : (PetscReal)(1 + r % 7));
  System matrix;
  PetscCall(matrix.Create(mixed));
  for (const std::string &type : DenseTypes())
    for (const char *pc : {"none", "bjacobi", "sparsegpu"})
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
        const std::string options = std::string("-ksp_rtol 1e-6 -ksp_norm_type ") + norm + " -pc_type " + pc;
        Columns           s;
        PetscCall(s.Create(matrix.A, 5, type));
        std::vector<PetscScalar> good = Input(n, 3, Poison::None), other = Input(n, 8, Poison::None), bad = good;
        good[5] = other[5] = 0; // these never see the negative eigenvalue
        PetscCall(s.Set(0, bad));
        PetscCall(s.Set(1, good));
        PetscCall(s.Set(2, std::vector<PetscScalar>((size_t)n, 0)));
        bad[7] = nan;
        PetscCall(s.Set(3, bad));
        PetscCall(s.Set(4, other));
        PetscCall(Compare(s, options, s.Serves(pc)));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Any preconditioner that is the same for all columns.
PetscErrorCode Preconditioners()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 40, 35, 1, true)));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 5, type));
    PetscCall(s.Fill());
    for (PetscInt c = 0; c < s.count; ++c) PetscCall(s.Scale(c, PetscPowReal(10, -(PetscReal)(c * 3 % 5))));
    for (const char *pc :
         {"jacobi -pc_jacobi_type rowmax", "pbjacobi", "sor -pc_sor_symmetric", "asm -pc_asm_type basic", "gamg",
          "sparsegpuamg", "bjacobi -sub_pc_type icc",
          "bjacobi -sub_ksp_type sparsegpucg -sub_ksp_rtol 1e-12 -sub_pc_type jacobi",
          "sparsegpu -pc_sparsegpu_factor icc", "sparsegpu -pc_sparsegpu_factor cholesky",
          "sparsegpu -pc_sparsegpu_factor blocks -pc_sparsegpu_block_size 4",
          "sparsegpu -pc_sparsegpu_factor polynomial", "ksp -ksp_ksp_type preonly -ksp_pc_type jacobi"}) {
      if (!strcmp(pc, "sor -pc_sor_symmetric") && PetscGlobalSize > 1) pc = "sor -pc_sor_local_symmetric";
      const bool inner = !strncmp(pc, "ksp", 3);
      PetscCall(Compare(s, std::string("-ksp_rtol 1e-30 -ksp_atol 1e-6 -ksp_max_it 1000 -pc_type ") + pc,
                        !inner && s.Serves(pc)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"same_around", SameAround},
               {"counts", Counts},
               {"leaving", Leaving},
               {"limits", Limits},
               {"ends", Ends},
               {"among", Among},
               {"preconditioners", Preconditioners}});
}
