static char help[] =
    "Calls functions of the library: its version, before and after PetscInitialize(), and a product.\n\n";

#include <petscmat.h>
#include <sparsegpu.h>
#include <sparsegpuversion.h>

#if !SPARSEGPU_VERSION_GE(0, 1, 0) || SPARSEGPU_VERSION_GE(SPARSEGPU_VERSION_MAJOR, SPARSEGPU_VERSION_MINOR + 1, 0) || \
    SPARSEGPU_VERSION_GE(SPARSEGPU_VERSION_MAJOR + 1, 0, 0) ||                                                         \
    !SPARSEGPU_VERSION_GE(SPARSEGPU_VERSION_MAJOR, SPARSEGPU_VERSION_MINOR, SPARSEGPU_VERSION_PATCH)
  #error "SPARSEGPU_VERSION_GE() compares wrongly"
#endif

/* The numbers are the header's, the text begins with them, and is cut to what there is room for. */
static PetscErrorCode CheckVersion(void)
{
  int       major = -1, minor = -1, patch = -1;
  char      text[256], cut[] = "0123456789", begin[32];
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(SparseGPUGetVersion(&major, &minor, &patch, text, sizeof(text)));
  PetscCheck(major == SPARSEGPU_VERSION_MAJOR && minor == SPARSEGPU_VERSION_MINOR && patch == SPARSEGPU_VERSION_PATCH,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "The library is %d.%d.%d, the header %s", major, minor, patch,
             SPARSEGPU_VERSION);
  PetscCall(PetscSNPrintf(begin, sizeof(begin), "sparsegpu %d.%d.%d for PETSc ", major, minor, patch));
  PetscCall(PetscStrbeginswith(text, begin, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The text is '%s', not '%s...'", text, begin);
  PetscCall(SparseGPUGetVersion(NULL, NULL, NULL, cut, 5));
  PetscCheck(cut[0] == 's' && cut[3] == 'r' && cut[4] == 0 && cut[5] == '5', PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Cut to 5 bytes the text is '%s'", cut);
  PetscCall(SparseGPUGetVersion(NULL, NULL, &patch, NULL, 0));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat         A;
  Vec         x, y;
  PetscScalar sum;
  const char *format;

  if (CheckVersion()) return 1; /* PETSc need not be initialised */
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(CheckVersion());
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 3, 3, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(A, 2));
  PetscCall(MatSparseGPUSetFormat(A, "ell"));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecSum(y, &sum));
  PetscCheck(PetscRealPart(sum) == 6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The sum is %g, not 6",
             (double)PetscRealPart(sum));
  PetscCall(MatSparseGPUGetFormat(A, &format));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sparsegpu %s: %s\n", SPARSEGPU_VERSION, format));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
