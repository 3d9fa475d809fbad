#include "report.hpp"

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

using Line = std::vector<std::string>;

/// Prints lines with columns of equal width: the first `left` columns to the left, numbers to the right.
PetscErrorCode PrintLines(const std::vector<Line> &lines, size_t left)
{
  std::vector<size_t> width;

  PetscFunctionBeginUser;
  for (const Line &line : lines) {
    PetscCallCXX(width.resize(std::max(width.size(), line.size())));
    for (size_t k = 0; k < line.size(); k++) width[k] = std::max(width[k], line[k].size());
  }
  for (const Line &line : lines) {
    std::string text;
    for (size_t k = 0; k < line.size(); k++) {
      const std::string padding(width[k] - line[k].size(), ' ');
      PetscCallCXX(text += (k ? "  " : "") + (k < left ? line[k] + padding : padding + line[k]));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", text.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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

PetscErrorCode PrintTable(const Case &c)
{
  std::vector<Line> lines = {
      {"", "type/format", "backend", "convert ms", "in SpMVs", "ms/product", "GB/s", "vs native", "error/bound"}};
  std::vector<const Result *> measured, refused;
  char                        error[32];

  PetscFunctionBeginUser;
  for (const Result &r : c.results) PetscCallCXX((r.applicable ? measured : refused).push_back(&r));
  // The host first, then the GPU; on each side the fastest first.
  std::stable_sort(measured.begin(), measured.end(),
                   [](const Result *p, const Result *q) { return p->device != q->device ? q->device : p->ms < q->ms; });
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\n%s: %" PetscInt_FMT " x %" PetscInt_FMT ", %.0f nonzeros, %" PetscInt_FMT
                        " to %" PetscInt_FMT " a row\n",
                        c.matrix.c_str(), c.rows, c.cols, c.nonzeros, c.shortest, c.longest));
  const Result *previous = nullptr;
  for (const Result *r : measured) {
    const bool  fastest = r->ms > 0 && (!previous || previous->device != r->device);
    std::string name    = r->type + (r->format.empty() ? "" : "/" + r->format);
    if (!r->chosen.empty() && r->chosen != r->format) name += " (" + r->chosen + ")";
    snprintf(error, sizeof(error), "%.2g%s", r->max_error_over_bound, r->Wrong() ? " WRONG" : "");
    PetscCallCXX(lines.push_back({fastest ? "*" : " ", name, r->backend, Number(r->convert_ms), Number(r->convert_spmv),
                                  Number(r->ms), Number(r->gbs),
                                  r->ratio < 0 ? "-" : Number(r->ratio, "x ") + r->native, error}));
    previous = r;
  }
  PetscCall(PrintLines(lines, 3));
  for (const Result *r : measured)
    if (r->Wrong())
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, X,
                            r->backend.c_str(), r->worst_product.c_str()));
  for (const Result *r : refused)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s/%s on %s refused: %s\n", r->type.c_str(), r->format.c_str(),
                          r->backend.c_str(), r->reason.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
