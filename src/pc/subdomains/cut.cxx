/// Requests, ranges of rows, and the order of elimination of a cut.
#include "pc/subdomains/cut.hpp"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

const char *const CutNames[6] = {"auto", "ranges", "graph", "SparseGPUCut", "", nullptr};

const char *NameOf(CutKind kind)
{
  return kind == CutKind::Boxes ? "boxes" : CutNames[static_cast<int>(kind)];
}

bool Request::operator==(const Request &other) const
{
  return count == other.count && automatic == other.automatic && kind == other.kind;
}

std::string Request::Name() const
{
  return automatic ? "auto" : std::to_string(count);
}

PetscErrorCode Request::Parse(const char text[])
{
  PetscBool same;
  char     *end;

  PetscFunctionBegin;
  PetscCall(PetscStrcasecmp(text, "auto", &same));
  if (same) {
    automatic = true;
    count     = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  errno                 = 0;
  const long long value = strtoll(text, &end, 10);
  PetscCheck(end != text && !*end && !errno && value > 0 && value <= PETSC_MAX_INT, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "Subdomains must be a positive number or auto, not %s", text);
  automatic = false;
  count     = static_cast<PetscInt>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt AutomaticCount(PetscInt rows)
{
  const PetscInt size = std::clamp<PetscInt>(rows / 1024, 512, 2048);
  return std::max<PetscInt>(rows / size, 1);
}

/// Beginnings of ranges of rows, in the order of elimination: range s ends where the entries before it are closest to
/// (s + 1) / count of all.
static PetscErrorCode CutRanges(const CsrView &A, PetscInt count, const PetscInt *row, std::vector<PetscInt> *begin)
{
  const double share = static_cast<double>(A.nonzeros) / static_cast<double>(count);
  double       sum   = 0;
  PetscInt     step  = 0;

  PetscFunctionBegin;
  PetscCallCXX(begin->assign(1, 0));
  for (PetscInt s = 1; s < count; s++) {
    const PetscInt least = begin->back() + 1, most = A.rows - (count - s);
    for (; step < most; step++) {
      const PetscInt r      = row ? row[step] : step;
      const double   length = static_cast<double>(A.i[r + 1] - A.i[r]);
      if (step >= least && sum + length / 2 > share * static_cast<double>(s)) break;
      sum += length;
    }
    PetscCallCXX(begin->push_back(step));
  }
  PetscCallCXX(begin->push_back(A.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Steps of elimination sorted by subdomain, and the beginnings of subdomains.
static PetscErrorCode SortSteps(PetscInt rows, const PetscInt *row, const PetscInt *column, Cut *cut)
{
  std::vector<PetscInt> next;

  PetscFunctionBegin;
  PetscCallCXX(cut->begin.assign(static_cast<size_t>(cut->count) + 1, 0));
  for (const PetscInt s : cut->of_row) cut->begin[s + 1]++;
  for (PetscInt s = 0; s < cut->count; s++) cut->begin[s + 1] += cut->begin[s];
  PetscCallCXX(next.assign(cut->begin.begin(), cut->begin.end() - 1));
  PetscCallCXX(cut->row.resize(rows));
  if (column != row) PetscCallCXX(cut->column.resize(rows));
  for (PetscInt k = 0; k < rows; k++) {
    const PetscInt r = row ? row[k] : k, step = next[cut->of_row[r]]++;
    cut->row[step] = r;
    if (column != row) cut->column[step] = column[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeCut(const CsrView &A, PetscInt count, CutKind kind, const PetscInt *row, const PetscInt *column,
                       Cut *cut)
{
  PetscFunctionBegin;
  PetscAssert(!row == !column, PETSC_COMM_SELF, PETSC_ERR_PLIB, "One order without the other");
  PetscCheck(count >= 1 && count <= A.rows, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " subdomains of %" PetscInt_FMT " rows; there must be 1 to as many as rows", count,
             A.rows);
  *cut       = Cut();
  cut->count = count;
  cut->kind  = kind;
  if (kind == CutKind::Auto) {
    bool found;
    PetscCall(CutBoxes(A, count, &cut->of_row, &found));
    cut->kind = found ? CutKind::Boxes : CutKind::Graph;
  }
  if (cut->kind == CutKind::Graph) PetscCall(CutGraph(A, count, &cut->of_row));
  if (cut->kind == CutKind::Ranges) {
    PetscCall(CutRanges(A, count, row, &cut->begin));
    PetscCallCXX(cut->of_row.resize(A.rows));
    for (PetscInt s = 0; s < count; s++)
      for (PetscInt k = cut->begin[s]; k < cut->begin[s + 1]; k++) cut->of_row[row ? row[k] : k] = s;
  } else {
    PetscCall(SortSteps(A.rows, row, column, cut));
  }
  for (PetscInt s = 0; s < count; s++) cut->largest = std::max(cut->largest, cut->begin[s + 1] - cut->begin[s]);
  if (column == row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(cut->of_column.resize(A.rows));
  for (PetscInt s = 0; s < count; s++)
    for (PetscInt k = cut->begin[s]; k < cut->begin[s + 1]; k++)
      cut->of_column[cut->column.empty() ? column[k] : cut->column[k]] = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
