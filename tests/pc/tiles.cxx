static const char help[] = "Batches of bitmap tiles: sums and products against dense loops.\n\n";

#include "tiles.hpp"

using namespace testing;
using sparsegpu::Stream;
using sparsegpu::products::TileBatch;
using sparsegpu::products::TilePattern;

/// Sums and differences are rounded once: exact. Products: sums of n products in the same order but for fused
/// operations, so (n + 2) eps sum |a| |b| bounds them, as in oracle.hpp.
static PetscErrorCode CheckArithmetic(const std::string &name, const Batch &a, const Batch &b, const Batch &right)
{
  PetscFunctionBeginUser;
  PetscCall(Everywhere(name, a, [&](Space space, bool by_columns, int bits, const std::string &what) {
    TileBatch   A, B, R, Sum, Product;
    TilePattern pattern;
    Batch       got;
    Stream      stream;

    PetscFunctionBeginUser;
    if (!Fits(right, bits)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(StreamOf(space, &stream));
    PetscCall(MakeBatch(a, by_columns, space, bits, &A));
    PetscCall(MakeBatch(b, by_columns, space, bits, &B));
    PetscCall(MakeBatch(right, by_columns, space, bits, &R));
    PetscCall(TileSumPattern(A.Pattern(), B.Pattern(), &pattern));
    PetscCall(Sum.Build(std::move(pattern), space, bits));
    for (bool subtract : {false, true}) {
      PetscCall(TileAdd(A, B, subtract, &Sum, stream));
      PetscCall(ToDense(Sum, &got));
      for (size_t t = 0; t < a.size(); ++t)
        for (PetscInt i = 0; i < a[t].rows; ++i)
          for (PetscInt j = 0; j < a[t].cols; ++j) {
            const PetscScalar expected = subtract ? a[t](i, j) - b[t](i, j) : a[t](i, j) + b[t](i, j);
            PetscCheck(got[t].Has(i, j) == (a[t].Has(i, j) || b[t].Has(i, j)) && got[t](i, j) == expected,
                       PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, tile %zu (%d, %d): %g, not %g", what.c_str(),
                       subtract ? "-" : "+", t, (int)i, (int)j, (double)PetscRealPart(got[t](i, j)),
                       (double)PetscRealPart(expected));
          }
    }
    PetscCall(TileProductPattern(A.Pattern(), R.Pattern(), &pattern));
    PetscCall(Product.Build(std::move(pattern), space, bits));
    PetscCall(TileMultiply(A, R, &Product, stream));
    PetscCall(ToDense(Product, &got));
    for (size_t t = 0; t < a.size(); ++t)
      for (PetscInt i = 0; i < a[t].rows; ++i)
        for (PetscInt j = 0; j < right[t].cols; ++j) {
          PetscScalar sum  = 0;
          PetscReal   size = 0;
          bool        has  = false;
          for (PetscInt k = 0; k < a[t].cols; ++k) {
            sum += a[t](i, k) * right[t](k, j);
            size += PetscAbsScalar(a[t](i, k)) * PetscAbsScalar(right[t](k, j));
            has |= a[t].Has(i, k) && right[t].Has(k, j);
          }
          const PetscReal bound = 2 * (PetscReal)(a[t].cols + 2) * PETSC_MACHINE_EPSILON * size;
          PetscCheck(got[t].Has(i, j) == has && PetscAbsScalar(got[t](i, j) - sum) <= bound, PETSC_COMM_SELF,
                     PETSC_ERR_PLIB, "%s, product, tile %zu (%d, %d): %g, not %g", what.c_str(), t, (int)i, (int)j,
                     (double)PetscRealPart(got[t](i, j)), (double)PetscRealPart(sum));
        }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arithmetic()
{
  Batch       a, b, right;
  std::string message;

  PetscFunctionBeginUser;
  PetscCall(CheckArithmetic("no tiles", a, b, right));
  const std::vector<std::vector<PetscInt>> shapes = {{0, 0, 0}, {1, 1, 1},   {3, 5, 2},    {32, 32, 32}, {0, 4, 3},
                                                     {7, 0, 2}, {31, 32, 1}, {33, 65, 64}, {70, 3, 40},  {64, 64, 64}};
  for (bool small : {true, false}) {
    a.clear();
    b.clear();
    right.clear();
    for (size_t s = 0; s < shapes.size(); ++s) {
      const auto &n = shapes[s];
      if (small && *std::max_element(n.begin(), n.end()) > 32) continue;
      a.push_back(Random(n[0], n[1], 40, s));
      b.push_back(Random(n[0], n[1], s % 3 ? 30 : 100, 100 + s));
      right.push_back(Random(n[1], n[2], s % 2 ? 50 : 0, 200 + s));
    }
    PetscCall(CheckArithmetic(small ? "small tiles" : "tiles", a, b, right));
  }
  TilePattern p = PatternOf({Random(3, 4, 50, 1)}, false), q = PatternOf({Random(4, 3, 50, 2)}, false), r;
  PetscCall(ExpectError(
      "sum of 3 x 4 and 4 x 3", [&] { return TileSumPattern(p, q, &r); }, &message, PETSC_ERR_ARG_SIZ));
  PetscCall(CheckText("sum of 3 x 4 and 4 x 3", message, {"3 x 4", "4 x 3"}));
  PetscCall(ExpectError(
      "product of 3 x 4 and 3 x 4", [&] { return TileProductPattern(p, p, &r); }, &message, PETSC_ERR_ARG_SIZ));
  PetscCall(CheckText("product of 3 x 4 and 3 x 4", message, {"3 x 4"}));
  PetscCall(ExpectError(
      "factors of 3 x 4", [&] { return TileFactorPattern(p, &r); }, &message, PETSC_ERR_ARG_SIZ));
  PetscCall(CheckText("factors of 3 x 4", message, {"3 x 4"}));
  PetscCall(ExpectError(
      "words of 32 bits",
      [] {
        TileBatch A;
        return MakeBatch({Dense(40, 40)}, false, Space::Host, 32, &A);
      },
      &message, PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("words of 32 bits", message, {"40", "32"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"arithmetic", Arithmetic}});
}
