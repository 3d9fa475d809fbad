/// Right-hand sides that are solved as blocks, by -ksp_sparsegpucg_block: their residuals and iterations.
#pragma once

#include <cstdio>
#include "columns.hpp"

namespace testing
{

inline const std::string BLOCK     = "block conjugate gradients"; ///< what KSPView() says after such a solve
inline const std::string AS_BLOCKS = " -ksp_sparsegpucg_block yes";

/// The norm that is tested of r, and a bound of the preconditioner in it where that is a diagonal, else 0.
inline PetscErrorCode NormOf(const Columns &s, const std::string &options, Vec r, PetscReal *norm, PetscReal *factor)
{
  const Options set(options);
  const Option  solver("-ksp_type", KSPSPARSEGPUCG);
  const bool    natural = options.find("natural") != std::string::npos;
  const bool    plain   = options.find("unpreconditioned") != std::string::npos;
  PetscScalar   square;
  PetscBool     diagonal;
  Vec           z, d;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &d));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, s.A, s.A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &diagonal, PCNONE, PCJACOBI, ""));
  PetscCall(VecSet(z, 1));
  PetscCall(PCApply(pc, z, d));
  PetscCall(VecNorm(d, NORM_INFINITY, factor));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecDot(z, natural ? r : z, &square));
  *norm = PetscSqrtReal(PetscAbsScalar(square));
  if (natural) *factor = PetscSqrtReal(*factor);
  if (plain) PetscCall(VecNorm(r, NORM_2, norm));
  if (plain) *factor = 1;
  if (!plain && !diagonal) *factor = 0;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The residual of column c, in the norm that is tested, is below 1.5 times the tolerance, or a rounding error of its
/// own. A skipped direction that is told as converged but is not would stay above by orders of magnitude.
inline PetscErrorCode CheckResidual(const Columns &s, const Together &all, const std::string &options, PetscReal rtol,
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
  // of a preconditioner without a bound rounding errors are left out: they are far below these tolerances
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
inline PetscErrorCode Singly(const Columns &s, const std::string &options, PetscInt *most)
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

inline std::string Text(double v)
{
  char text[32];

  std::snprintf(text, sizeof(text), "%g", v);
  return text;
}

/// All columns as a block to `rtol`: residuals, and at most `most` iterations; 0: one more than single solves, of which
/// rounding errors may take one.
inline PetscErrorCode CheckBlock(const Columns &s, const std::string &with, double rtol, PetscInt most = 0,
                                 bool expected = true)
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
  PetscCheck(PetscGlobalRank > 0 || !s.expected || !expected || s.count < 2 ||
                 all.view.find(BLOCK) != std::string::npos,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no block:\n%s", what.c_str(), all.view.c_str());
  PetscCheck(all.reason > 0 && all.iterations <= most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: reason %d after %" PetscInt_FMT " iterations, not %" PetscInt_FMT, what.c_str(), (int)all.reason,
             all.iterations, most);
  for (PetscInt c = 0; c < s.count; ++c) PetscCall(CheckResidual(s, all, what, (PetscReal)rtol, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
