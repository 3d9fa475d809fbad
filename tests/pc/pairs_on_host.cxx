static const char help[] =
    "The GPU's elimination of small symmetric fronts with pivots of order 1 and 2, its threads one after the other.\n\n";

#include "../testing.hpp"

#include <cmath>

#include "device/warp.cuh"
#include "pc/lu/small_pairs.cuh"

using namespace sparsegpu;
using namespace sparsegpu::lu;

/// In [-1, 1), deterministic.
static PetscReal Any()
{
  static std::mt19937 any(5);
  return (PetscReal)(any() >> 8) / (1 << 23) - 1;
}
static Scalar AnyScalar(bool real)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(Any(), real ? 0 : Any());
#else
  (void)real;
  return Any();
#endif
}

/// A front of p pivots and r others, dense or not, with a diagonal or half of one.
struct Sample {
  PetscInt            p, r, m;
  Shape               shape;
  std::vector<Scalar> a; ///< [m x m]

  Scalar &At(PetscInt i, PetscInt j) { return a[(size_t)(i + j * m)]; }
  Sample(PetscInt pivots, PetscInt others, Shape kind, PetscReal density, bool hollow, bool coupled)
      : p(pivots),
        r(others),
        m(pivots + others),
        shape(kind),
        a((size_t)(m * m), Scalar(0))
  {
    for (PetscInt j = 0; j < m; ++j)
      for (PetscInt i = j; i < m; ++i) {
        Scalar v = AnyScalar(i == j);
        if (i != j && (Any() + 1) / 2 >= density) v = Scalar(0);
        if (i == j && hollow) v = Any() < 0 ? Scalar(3 * Any()) : Scalar(Any() < 0 ? -(PetscReal)0 : (PetscReal)0);
        if (coupled && i == j + 1 && j % 2 == 0 && i < p) v = Scalar(1 + Any() / 5);
        At(i, j) = v;
        At(j, i) = shape == Shape::Hermitian ? Conj(v) : v;
      }
  }
};

