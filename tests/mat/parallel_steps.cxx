static const char help[] = "Steps of smoothers and residuals with ghosts.\n\n";

#include "grids.hpp"
#include "steps.hpp"

using namespace testing;
using namespace steps;

namespace
{
/// What the sums of a row may differ by, in any order: twice its length in roundings of its sum of magnitudes. Entries
/// of x are between 0 and 1 in both parts.
PetscErrorCode OrdersOfSums(Mat A, std::vector<PetscReal> *apart)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt r = first; r < end; ++r) {
    const PetscScalar *a;
    PetscInt           count;
    PetscReal          sizes = 0;
    PetscCall(MatGetRow(A, r, &count, nullptr, &a));
    for (PetscInt k = 0; k < count; ++k) sizes += 2 * PetscAbsScalar(a[k]);
    apart->push_back(2 * (PetscReal)(count + 4) * PETSC_MACHINE_EPSILON * sizes);
    PetscCall(MatRestoreRow(A, r, &count, nullptr, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All steps; *steps: how many were made here. *may: whether the formats of this rank make any, of which that of the
/// diagonal block is to be `format`; empty: any.
PetscErrorCode CheckAll(Mat A, const Vectors &v, const std::string &format, const std::string &what, PetscInt *steps,
                        bool *may)
{
  std::vector<PetscReal>          apart;
  sparsegpu::face::BlocksForSolve blocks;

  PetscFunctionBeginUser;
  PetscCall(OrdersOfSums(A, &apart));
  PetscCall(GetBlocksForSolve(A, sparsegpu::Space::Device, &blocks));
  if (blocks.channel && !format.empty())
    PetscCheck(format == blocks.diagonal->Name(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: in %s", what.c_str(),
               blocks.diagonal->Name());
  *may = blocks.channel && blocks.diagonal->TakesSteps() &&
         (blocks.complete || !blocks.channel->receives() || blocks.off->AddsScaled());
  for (const StepFactors &by : FACTORS)
    for (bool diagonal : {false, true}) {
      bool done;
      PetscCall(CheckStep(A, by, diagonal, v, &done, what, apart));
      if (!done) PetscCall(MatMult(A, v.x, v.q)); // what the other ranks' steps wait for
      PetscCheck(done == *may, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", what.c_str(),
                 done ? "a step was made" : "no step was made");
      *steps += done;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal block in `here` on this rank, which goes beyond A's format, and that of the ghosts in csr, whose
/// products are scaled.
PetscErrorCode SetFormats(Mat A, const Vectors &v, const std::string &format, const std::string &here)
{
  Mat diagonal, off;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUSetFormat(A, format.c_str()));
  PetscCall(MatMult(A, v.x, v.q)); // which gives the blocks A's format
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(MatSparseGPUSetFormat(diagonal, here.c_str()));
  PetscCall(MatSparseGPUSetFormat(off, "csr"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeedsRanks(bool *needs)
{
  PetscMPIInt              size;
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VectorTypes(&types));
  *needs = size < 2 || types.size() < 2;
  if (*needs) PetscCall(Skip("no vectors on a device, or one process"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// All formats of the diagonal block, with values scaled in between; also where one rank's block is in a format without
/// steps, and where a rank has no rows.
static PetscErrorCode Formats()
{
  std::vector<std::string> types, formats;
  PetscMPIInt              rank;
  bool                     needs;

  PetscFunctionBeginUser;
  PetscCall(NeedsRanks(&needs));
  if (needs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(VectorTypes(&types));
  PetscCall(testing::Formats(&formats));
  for (const Problem &p : Problems())
    for (Layout layout : {Layout::Even, Layout::FirstEmpty})
      for (const std::string &format : formats) {
        Mat         A, block;
        Vectors     v;
        PetscBool   accepts;
        PetscInt    steps = 0;
        PetscMPIInt all;
        bool        may;
        PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, layout, &A));
        PetscCall(MatGetDiagonalBlock(A, &block));
        PetscCall(MatSparseGPUCheckFormat(block, format.c_str(), &accepts, nullptr));
        all = accepts;
        PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
        if (all) {
          PetscCall(v.Create(A, types[1]));
          PetscCall(SetFormats(A, v, format, format));
          PetscCall(CheckAll(A, v, format, p.name + " in " + format, &steps, &may));
          PetscCall(MatScale(A, 3));
          PetscCall(SetFormats(A, v, format, format));
          PetscCall(CheckAll(A, v, format, p.name + ", scaled, in " + format, &steps, &may));
          PetscCall(SetFormats(A, v, format, rank ? format : "coo"));
          PetscCall(
              CheckAll(A, v, rank ? format : "coo", p.name + ", rank 0 in coo, others in " + format, &steps, &may));
          PetscCheck(rank > 0 || !may, PETSC_COMM_SELF, PETSC_ERR_PLIB, "coo makes steps");
          const bool takes = format == "csr" || format == "ell" || format == "sell" || format == "dia";
          PetscCheck(steps > 0 || !takes || p.name != "banded", PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s made no step",
                     format.c_str());
        }
        PetscCall(v.Destroy());
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Grids whose walks take the rows with ghosts, too, and others whose ghosts are added.
static PetscErrorCode Walked()
{
  std::vector<std::string> types;
  PetscMPIInt              size;
  bool                     needs;

  PetscFunctionBeginUser;
  PetscCall(NeedsRanks(&needs));
  if (needs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VectorTypes(&types));
  for (const grids::Grid &g : {grids::Grid{"7 points", 96, 97, 98 * size, true},
                               grids::Grid{"27 points, Dirichlet", 101, 121, 98 * size, false, grids::Rows::Dirichlet},
                               grids::Grid{"27 points, periodic", 101, 121, 98 * size, false, grids::Rows::Periodic}}) {
    for (const char *format : {"stencil", "auto"}) {
      Mat      A;
      Vectors  v;
      PetscInt steps = 0;
      bool     may;
      PetscCall(grids::Create(
          PETSC_COMM_WORLD, g, 0, [](PetscInt d) { return conformance::Value((unsigned long long)d); }, &A));
      PetscCall(MatSparseGPUSetFormat(A, format));
      PetscCall(v.Create(A, types[1]));
      PetscCall(CheckAll(A, v, strcmp(format, "auto") ? format : "", g.name, &steps, &may));
      PetscCheck((may && steps) || !strcmp(format, "auto"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no step", g.name);
      PetscCall(v.Destroy());
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"formats", Formats}, {"walked", Walked}});
}
