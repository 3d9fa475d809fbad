static const char help[] = "Factors of PETSc's own device matrices, and of values that never leave the device.\n\n";

#include "../device_array.hpp"
#include "factors.hpp"

using namespace testing;

static PetscErrorCode HasDevice(bool *has)
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
  *has = found == PETSC_TRUE;
  if (!*has) PetscCall(Skip("there is no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ILU and ICC of a matrix of `type` have the bits of those of a sparsegpu matrix, in the natural order and in another,
/// before and after new values.
[[maybe_unused]] static PetscErrorCode CheckType(const char type[])
{
  bool has;

  PetscFunctionBeginUser;
  PetscCall(HasDevice(&has));
  for (const Problem &problem : Problems())
    for (MatFactorType kind : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM})
        for (PetscInt levels : {0, 1}) {
          const Problem            p    = kind == MAT_FACTOR_ICC ? Symmetric(problem) : problem;
          const MatFactorInfo      info = Info((PetscReal)levels);
          const std::string        what = p.name + ", " + type + ", " + ordering + ", " + std::to_string(levels);
          std::vector<PetscScalar> ours, theirs;
          Mat                      A, B, F, G;
          if (!has || p.rows == 0) continue;
          PetscCall(CreateOn("cuda", p, &A));
          PetscCall(CreateMatrix(PETSC_COMM_SELF, p, type, nullptr, Layout::Even, &B));
          PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, info, ordering, &F));
          PetscCall(FactorOf(B, MATSOLVERSPARSEGPU, kind, info, ordering, &G));
          for (int round = 0; round < 2; ++round) {
            for (bool transpose : {false, true}) {
              PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &ours));
              PetscCall(SolveWith(B, G, VECSTANDARD, transpose, &theirs));
              PetscCall(CheckSameBits(ours, theirs, what + (transpose ? ", transposed" : "")));
            }
            for (Mat M : {A, B}) PetscCall(MatScale(M, (PetscReal)0.5)); // exact
            PetscCall(kind == MAT_FACTOR_ICC ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info));
            PetscCall(kind == MAT_FACTOR_ICC ? MatCholeskyFactorNumeric(G, B, &info) : MatLUFactorNumeric(G, B, &info));
          }
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&G));
          PetscCall(MatDestroy(&A));
          PetscCall(MatDestroy(&B));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cusparse()
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(CheckType(MATSEQAIJCUSPARSE));
#else
  PetscCall(Skip("PETSc has no CUDA"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kokkos()
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_KOKKOS_KERNELS) && defined(PETSC_HAVE_CUDA)
  PetscCall(CheckType(MATSEQAIJKOKKOS));
#else
  PetscCall(Skip("PETSc has no Kokkos on a GPU"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
/// Bytes from the host to the device in numeric factorizations so far.
static PetscErrorCode Uploaded(PetscLogDouble *bytes)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("MatLUFactorNum", &event));
  PetscCheck(event >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No log event MatLUFactorNum");
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *bytes = info.CpuToGpuSize;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Values that MatSetValuesCOO() takes from device memory are factored there without a byte from the host; host values
/// cost one upload.
static PetscErrorCode Transfers()
{
  bool has;

  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  const Problem         p    = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  const MatFactorInfo   info = Info(0);
  std::vector<PetscInt> i, j;
  PetscCall(HasDevice(&has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogDefaultBegin());
  for (const Entry &e : p.entries) {
    i.push_back(e.i);
    j.push_back(e.j);
  }
  for (const char *type : {MATSEQAIJSPARSEGPU, MATSEQAIJCUSPARSE})
    for (bool device : {true, false}) {
      const std::string        what = std::string(type) + (device ? ", device values" : ", host values");
      std::vector<PetscScalar> v, ours, fresh;
      PetscLogDouble           before, after;
      Mat                      A, F, G;
      for (const Entry &e : p.entries) v.push_back(e.v);
      PetscCall(MatCreate(PETSC_COMM_SELF, &A));
      PetscCall(MatSetSizes(A, p.rows, p.cols, p.rows, p.cols));
      PetscCall(MatSetType(A, type));
      if (!strcmp(type, MATSEQAIJSPARSEGPU)) PetscCall(MatSparseGPUSetBackend(A, "cuda"));
      PetscCall(MatSetPreallocationCOO(A, (PetscCount)i.size(), i.data(), j.data()));
      PetscCall(MatSetValuesCOO(A, ScalarArray(v, device).Get(), INSERT_VALUES));
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F));
      for (PetscInt round = 1; round < 3; ++round) {
        for (size_t k = 0; k < v.size(); ++k) v[k] *= i[k] == j[k] ? (PetscReal)1.25 : (PetscReal)0.75;
        PetscCall(MatSetValuesCOO(A, ScalarArray(v, device).Get(), INSERT_VALUES));
        PetscCall(Uploaded(&before));
        PetscCall(MatLUFactorNumeric(F, A, &info));
        PetscCall(Uploaded(&after));
        const PetscLogDouble most = device ? 0 : (PetscLogDouble)(v.size() * sizeof(PetscScalar));
        PetscCheck(after - before <= most, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes uploaded, not %g",
                   what.c_str(), after - before, most);
        PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &G));
        PetscCall(SolveWith(A, F, VECCUDA, false, &ours));
        PetscCall(SolveWith(A, G, VECCUDA, false, &fresh));
        PetscCall(CheckSameBits(ours, fresh, what));
        PetscCall(MatDestroy(&G));
      }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
#else
  (void)has;
  PetscCall(Skip("PETSc has no CUDA"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"cusparse", Cusparse}, {"kokkos", Kokkos}, {"transfers", Transfers}});
}
