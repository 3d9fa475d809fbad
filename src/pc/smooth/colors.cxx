/// Rounds of TakeColor until every row has its colour; then rows are sorted by colour.
#include "pc/smooth/colors.hpp"
#include "device/backend_call.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "mat/rows/transpose.hpp"
#include "pc/smooth/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::smooth
{

namespace
{
/// Rounds between two looks at how many rows are left, for each of which the host waits.
constexpr PetscInt ROUNDS = 8;

struct Couplings {
  std::vector<PetscInt> host_i, host_j, source;
  Array<PetscInt>       i, j, from;
  CsrArrays             back;
};

/// The transpose, where some coupling has one direction only.
PetscErrorCode FindBack(PetscInt rows, PetscInt nonzeros, const CsrArrays &A, Space space, Couplings *c)
{
  Array<PetscInt> count;
  PetscInt        one_way = 0;
  CsrView         view{rows, rows, nonzeros, A.i, A.j, A.a};

  PetscFunctionBegin;
  c->back = A;
  PetscCall(count.Allocate(static_cast<size_t>(rows) + 1, space));
  PetscCall(ForEach(space, rows, CountOneWay{A, count.data()}));
  PetscCall(RunningSumIn(space, rows, &count, &one_way));
  if (one_way == 0) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    view.device = A;
    PetscCall(TransposePattern_CUDA(view, &c->i, &c->j, &c->from));
    c->back = CsrArrays{c->i.data(), c->j.data(), nullptr};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(TransposePattern(view, &c->host_i, &c->host_j, &c->source));
  c->back = CsrArrays{c->host_i.data(), c->host_j.data(), nullptr};
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindColors(PetscInt rows, PetscInt nonzeros, const CsrArrays &pattern, Space space, Colors *colors)
{
  const size_t      size = static_cast<size_t>(rows);
  Couplings         couplings;
  Array<PetscInt>   color, flag, number;
  SortedCoordinates sorted;
  PetscInt          left = rows;

  PetscFunctionBegin;
  colors->begin.clear();
  colors->rounds = 0;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindBack(rows, nonzeros, pattern, space, &couplings));
  PetscCall(color.Allocate(size, space));
  PetscCall(flag.Allocate(size + 1, space));
  PetscCall(ForEach(space, rows, BeginColors{color.data()}));
  while (left > 0) { // each round colours the first of those that are left, at least
    for (PetscInt r = 0; r < ROUNDS; r++)
      PetscCall(ForEach(space, rows, TakeColor{pattern, couplings.back, color.data()}));
    colors->rounds += ROUNDS;
    PetscCall(ForEach(space, rows, FlagUncolored{color.data(), flag.data()}));
    PetscCall(RunningSumIn(space, rows, &flag, &left));
  }
  PetscCall(number.Allocate(size, space));
  PetscCall(ForEach(space, rows, FillNumbers{number.data()}));
  PetscCall(SortCoordinates(rows, rows, rows, color.data(), number.data(), space, &sorted));
  std::vector<PetscInt> begin;
  PetscCallCXX(begin.resize(size + 1));
  PetscCall(sorted.i.ToHost(begin.data()));
  size_t count = 1;
  while (begin[count] < rows) count++;
  begin.resize(count + 1);
  PetscCallCXX(colors->begin.assign(begin.begin(), begin.end()));
  colors->list = std::move(sorted.j);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::smooth
