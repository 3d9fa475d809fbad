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
using sparsegpu::formats::GhostPlanes;
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
  const Scalar        *received; ///< [receives]
  PetscInt             receives;
  bool                 come;

  bool Skip() const { return false; }
  void Send(unsigned) const { ++*sent; }
  bool Await() const
  {
    __syncthreads();
    return come;
  }
  Scalar Received(PetscInt n) const
  {
    on_host::Expect(n >= 0 && n < receives, "an entry that is not received");
    return n >= 0 && n < receives ? received[n] : Scalar(0);
  }
  PetscInt      Receives() const { return receives; }
  static Scalar Lost() { return Scalar(std::numeric_limits<PetscReal>::quiet_NaN()); }
  Ahead         Load(PetscInt row, const Scalar &own) const
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

/// Entries of other ranks for a part of the rows of the first and the last plane, which lie among the entries received
/// from first[end] on, where planes have no room for those of other rows.
struct Ghosts {
  std::vector<unsigned char> with;
  std::vector<Scalar>        received;
  GhostPlanes                planes;

  Ghosts(const StencilLines &lines, const StencilLayout &A, bool before, bool after)
  {
    const PetscInt     stride   = lines.walk.stride;
    constexpr PetscInt SHIFT[2] = {-3, 5}, EACH = 7;
    received.resize((size_t)(2 * stride));
    for (size_t n = 0; n < received.size(); ++n) received[n] = As<Scalar>(conformance::Value(90000 + n));
    with.assign((size_t)(2 * stride), 0);
    planes.with = with.data();
    for (int end : {0, 1}) {
      planes.any[end]   = end ? after : before;
      planes.first[end] = end * stride + SHIFT[end];
      for (PetscInt place = 0; place < stride && planes.any[end]; ++place) {
        const PetscInt row    = end ? A.rows - stride + place : place;
        const unsigned points = Points(lines, A, row);
        const bool     some   = place / 32 % 2 == 0 || place % EACH; // of a warp all, or most
        bool           all    = points && some && !sparsegpu::formats::LeftOut{lines.walk, A.rows, lines.bits}(row);
        for (int q = 0; q < lines.points; ++q) {
          const PetscInt n = planes.first[end] + place + lines.offset[q];
          if (points >> q & 1) all = all && n >= 0 && n < (PetscInt)received.size();
        }
        with[(size_t)(end * stride + place)] = all;
      }
    }
  }
  static unsigned Points(const StencilLines &lines, const StencilLayout &A, PetscInt row)
  {
    const unsigned bits = lines.bits[sparsegpu::formats::place_in_line(lines.walk, A.rows, row).line];
    return lines.star ? bits & 1u << lines.Middle() : bits & StencilLines::INSIDE;
  }
  /// Adds to *sum, the row's own, what it has of them.
  void Add(const StencilLines &lines, const StencilLayout &A, PetscInt row, Scalar *sum) const
  {
    const PetscInt stride = lines.walk.stride, place = row % stride;
    for (int end : {0, 1}) {
      if (row / stride != (end ? A.rows / stride - 1 : 0) || !with[(size_t)(end * stride + place)]) continue;
      Scalar other = Scalar(0);
      for (int q = 0; q < lines.points; ++q)
        if (Points(lines, A, row) >> q & 1)
          other = sparsegpu::formats::multiply_add(
              lines.value[end ? 2 : 0][q], received[(size_t)(planes.first[end] + place + lines.offset[q])], other);
      *sum = *sum + other;
    }
  }
};

/// One grid with walks of `length` planes, 0: those chosen for one multiprocessor; x is `shift` entries behind an
/// address of 128 bytes.
/// before, after: rows of the first, the last plane have entries of other ranks, which come, or not.
template <bool sends> PetscErrorCode CheckWalk(const Grid &g, PetscInt cut, PetscInt length, size_t shift, bool late,
                                               bool before = false, bool after = false, bool come = true)
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
  const Ghosts ghosts(lines, A, before, after);
  if (before || after) lines.ghosts = ghosts.planes;
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
  const Record<sends> record{
      &A, x, y.data(), z.data(), times.data(), &sent, ghosts.received.data(), (PetscInt)ghosts.received.size(), come};
  if (lines.star)
    Walk<5, true>(lines, A, x, record);
  else
    Walk<9, false>(lines, A, x, record);
  PetscCheck(!on_host::failure, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", g.name, on_host::failure);
  PetscCheck(sent == (sends ? 2 * (int)lines.walk.threads : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d threads sent",
             g.name, sent);
  for (PetscInt r = 0; r < A.rows; ++r) {
    const auto got = As<PetscScalar>(z[(size_t)r]);
    Scalar     sum = sparsegpu::formats::stencil_row_sum<1>(A, table.row_class[(size_t)r], x + r, [] {}), own = sum;
    if (before || after) ghosts.Add(lines, A, r, &sum);
    if (!come && memcmp(&own, &sum, sizeof(sum))) sum = Record<sends>::Lost();
    const auto expected = As<PetscScalar>(sum + y[(size_t)r]);
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
        PetscCall(CheckWalk<true>(g, 0, length, shift, length == 2, true, true));
        PetscCall(CheckWalk<true>(g, 0, length, shift, length != 2, length < 2, length >= 2));
      }
  for (bool late : {false, true}) { // several blocks a plane, of 256 threads and of fewer
    PetscCall(CheckWalk<false>(Grid{"7 points, wide", 61, 20, 8, true}, 3, 4, 1, late));
    PetscCall(CheckWalk<true>(Grid{"27 points, wide", 40, 33, 7, false}, 1330, 3, 0, late));
    for (const Grid &g : {Grid{"7 points, wide", 61, 20, 8, true}, Grid{"27 points, wide", 40, 33, 7, false}})
      for (PetscInt length : {2, 3, (int)g.z}) PetscCall(CheckWalk<true>(g, 0, length, 1, late, true, true, !late));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"on_host", OnHost}});
}
