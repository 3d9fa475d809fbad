/// Finds the stencil that the rows inside a grid have, and the rows that are parts of it.
#include "mat/formats/stencil/lines.hpp"
#include <algorithm>
#include <cmath>

namespace sparsegpu::formats
{

namespace
{
/// An entry of the stencil.
struct Point {
  PetscInt plane, place; ///< -1, 0 or 1 where it is walked; offset within the plane
};

Point PointAt(PetscInt offset, PetscInt stride)
{
  const double plane = std::floor(static_cast<double>(offset) / static_cast<double>(stride) + 0.5);
  return Point{static_cast<PetscInt>(plane), offset - static_cast<PetscInt>(plane) * stride};
}

bool IsFinite(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return std::isfinite(v.re) && std::isfinite(v.im);
#else
  return std::isfinite(v);
#endif
}

/// One class of rows: entries [begin, end) of the table.
struct ClassEntries {
  const PetscInt *offset;
  const Scalar   *value;
  PetscInt        begin, end;
};

/// The way from a plane to the next, which the number of entries of the stencil tells; 0 if there is none, or one that
/// leaves most threads of a block without rows.
PetscInt StepOf(const ClassEntries &row)
{
  constexpr PetscInt CROSS = 7, BOX = 27, ABOVE = 22, LEAST = 256; // entry of the box; rows
  const PetscInt     count = row.end - row.begin;
  const PetscInt     step = count == CROSS ? row.offset[row.end - 1] : count == BOX ? row.offset[row.begin + ABOVE] : 0;

  return step >= LEAST ? step : 0;
}

/// lines->points etc. from the entries of the rows inside; false if they are no stencil that is walked.
bool TakeStencil(const ClassEntries &row, PetscInt stride, StencilLines *lines)
{
  PetscInt place[3][StencilLines::POINTS];
  int      count[3] = {};
  PetscInt plane    = -1;

  for (PetscInt e = row.begin; e < row.end; e++) {
    const Point p = PointAt(row.offset[e], stride);
    if (p.plane < plane || p.plane > 1 || !IsFinite(row.value[e])) return false; // planes one after the other
    plane       = p.plane;
    const int g = static_cast<int>(p.plane) + 1, n = count[g];
    if (n == StencilLines::POINTS || (n > 0 && p.place <= place[g][n - 1])) return false;
    place[g][n]        = p.place;
    lines->value[g][n] = row.value[e];
    count[g]++;
  }
  const int  points = count[1], middle = points / 2;
  const auto alike = [&](int g) { return count[g] == points && std::equal(place[g], place[g] + points, place[1]); };
  const auto alone = [&](int g) { return count[g] == 1 && place[g][0] == 0; };
  const bool full  = alike(0) && alike(2);
  lines->star      = !full;
  if (full ? points != 9 : points != 5 || !alone(0) || !alone(2)) return false;
  const int line = full ? 3 : points; // of neighbours, but for the ends of a cross
  for (int q = full ? 0 : 1; q < points; q += line)
    if (place[1][q] + 1 != place[1][q + 1] || place[1][q] + 2 != place[1][q + 2]) return false;
  if (place[1][middle] != 0) return false;
  for (int g = 0; g < 3 && !full; g += 2) lines->value[g][middle] = lines->value[g][0];
  std::copy_n(place[1], points, lines->offset);
  lines->points       = points;
  lines->walk.stride  = stride;
  lines->walk.threads = LineWalk::THREADS; // at most
  return lines->PlaneBytes() <= StencilLines::SHARED / StencilLines::STAGES;
}

/// The bits of a class of rows; 0 if its entries are no part of the stencil.
unsigned short KindOf(const ClassEntries &row, PetscInt stride, const StencilLines &lines)
{
  unsigned has[3] = {};
  PetscInt last   = 0;

  for (PetscInt e = row.begin; e < row.end; e++) {
    const Point p = PointAt(row.offset[e], stride);
    if (std::abs(p.plane) > 1 || (e > row.begin && row.offset[e] <= last)) return 0;
    last                     = row.offset[e];
    const PetscInt *const at = std::find(lines.offset, lines.offset + lines.points, p.place);
    const int             g = static_cast<int>(p.plane) + 1, q = static_cast<int>(at - lines.offset);
    if (q == lines.points || (g != 1 && lines.star && q != lines.Middle()) ||
        !SameBits(row.value[e], lines.value[g][q]))
      return 0;
    has[g] |= 1u << q;
  }
  const unsigned around = lines.star ? has[1] & 1u << lines.Middle() : has[1];
  if (!around || (has[0] && has[0] != around) || (has[2] && has[2] != around)) return 0;
  return static_cast<unsigned short>(has[1] | (has[0] ? StencilLines::BEFORE : 0) | (has[2] ? StencilLines::AFTER : 0));
}

ClassEntries ClassOf(const RowTable &table, size_t c)
{
  return ClassEntries{table.offset.data(), table.value.data(), table.begin[c], table.begin[c + 1]};
}

/// Whether the rows are such a stencil, which *lines then is; else lines->points = 0.
bool TakeClass(const ClassEntries &row, StencilLines *lines)
{
  const PetscInt stride = StepOf(row);

  *lines = StencilLines();
  if (stride && TakeStencil(row, stride, lines)) return true;
  lines->points = 0;
  return false;
}
} // namespace

PetscErrorCode FindStencils(const RowTable &table, std::vector<size_t> *classes)
{
  StencilLines lines;

  PetscFunctionBegin;
  classes->clear();
  for (size_t c = 0; c + 1 < table.begin.size(); c++)
    if (TakeClass(ClassOf(table, c), &lines)) PetscCallCXX(classes->push_back(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLines(const RowTable &table, size_t inside, StencilLines *lines, std::vector<unsigned short> *kinds)
{
  PetscFunctionBegin;
  *lines = StencilLines();
  kinds->clear();
  if (inside + 1 >= table.begin.size() || !TakeClass(ClassOf(table, inside), lines)) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t c = 0; c + 1 < table.begin.size(); c++)
    PetscCallCXX(kinds->push_back(KindOf(ClassOf(table, c), lines->walk.stride, *lines)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Waves of thread blocks, with room for those that send, times the planes that each reads and the time until it has
/// the first.
LineWalk FindWalk(PetscInt rows, PetscInt stride, PetscInt multiprocessors)
{
  constexpr PetscInt SHORTEST = 3, TRIED = 4096, WARP = 32, START = 4, ROWS = LineWalk::ROWS;
  const PetscInt     planes = (rows - 1) / stride + 1, chunks = (stride - 1) / (LineWalk::THREADS * ROWS) + 1;
  const PetscInt     each = (stride - 1) / chunks + 1, threads = ((each - 1) / ROWS / WARP + 1) * WARP;
  LineWalk           best{stride, planes, chunks, threads};
  const PetscInt     room    = best.AtOnce(multiprocessors);
  const PetscInt     at_once = room > 2 * LineWalk::SENDERS ? room - LineWalk::SENDERS : room;
  double             least   = -1;

  for (PetscInt slabs = 1; slabs <= TRIED && slabs * SHORTEST <= planes; slabs++) {
    const PetscInt   length = (planes - 1) / slabs + 1;
    const PetscCount blocks = static_cast<PetscCount>((planes - 1) / length + 1) * chunks;
    const double     time   = static_cast<double>((blocks - 1) / at_once + 1) * static_cast<double>(length + 2 + START);
    if (least >= 0 && time >= least) continue;
    least       = time;
    best.length = length;
  }
  return best;
}

} // namespace sparsegpu::formats
