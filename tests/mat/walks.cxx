static const char help[] =
    "The kernel that walks from plane to plane, run on the host: each row once, and the bits of a loop over its entries,\n"
    "whatever rows are left out, however planes lie in memory, and whenever they come.\n\n";

#include "../testing.hpp"
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <vector>
#include "../family.hpp"
#include "grids.hpp"
#include "mat/formats/stencil/lines.hpp"

#include "device/launch.cuh" // from here on for the host
#include "mat/formats/sending.cuh"

using namespace testing;
using namespace grids;
using sparsegpu::Scalar;
using sparsegpu::formats::FindLines;
using sparsegpu::formats::FindStencils;
using sparsegpu::formats::FindWalk;
using sparsegpu::formats::StencilLayout;
using sparsegpu::formats::StencilLines;

namespace
{
/// z = A x + y, and how often each row was stored.
template <bool sends> struct Record {
  using Rows = Record;
  struct Ahead {
    Scalar y;
  };

  const StencilLayout *A;
  const Scalar        *x, *y;
  Scalar              *z;
  int                 *times, *sent;

  bool  Skip() const { return false; }
  void  Send(unsigned) const { ++*sent; }
  Ahead Load(PetscInt row, const Scalar &own) const
  {
    if (row < A->cols) on_host::Expect(!memcmp(&own, x + row, sizeof(own)), "another entry of x than the row's own");
    return Ahead{y[row]};
  }
  void Take(PetscInt row, const Scalar &sum, const Ahead &a) const
  {
    on_host::Expect(row >= 0 && row < A->rows, "a row that is none");
    if (row < 0 || row >= A->rows) return;
    z[row] = sum + a.y;
    ++times[row];
  }
  void operator()(PetscInt row, const Scalar &sum) const { Take(row, sum, Ahead{y[row]}); }
  void Finish(unsigned) const {}
};
} // namespace
namespace sparsegpu::formats
{
template <> constexpr bool SENDS<Record<true>> = true;
} // namespace sparsegpu::formats

#include "mat/formats/stencil/line_bits.cuh"
#include "mat/formats/stencil/lines_kernel.cuh"

namespace
{
template <class To, class From> To As(const From &from)
{
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void *>(&to), &from, sizeof(to));
  return to;
}

/// The different rows of a grid.
struct Table {
  std::vector<PetscInt>      begin{0}, offset;
  std::vector<Scalar>        value;
  std::vector<unsigned char> row_class;

  Table(const Grid &g, PetscInt cut)
  {
    std::map<std::vector<std::pair<PetscInt, PetscInt>>, size_t> number; // of offsets and kinds of values
    std::vector<std::pair<PetscInt, PetscInt>>                   row;
    for (PetscInt r = 0; r < g.x * g.y * g.z - cut; ++r) {
      row.clear();
      EachEntry(g, r, [&](PetscInt column, PetscInt d) { row.emplace_back(column - r, KindOf(g, r, d)); });
      std::sort(row.begin(), row.end());
      const auto [at, fresh] = number.emplace(row, number.size());
      row_class.push_back((unsigned char)at->second);
      if (!fresh) continue;
      for (const auto &[o, kind] : row) {
        offset.push_back(o);
        value.push_back(As<Scalar>(conformance::Value((unsigned long long)kind)));
      }
      begin.push_back((PetscInt)offset.size());
    }
  }
};

/// The walk of A by blocks on the host.
template <int points, bool star, bool sends>
void Walk(const StencilLines &lines, const StencilLayout &A, const Scalar *x, const Record<sends> &record)
{
  on_host::Block block;
  const unsigned senders = sends ? 2 : 0;

  on_host::engine.begin       = x;
  on_host::engine.end         = x + A.cols;
  on_host::engine.stage_bytes = lines.PlaneBytes();
  gridDim.x                   = (unsigned)(lines.walk.Slabs(A.rows) * lines.walk.chunks) + senders;
  for (unsigned b = 0; b < gridDim.x; ++b)
    block.Run(b, (unsigned)lines.walk.threads,
              [&] { sparsegpu::formats::stencil_lines_kernel<points, star>(lines, A, x, senders, record); });
}

