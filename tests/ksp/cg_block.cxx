static const char help[] =
    "KSPMatSolve() of KSPSPARSEGPUCG with -ksp_sparsegpucg_block: columns in one Krylov space.\n\n";

#include "blocks.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
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

/// Preconditioners that are applied from outside. With complex scalars incomplete Cholesky factors and PETSc's
/// multigrid are symmetric, not Hermitian.
PetscErrorCode Around()
{
#if defined(PETSC_USE_COMPLEX)
  const char *const factored = "bjacobi -sub_pc_type lu", *const multigrid = "sor";
  const char *const ours = "sparsegpu -pc_sparsegpu_factor blocks -pc_sparsegpu_block_size 7";
#else
  const char *const factored = "bjacobi -sub_pc_type icc", *const multigrid = "gamg";
  const char *const ours = "sparsegpu -pc_sparsegpu_factor icc";
#endif
  System matrix;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 40, 35, 1, true)));
  for (const std::string &type : DenseTypes())
    for (PetscInt count : {2, 7}) {
      Columns s;
      PetscCall(s.Create(matrix.A, count, type));
      PetscCall(s.Fill());
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"})
        for (const char *pc : {factored, "pbjacobi", multigrid, ours,
                               "sparsegpu -pc_sparsegpu_factor blocks -pc_sparsegpu_block_size 4"}) {
          const std::string options = std::string("-pc_type ") + pc + " -ksp_norm_type " + norm;
          PetscCall(s.NoGuess());
          PetscCall(CheckBlock(s, options, 1e-6, 0, s.Serves(pc)));
          PetscCall(s.Guess((PetscReal)0.5));
          PetscCall(CheckBlock(s, options, 1e-6, 0, s.Serves(pc)));
        }
      std::vector<PetscScalar> b = Input(40 * 35, 3, Poison::None);
      PetscCall(s.NoGuess());
      PetscCall(s.Set(0, std::vector<PetscScalar>(b.size(), 0)));
      for (PetscInt c = 1; c < count; ++c) PetscCall(s.Set(c, b)); // dependent
      PetscCall(CheckBlock(s, std::string("-pc_type ") + factored, 1e-6, 0, s.Serves(factored)));
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

/// Spectra over many powers of ten, where rounding errors delay single solves: blocks need fewer iterations all the
/// more, and reach the same accuracy.
PetscErrorCode Hard()
{
  PetscFunctionBeginUser;
  for (const Problem &p : {spd::Spectrum(100, 4), spd::Layers(300, 5), spd::Layers(300, 8)}) {
    System matrix;
    PetscCall(matrix.Create(p));
    for (const std::string &type : DenseTypes())
      for (PetscInt count : {3, 16})
        for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
          Columns s;
          PetscCall(s.Create(matrix.A, count, type));
          PetscCall(s.Fill());
          for (const char *pc : {"none", "jacobi"})
            PetscCall(CheckBlock(s, std::string("-ksp_max_it 20000 -pc_type ") + pc + " -ksp_norm_type " + norm, 1e-7));
        }
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

/// Blocks that exhaust the space before they end, as n / s iterations do for a chain of n rows: what is left of them is
/// few directions, rounding errors among them, from zero and from a guess. Blocks that go on with those take more than
/// twice as many iterations as single solves here.
PetscErrorCode Exhausted()
{
  PetscFunctionBeginUser;
  for (const PetscInt n : {55, 69, 77, 100, 107}) {
    conformance::Builder chain("chain", n, n);
    System               matrix;
    for (PetscInt r = 0; r < n; ++r) {
      if (r > 0) chain.Add(r, r - 1, -1);
      chain.Add(r, r, 2);
      if (r + 1 < n) chain.Add(r, r + 1, -1);
    }
    PetscCall(matrix.Create(chain));
    for (const std::string &type : DenseTypes())
      for (const PetscInt count : {8, 10, 11, 13, 15})
        for (const char *norm : {"natural", "unpreconditioned"})
          for (const double guess : {0.0, 0.01}) {
            const std::string options = std::string("-pc_type none -ksp_norm_type ") + norm;
            Columns           s;
            PetscInt          most;
            PetscCall(s.Create(matrix.A, count, type));
            PetscCall(s.Fill());
            if (guess != 0) PetscCall(s.Guess(guess));
            PetscCall(Singly(s, options + " -ksp_rtol 1e-6", &most));
            PetscCall(CheckBlock(s, options, 1e-6, 2 * most));
          }
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

} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"around", Around},
               {"fewer", Fewer},
               {"hard", Hard},
               {"counts", Counts},
               {"dependent", Dependent},
               {"exact", Exact},
               {"exhausted", Exhausted}});
}
