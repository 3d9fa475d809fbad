static const char help[] = "LU of batches of bitmap tiles, and solves with it, against dense loops.\n\n";

#include "tiles.hpp"

using namespace testing;
using sparsegpu::Stream;
using sparsegpu::products::TileBatch;
using sparsegpu::tile::TileLU;

/// x of A x = b or A^T x = b for all tiles, b = Input(., 5).
static PetscErrorCode SolveAll(TileLU &lu, Space space, bool transpose, const std::vector<PetscScalar> &b,
                               std::vector<PetscScalar> *x)
{
  const size_t        n = b.size();
  std::vector<Scalar> in(n), out(n);
  Stream              stream;

  PetscFunctionBeginUser;
  PetscCall(StreamOf(space, &stream));
  for (size_t i = 0; i < n; ++i) in[i] = ToScalar(b[i]);
  sparsegpu::Array<Scalar> db, dx;
  PetscCall(db.Take(std::move(in), space));
  PetscCall(dx.Take(std::move(out), space));
  PetscCall(lu.Solve(db.data(), dx.data(), transpose, stream));
  out.resize(n);
  if (space == Space::Host)
    std::copy(dx.data(), dx.data() + n, out.begin());
  else {
    PetscCall(sparsegpu::DeviceCopyOut(out.data(), dx.data(), dx.bytes(), stream));
    PetscCall(sparsegpu::DeviceSynchronize(stream));
  }
  x->resize(n);
  for (size_t i = 0; i < n; ++i) (*x)[i] = FromScalar(out[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The factors: |P A - L U| <= gamma_n |L| |U| (Higham, Accuracy and Stability, theorem 9.3) with one rounding more for
/// the inverse pivot and one for this loop's 1 / inverse, and n for its product; a complex product errs by 2 sqrt(2) as
/// much as a real one, in all less than 3 (n + 4) eps. With pivoting |L| <= 1 up to the two roundings of its division.
static PetscErrorCode CheckFactors(const Dense &a, const DenseFactors &f, bool pivoting, const std::string &what)
{
  const PetscInt    n = a.rows;
  std::vector<char> seen((size_t)n, 0);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt row = f.row[(size_t)i];
    PetscCheck(row >= 0 && row < n && !seen[(size_t)row], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d is pivot twice",
               what.c_str(), (int)row);
    seen[(size_t)row] = 1;
    for (PetscInt j = 0; j < n; ++j) {
      PetscScalar sum = 0;
      for (PetscInt k = 0; k <= PetscMin(i, j); ++k) sum += f.L(i, k) * f.U(k, j);
      const PetscReal bound = 3 * (PetscReal)(n + 4) * PETSC_MACHINE_EPSILON * Magnitudes(f, i, j);
      PetscCheck(PetscAbsScalar(sum - a(row, j)) <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: L U is off by %g at (%d, %d), %g allowed", what.c_str(), (double)PetscAbsScalar(sum - a(row, j)),
                 (int)i, (int)j, (double)bound);
      PetscCheck(!pivoting || i <= j || PetscAbsScalar(f.L(i, j)) <= 1 + 6 * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: L(%d, %d) has magnitude %g", what.c_str(), (int)i, (int)j,
                 (double)PetscAbsScalar(f.L(i, j)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The solution: (A + E) x = b with |E| <= gamma_3n P^T |L| |U| (theorem 9.4), and this loop's own (n + 2) eps |A| |x|;
/// again three times for complex products: 9 (n + 4) eps bounds both, as |A| <= |L| |U| up to rounding.
static PetscErrorCode CheckSolution(const Dense &a, const DenseFactors &f, bool transpose, const PetscScalar *b,
                                    const PetscScalar *x, const std::string &what)
{
  const PetscInt         n = a.rows;
  std::vector<PetscReal> bound((size_t)n);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) {
      const PetscInt row = f.row[(size_t)i];
      if (transpose)
        bound[(size_t)j] += Magnitudes(f, i, j) * PetscAbsScalar(x[row]);
      else
        bound[(size_t)row] += Magnitudes(f, i, j) * PetscAbsScalar(x[j]);
    }
  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar residual = b[i];
    for (PetscInt j = 0; j < n; ++j) residual -= (transpose ? a(j, i) : a(i, j)) * x[j];
    const PetscReal allowed =
        9 * (PetscReal)(n + 4) * PETSC_MACHINE_EPSILON * (bound[(size_t)i] + PetscAbsScalar(b[i]));
    PetscCheck(PetscAbsScalar(residual) <= allowed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s%s, row %d: residual %g > %g",
               what.c_str(), transpose ? ", transposed" : "", (int)i, (double)PetscAbsScalar(residual),
               (double)allowed);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors and solutions of a regular batch; twice, the second time of other values: the batch scaled by -2, exactly.
static PetscErrorCode CheckLU(const std::string &name, const Batch &batch, bool pivoting)
{
  PetscFunctionBeginUser;
  PetscCall(Everywhere(name, batch, [&](Space space, bool by_columns, int bits, const std::string &where) {
    TileBatch A;
    TileLU    lu;
    PetscInt  failed;
    PetscReal pivot;
    Stream    stream;
    Batch     scaled = batch;

    PetscFunctionBeginUser;
    PetscCall(StreamOf(space, &stream));
    PetscCall(MakeBatch(batch, by_columns, space, bits, &A));
    PetscCall(lu.Symbolic(A, pivoting));
    for (int round = 0; round < 2; ++round) {
      std::vector<DenseFactors> factors;
      const std::string         what = where + (pivoting ? ", pivoting" : "") + (round ? ", again" : "");
      if (round) {
        for (Dense &d : scaled)
          for (PetscScalar &v : d.a) v *= -2;
        PetscCall(A.SetValues(ValuesOf(scaled, A.Pattern())));
      }
      PetscCall(lu.Numeric(A, 0, &failed, &pivot, stream));
      PetscCheck(failed < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no pivot in row %d", what.c_str(), (int)failed);
      PetscCall(FactorsOf(lu, &factors));
      const std::vector<PetscScalar> b = Input(A.Pattern().Rows(), 5, Poison::None);
      for (size_t t = 0; t < batch.size(); ++t)
        PetscCall(CheckFactors(scaled[t], factors[t], pivoting, what + ", tile " + std::to_string(t)));
      for (bool transpose : {false, true}) {
        std::vector<PetscScalar> x;
        PetscCall(SolveAll(lu, space, transpose, b, &x));
        for (size_t t = 0; t < batch.size(); ++t) {
          const auto row = A.Pattern().shape[t].row;
          PetscCall(CheckSolution(scaled[t], factors[t], transpose, b.data() + row, x.data() + row,
                                  what + ", tile " + std::to_string(t)));
        }
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The most rows that every space takes.
static PetscErrorCode LargestOfAll(PetscInt *largest)
{
  std::vector<Space> spaces;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  *largest = PETSC_MAX_INT;
  for (Space space : spaces) {
    PetscInt rows;
    PetscCall(sparsegpu::tile::TileLargest(space, &rows));
    *largest = PetscMin(*largest, rows);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factors()
{
  PetscInt largest;

  PetscFunctionBeginUser;
  PetscCall(LargestOfAll(&largest));
  PetscCall(CheckLU("no tiles", {}, false));
  PetscCall(CheckLU("no tiles", {}, true));
  PetscCall(CheckLU("0 x 0", {Dense(0, 0)}, false));
  PetscCall(CheckLU("0 x 0", {Dense(0, 0)}, true));
  Batch small, mixed, many, general;
  for (PetscInt n : {0, 1, 2, 3, 8, 9, 16, 17, 31, 32, 0})
    small.push_back(RandomDominant(n, 30, (unsigned long long)n));
  for (PetscInt n : {1, 5, 32, 33, 63, 64, 65, 97, 112, 128, 129, 150}) {
    if (n > largest) continue;
    for (int percent : {0, 10, 100}) mixed.push_back(RandomDominant(n, percent, (unsigned long long)(n + percent)));
  }
  for (PetscInt k = 0; k < 3000; ++k) many.push_back(RandomDominant(k % 7 + 1, 50, (unsigned long long)k));
  for (PetscInt n : {15, 16, 17, 47, 48, 49, 80, 95, 96, 127}) // a panel's columns, and one more or less
    if (n <= largest) mixed.push_back(RandomDominant(n, 30, (unsigned long long)n));
  for (PetscInt n : {1, 2, 7, 16, 17, 33, 48, 64, 65, 96, 100, 111, 128})
    if (n <= largest) general.push_back(Random(n, n, 100, (unsigned long long)(3 * n)));
  for (bool pivoting : {false, true}) {
    PetscCall(CheckLU("small", small, pivoting));
    PetscCall(CheckLU("mixed", mixed, pivoting));
    PetscCall(CheckLU("many", many, pivoting));
  }
  PetscCall(CheckLU("general", general, true)); // no diagonal that helps
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// [4 . 2; 8 2 4; . 4 3]: L = [1; 2 1; 0 2 1], U = [4 . 2; 2 0; 3]: (1, 2) becomes 4 - 2 * 2 = 0 but stays, as its
/// place is in the matrix; nothing fills but the flags of row 1.
static PetscErrorCode ByHand()
{
  const PetscReal values[3][3] = {{4, 0, 2}, {8, 2, 4}, {0, 4, 3}};
  const PetscReal full[3][3]   = {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}};
  const PetscReal factors[][3] = {{0.25, 0, 2}, {2, 0.5, 0}, {0, 2, (PetscReal)1 / 3}};
  Dense           a(3, 3), swap(2, 2), tie(2, 2), arrow(3, 3), symmetric(3, 3);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; ++i)
    for (PetscInt j = 0; j < 3; ++j) {
      if (values[i][j] != 0) a.Put(i, j, values[i][j]);
      symmetric.Put(i, j, full[i][j]);
    }
  swap.Put(0, 1, 2);
  swap.Put(1, 0, 4);
  tie.Put(0, 0, -1);
  tie.Put(0, 1, 3);
  tie.Put(1, 0, 1);
  for (PetscInt k = 0; k < 3; ++k) { // everything fills
    arrow.Put(0, k, k ? 1 : 2);
    arrow.Put(k, 0, k ? 1 : 2);
    arrow.Put(k, k, 2);
  }
  PetscCall(Everywhere("by hand", {a}, [&](Space space, bool by_columns, int bits, const std::string &what) {
    TileBatch A;
    TileLU    lu;
    PetscInt  failed;
    PetscReal pivot;
    Stream    stream;
    Batch     got;

    PetscFunctionBeginUser;
    PetscCall(StreamOf(space, &stream));
    PetscCall(MakeBatch({a}, by_columns, space, bits, &A));
    PetscCall(lu.Symbolic(A, false));
    PetscCall(lu.Numeric(A, 0, &failed, &pivot, stream));
    PetscCall(ToDense(lu.Factors(), &got));
    for (PetscInt i = 0; i < 3; ++i)
      for (PetscInt j = 0; j < 3; ++j)
        PetscCheck(got[0].Has(i, j) == a.Has(i, j) && PetscAbsScalar(got[0](i, j) - factors[i][j]) == 0,
                   PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: (%d, %d) is %g", what.c_str(), (int)i, (int)j,
                   (double)PetscRealPart(got[0](i, j)));
    // fill: the arrow's 7 places become 9; a row swap is needed by the second, not by the third, whose tie the first
    // wins
    PetscCall(MakeBatch({arrow, swap, tie, symmetric}, by_columns, space, bits, &A));
    PetscCall(lu.Symbolic(A, false));
    PetscCheck(lu.Factors().Pattern().Has(0, 1, 2) && lu.Factors().Pattern().Has(0, 2, 1) &&
                   lu.Factors().Pattern().Has(1, 0, 0),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no fill, or no diagonal", what.c_str());
    PetscCall(lu.Numeric(A, 0, &failed, &pivot, stream));
    PetscCheck(failed == 3 && pivot == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d without a pivot, %g",
               what.c_str(), (int)failed, (double)pivot);
    std::vector<PetscInt> permutation;
    PetscCall(lu.Symbolic(A, true));
    PetscCall(lu.Numeric(A, 0, &failed, &pivot, stream));
    PetscCall(lu.GetPermutation(&permutation));
    PetscCheck(failed < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no pivot in row %d", what.c_str(), (int)failed);
    const std::vector<PetscInt> expected = {0, 1, 2, 1, 0, 0, 1, 2, 1, 0}; // the last: by 3, then 2/3 against 1/3
    PetscCheck(permutation == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: other pivots", what.c_str());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A Hadamard matrix, its rows mixed: every step has ties, all numbers are small powers of two. The pivots are those of
/// a plain loop; they come from all over the tile.
static PetscErrorCode Ties()
{
  PetscInt largest;

  PetscFunctionBeginUser;
  PetscCall(LargestOfAll(&largest));
  for (PetscInt n : {8, 16, 32, 64, 128}) {
    if (n > largest) continue;
    Dense                 a(n, n);
    std::vector<PetscInt> expected;
    for (PetscInt i = 0; i < n; ++i)
      for (PetscInt j = 0; j < n; ++j) {
        int sign = 1;
        for (PetscInt common = (37 * i + 5) % n & j; common; common &= common - 1) sign = -sign;
        a.Put(i, j, (PetscReal)sign);
      }
    Dense             d = a;
    std::vector<char> used((size_t)n, 0);
    for (PetscInt k = 0; k < n; ++k) {
      PetscInt p = -1;
      for (PetscInt i = 0; i < n; ++i)
        if (!used[(size_t)i] && (p < 0 || PetscAbsScalar(d(i, k)) > PetscAbsScalar(d(p, k)))) p = i;
      used[(size_t)p] = 1;
      expected.push_back(p);
      for (PetscInt i = 0; i < n; ++i)
        for (PetscInt j = n - 1; j >= k && !used[(size_t)i]; --j) d(i, j) -= d(i, k) / d(p, k) * d(p, j);
    }
    PetscCall(Everywhere("ties", {a}, [&](Space space, bool by_columns, int bits, const std::string &what) {
      TileBatch             A;
      TileLU                lu;
      PetscInt              failed;
      PetscReal             pivot;
      Stream                stream;
      std::vector<PetscInt> permutation;

      PetscFunctionBeginUser;
      PetscCall(StreamOf(space, &stream));
      PetscCall(MakeBatch({a}, by_columns, space, bits, &A));
      PetscCall(lu.Symbolic(A, true));
      PetscCall(lu.Numeric(A, 0, &failed, &pivot, stream));
      PetscCall(lu.GetPermutation(&permutation));
      for (PetscInt k = 0; k < n; ++k)
        PetscCheck(failed < 0 && permutation[(size_t)k] == expected[(size_t)k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, n %d: pivot %d is row %d, not %d", what.c_str(), (int)n, (int)k, (int)permutation[(size_t)k],
                   (int)expected[(size_t)k]);
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zero pivots, small ones and NaN are told by row and value, the first of several; the other tiles are not harmed, and
/// no solution holds a NaN.
static PetscErrorCode Failures()
{
  const PetscReal nan = std::numeric_limits<PetscReal>::quiet_NaN();
  PetscInt        largest;

  PetscFunctionBeginUser;
  PetscCall(LargestOfAll(&largest));
  for (PetscInt n : {2, 20, 40, 90, 112}) {
    if (n > largest) continue;
    const Dense good = RandomDominant(n, 40, 1);
    Dense       zero = good, tiny = good, off = good, on = good;
    for (PetscInt j = 0; j < n; ++j) { // a row of stored zeros stays one, exactly
      zero.Put(n - 1, j, 0);
      tiny.Put(n / 2, j, 0);
      if (j != n / 2) tiny.Put(j, n / 2, 0);
    }
    tiny.Put(n / 2, n / 2, (PetscReal)1e-20);
    off.Put(0, n - 1, nan);
    on.Put(n - 1, n - 1, nan);
    struct Case {
      const char *name;
      Dense       tile;
      PetscInt    first, last; ///< rows that may be blamed: the pivot's, where pivoting moves rows
      PetscReal   zero;
      bool        is_nan;
    };
    const Case cases[] = {{"zero", zero, n - 1, n - 1, 0, false},
                          {"tiny", tiny, n / 2, n / 2, (PetscReal)1e-14, false},
                          {"NaN off the diagonal", off, 0, n - 1, 0, true},
                          {"NaN on the diagonal", on, 0, n - 1, 0, true}};
    for (const Case &c : cases)
      for (bool pivoting : {false, true})
        PetscCall(Everywhere(c.name, {good, c.tile}, [&](Space space, bool by_columns, int bits, const std::string &w) {
          const std::string         what = w + ", n " + std::to_string(n) + (pivoting ? ", pivoting" : "");
          std::vector<PetscScalar>  x;
          std::vector<DenseFactors> factors;
          TileBatch                 A;
          TileLU                    lu;
          PetscInt                  failed;
          PetscReal                 pivot;
          Stream                    stream;

          PetscFunctionBeginUser;
          PetscCall(StreamOf(space, &stream));
          PetscCall(MakeBatch({good, c.tile, c.tile}, by_columns, space, bits, &A));
          PetscCall(lu.Symbolic(A, pivoting));
          PetscCall(lu.Numeric(A, c.zero, &failed, &pivot, stream));
          PetscCheck(failed >= n + c.first && failed <= n + c.last, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: row %d is blamed", what.c_str(), (int)failed);
          PetscCheck(c.is_nan ? pivot != pivot : pivot <= PetscMax(c.zero, 0), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: pivot %g", what.c_str(), (double)pivot);
          const std::vector<PetscScalar> b = Input(3 * n, 5, Poison::None);
          PetscCall(FactorsOf(lu, &factors));
          for (bool transpose : {false, true}) {
            PetscCall(SolveAll(lu, space, transpose, b, &x));
            PetscCall(CheckSolution(good, factors[0], transpose, b.data(), x.data(), what));
            for (PetscInt i = n; i < 3 * n && !c.is_nan; ++i)
              PetscCheck(x[(size_t)i] == (PetscScalar)0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: x of the failed is %g",
                         what.c_str(), (double)PetscRealPart(x[(size_t)i]));
          }
          // new values are a new chance
          PetscCall(A.SetValues(ValuesOf({good, Dense(n, n), Dense(n, n)}, A.Pattern())));
          PetscCall(lu.Numeric(A, 0, &failed, &pivot, stream));
          PetscCheck(failed == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: of zeros row %d is blamed", what.c_str(),
                     (int)failed);
          PetscFunctionReturn(PETSC_SUCCESS);
        }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A tile that no thread block has room for is refused on the device, with its size and the limit; the host takes it,
/// but none of thousands of rows.
static PetscErrorCode Large()
{
  std::vector<Space> spaces;
  std::string        message;

  PetscFunctionBeginUser;
  PetscCall(Spaces(&spaces));
  for (Space space : spaces)
    for (PetscInt n : {600, 1025}) {
      const std::string rows = std::to_string(n) + " rows";
      TileBatch         A;
      TileLU            lu;
      PetscCall(MakeBatch({RandomDominant(n, 1, 9)}, false, space, 0, &A));
      if (space == Space::Host && n == 600) {
        PetscCall(lu.Symbolic(A, false));
      } else {
        PetscCall(ExpectError(
            rows, [&] { return lu.Symbolic(A, false); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
        PetscCall(CheckText(rows, message, {rows, space == Space::Host ? "1024" : "shared memory"}));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"by_hand", ByHand}, {"factors", Factors}, {"ties", Ties}, {"failures", Failures}, {"large", Large}});
}