/// One grid with walks of `length` planes, 0: those chosen for one multiprocessor; x is `shift` entries behind an
/// address of 128 bytes.
template <bool sends> PetscErrorCode CheckWalk(const Grid &g, PetscInt cut, PetscInt length, size_t shift, bool late)
{
  const Table                 table(g, cut);
  std::vector<size_t>         stencils, count(table.begin.size(), 0);
  std::vector<unsigned short> kinds, bits;
  std::vector<PetscInt>       left_out;
  StencilLines                lines;
  StencilLayout               A{};
  int                         sent = 0;

  PetscFunctionBeginUser;
  A.rows      = (PetscInt)table.row_class.size();
  A.cols      = g.x * g.y * g.z;
  A.row_class = table.row_class.data();
  A.begin     = table.begin.data();
  A.offset    = table.offset.data();
  A.value     = table.value.data();
  for (const unsigned char c : table.row_class) ++count[c];
  PetscCall(FindStencils({table.begin, table.offset, table.value}, &stencils));
  PetscCheck(!stencils.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no stencil", g.name);
  const size_t inside =
      *std::max_element(stencils.begin(), stencils.end(), [&](size_t a, size_t b) { return count[a] < count[b]; });
  PetscCall(FindLines({table.begin, table.offset, table.value}, inside, &lines, &kinds));
  lines.walk = FindWalk(A.rows, lines.walk.stride, 1);
  if (length) lines.walk.length = length;
  const PetscInt stride = lines.walk.stride, slabs = lines.walk.Slabs(A.rows);
  for (PetscInt n = 0; n < slabs * stride; ++n) {
    const PetscInt row = n / stride * lines.walk.length * stride + n % stride;
    bits.push_back(0);
    if (row < A.rows)
      bits.back() = (unsigned short)sparsegpu::formats::line_bits(
          A, stride, row, sparsegpu::formats::place_in_line(lines.walk, A.rows, row).length, kinds.data());
  }
  for (PetscInt r = 0; r < A.rows; ++r)
    if (sparsegpu::formats::LeftOut{lines.walk, A.rows, bits.data()}(r)) left_out.push_back(r);
  lines.bits     = bits.data();
  lines.left_out = left_out.data();
  lines.others   = (PetscInt)left_out.size();
  // x behind an aligned address
  std::vector<Scalar> room((size_t)A.cols + 128), y((size_t)A.rows), z((size_t)A.rows);
  std::vector<int>    times((size_t)A.rows, 0);
  size_t              aligned = 0;
  while (reinterpret_cast<std::uintptr_t>(room.data() + aligned) % 128) ++aligned;
  Scalar *const x = room.data() + aligned + shift;
  for (PetscInt c = 0; c < A.cols; ++c) x[c] = As<Scalar>(conformance::Value(1000 + (unsigned long long)c));
  for (PetscInt r = 0; r < A.rows; ++r) y[(size_t)r] = As<Scalar>(conformance::Value(7000 + (unsigned long long)r));
  x[A.rows / 3]        = std::numeric_limits<PetscReal>::infinity();
  on_host::failure     = nullptr;
  on_host::engine.late = late;
  const Record<sends> record{&A, x, y.data(), z.data(), times.data(), &sent};
  if (lines.star)
    Walk<5, true>(lines, A, x, record);
  else
    Walk<9, false>(lines, A, x, record);
  PetscCheck(!on_host::failure, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", g.name, on_host::failure);
  PetscCheck(sent == (sends ? 2 * (int)lines.walk.threads : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d threads sent",
             g.name, sent);
  for (PetscInt r = 0; r < A.rows; ++r) {
    const auto got      = As<PetscScalar>(z[(size_t)r]);
    const auto expected = As<PetscScalar>(
        sparsegpu::formats::stencil_row_sum<1>(A, table.row_class[(size_t)r], x + r, [] {}) + y[(size_t)r]);
    const bool same =
        !memcmp(&expected, &got, sizeof(got)) || (PetscIsInfOrNanScalar(expected) && PetscIsInfOrNanScalar(got));
    PetscCheck(times[(size_t)r] == 1 && same, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %d planes each: row %d stored %d times, %g and not %g", g.name, (int)lines.walk.length, (int)r,
               times[(size_t)r], (double)PetscRealPart(got), (double)PetscRealPart(expected));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnHost()
{
  PetscFunctionBeginUser;
  for (bool cross : {true, false})
    for (Rows rows : {Rows::Alike, Rows::OfSides, Rows::Planes, Rows::Broken, Rows::Dirichlet, Rows::Eliminated,
                      Rows::Periodic, Rows::Materials})
      for (PetscInt length : {0, 1, 2, 3, 5}) {
        const size_t shift = (size_t)length % 2;
        const Grid   g{cross ? "7 points" : "27 points", 17, 16, 9, cross, rows};
        PetscCall(CheckWalk<false>(g, 0, length, shift, length == 2));
        PetscCall(CheckWalk<true>(g, CUT, length, 1 - shift, length != 2));
      }
  for (bool late : {false, true}) { // several blocks a plane, of 256 threads and of fewer
    PetscCall(CheckWalk<false>(Grid{"7 points, wide", 61, 20, 8, true}, 3, 4, 1, late));
    PetscCall(CheckWalk<true>(Grid{"27 points, wide", 40, 33, 7, false}, 1330, 3, 0, late));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"on_host", OnHost}});
}