static PetscErrorCode Check(Sample s, unsigned seed, bool finite)
{
  const PetscInt        pitch = s.m | 1, first[] = {0, s.p};
  const PetscCount      begin[] = {0, s.r}, nowhere[] = {0};
  const int             threads[] = {64, 128, 256, 256, 512};
  std::vector<Scalar>   front((size_t)(pitch * s.m), Scalar(NAN)), met((size_t)s.p);
  std::vector<int>      order((size_t)s.p);
  std::vector<PairCode> pair((size_t)s.p);
  const Dense<Scalar>   D{front.data(), (int)pitch};
  on_host::Block        block(seed);
  LuPivoting            pivoting;
  FrontsView            V    = {};
  const std::string     what = std::to_string(s.p) + " pivots, " + std::to_string(s.r) + " others";
  PetscReal             most = 0, largest = 1;

  PetscFunctionBeginUser;
  V.shape     = s.shape;
  V.first     = first;
  V.row_begin = begin;
  V.lower = V.upper = V.update = nowhere;
  const DeviceFront<Scalar> F(V, 0, front.data(), front.data());
  for (PetscInt j = 0; j < s.m; ++j)
    for (PetscInt i = j; i < s.m; ++i) D((int)i, (int)j) = s.At(i, j);
  pivoting.replace = 1;
  const bool ended = block.Run((unsigned)threads[(s.m - 1) / 32], [&] {
    PivotTally tally;
    EliminatePairs(F, D, met.data(), order.data(), pair.data(), pivoting, &tally);
  });
  PetscCheck(ended, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: threads wait for others", what.c_str());
  std::vector<char> seen((size_t)s.p, 0);
  bool              replaced = false;
  for (PetscInt k = 0; k < s.p; ++k) {
    PetscCheck(order[k] / 32 == k / 32 && order[k] < s.p && !seen[order[k]]++, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %d in place %d", what.c_str(), order[k], (int)k);
    PetscCheck(pair[k] <= 0 || (k + 1 < s.p && pair[k + 1] == -pair[k]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: pivot %d has no partner", what.c_str(), (int)k);
    replaced = replaced || !(Magnitude(met[k] - D((int)k, (int)k)) == 0);
  }
  if (!finite) PetscFunctionReturn(PETSC_SUCCESS);
  Sample G = s; // rows and columns in their places, and combined
  for (PetscInt j = 0; j < s.m; ++j)
    for (PetscInt i = 0; i < s.m; ++i) G.At(i, j) = s.At(i < s.p ? order[i] : i, j < s.p ? order[j] : j);
  for (PetscInt k = 0; k < s.p; ++k) {
    const int code = pair[k];
    for (PetscInt i = 0; i < s.m && code > 0; ++i) {
      const Scalar a = G.At(i, k), b = G.At(i, k + 1);
      G.At(i, k)     = TurnedColumn(code, a, b);
      G.At(i, k + 1) = TurnedColumn(-code, b, a);
    }
    for (PetscInt j = 0; j < s.m && code > 0; ++j) {
      const Scalar a = G.At(k, j), b = G.At(k + 1, j);
      G.At(k, j)     = Turned(code, a, b);
      G.At(k + 1, j) = Turned(-code, b, a);
    }
  }
  for (PetscInt j = 0; j < s.p; ++j)
    for (PetscInt i = j; i < s.m; ++i) {
      Scalar    sum = G.At(i, j);
      PetscReal of  = Magnitude(sum);
      for (PetscInt t = 0; t <= j; ++t) {
        const Scalar own = i == t ? Scalar(1) : D((int)i, (int)t), other = j == t ? Scalar(1) : D((int)j, (int)t);
        const Scalar product = own * D((int)t, (int)t) * F.Mirrored(other);
        sum                  = sum - product;
        of += Magnitude(product);
      }
      most    = std::max(most, Magnitude(sum));
      largest = std::max(largest, of);
    }
  PetscCheck(replaced || most <= 4 * (PetscReal)s.m * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: L D L^T is %g away, of %g", what.c_str(), (double)most, (double)largest);
  constexpr PetscReal MOST = 5; // what Bunch & Parlett's pivots and turns allow
  for (PetscInt j = 0; j < s.p && !replaced; ++j)
    for (PetscInt i = j + 1; i < std::min(s.p, (j / 32 + 1) * 32); ++i)
      PetscCheck(Magnitude(D((int)i, (int)j)) <= MOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %d, %d of L is %g",
                 what.c_str(), (int)i, (int)j, (double)Magnitude(D((int)i, (int)j)));
  for (PetscInt i = s.p; i < s.m; ++i) // U of the others
    for (PetscInt k = 0; k < s.p; ++k)
      PetscCheck(Magnitude(D((int)k, (int)i) - D((int)k, (int)k) * F.Mirrored(D((int)i, (int)k))) <=
                         100 * PETSC_MACHINE_EPSILON * largest ||
                     replaced,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: U's entry %d, %d", what.c_str(), (int)k, (int)i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All orders of threads give one result; L D L^T is the front as its pivots have it. With zeros of both signs.
static PetscErrorCode OnHost()
{
  const PetscInt pivots[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 40, 64, 65, 97, 120}, others[] = {0, 1, 17, 40};

  PetscFunctionBeginUser;
  unsigned seed = 1;
  for (const PetscInt p : pivots)
    for (const PetscInt r : others)
      for (const Shape shape : {Shape::Symmetric, Shape::Hermitian})
        for (const bool hollow : {false, true}) {
          if (shape == Shape::Hermitian && !PetscDefined(USE_COMPLEX)) continue;
          const PetscReal density = seed % 3 == 0 ? 1 : seed % 3 == 1 ? (PetscReal)0.3 : (PetscReal)0.05;
          PetscCall(Check(Sample(p, r, shape, density, hollow, hollow), seed++, true));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is not a number ends no thread early, and sends no row elsewhere.
static PetscErrorCode NotFinite()
{
  PetscFunctionBeginUser;
  for (const PetscInt p : {1, 5, 33, 64})
    for (const bool all : {false, true}) {
      Sample s(p, 9, Shape::Symmetric, 1, false, false);
      for (PetscInt k = 0; k < (PetscInt)s.a.size(); ++k)
        if (all || k == (p - 1) * (s.m + 1)) s.a[(size_t)k] = Scalar(NAN);
      PetscCall(Check(s, (unsigned)p, false));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return testing::Main(argc, argv, help, {{"on_host", OnHost}, {"not_finite", NotFinite}});
}
