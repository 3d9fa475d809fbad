/// The rule of -mat_sparsegpu_format auto: the format that moves the fewest bytes among those whose kernels reach full
/// bandwidth on this pattern. Made from the pattern alone, so the choice, and with it every bit of a product, is
/// reproducible. docs/performance.md has the measurements behind the constants.
#include <algorithm>
#include <cmath>
#include "mat/format.hpp"
#include "mat/formats/ell/ell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscErrorCode InspectPattern(const CsrView &A, PatternFacts *facts)
{
  std::vector<char> used;
  PetscReal         squares = 0;

  PetscFunctionBegin;
  *facts = PatternFacts{A.rows, A.cols, A.nonzeros, 0, 0, A.rows ? static_cast<PetscReal>(A.nonzeros) / A.rows : 0, 0};
  PetscCallCXX(used.assign(static_cast<size_t>(A.rows) + A.cols, 0));
  for (PetscInt r = 0; r < A.rows; r++) {
    const PetscInt length = A.i[r + 1] - A.i[r];
    facts->longest        = std::max(facts->longest, length);
    squares += (length - facts->mean) * (length - facts->mean);
    if (facts->diagonals > PatternFacts::MANY_DIAGONALS) continue;
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      char &seen = used[static_cast<size_t>(A.j[e]) + (A.rows - r)];
      facts->diagonals += !seen;
      seen = 1;
    }
  }
  facts->deviation = A.rows ? std::sqrt(squares / A.rows) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChooseFormat(const CsrView &A, const Parameters &parameters, Space space, std::string *name,
                            std::string *reason)
{
  PatternFacts f;
  char         text[256];

  PetscFunctionBegin;
  PetscCall(InspectPattern(A, &f));
  const PetscLogDouble value = sizeof(Scalar), index = sizeof(PetscInt), nonzeros = f.nonzeros;
  const PetscLogDouble csr = nonzeros * (value + index) + f.rows * index;
  const PetscLogDouble dia = static_cast<PetscLogDouble>(f.diagonals) * f.rows * value;
  const PetscLogDouble ell = static_cast<PetscLogDouble>(f.longest) * f.rows * (value + index);
  // On the GPU csr reaches about 3/4 of the bandwidth of the column-major formats on short rows. On the CPU caches
  // serve csr's gathers, so dia must save a quarter of the bytes to win; ell only costs there.
  const PetscReal gain  = space == Space::Device ? 1.15 : 0.75;
  const char     *best  = "csr";
  PetscLogDouble  bytes = csr;

  const bool absurd_dia = f.diagonals > PatternFacts::MANY_DIAGONALS ||
                          TooMuchPadding(dia / value, f.nonzeros, parameters.max_padding),
             absurd_ell = TooMuchPadding(ell / (value + index), f.nonzeros, parameters.max_padding);
  // Their threads walk a row each: too few rows for the length leave the GPU idle. A product of fewer than SMALL
  // nonzeros takes one launch and a memory latency or two whatever it reads: csr has the fewest.
  constexpr PetscInt SMALL = 524288; // measured: docs/performance.md
  const auto         fills = [&](PetscInt steps) {
    return space == Space::Host || (f.nonzeros >= SMALL && f.rows >= 512 * steps);
  };
  if (f.nonzeros > 0 && fills(f.diagonals) && !absurd_dia && dia < gain * csr) {
    best  = "dia";
    bytes = dia;
  } else if (f.nonzeros > 0 && space == Space::Device && fills(f.longest) && !absurd_ell && f.longest <= 64 &&
             ell < 1.05 * csr) {
    best  = "ell";
    bytes = ell;
  } // uneven rows: csr bins the long ones and measures faster than merge on R-MAT and circuits
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "auto: %.3g MB against %.3g MB as csr; %" PetscInt_FMT
                          "%s diagonals, rows of %.1f +- %.1f entries, at most %" PetscInt_FMT,
                          bytes / 1e6, csr / 1e6, f.diagonals,
                          f.diagonals > PatternFacts::MANY_DIAGONALS ? " or more" : "", (double)f.mean,
                          (double)f.deviation, f.longest));
  PetscCallCXX(*name = best);
  PetscCallCXX(*reason = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
