/// Row by row, by PETSc's functions for any matrix of type AIJ.
#include "pc/amg/filter.hpp"
#include "petsc/compat.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sparsegpu::amg
{

namespace
{
/// Sizes of diagonal blocks, of this process's nodes and of those that its rows are coupled to.
struct NodeSizes {
  PetscInt               block = 1, first = 0, last = 0; ///< rows of a node; nodes of this process
  std::vector<PetscReal> mine;                           ///< [last - first]
  std::vector<PetscInt>  ghosts;                         ///< nodes of others, ascending
  std::vector<PetscReal> theirs;                         ///< [ghosts]

  PetscReal Of(PetscInt node) const
  {
    if (node >= first && node < last) return mine[(size_t)(node - first)];
    return theirs[(size_t)(std::lower_bound(ghosts.begin(), ghosts.end(), node) - ghosts.begin())];
  }
  PetscErrorCode Find(Mat A);

private:
  PetscErrorCode Receive(Mat A);
};

PetscErrorCode NodeSizes::Find(Mat A)
{
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &block));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  first = begin / block;
  last  = end / block;
  PetscCallCXX(mine.assign((size_t)(last - first), 0));
  for (PetscInt r = begin; r < end; r++) {
    PetscInt           n;
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(MatGetRow(A, r, &n, &j, &a));
    for (PetscInt e = 0; e < n; e++)
      if (j[e] / block == r / block) {
        PetscReal *size = &mine[(size_t)(r / block - first)];
        *size           = PetscMax(*size, PetscAbsScalar(a[e]));
      } else if (j[e] < begin || j[e] >= end) {
        PetscCallCXX(ghosts.push_back(j[e] / block));
      }
    PetscCall(MatRestoreRow(A, r, &n, &j, &a));
    if (ghosts.size() > 1u << 20 || r + 1 == end) { // keeps the list short
      std::sort(ghosts.begin(), ghosts.end());
      ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    }
  }
  PetscCall(Receive(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeSizes::Receive(Mat A)
{
  Vec          all, some;
  IS           which;
  VecScatter   scatter;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)A), last - first, PETSC_DETERMINE, &all));
  PetscCall(VecGetArrayWrite(all, &x));
  std::copy(mine.begin(), mine.end(), x);
  PetscCall(VecRestoreArrayWrite(all, &x));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, (PetscInt)ghosts.size(), &some));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)ghosts.size(), ghosts.data(), PETSC_USE_POINTER, &which));
  PetscCall(VecScatterCreate(all, which, some, nullptr, &scatter));
  PetscCall(VecScatterBegin(scatter, all, some, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, all, some, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArray(some, &x));
  PetscCallCXX(theirs.resize(ghosts.size()));
  for (size_t g = 0; g < ghosts.size(); g++) theirs[g] = PetscRealPart(x[g]);
  PetscCall(VecRestoreArray(some, &x));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&which));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&some));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Rows {
  std::vector<PetscInt>    i{0}, j;
  std::vector<PetscScalar> a;
};

/// The entries that stay of the rows of a node.
PetscErrorCode AddNode(Mat A, const NodeSizes &sizes, PetscReal threshold, PetscInt node, Rows *rows)
{
  const PetscInt                              b = sizes.block;
  std::vector<std::pair<PetscInt, PetscReal>> blocks; // largest magnitudes, by column of blocks
  PetscInt                                    n;
  const PetscInt                             *j;
  const PetscScalar                          *a;

  PetscFunctionBegin;
  for (PetscInt r = node * b; r < (node + 1) * b; r++) {
    PetscCall(MatGetRow(A, r, &n, &j, &a));
    for (PetscInt e = 0; e < n; e++) PetscCallCXX(blocks.emplace_back(j[e] / b, PetscAbsScalar(a[e])));
    PetscCall(MatRestoreRow(A, r, &n, &j, &a));
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const auto &p, const auto &q) { return p.first != q.first ? p.first < q.first : p.second > q.second; });
  blocks.erase(
      std::unique(blocks.begin(), blocks.end(), [](const auto &p, const auto &q) { return p.first == q.first; }),
      blocks.end());
  for (PetscInt r = node * b; r < (node + 1) * b; r++) {
    std::vector<PetscScalar> lumped((size_t)b, 0);
    const size_t             begin = rows->j.size();

    PetscCall(MatGetRow(A, r, &n, &j, &a));
    for (PetscInt e = 0; e < n; e++) {
      const PetscInt  other = j[e] / b;
      const auto      found = std::lower_bound(blocks.begin(), blocks.end(), std::make_pair(other, (PetscReal)-1));
      const PetscReal limit = threshold * std::sqrt(sizes.Of(node) * sizes.Of(other));
      if (other != node && !(found->second > limit)) {
        lumped[(size_t)(j[e] % b)] += a[e];
        continue;
      }
      PetscCallCXX(rows->j.push_back(j[e]));
      PetscCallCXX(rows->a.push_back(a[e]));
    }
    PetscCall(MatRestoreRow(A, r, &n, &j, &a));
    for (size_t e = begin; e < rows->j.size(); e++) {
      if (rows->j[e] / b != node) continue;
      const PetscScalar sum = rows->a[e] + lumped[(size_t)(rows->j[e] % b)];
      if (rows->j[e] != r || PetscAbsScalar(sum) > PetscAbsScalar(rows->a[e]) / 4) rows->a[e] = sum;
    }
    PetscCallCXX(rows->i.push_back((PetscInt)rows->j.size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode WithoutWeak(Mat A, PetscReal threshold, Mat *F)
{
  NodeSizes sizes;
  Rows      rows;
  PetscInt  m, n;
  MatType   type;

  PetscFunctionBegin;
  PetscCall(sizes.Find(A));
  for (PetscInt node = sizes.first; node < sizes.last; node++) PetscCall(AddNode(A, sizes, threshold, node, &rows));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), F));
  PetscCall(MatSetSizes(*F, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(*F, sizes.block, sizes.block));
  PetscCall(MatSetType(*F, type));
  PetscCall(MatSeqAIJSetPreallocationCSR(*F, rows.i.data(), rows.j.data(), rows.a.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*F, rows.i.data(), rows.j.data(), rows.a.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
