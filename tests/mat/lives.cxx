static const char help[] = "Matrices made from others are stored, and multiply, in the space of these.\n\n";

#include "../family.hpp"

using namespace testing;

static Problem Square()
{
  return conformance::Grid("grid_20x12", 20, 12, false);
}

/// Interpolation of pairs: 240 x 120.
static PetscErrorCode CreateInterpolation(const char type[], Mat *P)
{
  Problem p = conformance::Banded("pairs", 240, 120, {});

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < p.rows; ++r) p.entries.push_back({r, r / 2, PetscScalar(1)});
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, type, nullptr, Layout::Even, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copies of scalars between host and GPU that PETSc and we have logged; 0 where PETSc has no GPU.
[[maybe_unused]] static PetscLogDouble Copies()
{
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_ct + petsc_gtoc_ct;
#else
  return 0;
#endif
}

/// Vectors of M are on the GPU if `device`, else on the host; so are its products, which copy nothing.
static PetscErrorCode CheckLives(Mat M, bool device, const std::string &what)
{
  Vec              x, y;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(CheckIsOurs(M, what));
  PetscCall(MatCreateVecs(M, &x, &y));
#if defined(PETSC_HAVE_CUDA)
  PetscBool cuda, bound;
  for (Vec v : {x, y}) {
    PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, ""));
    PetscCall(VecBoundToCPU(v, &bound));
    PetscCheck((cuda && !bound) == device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: its vectors are on the %s",
               what.c_str(), device ? "host" : "GPU");
  }
#endif
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(M, x, y));
  PetscCall(MatSparseGPUGetInfo(M, &info));
  PetscCheck(!strcmp(info.backend, device ? "cuda" : "kokkos"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: ran on %s",
             what.c_str(), info.backend);
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)M), &size));
  PetscCall(MatMult(M, x, y));
  const PetscLogDouble before = Copies();
  PetscCall(MatMult(M, x, y));
  if (!device || size == 1) // on the GPU ghosts go through the host where MPI does
    PetscCheck(Copies() == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a product makes %g copies", what.c_str(),
               Copies() - before);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All that is made of A.
static PetscErrorCode CheckChildren(Mat A, bool device, const std::string &what)
{
  Mat      P, B;
  IS       rows;
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(CheckLives(A, device, what));
  PetscCall(CreateInterpolation(MATSPARSEGPU, &P));
  PetscCall(MatMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(CheckLives(B, device, what + ", A P"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(CheckLives(B, device, what + ", P^T A P"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscCall(CreateInterpolation(MATAIJ, &P));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(CheckLives(B, device, what + ", P^T A P with P of type aij"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  for (MatDuplicateOption option : {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES}) {
    PetscCall(MatDuplicate(A, option, &B));
    PetscCall(CheckLives(B, device, what + ", duplicate"));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - begin, begin, 1, &rows));
  PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &B));
  PetscCall(CheckLives(B, device, what + ", sub-matrix"));
  PetscCall(MatDestroy(&B));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - begin, begin, 1, &rows));
  PetscCall(ISSetPermutation(rows));
  PetscCall(MatPermute(A, rows, rows, &B));
  PetscCall(CheckLives(B, device, what + ", permuted"));
  PetscCall(MatDestroy(&B));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INITIAL_MATRIX, &B));
  PetscCall(CheckLives(B, device, what + ", converted"));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnHost()
{
  Mat       A;
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Square(), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
  PetscCall(CheckChildren(A, false, "kokkos"));
  PetscCall(MatDestroy(&A));
#if defined(PETSC_HAVE_CUDA)
  for (PetscBool bound : {PETSC_TRUE, PETSC_FALSE}) {
    Mat B;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, Square(), MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(MatBindToCPU(A, PETSC_TRUE));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatDestroy(&A));
    PetscCall(MatBindToCPU(B, bound));
    PetscCall(CheckLives(B, found && !bound, bound ? "duplicate of a bound one" : "the same, unbound"));
    PetscCall(MatDestroy(&B));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Needs vectors on the GPU.
static PetscErrorCode OnDevice()
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  Mat       A;
  PetscBool found;
  PetscCall(SparseGPUHasDevice(&found));
  if (found) {
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, Square(), MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(CheckChildren(A, true, "auto"));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(Skip("there is no GPU for vectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors on the host, backend auto: the products of both blocks run there, and copy nothing.
static PetscErrorCode HostVectors()
{
  Mat           A;
  const Problem p = Square();

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  const PetscLogDouble before = Copies();
  for (Op op : OPS) PetscCall(CheckOneProduct(A, p, op, Poison::None, VECSTANDARD, VECSTANDARD, "host vectors"));
  PetscCheck(Copies() == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Products of host vectors make %g copies",
             Copies() - before);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCGAMG's coarse operators, interpolation and smoothers.
static PetscErrorCode Multigrid()
{
  const Options options("-pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi "
                        "-pc_gamg_coarse_eq_limit 10 -pc_gamg_process_eq_limit 1");
  Mat           A, P;
  Vec           x, b;
  KSP           ksp, smoother;
  PC            pc;
  PetscInt      levels;
  PetscBool     found = PETSC_FALSE;

  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(SparseGPUHasDevice(&found));
#endif
  Problem p = Square();
  for (conformance::Entry &e : p.entries) e.v = e.i == e.j ? 4 : -1;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCheck(levels > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "One level only");
  for (PetscInt level = 0; level < levels; ++level) {
    const std::string what = "level " + std::to_string((int)level);
    Mat               C;
    PetscCall(PCMGGetSmoother(pc, level, &smoother));
    PetscCall(KSPGetOperators(smoother, &C, nullptr));
    PetscCall(CheckLives(C, found, what));
    if (level == 0) continue;
    PetscCall(PCMGGetInterpolation(pc, level, &P));
    PetscCall(CheckLives(P, found, what + ", interpolation"));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"on_host", OnHost}, {"on_device", OnDevice}, {"host_vectors", HostVectors}, {"multigrid", Multigrid}});
}
