/// Blocks, their colours, then the rows by colour and block. The host's blocks of graphs other than grids are found in
/// parts of the rows side by side.
#include "pc/ordering/abmc.hpp"
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <petsc/private/matimpl.h>
#include <vector>
#include "pc/factor/rows.hpp"
#include "pc/ordering/cores.hpp"
#include "pc/ordering/in_parts.hpp"
#include "pc/ordering/keys.hpp"
#include "pc/ordering/operations.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ordering
{

namespace
{
constexpr PetscInt PARTS = 8;  ///< of the rows at most, whatever the number of threads: the order depends on them
constexpr PetscInt FULL  = 64; ///< blocks of a part at least

/// Neighbouring rows, their blocks, and which blocks have an edge to others.
struct Part {
  PetscInt              begin, end;      ///< rows
  PetscInt              first = 0;       ///< block
  std::vector<PetscInt> start;           ///< [blocks + 1] first member of each block
  std::vector<PetscInt> members;         ///< [end - begin] rows by block, ascending in each
  std::vector<PetscInt> edge, neighbour; ///< [blocks + 1] first neighbour; blocks that a row of the block has edges to

  PetscInt Blocks() const { return static_cast<PetscInt>(start.size()) - 1; }
};

class Blocks
{
public:
  Blocks(PetscInt rows, const PetscInt *i, const PetscInt *j, PetscInt size, int threads)
      : i_(i),
        j_(j),
        size_(size),
        threads_(threads),
        block_(rows, -1),
        parts_(std::clamp<PetscInt>(rows / FULL / size, 1, PARTS))
  {
    const auto parts = static_cast<PetscInt>(parts_.size());
    for (PetscInt p = 0; p < parts; p++) {
      parts_[p].begin = static_cast<PetscInt>(static_cast<PetscInt64>(rows) * p / parts);
      parts_[p].end   = static_cast<PetscInt>(static_cast<PetscInt64>(rows) * (p + 1) / parts);
    }
  }
  void Find(PetscInt *order, BlockColours *found)
  {
    const auto parts = static_cast<PetscInt>(parts_.size());
    InParts(parts, threads_, [&](PetscInt p) { Grow(&parts_[p]); });
    for (PetscInt p = 1; p < parts; p++) parts_[p].first = parts_[p - 1].first + parts_[p - 1].Blocks();
    InParts(parts, threads_, [&](PetscInt p) {
      for (PetscInt r = parts_[p].begin; r < parts_[p].end; r++) block_[r] += parts_[p].first;
    });
    InParts(parts, threads_, [&](PetscInt p) { Neighbours(&parts_[p]); });
    const std::vector<PetscInt> place = Colour(&found->colours);
    found->blocks                     = parts_.back().first + parts_.back().Blocks();
    InParts(parts, threads_, [&](PetscInt p) {
      const Part &part = parts_[p];
      for (PetscInt b = 0; b < part.Blocks(); b++)
        std::copy(part.members.begin() + part.start[b], part.members.begin() + part.start[b + 1],
                  order + place[part.first + b]);
    });
  }

private:
  /// A block begins at the first row that is left and grows breadth first, so that it is compact. Blocks are numbered
  /// from 0 on.
  void Grow(Part *part)
  {
    std::vector<PetscInt> queue, next;
    PetscInt              blocks = 0;
    for (PetscInt seed = part->begin; seed < part->end; seed++) {
      if (block_[seed] >= 0) continue;
      queue.assign(1, seed);
      block_[seed] = blocks;
      for (size_t head = 0; head < queue.size() && static_cast<PetscInt>(queue.size()) < size_; head++)
        for (PetscInt e = i_[queue[head]]; e < i_[queue[head] + 1] && static_cast<PetscInt>(queue.size()) < size_;
             e++) {
          const PetscInt to = j_[e];
          if (to < part->begin || to >= part->end || block_[to] >= 0) continue;
          block_[to] = blocks;
          queue.push_back(to);
        }
      blocks++;
    }
    part->start.assign(static_cast<size_t>(blocks) + 1, 0);
    part->members.resize(part->end - part->begin);
    for (PetscInt r = part->begin; r < part->end; r++) part->start[block_[r] + 1]++;
    std::partial_sum(part->start.begin(), part->start.end(), part->start.begin());
    next = part->start;
    for (PetscInt r = part->begin; r < part->end; r++) part->members[next[block_[r]]++] = r;
  }
  void Neighbours(Part *part) const
  {
    std::vector<PetscInt> seen(parts_.back().first + parts_.back().Blocks(), -1); // by which block last
    part->edge.assign(1, 0);
    for (PetscInt b = 0; b < part->Blocks(); b++) {
      seen[part->first + b] = b;
      for (PetscInt m = part->start[b]; m < part->start[b + 1]; m++)
        for (PetscInt e = i_[part->members[m]]; e < i_[part->members[m] + 1]; e++) {
          const PetscInt to = block_[j_[e]];
          if (seen[to] == b) continue;
          seen[to] = b;
          part->neighbour.push_back(to);
        }
      part->edge.push_back(static_cast<PetscInt>(part->neighbour.size()));
    }
  }
  /// A block takes the first colour that no neighbour before it has. Colours are recorded at later neighbours, so that
  /// one direction of an edge is enough. Returns where the rows of each block come in the order.
  std::vector<PetscInt> Colour(PetscInt *colours) const
  {
    const PetscInt             blocks = parts_.back().first + parts_.back().Blocks();
    std::vector<std::uint64_t> taken(blocks, 0);
    std::vector<int>           colour(blocks);
    std::vector<PetscInt>      rows(blocks), begin(COLOURS + 1, 0), place(blocks);
    *colours = 0;
    for (const Part &part : parts_)
      for (PetscInt k = 0; k < part.Blocks(); k++) {
        const PetscInt b = part.first + k;
        int            c = 0;
        for (PetscInt n = part.edge[k]; n < part.edge[k + 1]; n++)
          if (part.neighbour[n] < b) taken[b] |= std::uint64_t(1) << colour[part.neighbour[n]];
        while (c < COLOURS - 1 && (taken[b] >> c & 1)) c++;
        for (PetscInt n = part.edge[k]; n < part.edge[k + 1]; n++)
          if (part.neighbour[n] > b) taken[part.neighbour[n]] |= std::uint64_t(1) << c;
        colour[b] = c;
        rows[b]   = part.start[k + 1] - part.start[k];
        *colours  = std::max<PetscInt>(*colours, c + 1);
        begin[c + 1] += rows[b];
      }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (PetscInt b = 0; b < blocks; b++) {
      place[b] = begin[colour[b]];
      begin[colour[b]] += rows[b];
    }
    return place;
  }

  const PetscInt       *i_, *j_;
  const PetscInt        size_;
  const int             threads_;
  std::vector<PetscInt> block_; ///< [rows]
  std::vector<Part>     parts_;
};

/// Rows of a block by default: those with the best total times on five-point and on 27-point grids
/// (docs/performance.md). Blocks grown by rounds are less regular: 512 rows make a fifth more levels than the host's.
constexpr PetscInt SMALL = 256, LARGE = 512;

PetscInt SuitableBlock(PetscInt rows, double nonzeros)
{
  return rows > 0 && nonzeros >= 16.0 * rows ? LARGE : SMALL;
}
} // namespace

PetscErrorCode BlockMulticolour(const RowPattern &A, PetscInt block, PetscInt *order, BlockColours *found, int threads)
{
  RowKeys         keys;
  Array<PetscInt> sorted;
  bool            boxes;

  PetscFunctionBegin;
  *found = BlockColours();
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt suits = block > 0 ? block : SuitableBlock(A.rows, A.nonzeros);
  if (threads == 0) threads = Cores();
  PetscCall(KeysOfBoxes(A, suits, threads, &keys, &boxes));
  if (!boxes && A.space == Space::Host) {
    found->way = "grown breadth first";
    try {
      Blocks(A.rows, A.i, A.j, suits, threads).Find(order, found);
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: %s", MATORDERINGABMC, e.what());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!boxes) PetscCall(KeysOfGraph(A, block > 0 ? block : SMALL, &keys));
  PetscCall(SortRows(A.space, &keys, &sorted));
  PetscCall(sorted.ToHost(order));
  *found = BlockColours{keys.blocks, keys.colours, boxes ? "boxes of a grid" : "grown by rounds"};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// 0 if no option says it.
static PetscErrorCode ReadBlock(Mat A, PetscInt *block)
{
  PetscBool set;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *block = SuitableBlock(A->rmap->n, info.nz_used);
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Ordering abmc", "Mat");
  PetscOptionsObject->options = ((PetscObject)A)->options;
  PetscCall(PetscOptionsInt("-mat_ordering_abmc_block",
                            "Rows of a block at most; by default 256, 512 where rows have 16 entries or more",
                            "MATORDERINGABMC", *block, block, &set));
  PetscOptionsEnd();
  PetscCheck(*block > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_ordering_abmc_block %" PetscInt_FMT " must be positive", *block);
  if (!set) *block = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The order of A from the rows that its factorization on the device will read.
static PetscErrorCode OrderOnDevice(Mat A, RowPattern rows, PetscInt block, PetscInt *order, BlockColours *found)
{
  factor::MatrixRows m;
  Array<PetscInt>    i, j;

  PetscFunctionBegin;
  PetscCall(factor::GetMatrixRows(A, &m));
  rows.nonzeros = m.csr.nonzeros;
  PetscCall(factor::PatternOnDevice(m, &i, &j, &rows.i, &rows.j));
  PetscCall(BlockMulticolour(rows, block, order, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OrderOnHost(Mat A, RowPattern rows, PetscInt block, PetscInt *order, BlockColours *found)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows.i, &rows.j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s needs the rows of the matrix, which type %s does not give",
             MATORDERINGABMC, ((PetscObject)A)->type_name);
  rows.space    = Space::Host;
  rows.nonzeros = n > 0 ? rows.i[n] : 0;
  PetscCall(BlockMulticolour(rows, block, order, found));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, nullptr, &rows.i, &rows.j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetOrdering_ABMC(Mat A, MatOrderingType, IS *row, IS *column)
{
  RowPattern            rows;
  BlockColours          found;
  std::vector<PetscInt> order;
  PetscInt              block;
  bool                  host;

  PetscFunctionBegin;
  PetscCall(ReadBlock(A, &block));
  rows.rows = A->rmap->n;
  PetscCall(factor::FactorSpace(A, &rows.space));
  PetscCall(MatGetBlockSize(A, &rows.unknowns));
  if (rows.unknowns < 1 || rows.rows % rows.unknowns) rows.unknowns = 1;
  PetscCallCXX(order.resize(rows.rows));
  host = rows.space == Space::Host;
  if (!host) PetscCall(TryOnDevice([&] { return OrderOnDevice(A, rows, block, order.data(), &found); }, &host));
  if (host) PetscCall(OrderOnHost(A, rows, block, order.data(), &found));
  PetscCall(PetscInfo(A, "%" PetscInt_FMT " colours of %" PetscInt_FMT " blocks, %s, found on the %s\n", found.colours,
                      found.blocks, found.way, host ? "host" : "device"));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, rows.rows, order.data(), PETSC_COPY_VALUES, row));
  PetscCall(PetscObjectReference((PetscObject)*row));
  *column = *row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterOrderings()
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGABMC, MatGetOrdering_ABMC));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
