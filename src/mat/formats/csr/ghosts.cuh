/// Products of the rows that are not empty with entries that an exchange brings: see comm/exchange.cuh.
#pragma once

#include "comm/exchange.cuh"
#include "mat/formats/csr/row.cuh"

namespace sparsegpu::formats
{

/// An entry that another GPU has written while this kernel ran.
struct GatherShared {
  const Scalar *x;

  __device__ __forceinline__ Scalar operator()(PetscInt j) const { return load_shared(x + j); }
};

/// row(r, A x) for all rows r that are not empty, or for all where these are most; by one thread each. x are the
/// entries of the exchange, which are awaited while the kernel before this one ends; NaN where a rank is lost. `width`
/// neighbouring threads share a row and read neighbouring entries, of rows of any length. Bitwise reproducible. All
/// threads of the grid must call; blockDim.x is a multiple of 32.
template <int width, class Row>
__device__ __forceinline__ void csr_ghost_rows(const CsrLayout &A, const comm::DeviceExchange &exchange, Row row)
{
  const int      lane    = static_cast<int>(threadIdx.x) % width;
  const PetscInt at_once = static_cast<PetscInt>(blockDim.x) / width, rows = A.filled >= 0 ? A.filled : A.rows;
  bool           came = false, awaited = false;
  const auto     await = [&] { // between the first columns and all else
    if (!awaited) {
          came = comm::await_entries(exchange);
          wait_for_previous_kernel();
    }
    awaited = true;
  };

  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * at_once; first < rows;
       first += static_cast<PetscInt>(gridDim.x) * at_once) {
    const PetscInt n    = first + static_cast<PetscInt>(threadIdx.x) / width;
    const bool     mine = n < rows;
    const PetscInt r = mine && A.filled >= 0 ? A.filled_row[n] : n, begin = mine ? A.i[r] : 0,
                   end = mine ? A.i[r + 1] : 0;
    Scalar sum         = batched_sum<4>(
        begin + lane, end, width, [&](PetscInt e) { return A.a[e]; }, [&](PetscInt e) { return A.j[e]; },
        GatherShared{comm::entries_of(exchange)}, await);
    sum = group_sum<width>(sum);
    if (mine && lane == 0) row(r, came ? sum : comm::no_number());
  }
  await(); // a block without rows
}

/// Blocks of `threads` threads for the rows, one at least, and no more than are on the device at a time.
inline PetscInt csr_ghost_blocks(const CsrLayout &A, PetscInt width, PetscInt threads, PetscInt multiprocessors)
{
  const PetscInt rows = A.filled >= 0 ? A.filled : A.rows, useful = (rows - 1) / (threads / width) + 1;
  const PetscInt full = 2048 / threads * multiprocessors;
  return rows == 0 ? 1 : useful < full ? useful : full;
}

/// launch(width) with the threads that a row takes, a constant.
template <class Launch> PetscErrorCode WithGhostWidth(const CsrLayout &A, Launch launch)
{
  PetscFunctionBegin;
  switch (A.filled > 0 ? A.filled_width : A.width) {
  case 1: PetscCall(launch(std::integral_constant<int, 1>())); break;
  case 2: PetscCall(launch(std::integral_constant<int, 2>())); break;
  case 4: PetscCall(launch(std::integral_constant<int, 4>())); break;
  case 8: PetscCall(launch(std::integral_constant<int, 8>())); break;
  case 16: PetscCall(launch(std::integral_constant<int, 16>())); break;
  default: PetscCall(launch(std::integral_constant<int, 32>()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
