static const char help[] =
    "Large products of real numbers of single precision on a GPU, by tensor cores, as the sums of three.\n\n";

#include "../testing.hpp"
#include "device/buffer.hpp"
#include "device/cublas.hpp"
#include "device/device.hpp"

#include <cfloat>
#include <cmath>
#include <random>

using namespace testing;
using namespace sparsegpu;

#if defined(SPARSEGPU_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX)
namespace
{
enum class Kind {
  General,
  Transposed,
  Lower
};

/// C - A B, columns of A and C `gap` entries longer than they are.
struct Problem {
  Kind                kind;
  PetscInt            m, n, k, gap;
  std::vector<Single> A, B, C;

  Problem(Kind what, PetscInt rows, PetscInt columns, PetscInt depth, PetscInt apart)
      : kind(what),
        m(rows),
        n(columns),
        k(depth),
        gap(apart),
        A(static_cast<size_t>(rows + apart) * static_cast<size_t>(depth)),
        B(static_cast<size_t>(columns + apart) * static_cast<size_t>(depth) + static_cast<size_t>(columns * apart)),
        C(static_cast<size_t>(rows + apart) * static_cast<size_t>(columns))
  {
    std::mt19937                          random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::vector<Single> *matrix : {&A, &B, &C})
      for (Single &v : *matrix) v = Single(std::ldexp(uniform(random), static_cast<int>(random() % 8) - 4));
  }
  size_t OfA(PetscInt i, PetscInt l) const { return static_cast<size_t>(i) + static_cast<size_t>(l) * (m + gap); }
  size_t OfB(PetscInt l, PetscInt j) const
  {
    return kind == Kind::General ? static_cast<size_t>(l) + static_cast<size_t>(j) * (k + gap)
                                 : static_cast<size_t>(j) + static_cast<size_t>(l) * (n + gap);
  }
  size_t OfC(PetscInt i, PetscInt j) const { return static_cast<size_t>(i) + static_cast<size_t>(j) * (m + gap); }

  PetscErrorCode Subtract(std::vector<Single> *result) const
  {
    Array<Single> a, b, c;
    Stream        stream;

    PetscFunctionBeginUser;
    PetscCall(a.Copy(A.data(), A.size(), Space::Device));
    PetscCall(b.Copy(B.data(), B.size(), Space::Device));
    PetscCall(c.Copy(C.data(), C.size(), Space::Device));
    PetscCall(DeviceStream(&stream));
    if (kind == Kind::General)
      PetscCall(CublasSubtractProduct(m, n, k, a.data(), m + gap, b.data(), k + gap, c.data(), m + gap, stream));
    else if (kind == Kind::Transposed)
      PetscCall(
          CublasSubtractTransposedProduct(m, n, k, a.data(), m + gap, b.data(), n + gap, c.data(), m + gap, stream));
    else
      PetscCall(CublasSubtractLowerProduct(n, k, a.data(), m + gap, b.data(), n + gap, c.data(), m + gap, stream));
    result->resize(C.size());
    PetscCall(c.ToHost(result->data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Some entries against their sums in double precision: each of the 3 k additions may lose a unit in the last place
  /// of the sum of magnitudes, and what is left out of a product is smaller. Rows beyond the m are untouched.
  PetscErrorCode Check(const std::vector<Single> &result) const
  {
    std::mt19937 random(11);

    PetscFunctionBeginUser;
    for (int sample = 0; sample < 20000; sample++) {
      const auto draw = [&](PetscInt most) { return static_cast<PetscInt>(random() % static_cast<unsigned>(most)); };
      PetscInt   i = draw(m), j = draw(n);
      if (kind == Kind::Lower && i < j) std::swap(i, j);
      double sum = C[OfC(i, j)], size = std::fabs(sum);
      for (PetscInt l = 0; l < k; l++) {
        const double product = static_cast<double>(A[OfA(i, l)]) * static_cast<double>(B[OfB(l, j)]);
        sum -= product;
        size += std::fabs(product);
      }
      const double error = std::fabs(static_cast<double>(result[OfC(i, j)]) - sum);
      PetscCheck(error <= (3 * k + 8) * static_cast<double>(FLT_EPSILON) * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is wrong by %g of %g", i, j, error, size);
    }
    for (PetscInt j = 0; j < n; j++)
      for (PetscInt i = m; i < m + gap; i++)
        PetscCheck(result[OfC(i, j)] == C[OfC(i, j)], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "Row %" PetscInt_FMT " beyond the product has changed", i);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// A product of so many entries that tensor cores form it, of few terms, whose bound one product of short numbers would
/// exceed a hundred times, and of so many that there is room for a part of them at a time.
PetscErrorCode Compare(Kind kind)
{
  const PetscInt m = kind == Kind::Lower ? 3003 : 3101;
  PetscBool      device;
  bool           found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("skipped: no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CublasFound(&found));
  if (!found) {
    PetscCall(Skip("skipped: no cuBLAS"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static bool                taken = false; // by an earlier sub-test
  const std::vector<Problem> problems{Problem(kind, m, 3003, 8, 5), Problem(kind, m, 3003, 1501, 5)};
  std::vector<Single>        plain, parts, again;
  if (!taken) PetscCall(problems.back().Subtract(&plain));
  if (!taken) PetscCall(problems.back().Check(plain));
  PetscCall(CublasTakeParts(&found));
  if (!found) {
    PetscCall(Skip("skipped: no memory for parts"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const Problem &problem : problems) {
    PetscCall(problem.Subtract(&parts));
    PetscCall(problem.Check(parts));
    PetscCall(problem.Subtract(&again));
    PetscCheck(parts == again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The same product has other bits");
  }
  PetscCheck(taken || parts != plain, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The product was not formed by parts");
  taken = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace
#else
namespace
{
enum class Kind {
  General,
  Transposed,
  Lower
};
PetscErrorCode Compare(Kind)
{
  return Skip("skipped: built without CUDA, or with complex numbers");
}
} // namespace
#endif

namespace
{
PetscErrorCode TestGeneral()
{
  return Compare(Kind::General);
}
PetscErrorCode TestTransposed()
{
  return Compare(Kind::Transposed);
}
PetscErrorCode TestLower()
{
  return Compare(Kind::Lower);
}
} // namespace

int main(int argc, char **argv)
{
  return testing::Main(argc, argv, help,
                       {{"general", TestGeneral}, {"transposed", TestTransposed}, {"lower", TestLower}});
}
