static const char help[] =
    "Subdomains of incomplete factors: cuts, and PETSc's factors of the matrix without couplings, block Jacobi's.\n\n";

#include "factors.hpp"
#include "pc/subdomains/cut.hpp"

using namespace testing;
using namespace sparsegpu::subdomains;
using sparsegpu::rows::CsrView;

namespace
{
/// The rows of a matrix, for cuts of the test's own.
struct Rows {
  std::vector<PetscInt> i{0}, j;
  PetscInt              block_size = 1;

  CsrView View() const
  {
    const PetscInt rows = (PetscInt)i.size() - 1;
    CsrView        view{rows, rows, i.back(), i.data(), j.data(), nullptr};
    view.block_size = block_size;
    return view;
  }
};

PetscErrorCode Read(Mat A, Rows *rows)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, nullptr));
  PetscCall(MatGetBlockSize(A, &rows->block_size));
  for (PetscInt r = 0; r < n; ++r) {
    const PetscInt *j;
    PetscInt        count;
    PetscCall(MatGetRow(A, r, &count, &j, nullptr));
    rows->j.insert(rows->j.end(), j, j + count);
    rows->i.push_back((PetscInt)rows->j.size());
    PetscCall(MatRestoreRow(A, r, &count, &j, nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Problem Grid3(PetscInt nx, PetscInt ny, PetscInt nz, PetscInt points, PetscInt unknowns = 1)
{
  conformance::Builder b("grid_" + std::to_string(nx) + "x" + std::to_string(ny) + "x" + std::to_string(nz) + "_of_" +
                             std::to_string(points) + "_points_" + std::to_string(unknowns),
                         nx * ny * nz * unknowns, nx * ny * nz * unknowns);
  for (PetscInt r = 0; r < nx * ny * nz; ++r)
    conformance::EachNeighbour(nx, ny, nz, r, [&](PetscInt d, PetscInt column) {
      const bool axis = d == 4 || d == 10 || d == 12 || d == 13 || d == 14 || d == 16 || d == 22;
      for (PetscInt p = 0; p < unknowns; ++p)
        for (PetscInt q = 0; q < unknowns && (axis || points == 27); ++q)
          b.Add(r * unknowns + p, column * unknowns + q);
    });
  return Dominant(b);
}

/// The matrix without the entries that couple two subdomains.
Problem Without(const Problem &p, const Cut &cut)
{
  Problem q = p;
  q.entries.clear();
  for (const Entry &e : p.entries)
    if (cut.of_row[(size_t)e.i] == cut.OfColumn()[(size_t)e.j]) q.entries.push_back(e);
  return q;
}
} // namespace

/// Every row is in one subdomain, none of which is empty; subdomains follow each other in the order of elimination, and
/// the order within each is that which was given.
static PetscErrorCode CheckCut(const Rows &rows, const Cut &cut, const std::string &what)
{
  const PetscInt        n = (PetscInt)rows.i.size() - 1;
  std::vector<PetscInt> seen((size_t)n, 0);
  PetscInt              largest = 0;

  PetscFunctionBeginUser;
  PetscCheck(cut.begin.size() == (size_t)cut.count + 1 && cut.begin[0] == 0 && cut.begin.back() == n, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: beginnings", what.c_str());
  for (PetscInt s = 0; s < cut.count; ++s) {
    PetscCheck(cut.begin[(size_t)s] < cut.begin[(size_t)s + 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d is empty",
               what.c_str(), (int)s);
    largest = PetscMax(largest, cut.begin[(size_t)s + 1] - cut.begin[(size_t)s]);
    for (PetscInt k = cut.begin[(size_t)s]; k < cut.begin[(size_t)s + 1]; ++k) {
      const PetscInt r = cut.row.empty() ? k : cut.row[(size_t)k];
      PetscCheck(cut.of_row[(size_t)r] == s && cut.OfColumn()[(size_t)r] == s && !seen[(size_t)r]++, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: row %d", what.c_str(), (int)r);
      PetscCheck(cut.row.empty() || k == cut.begin[(size_t)s] || cut.row[(size_t)k - 1] < r, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: the order within subdomain %d", what.c_str(), (int)s);
    }
  }
  PetscCheck(largest == cut.largest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d rows, not %d", what.c_str(), (int)largest,
             (int)cut.largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cuts()
{
  std::vector<Problem> problems = Problems();

  PetscFunctionBeginUser;
  for (const auto &[rows, count] : std::vector<std::pair<PetscInt, PetscInt>>{{0, 1},
                                                                              {1023, 1},
                                                                              {1024, 2},
                                                                              {64 * 64 * 64, 512},
                                                                              {1000000, 1024},
                                                                              {128 * 128 * 128, 1024},
                                                                              {1 << 24, 8192}})
    PetscCheck(AutomaticCount(rows) == count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "auto: %d subdomains of %d rows, not %d",
               (int)AutomaticCount(rows), (int)rows, (int)count);
  for (const PetscInt points : {7, 27}) problems.push_back(Grid3(11, 9, 13, points));
  for (const Problem &p : problems) {
    Rows rows;
    Mat  A;
    PetscCall(CreateMatrix(p, MATAIJ, nullptr, &A));
    PetscCall(Read(A, &rows));
    PetscCall(MatDestroy(&A));
    for (PetscInt count : {1, 2, 3, 7, 32, 33, 200})
      for (CutKind kind : {CutKind::Ranges, CutKind::Auto, CutKind::Graph}) {
        Cut cut;
        if (count > p.rows) continue;
        PetscCall(MakeCut(rows.View(), count, kind, nullptr, nullptr, &cut));
        PetscCall(CheckCut(rows, cut, p.name + ", " + std::to_string(count) + " " + CutNames[(int)kind]));
        if (kind != CutKind::Ranges) continue;
        PetscInt longest = 0;
        for (PetscInt r = 0; r < p.rows; ++r) longest = PetscMax(longest, rows.i[(size_t)r + 1] - rows.i[(size_t)r]);
        for (PetscInt s = 0; s < count; ++s) { // half a row at each end, and the rows that others must leave it
          const PetscInt begin = cut.begin[(size_t)s], end = cut.begin[(size_t)s + 1];
          PetscCheck((rows.i[(size_t)end] - rows.i[(size_t)begin] - longest) * count <= rows.i.back() ||
                         end - begin == 1 || p.rows < 8 * count,
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: range %d of %d has %d entries of %d", p.name.c_str(), (int)s,
                     (int)count, (int)(rows.i[(size_t)end] - rows.i[(size_t)begin]), (int)rows.i.back());
        }
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Grids are found, boxes are no slabs, and the unknowns of a node stay together.
static PetscErrorCode Boxes()
{
  PetscFunctionBeginUser;
  for (const PetscInt points : {7, 27})
    for (const PetscInt unknowns : {1, 3})
      for (const PetscInt count : {2, 7, 8, 27, 64}) {
        const Problem     p    = Grid3(16, 12, 20, points, unknowns);
        const std::string what = p.name + " in " + std::to_string(count);
        Rows              rows;
        Cut               cut;
        Mat               A;
        PetscInt          kept = 0;
        PetscCall(CreateMatrix(p, MATAIJ, nullptr, &A));
        PetscCall(Read(A, &rows));
        PetscCall(MatDestroy(&A));
        rows.block_size = unknowns;
        PetscCall(MakeCut(rows.View(), count, CutKind::Auto, nullptr, nullptr, &cut));
        PetscCheck(cut.kind == CutKind::Boxes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no grid", what.c_str());
        PetscCheck(cut.largest * count <= 2 * p.rows, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d rows of %d",
                   what.c_str(), (int)cut.largest, (int)p.rows);
        for (PetscInt r = 0; r < p.rows; ++r)
          PetscCheck(cut.of_row[(size_t)r] == cut.of_row[(size_t)(r / unknowns * unknowns)], PETSC_COMM_SELF,
                     PETSC_ERR_PLIB, "%s: row %d is not with its node", what.c_str(), (int)r);
        for (const Entry &e : p.entries) kept += cut.of_row[(size_t)e.i] == cut.of_row[(size_t)e.j];
        // a box of side h keeps 1 - 2 / (3 h) of the entries in each direction; with 64 boxes sides are at least 3
        PetscCheck((double)kept >= 0.47 * (double)p.entries.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: %d of %d entries kept", what.c_str(), (int)kept, (int)p.entries.size());
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One half after the other is the whole solve.
static PetscErrorCode CheckHalves(Mat A, Mat F, PetscInt length, const std::string &what)
{
  std::vector<PetscScalar> whole, parts;
  const PetscScalar       *array;
  Vec                      b, between, x;

  PetscFunctionBeginUser;
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &whole));
  PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &b));
  PetscCall(VecDuplicate(b, &between));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SetVector(b, Input((PetscInt)whole.size(), 7, Poison::None)));
  PetscCall(MatForwardSolve(F, b, between));
  PetscCall(MatBackwardSolve(F, between, x));
  PetscCall(VecGetArrayRead(x, &array));
  parts.assign(array, array + whole.size());
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscCall(CheckClose(parts, whole, length, what + ", halves"));
  for (Vec *v : {&b, &between, &x}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One factor of ours against PETSc's of the matrix without couplings, in the same order; a second time with new
/// values.
static PetscErrorCode Compare(const Problem &p, MatFactorType kind, const MatFactorInfo &info, const char ordering[],
                              PetscInt count, const std::string &backend, const std::string &cut_name, PetscReal shift)
{
  const Option      subdomains("-mat_sparsegpu_subdomains", std::to_string(count));
  const Option      how("-mat_sparsegpu_subdomains_cut", cut_name);
  const Option      plain("-mat_no_inode", "true"); // PETSc's blocks of rows of one pattern lose digits in other orders
  const std::string what = p.name + ", " + std::to_string(count) + " " + cut_name + ", " + ordering + ", " + backend +
                           ", levels " + std::to_string((int)info.levels) + ", kind " + std::to_string((int)kind) +
                           ", shift " + std::to_string((int)info.shifttype);
  std::vector<std::string> types;
  std::vector<PetscScalar> ours, again, petsc;
  Mat                      A, B, F, G;
  IS                       row, column, order;
  const PetscInt          *r, *c;
  Rows                     rows;
  Cut                      cut;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  PetscCall(CreateOn(backend, p, &A));
  PetscCall(Read(A, &rows));
  PetscCall(MatGetOrdering(A, ordering, &row, &column));
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(column, &c));
  PetscCall(MakeCut(rows.View(), count, cut_name == "ranges" ? CutKind::Ranges : CutKind::Auto, r, c, &cut));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, p.rows, cut.row.empty() ? r : cut.row.data(), PETSC_COPY_VALUES, &order));
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(column, &c));
  PetscCall(CreateMatrix(Without(p, cut), MATAIJ, nullptr, &B));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, info, ordering, &F));
  PetscCall(MatGetFactor(B, MATSOLVERPETSC, kind, &G));
  if (kind == MAT_FACTOR_ICC)
    PetscCall(MatICCFactorSymbolic(G, B, order, &info));
  else
    PetscCall(MatILUFactorSymbolic(G, B, order, order, &info));
  for (int round = 0; round < 2; ++round) {
    if (kind == MAT_FACTOR_ICC) {
      PetscCall(MatCholeskyFactorNumeric(F, A, &info));
      PetscCall(MatCholeskyFactorNumeric(G, B, &info));
    } else {
      PetscCall(MatLUFactorNumeric(F, A, &info));
      PetscCall(MatLUFactorNumeric(G, B, &info));
    }
    for (const std::string &type : types)
      for (bool transpose : {false, true}) {
        if (transpose && kind == MAT_FACTOR_ICC) continue;
        PetscCall(SolveWith(A, F, type, transpose, &ours));
        PetscCall(SolveWith(A, F, type, transpose, &again));
        PetscCall(SolveWith(B, G, VECSTANDARD, transpose, &petsc));
        PetscCall(CheckClose(ours, petsc, 40 + p.rows / 4, what + (transpose ? ", transposed" : "")));
        PetscCall(CheckSameBits(ours, again, what));
      }
    if (kind == MAT_FACTOR_ICC && !PetscDefined(USE_COMPLEX)) // whose pivots need not be real
      PetscCall(CheckHalves(A, F, 40 + p.rows / 4, what));
    for (Mat M : {A, B}) { // whose diagonal stays dominant without a shift, also where it is negative
      PetscCall(MatScale(M, 3));
      PetscCall(MatShift(M, shift));
    }
  }
  for (IS *is : {&row, &column, &order}) PetscCall(ISDestroy(is));
  for (Mat *M : {&F, &G, &A, &B}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same()
{
  std::vector<std::string> backends;
  std::vector<Problem>     problems = Problems();

  PetscFunctionBeginUser;
  problems.push_back(Grid3(9, 8, 7, 27));
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Problem &p : problems)
      for (PetscInt count : {2, 5, 40})
        for (const char *cut : {"ranges", "auto"})
          for (PetscInt levels : {0, 1}) {
            if (count > p.rows) continue;
            for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM})
              PetscCall(Compare(p, MAT_FACTOR_ILU, Info((PetscReal)levels), ordering, count, backend, cut, 0));
            PetscCall(Compare(Symmetric(p), MAT_FACTOR_ICC, Info((PetscReal)levels), MATORDERINGNATURAL, count, backend,
                              cut, 0));
          }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A little of everything, for tools that make a program slow.
static PetscErrorCode Few()
{
  std::vector<std::string> backends;
  const Problem            grid = Grid3(7, 6, 5, 27), lengths = Problems()[1];

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &p : {grid, lengths}) {
    PetscCall(Compare(p, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, 4, backends.back(), "auto", 0));
    PetscCall(Compare(p, MAT_FACTOR_ILU, Info(1), MATORDERINGRCM, 7, backends.back(), "ranges", 0));
    PetscCall(Compare(Symmetric(p), MAT_FACTOR_ICC, Info(0), MATORDERINGNATURAL, 7, backends.back(), "auto", 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zero pivots are shifted away as PETSc does in the blocks, and told with the matrix's row.
static PetscErrorCode Pivots()
{
  std::vector<std::string> backends;
  conformance::Builder     b("zero_pivots", 60, 60);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 60; ++r) {
    if (r > 0) b.Add(r, r - 1, -1);
    b.Add(r, r, r == 20 || r == 40 ? 0 : 4); // the first rows of blocks
    if (r < 59) b.Add(r, r + 1, -1);
  }
  const Problem p = b;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    for (MatFactorShiftType shift : {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS}) {
      MatFactorInfo info = Info(0);
      info.shifttype     = (PetscReal)shift;
      info.shiftamount   = shift == MAT_SHIFT_INBLOCKS ? (PetscReal)0.5 : (PetscReal)0.25;
      PetscCall(Compare(p, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, 3, backend, "ranges", (PetscReal)0.5));
    }
    const Option   subdomains("-mat_sparsegpu_subdomains", "3"), how("-mat_sparsegpu_subdomains_cut", "ranges");
    MatFactorError error;
    PetscReal      value;
    PetscInt       row;
    Mat            A, F;
    PetscCall(CreateOn(backend, p, &A));
    PetscCall(MatSetErrorIfFailure(A, PETSC_FALSE));
    PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
    PetscCall(MatFactorGetError(F, &error));
    PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d", backend.c_str(),
               (int)error);
    PetscCall(MatFactorGetErrorZeroPivot(F, &value, &row));
    PetscCheck(row == 20 && value == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d, pivot %g", backend.c_str(),
               (int)row, (double)value);
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A subdomain that no thread block has room for: solved with all the same.
static PetscErrorCode Large()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    PetscCall(Compare(Dominant(conformance::Grid("grid_300x300", 300, 300, false)), MAT_FACTOR_ILU, Info(0),
                      MATORDERINGNATURAL, 2, backend, "ranges", 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"cuts", Cuts}, {"boxes", Boxes}, {"same", Same}, {"few", Few}, {"pivots", Pivots}, {"large", Large}});
}
