static const char help[] =
    "What a matrix keeps on the GPU in each state of its life: bytes per nonzero of a 27-point operator, within the\n"
    "limits that docs/performance.md tells. -n: points in each direction; -print: a line for each state.\n\n";

#include "../device_array.hpp"
#include "../family.hpp"

using namespace testing;

namespace
{
/// A 27-point operator with values of full mantissa, from coordinates that lie on the device.
PetscErrorCode Assemble(PetscInt n, Mat *A)
{
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;

  PetscFunctionBeginUser;
  for (PetscInt z = 0; z < n; ++z)
    for (PetscInt y = 0; y < n; ++y)
      for (PetscInt x = 0; x < n; ++x)
        for (PetscInt k = 0; k < 27; ++k) {
          const PetscInt c = x + k % 3 - 1, b = y + k / 3 % 3 - 1, a = z + k / 9 - 1;
          if (PetscMin(a, PetscMin(b, c)) < 0 || PetscMax(a, PetscMax(b, c)) >= n) continue;
          i.push_back((z * n + y) * n + x);
          j.push_back((a * n + b) * n + c);
          v.push_back(i.back() == j.back() ? (PetscReal)30 : PetscReal(1) / (PetscReal)(i.back() + j.back() + 3));
        }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n * n * n, n * n * n, n * n * n, n * n * n));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetPreallocationCOO(*A, (PetscCount)i.size(), i.data(), j.data()));
  PetscCall(MatSetValuesCOO(*A, ScalarArray(v, true).Get(), INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints and checks the bytes per nonzero of A now; the view tells the same.
PetscErrorCode Check(Mat A, const char state[], PetscReal limit, PetscBool print)
{
  MatSparseGPUInfo info;
  std::string      text;
  char             bytes[64];

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetInfo(A, &info));
  const PetscReal each = info.bytes_device / info.nonzeros;
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "device_memory_view", &text));
  PetscCall(PetscSNPrintf(bytes, sizeof(bytes), "memory on the device: %.0f bytes", info.bytes_device));
  PetscCall(CheckText("view", text, {bytes}));
  if (print) {
    const size_t line = text.find("memory on the device");
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-40s %-8s %5.1f  %s\n", state, info.format, (double)each,
                          text.substr(line, text.find('\n', line) - line).c_str()));
  }
  PetscCheck(each <= limit, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes per nonzero, %g allowed", state,
             (double)each, (double)limit);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Products(Mat A, Vec x, Vec y, int count)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < count; ++k) PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Limits are for 8-byte scalars and 4-byte indices.
PetscErrorCode States()
{
  PetscInt  n     = 24;
  PetscBool print = PETSC_FALSE, device;
  Mat       A, C;
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device || sizeof(PetscScalar) != 8 || sizeof(PetscInt) != 4) {
    SkipReason() = "needs a GPU, real doubles and 32-bit indices";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-print", &print, nullptr));
  PetscCall(Assemble(n, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(Products(A, x, y, 1));
  PetscCall(Check(A, "coordinates, a product", 50, print));
  PetscCall(Products(A, x, y, 100));
  PetscCall(Check(A, "and a hundred products", 50, print));
  PetscCall(MatScale(A, (PetscScalar)1.5));
  PetscCall(Products(A, x, y, 1));
  PetscCall(Check(A, "scaled, a product", 50, print));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(Products(A, x, y, 30));
  PetscCall(Check(A, "transposed products, too", 70, print));
  PetscCall(MatPtAP(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Products(A, x, y, 30));
  PetscCall(Check(A, "operand of a sparse product", 70, print));
  PetscCall(Products(C, x, y, 1));
  PetscCall(Check(C, "result of a sparse product", 30, print));
  PetscCall(Products(C, x, y, 100));
  PetscCall(Check(C, "and a hundred products", 30, print));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"states", States}});
}
