static const char help[] = "Saddle points: whose rows are matched before anything is factored.\n\n";

#include <petsc/private/matimpl.h>
#include "direct.hpp"
#include "hard_applications.hpp"

using namespace testing;

namespace
{
/// [H B^T; B 0] of n + m rows; its diagonal has m zeros if `stored`, which else are missing.
Problem Saddle(PetscInt n, PetscInt m, bool stored)
{
  Problem p = hard::SaddlePoint(3, n, m, 2, true);

  for (PetscInt k = 0; k < m && stored; ++k) p.entries.push_back(Entry{n + k, n + k, 0});
  return p;
}

/// Whether the order is that of the matrix.
PetscErrorCode IsNatural(IS order, bool *natural)
{
  const PetscInt *indices;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(order, &n));
  PetscCall(ISGetIndices(order, &indices));
  *natural = true;
  for (PetscInt k = 0; k < n; ++k) *natural = *natural && indices[k] == k;
  PetscCall(ISRestoreIndices(order, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where many unknowns have no pivot on the diagonal, rows are matched at once, and where that is seen in the pattern,
/// none is ordered before; few are left to what elimination makes there.
PetscErrorCode First()
{
  PetscFunctionBeginUser;
  for (const PetscInt m : {700, 450})
    for (const PetscInt n : {1500, 3200})
      for (const bool stored : {false, true}) {
        const Problem            p    = Saddle(n, m, stored);
        const bool               many = m > 512 && m > (n + m) / 5;
        const MatFactorInfo      info = Info(0);
        const std::string        what = std::to_string(m) + " of " + std::to_string(n + m) + (stored ? ", stored" : "");
        std::vector<PetscScalar> x;
        MatFactorError           error;
        bool                     natural;
        IS                       rows, columns;
        Mat                      A, F;
        PetscCall(CreateOn(on, p, &A));
        PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_LU, &F));
        PetscCall(MatGetOrdering(A, MATORDERINGLEASTFILL, &rows, &columns));
        PetscCall(IsNatural(rows, &natural));
        PetscCheck(natural == (many && !stored), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", what.c_str(),
                   natural ? "not ordered" : "ordered");
        PetscCall(Symbolic(F, A, MAT_FACTOR_LU, rows, columns, info));
        F->assembled = PETSC_TRUE; // so that MatView() shows it before it has numbers
        PetscCall(CheckView(F, what, many ? "rows matched" : "rows as they were", PETSC_VIEWER_ASCII_INFO_DETAIL));
        PetscCall(Numeric(F, A, MAT_FACTOR_LU, info));
        PetscCall(MatFactorGetError(F, &error));
        PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: factor error %d", what.c_str(), (int)error);
        for (const bool transpose : {false, true}) {
          PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
          PetscCall(CheckBackward(p, x, transpose, what));
        }
        PetscCall(ISDestroy(&rows));
        PetscCall(ISDestroy(&columns));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"first", OnEach<First>}});
}
