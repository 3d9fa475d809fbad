/// Blocks and their colours in one pass over the graph, then the rows sorted by colour and block.
#include "pc/ordering/abmc.hpp"
#include <algorithm>
#include <cstdint>
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ordering
{

namespace
{
constexpr int COLOURS = 64; ///< beyond them neighbours share the last: more levels, but an ordering all the same

/// Blocks, and a colour for each, in one pass: a block begins at the first row that is left, grows breadth first, so
/// that it is compact, and takes the first colour that no neighbour has. Colours are recorded at the neighbouring rows
/// of later blocks, so that one direction of an edge is enough.
class Grower
{
public:
  Grower(PetscInt rows, const PetscInt *i, const PetscInt *j)
      : block(rows, -1),
        rows_(rows),
        i_(i),
        j_(j),
        known_(rows, 0)
  {
  }
  void Grow(PetscInt size)
  {
    std::vector<PetscInt> queue;
    for (PetscInt seed = 0; seed < rows_; seed++) {
      if (block[seed] >= 0) continue;
      const auto    mine  = static_cast<PetscInt>(colour.size());
      std::uint64_t taken = known_[seed];
      queue.assign(1, seed);
      block[seed] = mine;
      for (size_t head = 0; head < queue.size(); head++)
        for (PetscInt e = i_[queue[head]]; e < i_[queue[head] + 1]; e++) {
          const PetscInt to = j_[e];
          if (block[to] >= 0) {
            if (block[to] != mine) taken |= std::uint64_t(1) << colour[block[to]];
          } else if (static_cast<PetscInt>(queue.size()) < size) {
            block[to] = mine;
            taken |= known_[to];
            queue.push_back(to);
          }
        }
      int c = 0;
      while (c < COLOURS - 1 && (taken >> c & 1)) c++;
      colour.push_back(c);
      colours = std::max(colours, static_cast<PetscInt>(c) + 1);
      for (const PetscInt row : queue)
        for (PetscInt e = i_[row]; e < i_[row + 1]; e++)
          if (block[j_[e]] < 0) known_[j_[e]] |= std::uint64_t(1) << c;
    }
  }

  std::vector<PetscInt> block;  ///< [rows]
  std::vector<PetscInt> colour; ///< [blocks]
  PetscInt              colours = 0;

private:
  const PetscInt             rows_;
  const PetscInt            *i_, *j_;
  std::vector<std::uint64_t> known_; ///< [rows] colours of the blocks so far that have an edge to the row
};

/// members: rows by key, each key's in ascending order; begin [keys + 1].
PetscErrorCode Gather(const std::vector<PetscInt> &key, PetscInt keys, std::vector<PetscInt> *begin,
                      std::vector<PetscInt> *members)
{
  std::vector<PetscInt> next;

  PetscFunctionBegin;
  PetscCallCXX(begin->assign(static_cast<size_t>(keys) + 1, 0));
  PetscCallCXX(members->resize(key.size()));
  for (const PetscInt k : key) (*begin)[k + 1]++;
  for (PetscInt k = 0; k < keys; k++) (*begin)[k + 1] += (*begin)[k];
  PetscCallCXX(next = *begin);
  for (size_t r = 0; r < key.size(); r++) (*members)[next[key[r]]++] = static_cast<PetscInt>(r);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode BlockMulticolour(PetscInt rows, const PetscInt *i, const PetscInt *j, PetscInt size,
                                std::vector<PetscInt> *order, PetscInt *colours)
{
  std::vector<PetscInt> begin, members, colour_begin, by_colour;

  PetscFunctionBegin;
  PetscCallCXX(order->clear());
  PetscCallCXX(order->reserve(rows));
  try {
    Grower grower(rows, i, j);
    grower.Grow(size);
    *colours = grower.colours;
    PetscCall(Gather(grower.block, static_cast<PetscInt>(grower.colour.size()), &begin, &members));
    PetscCall(Gather(grower.colour, *colours, &colour_begin, &by_colour));
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: %s", MATORDERINGABMC, e.what());
  }
  for (const PetscInt b : by_colour)
    PetscCallCXX(order->insert(order->end(), members.begin() + begin[b], members.begin() + begin[b + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetOrdering_ABMC(Mat A, MatOrderingType, IS *row, IS *column)
{
  const PetscInt       *i, *j;
  PetscInt              n, block, colours;
  PetscBool             done;
  std::vector<PetscInt> order;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s needs the rows of the matrix, which type %s does not give",
             MATORDERINGABMC, ((PetscObject)A)->type_name);
  // the best total times on five-point and on 27-point grids (docs/performance.md)
  block = n > 0 && i[n] / n >= 16 ? 512 : 256;
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Ordering abmc", "Mat");
  PetscOptionsObject->options = ((PetscObject)A)->options;
  PetscCall(PetscOptionsInt("-mat_ordering_abmc_block",
                            "Rows of a block at most; by default 256, 512 where rows have 16 entries or more",
                            "MATORDERINGABMC", block, &block, nullptr));
  PetscOptionsEnd();
  PetscCheck(block > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_ordering_abmc_block %" PetscInt_FMT " must be positive", block);
  PetscCall(BlockMulticolour(n, i, j, block, &order, &colours));
  PetscCall(PetscInfo(A, "%" PetscInt_FMT " colours of blocks of at most %" PetscInt_FMT " rows\n", colours, block));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order.data(), PETSC_COPY_VALUES, row));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, nullptr, &i, &j, &done));
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
