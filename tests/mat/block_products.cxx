static const char help[] = "Products of matrices whose rows are made of blocks equal plain AIJ's.\n\n";

#include "block_matrices.hpp"
#include "same_entries.hpp"
#include <petsc/private/matimpl.h>
#include "mat/face/parallel_products.hpp"
#include "mat/products/product.hpp"

#include <algorithm>
#include <array>

using namespace block_matrices;
using namespace testing;

namespace
{
PetscErrorCode CheckSame(Mat ours, Mat aij, const std::string &what)
{
  Problem a, b;

  PetscFunctionBeginUser;
  PetscCall(Gather(ours, &a));
  PetscCall(Gather(aij, &b));
  PetscCall(CheckSameEntries(a, b, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Band(PetscInt i, PetscInt j)
{
  return i != 5 && std::abs(i - j) < 3;
}
/// Interpolation from a fifth of the nodes; row 4 is empty.
bool Coarse(PetscInt i, PetscInt j)
{
  return i != 4 && (j == i / 5 || j == (i + 3) / 5);
}
bool Full(PetscInt, PetscInt)
{
  return true;
}
bool Diagonal(PetscInt i, PetscInt j)
{
  return i == j;
}

/// Whether there is a kernel for blocks of r x d entries times d x c.
bool HasKernel(PetscInt r, PetscInt d, PetscInt c)
{
  for (const auto &size : sparsegpu::products::BLOCK_SIZES)
    if (size[0] == r && size[1] == d && size[2] == c) return true;
  return false;
}

/// Whether C, a product of ours on a GPU, is summed by blocks.
PetscErrorCode CheckByBlocks(Mat C, bool wanted, const std::string &what)
{
  PetscBool parallel;
  bool      are;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)C, MATMPIAIJSPARSEGPU, &parallel));
  PetscCheck(C->product && C->product->data, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no product of ours", what.c_str());
  if (parallel)
    PetscCall(sparsegpu::face::MultipliesByBlocks(C, &are));
  else
    are = static_cast<const sparsegpu::products::Product *>(C->product->data)->ByBlocks();
  PetscCheck(are == wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %sby blocks", what.c_str(), are ? "" : "not ");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Puts a zero into the last row, which may be there.
PetscErrorCode AddEntry(Mat C)
{
  PetscInt rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(C, &rows, nullptr));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(C, rows - 1, 0, 0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Multiply(Mat A, Mat B, bool triple, MatReuse reuse, Mat *C)
{
  PetscFunctionBeginUser;
  PetscCall(triple ? MatPtAP(A, B, reuse, PETSC_DEFAULT, C) : MatMatMult(A, B, reuse, PETSC_DEFAULT, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool MultipliesBlocks(const Shape &a, const Shape &b, bool triple)
{
  const PetscInt r = a.row_size, d = a.column_size, c = b.column_size;
  return HasKernel(r, d, c) && (!triple || HasKernel(c, r, c));
}

/// A B, or P^T A P, and again for other values, after another pattern of an operand, or with an entry more in the
/// result.
PetscErrorCode Compare(const std::string &backend, const Shape &a, const Shape &b, bool triple, const std::string &name)
{
  PetscFunctionBeginUser;
  for (const std::string step : {"other values", "a broken block", "one entry more"}) {
    Mat  C[2] = {nullptr, nullptr};
    bool had  = true;
    for (const bool first : {true, false}) {
      const std::string what = name + " on " + backend + (first ? "" : ", " + step);
      for (int k : {0, 1}) {
        Mat A, B;
        if (!first && step == "one entry more") {
          Problem p;
          PetscCall(Gather(C[k], &p));
          had = std::any_of(p.entries.begin(), p.entries.end(),
                            [&](const conformance::Entry &e) { return e.i == p.rows - 1 && e.j == 0; });
          PetscCall(AddEntry(C[k]));
        }
        PetscCall(Create(k ? "aij" : backend, a, first ? 1 : 2, !first && step == "a broken block", &A));
        PetscCall(Create(k ? "aij" : backend, b, first ? 3 : 7, false, &B));
        PetscCall(Multiply(A, B, triple, first ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX, &C[k]));
        for (Mat *M : {&A, &B}) PetscCall(MatDestroy(M));
      }
      PetscCall(CheckSame(C[0], C[1], what));
      // until a pattern changes
      const bool same = first || step == "other values" || (step == "one entry more" && had);
      if (backend == "cuda") PetscCall(CheckByBlocks(C[0], MultipliesBlocks(a, b, triple) && same, what));
    }
    for (Mat &M : C) PetscCall(MatDestroy(&M));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Product = std::function<PetscErrorCode(Mat A, Mat B, MatReuse reuse, Mat *C)>;

/// The same of parallel matrices, whose patterns stay: PETSc's products refuse other operands.
PetscErrorCode CompareValues(const std::string &backend, const Shape &a, const Shape &b, bool broken, bool blocks,
                             const std::string &name, const Product &multiply)
{
  Mat A[2], B[2], C[2] = {nullptr, nullptr};

  PetscFunctionBeginUser;
  for (int k : {0, 1}) {
    PetscCall(Create(k ? "aij" : backend, a, 1, broken, &A[k]));
    PetscCall(Create(k ? "aij" : backend, b, 3, false, &B[k]));
  }
  for (const bool first : {true, false}) {
    const std::string what = name + " on " + backend + (broken ? ", a broken block" : "") + (first ? "" : ", again");
    for (int k : {0, 1}) {
      if (!first) PetscCall(Fill(a, 2, broken, A[k]));
      if (!first) PetscCall(Fill(b, 7, false, B[k]));
      PetscCall(multiply(A[k], B[k], first ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX, &C[k]));
    }
    PetscCall(CheckSame(C[0], C[1], what));
    if (backend == "cuda" && !broken) PetscCall(CheckByBlocks(C[0], blocks, what));
  }
  for (int k : {0, 1})
    for (Mat *M : {&A[k], &B[k], &C[k]}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CompareParallel(const std::string &backend, const Shape &a, const Shape &b, bool triple,
                               const std::string &name)
{
  const auto multiply = [triple](Mat A, Mat B, MatReuse reuse, Mat *C) { return Multiply(A, B, triple, reuse, C); };
  const auto squared  = [](Mat A, Mat, MatReuse reuse, Mat *C) {
    return MatTransposeMatMult(A, A, reuse, PETSC_DEFAULT, C);
  };

  PetscFunctionBeginUser;
  PetscCall(CompareValues(backend, a, b, false, MultipliesBlocks(a, b, triple), name, multiply));
  if (a.cols > 100) PetscFunctionReturn(PETSC_SUCCESS); // A^T A is dense
  const bool square = HasKernel(a.column_size, a.row_size, a.column_size);
  PetscCall(CompareValues(backend, a, b, false, square, name + ", A^T A", squared));
  for (const Product &product : {Product(multiply), Product(squared)}) // one process multiplies by entries
    PetscCall(CompareValues(backend, a, b, true, false, name, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Values()
{
  std::vector<std::string> backends;
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const auto compare = size > 1 ? CompareParallel : Compare;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    for (const auto &[r, d, c] : std::vector<std::array<PetscInt, 3>>{{1, 1, 1},
                                                                      {2, 2, 2},
                                                                      {2, 2, 3},
                                                                      {3, 2, 3},
                                                                      {3, 3, 3},
                                                                      {3, 3, 6},
                                                                      {6, 3, 6},
                                                                      {6, 6, 6},
                                                                      {4, 4, 4},
                                                                      {5, 5, 5},
                                                                      {2, 3, 2},
                                                                      {3, 6, 3},
                                                                      {1, 3, 6},
                                                                      {7, 7, 7}}) {
      const std::string name = std::to_string(r) + " x " + std::to_string(d) + " x " + std::to_string(c);
      PetscCall(compare(backend, {50, 60, r, d, Band}, {60, 50, d, c, Band}, false, name + ", bands"));
      PetscCall(compare(backend, {3, 130, r, d, Full}, {130, 40, d, c, Full}, false, name + ", long rows"));
      PetscCall(compare(backend, {3, 400, r, d, Full}, {400, 400, d, c, Diagonal}, false, name + ", wide rows"));
      if (r == d)
        PetscCall(compare(backend, {100, 100, r, r, Band}, {100, 21, r, c, Coarse}, true, name + ", P^T A P"));
    }
    PetscCall(compare(backend, {9000, 9000, 2, 2, Diagonal}, {9000, 9000, 2, 2, Diagonal}, false, "many rows"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks are found where they are, and only there.
PetscErrorCode Found()
{
  using namespace sparsegpu;
  using V = std::vector<PetscInt>;
  struct Case {
    const char *name;
    V           i, j;
    V           blocks_i, blocks_j; ///< none: not found
  };
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  // 4 rows, 6 columns, blocks of 2 x 3
  for (const Case &c : std::vector<Case>{
           {"full", {0, 6, 12, 15, 18}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5}, {0, 2, 3}, {0, 1, 1}},
           {"blocks that descend", {0, 6, 12, 12, 12}, {3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2}, {0, 2, 2}, {1, 0}},
           {"none in a row", {0, 0, 0, 3, 6}, {0, 1, 2, 0, 1, 2}, {0, 0, 1}, {0}},
           {"a longer row", {0, 3, 9, 9, 12}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 0, 1, 2}, {}, {}},
           {"shifted", {0, 3, 6, 6, 6}, {1, 2, 3, 1, 2, 3}, {}, {}},
           {"other columns below", {0, 3, 6, 6, 6}, {0, 1, 2, 3, 4, 5}, {}, {}},
           {"columns that descend", {0, 3, 6, 6, 6}, {2, 1, 0, 2, 1, 0}, {}, {}},
           {"a gap", {0, 3, 6, 6, 6}, {0, 1, 3, 0, 1, 3}, {}, {}}}) {
    Array<PetscInt>     i, j;
    products::BlockRows blocks;
    PetscCall(i.Copy(c.i.data(), c.i.size(), Space::Device));
    PetscCall(j.Copy(c.j.data(), c.j.size(), Space::Device));
    PetscCall(blocks.Find({4, 6, (PetscInt)c.j.size(), {i.data(), j.data(), nullptr}}, 2, 3));
    const bool found = blocks.view().i != nullptr;
    PetscCheck(found == !c.blocks_i.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %sfound", c.name,
               found ? "" : "not ");
    if (!found) continue;
    V block_i(c.blocks_i.size()), block_j(c.blocks_j.size());
    PetscCall(CopyToHost(Space::Device, blocks.view().i, block_i.size(), block_i.data()));
    PetscCall(CopyToHost(Space::Device, blocks.view().j, block_j.size(), block_j.data()));
    PetscCheck(block_i == c.blocks_i && block_j == c.blocks_j, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: other blocks",
               c.name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"values", Values}, {"found", Found}});
}
