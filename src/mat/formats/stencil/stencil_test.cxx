/// Classes of rows as values change, one class too many, the stride of grids, and which rows are walked.
#include <limits>
#include "mat/formats/stencil/lines.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

/// Rows of [2 -1; -1 2 -1; -1 2 -1; -1 2]: three classes, until a value of a row inside changes.
static PetscErrorCode Repeats()
{
  static const PetscInt i[] = {0, 2, 5, 8, 10}, j[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
  Scalar                a[] = {2, -1, -1, 2, -1, -1, 2, -1, -1, 2};
  const Scalar          x[] = {1, 2, 3, 4};
  Scalar                z[4];
  const CsrView         A{4, 4, 10, i, j, a};
  Stencil               stencil;
  bool                  fits;

  PetscFunctionBeginUser;
  PetscCall(stencil.Build(A, FormatOptions(), Space::Host));
  const StencilLayout &layout = stencil.Layout();
  PetscCheck(stencil.Stored() == 7 && layout.row_class[0] == 0 && layout.row_class[1] == 1 &&
                 layout.row_class[2] == 1 && layout.row_class[3] == 2,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries, classes %d %d %d %d", stencil.Stored(),
             layout.row_class[0], layout.row_class[1], layout.row_class[2], layout.row_class[3]);
  PetscCall(example::CheckInts("offset", layout.offset, {0, 1, -1, 0, 1, -1, 0}));
  PetscCall(example::CheckValues("value of the second class", layout.value + 3, {2}));
  a[6] = 3;
  PetscCall(stencil.Update(A, a, Space::Host, &fits));
  PetscCheck(fits && stencil.Stored() == 10, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " entries after a change", stencil.Stored());
  PetscCall(stencil.Mult(x, nullptr, z, nullptr));
  PetscCall(example::CheckValues("A x", z, {0, 0, 3, 5}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// 257 rows, each with another value: one too many, at first and after a change.
static PetscErrorCode TooMany()
{
  constexpr PetscInt    n = StencilLayout::CLASSES + 1;
  std::vector<PetscInt> i(n + 1), j(n);
  std::vector<Scalar>   a(n, Scalar(1));
  Stencil               stencil;
  bool                  ok;
  std::string           why;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; r++) j[r] = r, i[r + 1] = r + 1;
  const CsrView A{n, n, n, i.data(), j.data(), a.data()};
  PetscCall(stencil.Build(A, FormatOptions(), Space::Host));
  for (PetscInt r = 0; r < n - 1; r++) a[r] = Scalar(static_cast<PetscReal>(r + 1));
  PetscCall(stencil.Update(A, a.data(), Space::Host, &ok));
  PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_PLIB, "256 different rows did not fit");
  a[n - 1] = Scalar(-1);
  PetscCall(stencil.Update(A, a.data(), Space::Host, &ok));
  PetscCheck(!ok, PETSC_COMM_SELF, PETSC_ERR_PLIB, "257 different rows fitted");
  PetscCall(Plans(A, FormatOptions(), Space::Host).Check("stencil", &ok, &why));
  PetscCheck(!ok && why.find("256") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The refusal says %s",
             why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Five points of a grid of 300 x 12, also a periodic one: from line to line most columns come again; along one line or
/// along a few of 100 there is no way that leaves a thread block.
static PetscErrorCode Strides()
{
  const PetscInt shapes[][4] = {{300, 12, 0, 300}, {300, 12, 1, 300}, {3600, 1, 0, 0}, {100, 4, 0, 0}};

  PetscFunctionBeginUser;
  for (const auto &[width, lines, periodic, expected] : shapes) {
    std::vector<PetscInt> i{0}, j;
    Stencil               stencil;
    for (PetscInt r = 0; r < width * lines; r++) {
      for (PetscInt step : {-width, PetscInt(-1), PetscInt(0), PetscInt(1), width}) {
        const bool     leaves = (step == -1 && r % width == 0) || (step == 1 && r % width == width - 1);
        const PetscInt line   = leaves ? r + step - step * width : r + step; // around
        if (periodic)
          j.push_back((line + width * lines) % (width * lines));
        else if (!leaves && line >= 0 && line < width * lines)
          j.push_back(line);
      }
      i.push_back(static_cast<PetscInt>(j.size()));
    }
    const PetscInt            n = width * lines, nonzeros = i.back();
    const std::vector<Scalar> a(j.size(), Scalar(1));
    PetscCall(stencil.Build(CsrView{n, n, nonzeros, i.data(), j.data(), a.data()}, FormatOptions(), Space::Host));
    PetscCheck(stencil.Layout().stride == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " x %" PetscInt_FMT ": a stride of %" PetscInt_FMT, width, lines,
               stencil.Layout().stride);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of a table, each of (offset, value).
struct Table {
  std::vector<PetscInt> begin{0}, offset;
  std::vector<Scalar>   value;

  void Add(const std::vector<std::pair<PetscInt, double>> &row)
  {
    for (const auto &[o, v] : row) {
      offset.push_back(o);
      value.push_back(Scalar(static_cast<PetscReal>(v)));
    }
    begin.push_back(static_cast<PetscInt>(offset.size()));
  }
};

/// 7 and 27 points on lines of 20 nodes and planes of 400: which rows are walked, and with which points.
static PetscErrorCode Lines()
{
  using Row                        = std::vector<std::pair<PetscInt, double>>;
  constexpr PetscInt          LINE = 20, PLANE = 400;
  constexpr unsigned          BEFORE = StencilLines::BEFORE, AFTER = StencilLines::AFTER;
  const Row                   cross{{-PLANE, 1}, {-LINE, 2}, {-1, 3}, {0, 9}, {1, 4}, {LINE, 5}, {PLANE, 6}};
  const Row                   other{{-PLANE, 1}, {-LINE, 2}, {-1, 3}, {0, 8}, {1, 4}, {LINE, 5}, {PLANE, 6}};
  Row                         box, without_left, band, swapped = cross, infinite = cross;
  StencilLines                lines;
  std::vector<unsigned short> kinds;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 27; d++) {
    const PetscInt x = d % 3 - 1, y = d / 3 % 3 - 1, z = d / 9 - 1;
    box.push_back({z * PLANE + y * LINE + x, d + 1.0});
    if (x >= 0) without_left.push_back(box.back());
  }
  const auto find = [&](const std::vector<Row> &rows) {
    Table table;
    for (const Row &row : rows) table.Add(row);
    return FindLines({table.begin, table.offset, table.value}, 0, &lines, &kinds);
  };
  const auto expect = [&](const char *what, int points, const std::vector<unsigned short> &bits) {
    PetscFunctionBeginUser;
    PetscCheck(lines.points == points && kinds == bits, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %d points, %zu kinds, %x %x", what, lines.points, kinds.size(), kinds.empty() ? 0u : kinds[0],
               kinds.size() < 2 ? 0u : kinds[1]);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto bits = [](unsigned b) { return static_cast<unsigned short>(b); };
  // whole; the first plane, the last one; without the point before in its line; alone; another value; an offset that
  // the stencil has not; without its middle
  PetscCall(find({cross,
                  Row(cross.begin() + 1, cross.end()),
                  Row(cross.begin(), cross.end() - 1),
                  {cross[0], cross[1], cross[3], cross[4], cross[5], cross[6]},
                  {cross[3]},
                  other,
                  {{0, 9}, {2, 4}},
                  {cross[1]}}));
  PetscCall(
      expect("7 points", 5,
             {bits(31 | BEFORE | AFTER), bits(31 | AFTER), bits(31 | BEFORE), bits(29 | BEFORE | AFTER), 4, 0, 0, 0}));
  PetscCheck(lines.star && lines.Reach() == 2 * LINE && lines.walk.stride == PLANE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A reach of %d", (int)lines.Reach());
  PetscCall(find({box, without_left, Row(box.begin() + 9, box.end()), Row(box.begin() + 1, box.end())}));
  PetscCall(expect("27 points", 9, {bits(511 | BEFORE | AFTER), bits(0x1b6 | BEFORE | AFTER), bits(511 | AFTER), 0}));
  std::swap(swapped[2], swapped[3]);                                   // summed in another order
  for (PetscInt d = 0; d < 27; d++) band.push_back({d - 13, d + 1.0}); // planes of nine rows
  infinite[1].second = std::numeric_limits<double>::infinity();
  for (const Row &row :
       {Row{}, Row(cross.begin(), cross.end() - 1), Row(box.begin(), box.end() - 1), swapped, infinite, band}) {
    PetscCall(find({row}));
    PetscCall(expect("no stencil", 0, {}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows that may be walked, wherever they stand in the table.
static PetscErrorCode Stencils()
{
  using Row                  = std::vector<std::pair<PetscInt, double>>;
  constexpr PetscInt  PLANE  = 400;
  const Row           cross  = {{-PLANE, 1}, {-20, 2}, {-1, 3}, {0, 9}, {1, 4}, {20, 5}, {PLANE, 6}};
  const Row           longer = {{-PLANE, 1}, {-20, 2}, {-1, 3}, {0, 9}, {1, 4}, {20, 5}, {PLANE, 6}, {PLANE + 7, 1}};
  Row                 other  = cross;
  Table               table;
  std::vector<size_t> stencils;

  PetscFunctionBeginUser;
  other[3].second = 8;
  for (const Row &row : {Row{}, longer, other, Row{{0, 1}}, cross}) table.Add(row);
  PetscCall(FindStencils({table.begin, table.offset, table.value}, &stencils));
  PetscCheck(stencils == (std::vector<size_t>{2, 4}), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu stencils", stencils.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Walks take all planes, in whole waves of thread blocks where these fit.
static PetscErrorCode Walks()
{
  const PetscInt shapes[][2] = {{161 * 161, 161}, {128 * 128, 128}, {300, 40000},
                                {97 * 95, 96},    {1000, 2},        {65536, 64}};

  PetscFunctionBeginUser;
  for (const auto &[stride, planes] : shapes)
    for (PetscInt multiprocessors : {1, 2, 8, 132}) {
      const PetscInt rows   = stride * planes - 37;
      const LineWalk walk   = FindWalk(rows, stride, multiprocessors);
      const PetscInt blocks = walk.Slabs(rows) * walk.chunks, wave = multiprocessors * LineWalk::BLOCKS;
      PetscCheck(walk.chunks * walk.threads * LineWalk::ROWS >= stride && walk.Slabs(rows) * walk.length >= planes &&
                     walk.length > 0 && walk.threads % 32 == 0 && walk.threads <= LineWalk::THREADS,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "Planes of %d: %d blocks of %d threads, %d planes each", (int)stride,
                 (int)walk.chunks, (int)walk.threads, (int)walk.length);
      if (stride >= 128 * 128 && walk.chunks * 2 <= wave - LineWalk::SENDERS)
        PetscCheck(blocks <= wave - LineWalk::SENDERS && blocks > 3 * wave / 4, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%d thread blocks where %d are on the device at a time", (int)blocks, (int)wave);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  Stencil stencil;

  PetscFunctionBeginUser;
  PetscCall(Strides());
  PetscCall(example::BuildAndMultiply(stencil, FormatOptions()));
  PetscCall(Repeats());
  PetscCall(TooMany());
  PetscCall(Lines());
  PetscCall(Stencils());
  PetscCall(Walks());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
