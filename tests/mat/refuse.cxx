static const char help[] =
    "Formats unsuitable for a matrix refuse it and name the sizes; the others, and auto, take it.\n\n";

#include "../family.hpp"

using namespace testing;

/// One full row and the diagonal: n diagonals, one row of n entries, 2 n - 1 entries in all.
static Problem Absurd(PetscInt n)
{
  return conformance::OneFullRow(n, 0);
}

/// An error at the first product and a line of the info view that name the sizes; then the same matrix in another
/// format.
static PetscErrorCode Refusal(const char format[])
{
  const PetscInt    n    = 100000;
  const Problem     p    = Absurd(n);
  const std::string rows = std::to_string(n), nonzeros = std::to_string(2 * n - 1);
  Mat               A;
  Vec               x, y;
  PetscBool         accepts;
  const char       *why;
  std::string       message;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
  for (int times = 0; times < 2; ++times) { // it must not be let through the second time
    PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
    PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(ExpectError(
        std::string(format) + ", product", [=] { return MatMult(A, x, y); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(CheckText(std::string(format) + ", product", message, {format, rows, nonzeros}));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, std::string("refuse_") + format, &message));
  PetscCall(CheckText(std::string(format) + ", view", message,
                      {std::string(format) + " refuses this matrix: ", rows, nonzeros}));
  PetscCall(MatSparseGPUCheckFormat(A, format, &accepts, &why));
  PetscCheck(!accepts, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: accepted", format);
  PetscCall(CheckText(std::string(format) + ", MatSparseGPUCheckFormat()", why, {rows, nonzeros}));
  PetscCall(MatSparseGPUSetFormat(A, "csr"));
  PetscCall(CheckProducts(A, p, "after the refusal"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode RefuseDia()
{
  PetscFunctionBeginUser;
  PetscCall(Refusal("dia"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode RefuseEll()
{
  PetscFunctionBeginUser;
  PetscCall(Refusal("ell"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode RefuseBitmap()
{
  PetscFunctionBeginUser;
  PetscCall(Refusal("bitmap"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As many bits as 8 times the bytes of CSR are accepted by bitmap, more are not, and the message names both. Rows of
/// 640 places take 80 bytes, and CSR's 32-bit column, or 64-bit, and value at least 12.
static PetscErrorCode LimitBitmap()
{
  const PetscInt       n = 640, ints = (PetscInt)sizeof(PetscInt), entry = ints + (PetscInt)sizeof(PetscScalar);
  const PetscLogDouble bytes  = 80.0 * n;
  const PetscInt       enough = ((PetscInt)bytes - (n + 1) * ints + entry - 1) / entry;
  PetscBool            accepts;
  const char          *why;
  Mat                  A;

  PetscFunctionBeginUser;
  for (PetscInt removed : {0, 1}) {
    conformance::Builder b("bits", n, n);
    for (PetscInt e = 0; e < enough - removed; ++e) b.Add(e % n, (e % n + e / n * 7) % n);
    const Problem p = b;
    PetscCall(CreateMatrix(p, MATSPARSEGPU, "bitmap", &A));
    PetscCall(MatSparseGPUCheckFormat(A, "bitmap", &accepts, &why));
    PetscCheck(accepts == (removed ? PETSC_FALSE : PETSC_TRUE), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu entries: %s",
               p.entries.size(), accepts ? "accepted" : why);
    if (accepts) {
      PetscCall(CheckProducts(A, p, "bitmap"));
      PetscCall(CheckRanOn(A, "bitmap", "8 bits a byte"));
    } else {
      const PetscInt csr = (enough - removed) * entry + (n + 1) * ints;
      PetscCall(CheckText("bitmap", why, {std::to_string((long long)(8 * bytes)), std::to_string(csr)}));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefuseBsr()
{
  PetscFunctionBeginUser;
  PetscCall(Refusal("bsr"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// 8 rows of 9000 entries each on diagonals of their own: dia would need 8 times 40000 slots for 72000 entries.
static Problem Wide()
{
  conformance::Builder b("wide_8x40000", 8, 40000);
  for (PetscInt i = 0; i < 8; ++i) b.AddRow(i, 9000, i);
  return b.Refusing({"dia"});
}

/// All formats but those that must refuse take the unsuitable matrix, in little more than csr's memory; auto picks one
/// of them.
static PetscErrorCode Others()
{
  std::vector<std::string> formats, backends;
  MatSparseGPUInfo         info;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  formats.push_back("auto");
  for (const Problem &p : {Absurd(100000), Wide()})
    for (const std::string &format : formats)
      for (const std::string &backend : backends) {
        const std::string what = p.name + " in " + format + " on " + backend;
        Mat               A;
        if (conformance::Refuses(p, format)) continue;
        PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
        PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
        PetscCall(CheckProducts(A, p, what));
        PetscCall(MatSparseGPUGetInfo(A, &info));
        PetscCheck(!conformance::Refuses(p, info.format), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s runs on %s",
                   what.c_str(), info.format);
        PetscCheck(info.bytes_stored <= 4 * info.bytes_csr, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s stores %g bytes, csr %g", what.c_str(), info.bytes_stored, info.bytes_csr);
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Padding of exactly 4 times the entries is accepted by dia and ell, more is not.
static PetscErrorCode Limit()
{
  conformance::Builder b("padding_4", 4096, 4096);
  PetscBool            accepts;
  const char          *why;
  Mat                  A;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 4096; i += 4) // rows of 4 and 0, 0, 0 entries on 4 diagonals
    for (PetscInt offset = 0; offset < 4; ++offset) b.Add(i, i + offset);
  for (PetscInt removed : {0, 1}) {
    Problem p = b;
    p.entries.resize(p.entries.size() - (size_t)removed);
    for (const char *format : {"dia", "ell"}) {
      PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
      PetscCall(MatSparseGPUCheckFormat(A, format, &accepts, &why));
      PetscCheck(accepts == (removed ? PETSC_FALSE : PETSC_TRUE), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %zu entries for 16384 slots: %s", format, p.entries.size(), accepts ? "accepted" : why);
      if (accepts) {
        PetscCall(CheckProducts(A, p, format));
        PetscCall(CheckRanOn(A, format, "padding of 4"));
      }
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A change of values and pattern that makes the format unsuitable after correct products.
static PetscErrorCode Later()
{
  Problem     p = conformance::Banded("diagonal", 3000, 3000, {0});
  Mat         A;
  Vec         x, y;
  std::string message;

  PetscFunctionBeginUser;
  for (const char *format : {"dia", "ell", "bsr"}) {
    PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
    PetscCall(CheckProducts(A, p, "before the change"));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    for (PetscInt j = 1; j < 3000; ++j) PetscCall(MatSetValue(A, 0, j, 1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
    PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(ExpectError(
        format, [=] { return MatMult(A, x, y); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"dia", RefuseDia},
               {"ell", RefuseEll},
               {"bitmap", RefuseBitmap},
               {"bsr", RefuseBsr},
               {"others", Others},
               {"limit", Limit},
               {"limit_bitmap", LimitBitmap},
               {"later", Later}});
}
