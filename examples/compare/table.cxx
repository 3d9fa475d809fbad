#include "report.hpp"
#include "print.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace
{
/// About four significant digits and no powers of ten; "-" for what was not measured.
std::string Number(double v, const char unit[] = "")
{
  char text[64];
  if (v < 0) return "-";
  const int digits = v >= 1000 || v == 0 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : v >= 0.1 ? 3 : v >= 0.01 ? 4 : 5;
  snprintf(text, sizeof(text), "%.*f%s", digits, v, unit);
  return text;
}

} // namespace

PetscErrorCode Progress(const std::string &text)
{
  PetscFunctionBeginUser;
  if (!isatty(STDERR_FILENO)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "\r\033[K%s", text.c_str())); // to the line's begin, clear it
  fflush(stderr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
std::string Title(const Result &r)
{
  const bool chosen = !r.chosen.empty() && r.chosen != r.format;
  return r.type + (r.format.empty() ? "" : "/" + r.format) + (chosen ? " (" + r.chosen + ")" : "");
}

/// "+-3%"
std::string Spread(double v)
{
  char text[32];
  snprintf(text, sizeof(text), "+-%.0f%%", 100 * v);
  return v < 0 ? "-" : text;
}

Line TableLine(const Result &r, bool timed, bool fastest)
{
  char error[32];
  snprintf(error, sizeof(error), "%.2g%s", r.max_error_over_bound, r.Wrong() ? " WRONG" : "");
  if (!timed) return {" ", Title(r), r.backend, Number(r.padding), error};
  const std::string ratio = r.ratio < 0 ? "-" : Number(r.ratio, "x ") + r.native;
  return {fastest ? "*" : " ",
          Title(r),
          r.backend,
          Number(r.convert_ms),
          Number(r.convert_spmv),
          Number(r.ms),
          Spread(r.spread),
          Number(r.gbs),
          ratio,
          error};
}

/// Says so where more than a quarter of the times spread too far to compare rows.
PetscErrorCode PrintBusy(const Case &c)
{
  int timed = 0, wide = 0;

  PetscFunctionBeginUser;
  for (const Result &r : c.results) {
    timed += r.ms > 0;
    wide += r.spread > MostSpread;
  }
  if (4 * wide > timed)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "The machine was too busy to judge: %d of %d times spread by more than +-%.0f %%\n", wide,
                          timed, 100 * MostSpread));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode PrintTable(const Case &c)
{
  std::vector<Line>           lines;
  std::vector<const Result *> measured, refused;
  bool                        timed = false, marked[2] = {false, false}; // marked: the fastest of the host and the GPU

  PetscFunctionBeginUser;
  for (const Result &r : c.results) {
    PetscCallCXX((r.applicable ? measured : refused).push_back(&r));
    timed = timed || r.ms > 0;
  }
  // The host first, then the GPU; on each side the fastest first.
  std::stable_sort(measured.begin(), measured.end(),
                   [](const Result *p, const Result *q) { return p->device != q->device ? q->device : p->ms < q->ms; });
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\n%s: %" PetscInt_FMT " x %" PetscInt_FMT ", %.0f nonzeros, %" PetscInt_FMT
                        " to %" PetscInt_FMT " a row\n",
                        c.matrix.c_str(), c.rows, c.cols, c.nonzeros, c.shortest, c.longest));
  if (timed) {
    PetscCallCXX(lines.push_back({"", "type/format", "backend", "convert ms", "in SpMVs", "ms/product", "spread",
                                  "GB/s", "vs native", "error/bound"}));
  } else {
    PetscCallCXX(lines.push_back({"", "type/format", "backend", "stored/nonzeros", "error/bound"}));
  }
  for (const Result *r : measured) {
    const bool fastest = r->mult_right && !marked[r->device];
    PetscCallCXX(lines.push_back(TableLine(*r, timed, fastest)));
    marked[r->device] = marked[r->device] || fastest;
  }
  PetscCall(PrintLines(lines, 3));
  if (timed) PetscCall(PrintBusy(c));
  if (timed && !c.in_turn)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Timed one after the other: their copies are too large to take turns\n"));
  for (const Result *r : measured) {
    if (r->Wrong())
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "! %s on %s: %s is wrong%s\n", Title(*r).c_str(), r->backend.c_str(),
                            r->worst_product.c_str(), r->native_type ? " (in PETSc itself)" : ""));
  }
  for (const Result *r : refused)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s on %s refused: %s\n", Title(*r).c_str(), r->backend.c_str(),
                          r->reason.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
