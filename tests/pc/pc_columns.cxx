static const char help[] = "PCMatApply() of PCSPARSEGPU against PCApply() for each column.\n\n";

#include "../ksp/columns.hpp"
#include "../matrices.hpp"

using namespace testing;

namespace
{
/// Diffusion with convection: an M-matrix of real numbers, whose factors' inverses have no negative entries, so that
/// M^-1 |b| bounds what rounding errors in a solve are multiples of.
Problem MMatrix(PetscInt nx, PetscInt ny, PetscReal flow)
{
  conformance::Builder b("M-matrix", nx * ny, nx * ny);

  for (PetscInt r = 0; r < nx * ny; ++r) {
    b.Add(r, r, (PetscReal)4.25 + (PetscReal)(r % 7) / 8);
    if (r >= nx) b.Add(r, r - nx, -1 - flow);
    if (r % nx > 0) b.Add(r, r - 1, -1);
    if (r % nx + 1 < nx) b.Add(r, r + 1, -1 + flow);
    if (r + nx < nx * ny) b.Add(r, r + nx, -1 + flow);
  }
  return b;
}

PetscErrorCode CreatePC(Mat A, const std::string &options, PC *pc)
{
  const Options set("-pc_type sparsegpu " + options);

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column c of X against PCApply(): their difference is at most `factor` M^-1 |b|, in each entry; 0: the same bits.
PetscErrorCode CheckColumn(PC pc, const Columns &s, PetscInt c, PetscReal factor, const std::string &what)
{
  Vec                b, x, y, bound;
  PetscScalar       *size;
  const PetscScalar *ours, *one;
  PetscInt           rows;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(s.A, &x, &b));
  for (Vec *v : {&y, &bound}) PetscCall(VecDuplicate(x, v));
  PetscCall(CopyColumn(s.B, c, b));
  PetscCall(CopyColumn(s.X, c, x));
  PetscCall(PCApply(pc, b, y));
  PetscCall(VecAbs(b));
  PetscCall(PCApply(pc, b, bound));
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(VecGetArray(bound, &size));
  PetscCall(VecGetArrayRead(x, &ours));
  PetscCall(VecGetArrayRead(y, &one));
  for (PetscInt r = 0; r < rows; ++r)
    PetscCheck(std::abs(ours[r] - one[r]) <= factor * std::abs(size[r]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, column %" PetscInt_FMT ", row %" PetscInt_FMT ": %g, alone %g, bound %g", what.c_str(), c, r,
               (double)PetscRealPart(ours[r]), (double)PetscRealPart(one[r]), (double)(factor * std::abs(size[r])));
  PetscCall(VecRestoreArrayRead(y, &one));
  PetscCall(VecRestoreArrayRead(x, &ours));
  PetscCall(VecRestoreArray(bound, &size));
  for (Vec *v : {&b, &x, &y, &bound}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every kind of factor, numbers of columns that fill blocks and do not.
PetscErrorCode Same()
{
  constexpr PetscInt NX = 19, NY = 17, LONGEST = 2 * NX + 1; // LONGEST: entries of a row of complete factors
  // two solves, with L and U, along at most all rows, whose sums have LONGEST terms in other orders
  const PetscReal factor = 4 * (PetscReal)(NX * NY) * LONGEST * PETSC_MACHINE_EPSILON;

  PetscFunctionBeginUser;
  for (Layout layout : {Layout::Even, Layout::FirstEmpty})
    for (PetscReal flow : {(PetscReal)0, (PetscReal)0.5}) {
      if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
      System matrix;
      PetscCall(matrix.Create(MMatrix(NX, NY, flow), nullptr, layout));
      for (const char *kind : {"ilu", "ilu -pc_sparsegpu_levels 2", "ilu -pc_sparsegpu_solve level", "icc", "none",
                               "lu", "cholesky", "blocks -pc_sparsegpu_block_size 3", "polynomial"}) {
        const bool symmetric = !strcmp(kind, "icc") || !strcmp(kind, "cholesky");
        if (symmetric && flow != 0) continue;
        PC pc;
        PetscCall(CreatePC(matrix.A, std::string("-pc_sparsegpu_factor ") + kind, &pc));
        for (const std::string &type : DenseTypes())
          for (PetscInt count : {1, 3, 17}) {
            Columns s;
            PetscCall(s.Create(matrix.A, count, type));
            PetscCall(s.Fill());
            PetscCall(PCMatApply(pc, s.B, s.X));
            const bool singly = !strncmp(kind, "blocks", 6); // of a polynomial products may be made elsewhere
            for (PetscInt c = 0; c < count; ++c)
              PetscCall(CheckColumn(pc, s, c, singly ? 0 : factor, std::string(kind) + " of " + type));
          }
        PetscCall(PCDestroy(&pc));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The factor of one process has failed: as with PCApply(), no column of it has a solution, and those of the others
/// have theirs.
PetscErrorCode Failed()
{
  constexpr PetscInt   N = 24;
  conformance::Builder b("singular", N, N);
  System               matrix;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < N; ++r) {
    b.Add(r, r, r < 2 ? 1 : 3);
    if (r < 2) b.Add(r, 1 - r, 1); // rows of the first rank
  }
  PetscCall(matrix.Create(b));
  for (const char *kind : {"ilu", "lu", "blocks -pc_sparsegpu_block_size 2"})
    for (const std::string &type : DenseTypes()) {
      PC             pc;
      PCFailedReason reason;
      Columns        s;
      PetscCall(CreatePC(matrix.A, std::string("-pc_factor_shift_type none -pc_sparsegpu_factor ") + kind, &pc));
      PetscCall(s.Create(matrix.A, 3, type));
      PetscCall(s.Fill());
      PetscCall(PCMatApply(pc, s.B, s.X));
      PetscCall(PCGetFailedReason(pc, &reason));
      PetscCheck(PetscGlobalRank > 0 || reason, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s has not failed", kind);
      for (PetscInt c = 0; c < s.count; ++c) {
        Vec                x, y;
        const PetscScalar *ours, *one;
        PetscInt           rows;
        PetscCall(MatCreateVecs(matrix.A, &x, &y));
        PetscCall(CopyColumn(s.B, c, x));
        PetscCall(PCApply(pc, x, y));
        PetscCall(CopyColumn(s.X, c, x));
        PetscCall(VecGetLocalSize(x, &rows));
        PetscCall(VecGetArrayRead(x, &ours));
        PetscCall(VecGetArrayRead(y, &one));
        for (PetscInt r = 0; r < rows; ++r) // diagonals beyond the first rank: one division
          PetscCheck(PetscGlobalRank == 0 ? PetscIsInfOrNanScalar(ours[r]) && PetscIsInfOrNanScalar(one[r])
                                          : std::abs(ours[r] - one[r]) <= 2 * PETSC_MACHINE_EPSILON * std::abs(one[r]),
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of %s, column %d, row %d: %g, alone %g", kind, type.c_str(),
                     (int)c, (int)r, (double)PetscRealPart(ours[r]), (double)PetscRealPart(one[r]));
        PetscCall(VecRestoreArrayRead(y, &one));
        PetscCall(VecRestoreArrayRead(x, &ours));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&y));
      }
      PetscCall(PCDestroy(&pc));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"failed", Failed}});
}
