static const char help[] = "KSPMatSolve() of KSPSPARSEGPUGMRES: each column as a solve for it alone.\n\n";

#include "columns.hpp"
#include "nonsymmetric.hpp"

using namespace testing;

namespace
{
/// A column twice, so that what the solver tells of both is what it tells of one: as a solve for it alone ends.
PetscErrorCode CompareEnd(const std::string &name, Mat A, const std::vector<PetscScalar> &b, const PetscScalar *guess,
                          const std::string &options)
{
  const Options     set(options);
  const std::string what = name + " " + options;

  PetscFunctionBeginUser;
  for (const std::string &type : DenseTypes()) {
    Columns  s;
    Together all;
    Outcome  one;
    PetscCall(s.Create(A, 2, type));
    for (PetscInt c = 0; c < 2; ++c) PetscCall(s.Set(c, b));
    if (guess) PetscCall(s.Guess(*guess));
    PetscCall(SolveTogether(s, &all));
    PetscCall(SolveColumn(Solver.ours, s, 0, &one));
    // Whether a direction is left is a matter of rounding where it is one of rounding, and sums have other orders.
    const PetscInt apart = one.reason == KSP_CONVERGED_HAPPY_BREAKDOWN ? 1 : 0;
    PetscCheck(all.reason == one.reason && std::abs(all.iterations - one.iterations) <= apart &&
                   all.total == 2 * all.iterations,
               PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, %s: reason %d after %" PetscInt_FMT " iterations, singly %d, %" PetscInt_FMT, what.c_str(),
               type.c_str(), (int)all.reason, all.iterations, (int)one.reason, one.iterations);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices, sides, numbers of columns, a guess, with these preconditioners.
PetscErrorCode SameWith(const std::vector<const char *> &pcs)
{
  PetscFunctionBeginUser;
  for (const Problem &p : nonsymmetric::All())
    for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
      if ((PetscGlobalSize == 1) != (layout == Layout::Even)) continue;
      System matrix;
      PetscCall(matrix.Create(p, nullptr, layout));
      for (const std::string &type : DenseTypes())
        for (PetscInt count : {2, 5}) {
          Columns s;
          PetscCall(s.Create(matrix.A, count, type));
          PetscCall(s.Fill());
          for (const char *pc : pcs)
            for (const char *side : {"left", "right"}) {
              const std::string options = std::string("-ksp_rtol 1e-4 -pc_type ") + pc + " -ksp_pc_side " + side;
              PetscCall(s.NoGuess());
              if (count == 2 || !strcmp(side, "left")) PetscCall(Compare(s, options, s.Serves(pc)));
              if (count != 2) continue;
              PetscCall(s.Guess((PetscReal)0.5));
              PetscCall(Compare(s, options + " -ksp_gmres_restart 4", s.Serves(pc)));
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
  PetscCall(matrix.Create(nonsymmetric::Convection(5, 23, 19, 1, 0.4, true)));
  for (const std::string &type : DenseTypes())
    for (PetscInt count : {8, 33}) {
      Columns s;
      PetscCall(s.Create(matrix.A, count, type));
      PetscCall(s.Fill());
      for (const char *pc : {"jacobi", "bjacobi"})
        PetscCall(Compare(s, std::string("-ksp_rtol 1e-5 -ksp_gmres_restart 10 -pc_type ") + pc, s.Serves(pc)));
      for (PetscInt batch : {1, 3, 64})
        PetscCall(Compare(s, "-ksp_rtol 1e-5 -pc_type jacobi -ksp_matsolve_batch_size " + std::to_string(batch),
                          s.Serves("jacobi") && batch > 1 && count % batch != 1));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the host of one rank with the bits of single solves, whatever the format, the side, the preconditioner, the
/// orthogonalisation and the cycle's length.
PetscErrorCode Bits()
{
  std::vector<std::string> formats;

  PetscFunctionBeginUser;
  if (PetscGlobalSize > 1 || DenseTypes().size() > 1) return Skip("of a single process without a GPU");
  PetscCall(Formats(&formats));
  for (const Problem &p : {nonsymmetric::Convection(7, 9, 8, 10, 0.5, true), nonsymmetric::Random(300)})
    for (const std::string &format : formats) {
      if (conformance::Refuses(p, format)) continue;
      System matrix;
      PetscCall(matrix.Create(p, format.c_str()));
      Columns s;
      PetscCall(s.Create(matrix.A, 3, MATDENSE));
      PetscCall(s.Fill());
      PetscCall(s.Guess((PetscReal)0.25));
      for (const char *more :
           {"-pc_type none", "-pc_type jacobi", "-pc_type jacobi -ksp_pc_side right", "-pc_type ilu",
            "-pc_type ilu -ksp_pc_side right", "-pc_type jacobi -ksp_gmres_cgs_refinement_type refine_always"}) {
        if (format != "csr" && strcmp(more, "-pc_type jacobi")) continue;
        const std::string what = std::string("-ksp_rtol 1e-4 -ksp_gmres_restart 6 ") + more;
        const Options     set(what);
        Together          all;
        PetscCall(SolveTogether(s, &all));
        PetscCheck(all.view.find(TOGETHER) != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: one by one",
                   what.c_str());
        for (PetscInt c = 0; c < s.count; ++c) PetscCall(CheckColumn(s, all, c, p.name + " in " + format + " " + what));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns that end at different steps and in different cycles, in any order, alone and in the middle of others.
PetscErrorCode Leaving()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(nonsymmetric::Convection(5, 25, 24, 1, 0.3, true)));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 11, type));
    PetscCall(FillApart(&s));
    for (const char *pc : {"none", "jacobi", "bjacobi", "sparsegpu"})
      for (const char *more : {"-ksp_gmres_restart 9", "-ksp_gmres_restart 200 -ksp_pc_side right"})
        PetscCall(Compare(s, std::string("-ksp_rtol 1e-30 -ksp_atol 1e-5 ") + more + " -pc_type " + pc, s.Serves(pc)));
    Together all;
    {
      const Options options("-ksp_rtol 1e-30 -ksp_atol 1e-5 -pc_type jacobi");
      PetscCall(SolveTogether(s, &all));
    }
    PetscCall(CheckEndedApart(s, all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Limits of iterations, reached, met exactly, at restarts and not at all.
PetscErrorCode Limits()
{
  System        s;
  const Options tolerance("-ksp_rtol 1e-4 -ksp_gmres_restart 5");

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 19, 21, 1, 0.4, true)));
  const std::vector<PetscScalar> b = Input(19 * 21, 11, Poison::None);
  for (const char *pc : {" -pc_type jacobi", " -pc_type bjacobi"}) {
    for (const char *limit : {"0", "5", "9", "10000"})
      for (const char *more : {"", " -ksp_converged_maxits"})
        PetscCall(CompareEnd("limit", s.A, b, nullptr, "-ksp_max_it " + std::string(limit) + more + pc));
    for (const char *limit : {"0", "1", "7", "10"})
      PetscCall(CompareEnd("no norm", s.A, b, nullptr, "-ksp_norm_type none -ksp_max_it " + std::string(limit) + pc));
#if PETSC_VERSION_GE(3, 19, 0)
    PetscCall(CompareEnd("least", s.A, b, nullptr, std::string("-ksp_min_it 40") + pc));
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Systems whose end is known: zeros, NaN, an exact guess, indefinite and singular matrices, invariant spaces.
PetscErrorCode Ends()
{
  constexpr PetscInt   n   = 24;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  const PetscScalar    two = 2;
  conformance::Builder identity("identity", n, n), poisoned("NaN", n, n), indefinite("indefinite", n, n),
      shift("cyclic shift", n, n), singular("singular", n, n);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    identity.Add(r, r, 4);
    poisoned.Add(r, r, r == n / 2 ? nan : 2);
    indefinite.Add(r, r, r % 3 ? (PetscReal)(r + 1) : -(PetscReal)(r + 1));
    shift.Add(r, (r + 1) % n, 1);
    singular.Add(r, r, r ? (PetscReal)(1 + r % 2) : 0);
  }
  for (const Problem &p :
       {Problem(identity), Problem(poisoned), Problem(indefinite), Problem(shift), Problem(singular)})
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *more : {"", " -ksp_pc_side right", " -ksp_norm_type none -ksp_max_it 3"}) {
        if ((p.name == "NaN" || p.name == "singular" || p.name == "cyclic shift") && !strcmp(pc, "bjacobi")) continue;
        System                   s;
        const std::string        options = std::string("-ksp_rtol 1e-5 -ksp_max_it 60 -pc_type ") + pc + more;
        const auto               all     = [&](PetscScalar v) { return std::vector<PetscScalar>((size_t)p.rows, v); };
        std::vector<PetscScalar> first   = all(0); // in a shift no step but the last reduces the residual
        first[0]                         = 1;
        PetscCall(s.Create(p));
        PetscCall(CompareEnd(p.name, s.A, all(1), nullptr, options));
        PetscCall(CompareEnd(p.name + ", b = e_1", s.A, first, nullptr, options));
        PetscCall(CompareEnd(p.name + ", b = 0", s.A, all(0), nullptr, options));
        PetscCall(CompareEnd(p.name + ", b = NaN", s.A, all(nan), nullptr, options));
        if (p.name == "identity") // the residual is exactly zero
          PetscCall(CompareEnd(p.name + ", exact guess", s.A, all(8), &two, options));
        if (p.name == "identity") PetscCall(CompareEnd(p.name + ", guess, b = 0", s.A, all(0), &two, options));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zeros, NaN, and invariant spaces among others: these are solved as without them.
PetscErrorCode Among()
{
  constexpr PetscInt   n   = 40;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  conformance::Builder mixed("seven eigenvalues", n, n);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) mixed.Add(r, r, r == 5 ? -1 : (PetscReal)(1 + r % 7));
  System matrix;
  PetscCall(matrix.Create(mixed));
  for (const std::string &type : DenseTypes())
    for (const char *more :
         {"-pc_type none", "-pc_type none -ksp_gmres_restart 3", "-pc_type bjacobi", "-pc_type sparsegpu"}) {
      Columns s;
      PetscCall(s.Create(matrix.A, 5, type));
      std::vector<PetscScalar> good = Input(n, 3, Poison::None), bad = good, one((size_t)n, 0);
      one[3] = 2; // an eigenvector: a happy breakdown
      PetscCall(s.Set(0, Input(n, 8, Poison::None)));
      PetscCall(s.Set(1, one));
      PetscCall(s.Set(2, std::vector<PetscScalar>((size_t)n, 0)));
      bad[7] = nan;
      PetscCall(s.Set(3, bad));
      PetscCall(s.Set(4, good));
      PetscCall(
          Compare(s, std::string("-ksp_rtol 1e-6 ") + more, s.Serves(strstr(more, "bjacobi") ? "bjacobi" : "none")));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  Solver = {KSPSPARSEGPUGMRES, KSPGMRES, "-ksp_sparsegpugmres_together"};
  return Main(argc, argv, help,
              {{"same", Same},
               {"same_around", SameAround},
               {"counts", Counts},
               {"bits", Bits},
               {"leaving", Leaving},
               {"limits", Limits},
               {"ends", Ends},
               {"among", Among}});
}
