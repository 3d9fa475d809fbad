static const char help[] =
    "KSPMatSolve() of KSPSPARSEGPUCG with -ksp_sparsegpucg_block: columns in one Krylov space.\n\n";

#include <cstdio>
#include "repeats.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
const std::string BLOCK     = "block conjugate gradients"; ///< what KSPView() says after such a solve
const std::string AS_BLOCKS = " -ksp_sparsegpucg_block yes";

/// The norm that is tested of r, and the operator norm of the preconditioner in it, at most.
PetscErrorCode NormOf(const Columns &s, const std::string &options, Vec r, PetscReal *norm, PetscReal *factor)
{
  const bool natural = options.find("natural") != std::string::npos;
  const bool plain   = options.find("unpreconditioned") != std::string::npos;
  Vec        z, d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &d));
  PetscCall(VecSet(d, 1));
  if (options.find("jacobi") != std::string::npos) {
    PetscCall(MatGetDiagonal(s.A, d));
    PetscCall(VecReciprocal(d));
  }
  PetscCall(VecPointwiseMult(z, r, d));
  PetscCall(VecNorm(d, NORM_INFINITY, factor));
  PetscScalar square;
  PetscCall(VecDot(z, natural ? r : z, &square));
  *norm = PetscSqrtReal(PetscAbsScalar(square));
  if (natural) *factor = PetscSqrtReal(*factor);
  if (plain) PetscCall(VecNorm(r, NORM_2, norm));
  if (plain) *factor = 1;
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The residual of column c, in the norm that is tested, is below 1.5 times the tolerance, or a rounding error of its
/// own. A skipped direction that is told as converged but is not would stay above by orders of magnitude.
PetscErrorCode CheckResidual(const Columns &s, const Together &all, const std::string &options, PetscReal rtol,
                             PetscInt c)
{
  constexpr PetscReal ROW = 30; // entries of a row at most, and a few operations
  PetscReal           norm, first, factor, size, rhs, matrix;
  Vec                 x, r, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(s.A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(CopyColumn(all.X, c, x));
  PetscCall(CopyColumn(s.B, c, b));
  PetscCall(MatMult(s.A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(NormOf(s, options, r, &norm, &factor));
  PetscCall(NormOf(s, options, b, &first, &factor));
  PetscCall(VecNorm(x, NORM_2, &size));
  PetscCall(VecNorm(b, NORM_2, &rhs));
  PetscCall(MatNorm(s.A, NORM_INFINITY, &matrix)); // of a Hermitian matrix at least the 2-norm of |A|
  const PetscReal bound =
      (PetscReal)1.5 * rtol * first + 2 * ROW * PETSC_MACHINE_EPSILON * factor * (matrix * size + rhs);
  PetscCheck(norm <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, column %" PetscInt_FMT ": residual %g > %g",
             options.c_str(), c, (double)norm, (double)bound);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The most iterations of single solves.
PetscErrorCode Singly(const Columns &s, const std::string &options, PetscInt *most)
{
  const Options set(options);

  PetscFunctionBeginUser;
  *most = 0;
  for (PetscInt c = 0; c < s.count; ++c) {
    Outcome one;
    PetscCall(SolveColumn(KSPSPARSEGPUCG, s, c, &one));
    *most = std::max(*most, one.iterations);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Text(double v)
{
  char text[32];

  std::snprintf(text, sizeof(text), "%g", v);
  return text;
}

/// All columns as a block to `rtol`: residuals, and at most `most` iterations; 0: one more than single solves, of which
/// rounding errors may take one.
PetscErrorCode CheckBlock(const Columns &s, const std::string &with, double rtol, PetscInt most = 0)
{
  const std::string options = with + " -ksp_rtol " + Text(rtol);
  const std::string what    = std::to_string(s.count) + " columns of " + s.type + " " + options;
  Together          all;

  PetscFunctionBeginUser;
  if (!most) {
    PetscCall(Singly(s, options, &most));
    most += 1 + most / 50;
  }
  {
    const Options set(options + AS_BLOCKS);
    PetscCall(SolveTogether(s, &all));
  }
  PetscCheck(PetscGlobalRank > 0 || !s.expected || s.count < 2 || all.view.find(BLOCK) != std::string::npos,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no block:\n%s", what.c_str(), all.view.c_str());
  PetscCheck(all.reason > 0 && all.iterations <= most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: reason %d after %" PetscInt_FMT " iterations, not %" PetscInt_FMT, what.c_str(), (int)all.reason,
             all.iterations, most);
  for (PetscInt c = 0; c < s.count; ++c) PetscCall(CheckResidual(s, all, what, (PetscReal)rtol, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices, norms, preconditioners, numbers of columns, guesses.
PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  for (const Problem &p : spd::All())
    for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
      if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
      if (PetscGlobalSize > 2 && layout == Layout::Even) continue;
      System matrix;
      PetscCall(matrix.Create(p, nullptr, layout));
      for (const std::string &type : DenseTypes())
        for (PetscInt count : {2, 5, 8}) {
          Columns s;
          if (layout != Layout::Even && count != 5) continue;
          PetscCall(s.Create(matrix.A, count, type));
          PetscCall(s.Fill());
          for (const char *pc : {"none", "jacobi"})
            for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
              const std::string options = std::string("-pc_type ") + pc + " -ksp_norm_type " + norm;
              PetscCall(s.NoGuess());
              PetscCall(CheckBlock(s, options, 1e-5));
              if (count != 5) continue;
              PetscCall(s.Guess((PetscReal)0.5));
              PetscCall(CheckBlock(s, options, 1e-5));
            }
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Clearly fewer iterations: the smallest eigenvalues of Laplacians no longer count.
PetscErrorCode Fewer()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 61, 60, 1, false)));
  for (const std::string &type : DenseTypes()) {
    Columns  s;
    PetscInt most;
    PetscCall(s.Create(matrix.A, 8, type));
    PetscCall(s.Fill());
    PetscCall(Singly(s, "-pc_type jacobi -ksp_rtol 1e-6", &most));
    if (s.expected) PetscCall(CheckBlock(s, "-pc_type jacobi", 1e-6, (PetscInt)(most / 1.3)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More columns than a block has, and batches.
PetscErrorCode Counts()
{
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 23, 19, 1, true)));
  for (const std::string &type : DenseTypes())
    for (PetscInt count : {1, 3, 4, 9, 16, 17, 33}) {
      Columns s;
      PetscCall(s.Create(matrix.A, count, type));
      PetscCall(s.Fill());
      PetscCall(CheckBlock(s, "-pc_type jacobi", 1e-6));
      if (count == 17) PetscCall(CheckBlock(s, "-pc_type jacobi -ksp_matsolve_batch_size 5", 1e-6));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Combinations of two vectors and, `apart` of it, a vector of their own; column 4 has nothing else.
PetscErrorCode FillDependent(Columns *s, PetscInt n, PetscReal apart)
{
  const std::vector<PetscScalar> u = Input(n, 5, Poison::None), v = Input(n, 6, Poison::None);

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < s->count; ++c) {
    const std::vector<PetscScalar> own  = Input(n, (unsigned long long)(100 + c), Poison::None);
    const PetscReal                of_u = c == 4 ? 0 : (PetscReal)(c % 3), of_v = c == 4 ? 0 : (PetscReal)(2 - c % 3);
    std::vector<PetscScalar>       b((size_t)n);
    for (size_t r = 0; r < b.size(); ++r) b[r] = of_u * u[r] + of_v * v[r] + apart * own[r];
    PetscCall(s->Set(c, b));
    PetscCall(s->Scale(c, c % 2 ? (PetscReal)1e-8 : (PetscReal)1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Right-hand sides that are equal, combinations of others, nearly so, zero, or of very different size. What a skipped
/// column loses begins again, in up to as many iterations once more.
PetscErrorCode Dependent()
{
  constexpr PetscInt nx = 31, n = nx * nx, COUNT = 8;
  System             matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, nx, nx, 1, true)));
  for (const std::string &type : DenseTypes())
    for (const char *norm : {"preconditioned", "unpreconditioned", "natural"})
      for (double apart : {0.0, 1e-3, 1e-6, 1e-7, 1e-9})
        for (double rtol : {1e-6, 1e-11}) {
          const std::string options = std::string("-pc_type jacobi -ksp_norm_type ") + norm;
          Columns           s;
          PetscInt          most;
          if (rtol < 1e4 * (double)PETSC_MACHINE_EPSILON) continue;
          PetscCall(s.Create(matrix.A, COUNT, type));
          PetscCall(FillDependent(&s, n, (PetscReal)apart));
          PetscCall(Singly(s, options + " -ksp_rtol " + Text(rtol), &most));
          PetscCall(CheckBlock(s, options, rtol, 2 * most + 2));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Few eigenvalues, an exact guess, and more columns than rows: blocks that end exactly.
PetscErrorCode Exact()
{
  constexpr PetscInt   n = 40;
  conformance::Builder few("three eigenvalues", n, n), small("small", 5, 5);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) few.Add(r, r, (PetscReal)(1 + r % 3));
  for (PetscInt r = 0; r < 5; ++r) small.Add(r, r, (PetscReal)(1 + r));
  for (const Problem &p : {Problem(few), Problem(small)}) {
    System matrix;
    PetscCall(matrix.Create(p));
    for (const std::string &type : DenseTypes())
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
        Columns s;
        PetscCall(s.Create(matrix.A, 9, type));
        PetscCall(s.Fill());
        const std::string options = std::string("-pc_type none -ksp_norm_type ") + norm;
        PetscCall(CheckBlock(s, options, 1e-6));
        PetscCall(s.Guess(2));
        std::vector<PetscScalar> b((size_t)p.rows); // of the solution 2
        for (PetscInt r = 0; r < p.rows; ++r) b[(size_t)r] = 2 * (PetscReal)(p.rows == n ? 1 + r % 3 : 1 + r);
        PetscCall(s.Set(3, b));
        PetscCall(CheckBlock(s, options, 1e-6));
        for (PetscInt c = 0; c < s.count; ++c) PetscCall(s.Set(c, b));
        PetscCall(CheckBlock(s, options, 1e-6, 1));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
         {"-pc_type bjacobi", "-pc_type sparsegpu", "-pc_type jacobi -ksp_sparsegpucg_type cr",
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
  return Main(argc, argv, help,
              {{"same", Same},
               {"fewer", Fewer},
               {"counts", Counts},
               {"dependent", Dependent},
               {"exact", Exact},
               {"limits", Limits},
               {"ends", Ends},
               {"no_blocks", NoBlocks},
               {"repeats", Repeats}});
}
