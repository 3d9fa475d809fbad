static const char help[] = "Products of matrices whose rows are made of blocks equal plain AIJ's.\n\n";

#include "same_entries.hpp"
#include <petsc/private/matimpl.h>
#include "mat/products/product.hpp"

#include <functional>

using namespace testing;

namespace
{
/// Rows and columns of blocks, the blocks' sizes, and which columns of blocks a row of them has.
struct Shape {
  PetscInt                                rows, cols, row_size, column_size;
  std::function<bool(PetscInt, PetscInt)> has;
};

/// Few values, so that sums are exact.
PetscScalar Value(PetscInt k)
{
  const PetscReal v = (PetscReal)((7919 * k) % 5 - 2) / 2;
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(v, (PetscReal)(k % 3 - 1) / 2);
#else
  return v;
#endif
}

/// `broken`: an entry of the first block is missing.
PetscErrorCode Create(const std::string &backend, const Shape &s, PetscInt seed, bool broken, Mat *A)
{
  const PetscInt        r = s.row_size, c = s.column_size;
  std::vector<PetscInt> lengths((size_t)(s.rows * r), 0);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < s.rows; ++i)
    for (PetscInt j = 0; j < s.cols; ++j)
      for (PetscInt k = 0; s.has(i, j) && k < r; ++k) lengths[(size_t)(i * r + k)] += c;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, s.rows * r, s.cols * c, s.rows * r, s.cols * c));
  PetscCall(MatSetBlockSizes(*A, r, c));
  PetscCall(MatSetType(*A, backend == "aij" ? MATSEQAIJ : MATSEQAIJSPARSEGPU));
  if (backend != "aij") PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, lengths.data()));
  for (PetscInt i = 0; i < s.rows; ++i)
    for (PetscInt j = 0; j < s.cols; ++j) {
      if (!s.has(i, j)) continue;
      for (PetscInt k = i * r; k < (i + 1) * r; ++k)
        for (PetscInt l = j * c; l < (j + 1) * c; ++l) {
          if (broken && k == r - 1 && l == c - 1) continue;
          PetscCall(MatSetValue(*A, k, l, Value(3 * k + 5 * l + seed), INSERT_VALUES));
        }
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscFunctionBeginUser;
  PetscCheck(C->product && C->product->data, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no product of ours", what.c_str());
  const bool are = static_cast<const sparsegpu::products::Product *>(C->product->data)->ByBlocks();
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

/// A B, or P^T A P, and again for other values, after another pattern of an operand, or with an entry more in the
/// result.
PetscErrorCode Compare(const std::string &backend, const Shape &a, const Shape &b, bool triple, const std::string &name)
{
  const PetscInt r = a.row_size, d = a.column_size, c = b.column_size;
  const bool     blocks = HasKernel(r, d, c) && (!triple || HasKernel(c, r, c));

  PetscFunctionBeginUser;
  for (const std::string step : {"other values", "a broken block", "one entry more"}) {
    Mat  C[2] = {nullptr, nullptr};
    bool had  = true;
    for (const bool first : {true, false}) {
      const std::string what = name + " on " + backend + (first ? "" : ", " + step);
      for (int k : {0, 1}) {
        const MatReuse reuse = first ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;
        Mat            A, B;
        if (!first && step == "one entry more") {
          Problem p;
          PetscCall(Gather(C[k], &p));
          had = std::any_of(p.entries.begin(), p.entries.end(),
                            [&](const conformance::Entry &e) { return e.i == p.rows - 1 && e.j == 0; });
          PetscCall(AddEntry(C[k]));
        }
        PetscCall(Create(k ? "aij" : backend, a, first ? 1 : 2, !first && step == "a broken block", &A));
        PetscCall(Create(k ? "aij" : backend, b, first ? 3 : 7, false, &B));
        PetscCall(triple ? MatPtAP(A, B, reuse, PETSC_DEFAULT, &C[k]) : MatMatMult(A, B, reuse, PETSC_DEFAULT, &C[k]));
        for (Mat *M : {&A, &B}) PetscCall(MatDestroy(M));
      }
      PetscCall(CheckSame(C[0], C[1], what));
      // until a pattern changes
      const bool same = first || step == "other values" || (step == "one entry more" && had);
      if (backend == "cuda") PetscCall(CheckByBlocks(C[0], blocks && same, what));
    }
    for (Mat &M : C) PetscCall(MatDestroy(&M));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Values()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
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
      PetscCall(Compare(backend, {50, 60, r, d, Band}, {60, 50, d, c, Band}, false, name + ", bands"));
      PetscCall(Compare(backend, {3, 130, r, d, Full}, {130, 40, d, c, Full}, false, name + ", long rows"));
      PetscCall(Compare(backend, {3, 400, r, d, Full}, {400, 400, d, c, Diagonal}, false, name + ", wide rows"));
      if (r == d)
        PetscCall(Compare(backend, {100, 100, r, r, Band}, {100, 21, r, c, Coarse}, true, name + ", P^T A P"));
    }
    PetscCall(Compare(backend, {9000, 9000, 2, 2, Diagonal}, {9000, 9000, 2, 2, Diagonal}, false, "many rows"));
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
