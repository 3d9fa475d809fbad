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

/// row(r, A x) for all rows r that are not empty, or for all where these are most; by one thread each, once the kernel
/// before this one has ended. x are the entries of the exchange, NaN where a rank is lost: the first sums are formed
/// while that kernel, the product that has begun the exchange, still runs. It does not write A, and waits itself for
/// the one that may: nothing that changes A's values may be launched between the two. `width` neighbouring threads
/// share a row and read neighbouring entries, of rows of any length. Bitwise reproducible. All threads of the grid must
/// call; blockDim.x is a multiple of 32.
template <int width, class Row>
__device__ __forceinline__ void csr_ghost_rows(const CsrLayout &A, const comm::DeviceExchange &exchange, Row row)
{
  const int      lane    = static_cast<int>(threadIdx.x) % width;
  const PetscInt at_once = static_cast<PetscInt>(blockDim.x) / width, rows = A.filled >= 0 ? A.filled : A.rows;
  bool           came = false, awaited = false;
  bool           in_turn = false;
  const auto     await   = [&] { // between the first columns and all else
    if (!awaited) came = comm::await_entries(exchange);
    awaited = true;
  };
  const auto take_turn = [&] {
    if (!in_turn) wait_for_previous_kernel();
    in_turn = true;
  };

  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * at_once; first < rows;
       first += static_cast<PetscInt>(gridDim.x) * at_once) {
    const PetscInt n    = first + static_cast<PetscInt>(threadIdx.x) / width;
    const bool     mine = n < rows;
    const PetscInt r = mine && A.filled >= 0 ? A.filled_row[n] : n, begin = mine ? A.i[r] : 0,
                   end = mine ? A.i[r + 1] : 0;
    Scalar sum         = batched_sum<4>(
        begin + lane, end, width, [&](PetscInt e) { return load_shared(A.a + e); }, [&](PetscInt e) { return A.j[e]; },
        GatherShared{comm::entries_of(exchange)}, await);
    sum = group_sum<width>(sum);
    take_turn();
    if (mine && lane == 0) row(r, came ? sum : comm::no_number());
  }
  await(); // a block without rows
  take_turn();
}

/// Blocks of `threads` threads for the rows, one at least, and no more than are on the device at a time, of kernels
/// that have up to 64 registers.
inline PetscInt csr_ghost_blocks(const CsrLayout &A, PetscInt width, PetscInt threads, PetscInt multiprocessors)
{
  const PetscInt rows = A.filled >= 0 ? A.filled : A.rows, useful = (rows - 1) / (threads / width) + 1;
  const PetscInt full = 1024 / threads * multiprocessors;
  return rows == 0 ? 1 : useful < full ? useful : full;
}

/// launch(width, blocks) with the threads that a row takes, a constant, and how many blocks of `threads` threads,
/// `most` at most: fewer threads where rows are so many that not all would be on the device at a time, as one wave of
/// thread blocks after the other takes longer than a row's entries in turn.
template <class Launch> PetscErrorCode WithGhostRows(const CsrLayout &A, PetscInt threads, PetscInt most, Launch launch)
{
  constexpr PetscInt ROOM  = 131072; // threads, of any device: the order of sums here must not depend on it
  const PetscInt     rows  = A.filled >= 0 ? A.filled : A.rows;
  PetscInt           width = A.filled > 0 ? A.filled_width : A.width, multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  while (width > 1 && rows > ROOM / width) width /= 2;
  const PetscInt useful = csr_ghost_blocks(A, width, threads, multiprocessors), blocks = useful < most ? useful : most;
  PetscCall(WithRowWidth(width, [&](auto constant) { return launch(constant, blocks); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
