/// Bits, places and values of the worked example by rows and by columns, words that end within a row, unsorted columns,
/// and the order of the sums.
#include <algorithm>
#include <cstring>
#include "mat/formats/bitmap/bitmap.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

template <class Word>
static PetscErrorCode CheckWords(const char what[], const Word *words, const std::vector<Word> &expected)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < expected.size(); k++)
    PetscCheck(words[k] == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s[%zu] is %llx, not %llx", what, k,
               static_cast<unsigned long long>(words[k]), static_cast<unsigned long long>(expected[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M, F, P of the worked example by rows and by columns, then every place of it read, and those that are there written.
template <class Word> static PetscErrorCode Storage(bool by_columns)
{
  const std::vector<std::vector<PetscReal>> dense = {{1, 0, 2}, {0, 3, 0}, {4, 5, 6}};
  const CsrView                             A     = example::Matrix();
  BitmapArrays<Word>                        arrays;
  Scalar                                    M[6];

  PetscFunctionBeginUser;
  PetscCall(arrays.Fill(A, by_columns));
  for (PetscInt e = 0; e < 6; e++) M[arrays.slot[e]] = A.a[e];
  if (by_columns) { // columns (1 . 4), (. 3 5), (2 . 6)
    PetscCall(CheckWords<Word>("F", arrays.flags.data(), {5, 6, 5}));
    PetscCall(example::CheckInts("P", arrays.start.data(), {0, 2, 4, 6}));
    PetscCall(example::CheckValues("M", M, {1, 4, 3, 5, 2, 6}));
  } else {
    PetscCall(CheckWords<Word>("F", arrays.flags.data(), {5, 2, 7}));
    PetscCall(example::CheckInts("P", arrays.start.data(), {0, 2, 3, 6}));
    PetscCall(example::CheckValues("M", M, {1, 2, 3, 4, 5, 6}));
  }
  const BitmapView<Word> B{3, 3, by_columns, 1, arrays.start.data(), arrays.flags.data(), M};
  for (PetscInt i = 0; i < 3; i++)
    for (PetscInt j = 0; j < 3; j++) {
      PetscCheck(B.Has(i, j) == (dense[i][j] != 0) && RealPart(B.Get(i, j)) == dense[i][j], PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "Entry (%d, %d) is %g", (int)i, (int)j, (double)RealPart(B.Get(i, j)));
      PetscCheck(B.Set(i, j, Scalar(10 * dense[i][j] + 1)) == B.Has(i, j), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Writing of (%d, %d)", (int)i, (int)j);
      PetscCheck(RealPart(B.Get(i, j)) == (B.Has(i, j) ? 10 * dense[i][j] + 1 : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Entry (%d, %d) after writing: %g", (int)i, (int)j, (double)RealPart(B.Get(i, j)));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row of 130 places with entries on both sides of the words' ends.
template <class Word> static PetscErrorCode Boundaries()
{
  const PetscInt     i[] = {0, 7}, j[] = {129, 0, 31, 32, 63, 64, 127}; // not sorted
  const Scalar       a[] = {129, 0, 31, 32, 63, 64, 127};
  const CsrView      A{1, 130, 7, i, j, a};
  BitmapArrays<Word> arrays;
  Scalar             M[7];

  PetscFunctionBeginUser;
  PetscCall(arrays.Fill(A, false));
  PetscCall(example::CheckInts("slot", arrays.slot.data(), {6, 0, 1, 2, 3, 4, 5}));
  for (PetscInt e = 0; e < 7; e++) M[arrays.slot[e]] = a[e];
  const PetscInt         words = BitmapWords(130, BitmapView<Word>::BITS);
  const BitmapView<Word> B{1, 130, false, words, arrays.start.data(), arrays.flags.data(), M};
  PetscCheck(words == (sizeof(Word) == 4 ? 5 : 3), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d words", (int)words);
  for (PetscInt k = 0; k < 130; k++) {
    const bool has = std::find(j, j + 7, k) != j + 7;
    PetscCheck(B.Has(0, k) == has && RealPart(B.Get(0, k)) == (has ? k : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Entry %d is %g", (int)k, (double)RealPart(B.Get(0, k)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBits(PetscInt cols, int bits, PetscInt words)
{
  PetscFunctionBeginUser;
  PetscCheck(BitmapBits(cols) == bits && BitmapWords(cols, bits) == words, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d columns: words of %d bits, %d a row", (int)cols, BitmapBits(cols), (int)BitmapWords(cols, bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns that do not rise: the values lie by column all the same, also when they change.
static PetscErrorCode Unsorted()
{
  const PetscInt i[] = {0, 2, 3, 6}, j[] = {2, 0, 1, 2, 0, 1};
  const Scalar   a[] = {2, 1, 3, 6, 4, 5}, twice[] = {4, 2, 6, 12, 8, 10}, x[] = {1, 2, 3};
  Scalar         z[3];
  bool           fits;
  Bitmap         bitmap;

  PetscFunctionBeginUser;
  PetscCall(bitmap.Build(CsrView{3, 3, 6, i, j, a}, FormatOptions(), Space::Host));
  PetscCall(bitmap.Mult(x, nullptr, z, nullptr));
  PetscCall(example::CheckValues("M", bitmap.Layout().values, {1, 2, 3, 4, 5, 6}));
  PetscCall(example::CheckValues("A x, unsorted", z, {7, 6, 32}));
  PetscCall(bitmap.Update(CsrView{3, 3, 6, i, j, twice}, twice, Space::Host, &fits));
  PetscCall(bitmap.Mult(x, nullptr, z, nullptr));
  PetscCall(example::CheckValues("2 A x, unsorted", z, {14, 12, 64}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bitwise the plain sum by rising column.
static PetscErrorCode InOrder()
{
  constexpr PetscInt    n = 200;
  std::vector<PetscInt> i(1, 0), j;
  std::vector<Scalar>   a, x, z(n);
  Bitmap                bitmap;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt c = r % 3; c < n; c += r % 7 + 1) {
      j.push_back(c);
      a.push_back(Scalar(1 / (PetscReal)(r + c + 1)));
    }
    i.push_back(static_cast<PetscInt>(j.size()));
    x.push_back(Scalar(1 / (PetscReal)(2 * r + 3)));
  }
  PetscCall(bitmap.Build(CsrView{n, n, i[n], i.data(), j.data(), a.data()}, FormatOptions(), Space::Host));
  PetscCall(bitmap.Mult(x.data(), nullptr, z.data(), nullptr));
  for (PetscInt r = 0; r < n; r++) {
    Scalar sum(0);
    for (PetscInt e = i[r]; e < i[r + 1]; e++) sum += a[e] * x[j[e]];
    PetscCheck(!memcmp(&sum, &z[r], sizeof(Scalar)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d is not summed in order",
               (int)r);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  Bitmap bitmap;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(bitmap, FormatOptions()));
  PetscCheck(bitmap.Layout().bits == 32 && bitmap.Layout().words == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s",
             bitmap.Details().c_str());
  PetscCall(CheckWords<Word32>("F", static_cast<const Word32 *>(bitmap.Layout().flags), {5, 2, 7}));
  PetscCall(example::CheckInts("P", bitmap.Layout().start, {0, 2, 3, 6}));
  PetscCall(example::CheckValues("M", bitmap.Layout().values, {1, 2, 3, 4, 5, 6}));
  for (bool by_columns : {false, true}) {
    PetscCall(Storage<Word32>(by_columns));
    PetscCall(Storage<Word64>(by_columns));
  }
  PetscCall(Boundaries<Word32>());
  PetscCall(Boundaries<Word64>());
  PetscCall(CheckBits(0, 32, 0));
  PetscCall(CheckBits(1, 32, 1));
  PetscCall(CheckBits(32, 32, 1));
  PetscCall(CheckBits(33, 64, 1));
  PetscCall(CheckBits(64, 64, 1));
  PetscCall(CheckBits(65, 64, 2));
  PetscCall(Unsorted());
  PetscCall(InOrder());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
