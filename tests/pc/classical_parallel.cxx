static const char help[] = "Splittings and interpolation of classical multigrid in parallel.\n\n";

#include "amg_list.hpp"
#include "classical_reference.hpp"

using namespace testing;

namespace
{
/// On any number of processes the same splitting, and interpolation that is the same but for rounding.
PetscErrorCode TestParallel()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (const char *name : {"stencil5", "rotated", "jumps", "shear:10", "stencil27", "fields"}) {
      amg_tests::NamedGrid grid;
      Mat                  A, S;
      ClassicalCase        c{Problem(), {}, 1};
      Coarsened            mine, whole;
      PetscInt             begin, end;

      if (!strcmp(name, "fields")) {
        grid.grid = amg_tests::Grid{13, 12, 1, 3, false, amg_tests::All};
        c.fields  = 3;
      } else {
        PetscCall(amg_tests::FindGrid(name, strcmp(name, "stencil27") ? 24 : 9, &grid));
      }
      PetscCall(amg_tests::CreateGrid(PETSC_COMM_WORLD, type, grid.grid, &A));
      PetscCall(amg_tests::CreateGrid(PETSC_COMM_SELF, type, grid.grid, &S));
      PetscCall(Find(A, c, &mine));
      PetscCall(Find(S, c, &whole));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      PetscCheck(mine.unknowns == whole.unknowns && mine.rounds == whole.rounds && mine.isolated == whole.isolated,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %s: %" PetscInt_FMT " coarse unknowns in %" PetscInt_FMT " rounds, on one process %" PetscInt_FMT
                 " in %" PetscInt_FMT,
                 name, type, mine.unknowns, mine.rounds, whole.unknowns, whole.rounds);
      PetscCheck(std::abs(mine.asymmetry - whole.asymmetry) < (PetscReal)1e-5, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %s: asymmetry %g, on one process %g", name, type, (double)mine.asymmetry,
                 (double)whole.asymmetry);
      for (PetscInt r = begin; r < end; ++r) {
        const PetscInt at = mine.i[(size_t)(r - begin)], from = whole.i[(size_t)r];
        const PetscInt n = mine.i[(size_t)(r - begin) + 1] - at;
        PetscCheck(mine.number[(size_t)(r - begin)] == whole.number[(size_t)r], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, %s: row %" PetscInt_FMT " has number %" PetscInt_FMT ", on one process %" PetscInt_FMT, name,
                   type, r, mine.number[(size_t)(r - begin)], whole.number[(size_t)r]);
        PetscCheck(n == whole.i[(size_t)r + 1] - from &&
                       std::equal(mine.j.begin() + at, mine.j.begin() + at + n, whole.j.begin() + from),
                   PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: row %" PetscInt_FMT " has other columns", name, type, r);
        for (PetscInt e = 0; e < n; ++e)
          PetscCheck(PetscAbsScalar(mine.a[(size_t)(at + e)] - whole.a[(size_t)(from + e)]) <=
                         1000 * PETSC_MACHINE_EPSILON,
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: row %" PetscInt_FMT " has other values", name, type, r);
      }
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&S));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", TestParallel}});
}
