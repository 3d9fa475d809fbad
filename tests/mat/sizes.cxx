static const char help[] = "Sizes beyond PetscInt are refused by a message that names them.\n\n";

#include "../testing.hpp"

#include <limits>

#include "device/row_of_thread.hpp"
#include "mat/formats/padding.hpp"
#include "mat/formats/plan.hpp"
#include "mat/rows/sizes.hpp"

using namespace testing;
using namespace sparsegpu;
using namespace sparsegpu::rows;
using namespace sparsegpu::formats;

namespace
{
constexpr bool NARROW = sizeof(PetscInt) == 4; ///< else all of these sizes are counted

/// A matrix of which only the row pointers are there: every `each`-th row has `length` entries, the others none.
struct RowsOnly {
  std::vector<PetscInt> i;

  RowsOnly(PetscInt rows, PetscInt length, PetscInt each = 1) : i(static_cast<size_t>(rows) + 1, 0)
  {
    for (PetscInt r = 0; r < rows; r++) i[r + 1] = i[r] + (r % each ? 0 : length);
  }
  CsrView View() const
  {
    const PetscInt rows = static_cast<PetscInt>(i.size()) - 1;
    return CsrView{rows, PETSC_MAX_INT, i[rows], i.data(), nullptr, nullptr};
  }
};

/// The format accepts what PetscInt counts, and refuses the other by these facts where PetscInt is narrow.
PetscErrorCode CheckRefusal(const char name[], const RowsOnly &fits, const RowsOnly &too_many,
                            const std::vector<std::string> &facts)
{
  bool        ok;
  std::string why;

  PetscFunctionBeginUser;
  PetscCall(Plans(fits.View(), FormatOptions(), Space::Host).Check(name, &ok, &why));
  PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s refuses what PetscInt counts: %s", name, why.c_str());
  PetscCall(Plans(too_many.View(), FormatOptions(), Space::Host).Check(name, &ok, &why));
  PetscCheck(ok == !NARROW, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", name, ok ? "accepts" : why.c_str());
  if (!ok) PetscCall(CheckText(name, why, facts));
  if (!ok) PetscCall(CheckText(name, why, {std::to_string((long long)PETSC_MAX_INT)}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows that fit PetscInt, and do not once they are padded to whole warps: 33 rows to 64.
PetscErrorCode Padding()
{
  constexpr PetscInt ROWS = 33, LENGTH = 60000000;
  const RowsOnly     rows(ROWS, LENGTH), few(ROWS, LENGTH / 2);

  PetscFunctionBeginUser;
  PetscCheck(PaddedEntries(ROWS, LENGTH) == 64.0 * LENGTH, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Padded to %.0f",
             PaddedEntries(ROWS, LENGTH));
  PetscCheck(TooMuchPadding(ROWS, LENGTH, rows.i[ROWS], 4) == NARROW &&
                 !TooMuchPadding(ROWS, LENGTH / 2, few.i[ROWS], 4),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "The rule of auto");
  PetscCall(CheckRefusal("ell", few, rows, {"33 rows", "3840000000", "1980000000 nonzeros"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A third of the rows sets the width of hyb, of which the others are padding: three times the nonzeros.
PetscErrorCode Width()
{
  constexpr PetscInt ROWS = 3000000, LENGTH = 1000;

  PetscFunctionBeginUser;
  PetscCall(CheckRefusal("hyb", RowsOnly(ROWS, LENGTH / 2, 3), RowsOnly(ROWS, LENGTH, 3),
                         {"3000000 rows of 1000 entries", "3000000000", "1000000000 nonzeros"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Diagonals are as many columns.
PetscErrorCode Diagonals()
{
  const RowsOnly rows(33, 60000000);
  bool           ok;
  std::string    why;

  PetscFunctionBeginUser;
  PetscCall(CheckPadding(rows.View(), 60000000, "it has entries on 60000000 diagonals", 4, &ok, &why));
  PetscCheck(ok == !NARROW, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", ok ? "accepted" : why.c_str());
  if (!ok) PetscCall(CheckText("dia", why, {"60000000 diagonals", "33 rows", "3840000000"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Offsets()
{
  const PetscInt        half = PETSC_MAX_INT / 2;
  std::vector<PetscInt> counts{0, half, half, 1}, more{0, half, half, 2};
  std::string           message;

  PetscFunctionBeginUser;
  PetscCall(CheckedOffsets("Entries", &counts));
  PetscCheck(counts == (std::vector<PetscInt>{0, half, 2 * half, PETSC_MAX_INT}), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Offsets end at %" PetscInt_FMT, counts.back());
  if (!NARROW) PetscFunctionReturn(PETSC_SUCCESS); // the sum itself would not fit 64 bits
  PetscCall(ExpectError(
      "offsets", [&] { return CheckedOffsets("Entries of something", &more); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("offsets", message, {"Entries of something", "2147483648", "2147483647"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The last rows that PetscInt counts, as a block of `threads` sees them, against 64 bits.
template <int threads, int width> PetscErrorCode CheckRows()
{
  constexpr int  rows  = threads / width;
  const PetscInt block = (PETSC_MAX_INT - rows) / rows;

  PetscFunctionBeginUser;
  for (const PetscInt b : {PetscInt(0), PetscInt(7), block})
    for (unsigned t = 0; t < threads; t++) {
      const long long expected = (long long)b * rows + t / width, row = row_of_thread<threads, width>(b, t);
      PetscCheck(row == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%d threads a row, block %" PetscInt_FMT ", thread %u: row %lld, not %lld", width, b, t, row,
                 expected);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Threads()
{
  PetscFunctionBeginUser;
  PetscCall(CheckRows<256, 1>());
  PetscCall(CheckRows<256, 2>());
  PetscCall(CheckRows<256, 8>());
  PetscCall(CheckRows<256, 32>());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(
      argc, argv, help,
      {{"padding", Padding}, {"width", Width}, {"diagonals", Diagonals}, {"offsets", Offsets}, {"threads", Threads}});
}
