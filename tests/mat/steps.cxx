static const char help[] = "Products whose sums are used at once: steps of smoothers and residuals.\n\n";

#include "codecs.hpp"
#include "steps.hpp"

#include "mat/formats/codec/values.hpp"

using namespace testing;
using namespace steps;

/// All formats with all vectors on the device, before and after new values; those without steps say so.
static PetscErrorCode Device()
{
  std::vector<std::string> types, formats;
  size_t                   steps = 0;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  if (types.size() < 2) {
    PetscCall(Skip("no vectors on a device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Formats(&formats));
  for (const Problem &p : Problems())
    for (const std::string &format : formats) {
      Mat       A;
      Vectors   v;
      PetscBool accepts;
      PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
      PetscCall(MatSparseGPUCheckFormat(A, format.c_str(), &accepts, nullptr));
      if (accepts) PetscCall(v.Create(A, types[1]));
      for (int round = 0; accepts && round < 3; ++round) {
        const sparsegpu::formats::ProductsInSingle single(round == 2); // of the stored product, too
        for (const StepFactors &by : FACTORS)
          for (bool diagonal : {false, true}) {
            bool done;
            PetscCall(CheckStep(A, by, diagonal, v, &done, p.name + " in " + format));
            steps += done;
            const bool takes = format != "coo" && format != "merge" && format != "hyb" && format != "bitmap" &&
                               format != "sccsr" && format != "vab";
            PetscCheck(done == takes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", format.c_str(),
                       done ? "takes steps" : "takes none");
          }
        PetscCall(MatScale(A, 3));
      }
      PetscCall(v.Destroy());
      PetscCall(MatDestroy(&A));
    }
  PetscCheck(steps > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No format took a step");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A grid that is large enough for a thread to take several rows, of constant coefficients.
static PetscErrorCode Large()
{
  constexpr PetscInt       N = 96, steps[] = {1, N, N * N}, rows = N * N * N;
  std::vector<std::string> types;
  Mat                      A;
  Vectors                  v;
  MatSparseGPUInfo         info;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  if (types.size() < 2) {
    PetscCall(Skip("no vectors on a device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, rows, rows, rows, rows));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSeqAIJSetPreallocation(A, 7, nullptr));
  for (PetscInt r = 0; r < rows; ++r) {
    PetscCall(MatSetValue(A, r, r, 6, INSERT_VALUES));
    for (const PetscInt s : steps)
      for (const PetscInt c : {r - s, r + s})
        if (c >= 0 && c < rows) PetscCall(MatSetValue(A, r, c, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(v.Create(A, types[1]));
  for (const char *format : {"stencil", "dia", "sell"}) {
    PetscCall(MatSparseGPUSetFormat(A, format));
    for (const StepFactors &by : FACTORS) {
      bool done;
      PetscCall(CheckStep(A, by, true, v, &done, std::string("large, ") + format));
      PetscCall(MatSparseGPUGetInfo(A, &info));
      PetscCheck(done && !strcmp(info.format, format), PETSC_COMM_SELF, PETSC_ERR_PLIB, "large, %s: no step, in %s",
                 format, info.format);
    }
  }
  PetscCall(v.Destroy());
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A product that a program has put into the matrix is not passed by.
static PetscErrorCode Twice(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  (void)A;
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Nothing is done with vectors on the host, with one of them there, or for another type of matrix.
static PetscErrorCode Elsewhere()
{
  std::vector<std::string> types;
  const Problem            p = Problems()[0];

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  for (const char *type : {MATSPARSEGPU, MATAIJ}) {
    Mat     A;
    Vectors host, other;
    bool    done;
    PetscCall(CreateMatrix(p, type, strcmp(type, MATAIJ) ? "csr" : nullptr, &A));
    PetscCall(host.Create(A, VECSTANDARD));
    for (const StepFactors &by : FACTORS) {
      PetscCall(CheckStep(A, by, true, host, &done, std::string("host vectors, ") + type));
      PetscCheck(!done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A step on the host");
    }
    if (types.size() > 1) {
      PetscCall(other.Create(A, types[1]));
      std::swap(host.f, other.f);
      PetscCall(CheckStep(A, FACTORS[1], true, other, &done, std::string("one vector on the host, ") + type));
      PetscCheck(!done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A step with a vector on the host");
      std::swap(host.f, other.f);
      PetscCall(MatSetOperation(A, MATOP_MULT, (void (*)(void))Twice));
      PetscCall(CheckStep(A, FACTORS[1], true, other, &done, std::string("another product, ") + type));
      PetscCheck(!done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A step past the program's own product");
      PetscCall(other.Destroy());
    }
    PetscCall(host.Destroy());
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"device", Device}, {"large", Large}, {"elsewhere", Elsewhere}});
}
