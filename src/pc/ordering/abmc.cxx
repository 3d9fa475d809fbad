#include "pc/ordering/abmc.hpp"
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu
{

namespace
{
/// block[r]: the block of row r. Each begins at the first row that is left and grows breadth first, so that it is
/// compact.
PetscErrorCode GrowBlocks(PetscInt rows, const PetscInt *i, const PetscInt *j, PetscInt size,
                          std::vector<PetscInt> *block, PetscInt *blocks)
{
  std::vector<PetscInt> queue;

  PetscFunctionBegin;
  *blocks = 0;
  PetscCallCXX(block->assign(rows, -1));
  for (PetscInt seed = 0; seed < rows; seed++) {
    if ((*block)[seed] >= 0) continue;
    queue.clear();
    PetscCallCXX(queue.push_back(seed));
    (*block)[seed] = *blocks;
    for (size_t head = 0; head < queue.size(); head++)
      for (PetscInt e = i[queue[head]]; e < i[queue[head] + 1]; e++) {
        if ((*block)[j[e]] >= 0 || static_cast<PetscInt>(queue.size()) >= size) continue;
        (*block)[j[e]] = *blocks;
        PetscCallCXX(queue.push_back(j[e]));
      }
    ++*blocks;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  std::vector<PetscInt> block, begin, members, colour, taken, colour_begin, by_colour;
  PetscInt              blocks;

  PetscFunctionBegin;
  PetscCall(GrowBlocks(rows, i, j, size, &block, &blocks));
  PetscCall(Gather(block, blocks, &begin, &members));
  *colours = 0;
  PetscCallCXX(colour.assign(blocks, -1));
  for (PetscInt b = 0; b < blocks; b++) { // the first colour that no neighbour has
    for (PetscInt m = begin[b]; m < begin[b + 1]; m++)
      for (PetscInt e = i[members[m]]; e < i[members[m] + 1]; e++) {
        const PetscInt c = colour[block[j[e]]];
        if (c >= 0) taken[c] = b;
      }
    PetscInt c = 0;
    while (c < *colours && taken[c] == b) c++;
    if (c == *colours) {
      ++*colours;
      PetscCallCXX(taken.push_back(-1));
    }
    colour[b] = c;
  }
  PetscCall(Gather(colour, *colours, &colour_begin, &by_colour));
  order->clear();
  PetscCallCXX(order->reserve(rows));
  for (const PetscInt b : by_colour)
    PetscCallCXX(order->insert(order->end(), members.begin() + begin[b], members.begin() + begin[b + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetOrdering_ABMC(Mat A, MatOrderingType, IS *row, IS *column)
{
  const PetscInt       *i, *j;
  PetscInt              n, block, colours;
  PetscBool             done, set;
  std::vector<PetscInt> order;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_TRUE, PETSC_TRUE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s needs the rows of the matrix, which type %s does not give",
             MATORDERINGABMC, ((PetscObject)A)->type_name);
  block = 256; // the best total time on five-point grids from 100 x 100 to 1000 x 1000 (docs/performance.md)
  PetscCall(PetscOptionsGetInt(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_ordering_abmc_block", &block,
                               &set));
  PetscCheck(block > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_ordering_abmc_block %" PetscInt_FMT " must be positive", block);
  PetscCall(BlockMulticolour(n, i, j, block, &order, &colours));
  PetscCall(PetscInfo(A, "%" PetscInt_FMT " colours of blocks of at most %" PetscInt_FMT " rows\n", colours, block));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order.data(), PETSC_COPY_VALUES, row));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_TRUE, PETSC_TRUE, nullptr, &i, &j, &done));
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

} // namespace sparsegpu
