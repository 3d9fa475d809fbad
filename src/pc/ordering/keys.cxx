/// Rows sorted by keys, digit by digit from the lowest on.
#include "pc/ordering/keys.hpp"
#include <algorithm>
#include <numeric>
#include "device/sort.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
constexpr int DIGIT = 11; ///< bits: 2048 counters and places to write to stay in the first cache

PetscErrorCode SortRows_Host(RowKeys *keys, Array<PetscInt> *order)
{
  const size_t              rows = keys->key.size();
  const unsigned long long *key  = keys->key.data();
  std::vector<PetscInt>     now, next, begin;

  PetscFunctionBegin;
  PetscCallCXX(now.resize(rows));
  PetscCallCXX(next.resize(rows));
  std::iota(now.begin(), now.end(), 0);
  for (int shift = 0; shift < keys->bits; shift += DIGIT) {
    const auto digit = [&](PetscInt r) { return key[r] >> shift & ((1u << DIGIT) - 1); };
    PetscCallCXX(begin.assign((size_t(1) << DIGIT) + 1, 0));
    for (const PetscInt r : now) begin[digit(r) + 1]++;
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const PetscInt r : now) next[static_cast<size_t>(begin[digit(r)]++)] = r;
    std::swap(now, next);
  }
  PetscCall(order->Take(std::move(now), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RowKeys::Allocate(Space space, PetscInt rows, PetscInt all_colours, PetscInt all_blocks)
{
  PetscFunctionBegin;
  colours    = all_colours;
  blocks     = all_blocks;
  block_bits = rows::BitsUpTo(blocks - 1);
  bits       = block_bits + rows::BitsUpTo(colours - 1);
  PetscCall(key.Allocate(static_cast<size_t>(rows), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortRows(Space space, RowKeys *keys, Array<PetscInt> *order)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    DeviceMemory scratch;
    Stream       stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(SortKeys(static_cast<PetscInt>(keys->key.size()), std::max(keys->bits, 1), &keys->key, order, &scratch,
                       stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)space;
  PetscCall(SortRows_Host(keys, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
