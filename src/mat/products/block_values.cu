/// The values of a product of rows of blocks: a row of blocks is a warp's, or, where it is long or there are few, that
/// of several warps, each with sums of its own for its part of A's blocks. Lanes have the columns of B's rows side by
/// side, each with all rows of A's block; sums lie in shared memory where they fit. No two lanes add to one sum, and
/// the warps' sums are added in their order: the bits repeat.
#include <algorithm>
#include <iterator>
#include <utility>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/limits.hpp"
#include "device/search.cuh"
#include "mat/products/block_rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

namespace
{
constexpr int WARPS = THREADS / 32; ///< of a thread block at most

struct Arguments {
  PetscInt        rows; ///< of blocks
  const PetscInt *ai, *aj, *bi, *bj, *ci, *cj;
  const Scalar   *a, *b;
  Scalar         *c;
};

/// Adds the terms of blocks first .. end - 1 of a row of A, which begins at `begin` and has `blocks`, to sum
/// [R][length][C], where column [length] are the blocks of C's row. By a warp.
template <int R, int D, int C>
__device__ __forceinline__ void add_terms(const Arguments &p, int lane, PetscInt begin, PetscInt blocks, PetscInt first,
                                          PetscInt end, const PetscInt *column, PetscInt length, Scalar *sum)
{
  const Scalar *const a    = p.a + static_cast<PetscCount>(begin) * (R * D);
  PetscInt            mine = 0, mine_end = 0; // where the next 32 rows of B lie, each by a lane, ahead of their use
  for (PetscInt e = first; e < end; e++) {
    const int turn = static_cast<int>((e - first) % 32);
    if (turn == 0) {
      const PetscInt k = e + lane < end ? p.aj[e + lane] : -1;
      mine             = k >= 0 ? p.bi[k] : 0;
      mine_end         = k >= 0 ? p.bi[k + 1] : 0;
    }
    const PetscInt      b     = __shfl_sync(0xffffffffu, mine, turn);
    const PetscInt      width = (__shfl_sync(0xffffffffu, mine_end, turn) - b) * C;
    const Scalar *const from  = p.b + static_cast<PetscCount>(b) * (D * C);
    Scalar              factor[R][D];
#pragma unroll
    for (int s = 0; s < R; s++)
#pragma unroll
      for (int t = 0; t < D; t++) factor[s][t] = a[(s * blocks + e - begin) * D + t];
    for (PetscInt q = lane; q < width; q += 32) {
      Scalar v[D];
#pragma unroll
      for (int t = 0; t < D; t++) v[t] = from[t * width + q];
      Scalar *const to = sum + lower_bound(column, PetscInt(0), length, p.bj[b + q / C]) * C + q % C;
#pragma unroll
      for (int s = 0; s < R; s++) {
        Scalar all = to[s * length * C];
#pragma unroll
        for (int t = 0; t < D; t++) all += factor[s][t] * v[t];
        to[s * length * C] = all;
      }
    }
    __syncwarp(); // the next row of B may add to the same sums
  }
}

/// Bytes of shared memory for the columns of a row of so many blocks: sums after it are aligned.
__host__ __device__ constexpr size_t ColumnsRoom(PetscInt blocks)
{
  return (static_cast<size_t>(blocks) * sizeof(PetscInt) + 15) / 16 * 16;
}

/// `warps` have a row of blocks together, of at most `capacity` blocks; 0: sums lie in C, and each row is one warp's.
template <int R, int D, int C> __global__ void __launch_bounds__(THREADS)
    block_rows_kernel(Arguments p, int warps, PetscInt capacity, size_t room)
{
  extern __shared__ double2 memory[];
  const int                 lane = threadIdx.x % 32, team = static_cast<int>(threadIdx.x) / 32 / warps,
            member = static_cast<int>(threadIdx.x) / 32 % warps, teams = static_cast<int>(blockDim.x) / 32 / warps;
  const PetscCount index = static_cast<PetscCount>(blockIdx.x) * teams + team;
  const bool       has   = index < p.rows;
  const PetscInt   row = has ? static_cast<PetscInt>(index) : 0, begin = p.ci[row];
  const PetscInt   length = has ? p.ci[row + 1] - begin : 0, entries = R * C * length;
  const PetscInt   first = p.ai[row], blocks = has ? p.ai[row + 1] - first : 0, each = (blocks + warps - 1) / warps;
  Scalar *const    c       = p.c + static_cast<PetscCount>(begin) * (R * C);
  char *const      of_team = reinterpret_cast<char *>(memory) + team * room;
  PetscInt *const  column  = reinterpret_cast<PetscInt *>(of_team);
  Scalar *const    sums    = reinterpret_cast<Scalar *>(of_team + ColumnsRoom(capacity));
  Scalar *const    sum     = capacity ? sums + member * entries : c;
  const auto       wait    = [&] {
    if (warps > 1)
      __syncthreads();
    else
      __syncwarp();
  };

  for (PetscInt k = lane; k < entries; k += 32) sum[k] = Scalar(0);
  for (PetscInt k = member * 32 + lane; capacity && k < length; k += 32 * warps) column[k] = p.cj[begin + k];
  wait();
  const PetscInt mine = min(member * each, blocks), end = min(mine + each, blocks);
  add_terms<R, D, C>(p, lane, first, blocks, first + mine, first + end, capacity ? column : p.cj + begin, length, sum);
  if (!capacity) return;
  wait();
  for (PetscInt k = member * 32 + lane; k < entries; k += 32 * warps) {
    Scalar all = sums[k];
    for (int w = 1; w < warps; w++) all += sums[w * entries + k];
    c[k] = all;
  }
}

/// Bytes of shared memory of so many warps that have a row of blocks of `size` entries together.
constexpr size_t RoomOfRow(int warps, PetscInt size, PetscInt longest)
{
  const size_t sums = static_cast<size_t>(longest) * static_cast<size_t>(warps * size) * sizeof(Scalar);
  return ColumnsRoom(longest) + (sums + 15) / 16 * 16;
}

/// Warps of a row where A's rows have `mean` blocks: all where these have enough to do, and as many as fill a GPU where
/// rows are few.
int WarpsOfRow(PetscInt rows, PetscInt mean)
{
  constexpr PetscInt LONG = 64, FULL = 8192; // blocks; warps
  if (mean >= LONG) return WARPS;
  for (int warps = WARPS; warps > 1; warps /= 2)
    if (rows <= FULL / warps && mean >= 4 * warps) return warps;
  return 1;
}

template <int R, int D, int C> PetscErrorCode Launch(const Arguments &p, PetscInt mean, PetscInt longest)
{
  constexpr size_t   MOST = 98304, BLOCK = 32768; // bytes of a row; of a thread block of several
  static const void *kernel = reinterpret_cast<const void *>(block_rows_kernel<R, D, C>);
  const size_t       one    = RoomOfRow(1, R * C, longest);
  int                warps  = WarpsOfRow(p.rows, mean);
  PetscInt           resident;
  size_t             there;
  Stream             stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(SharedMemoryFor(kernel, &there));
  const size_t most = std::min(MOST, there);
  while (warps > 1 && RoomOfRow(warps, R * C, longest) > most) warps /= 2;
  if (one > most) longest = 0;
  const size_t room  = longest ? RoomOfRow(warps, R * C, longest) : 0;
  int          teams = WARPS / warps;
  while (teams > 1 && static_cast<size_t>(teams) * room > std::max(BLOCK, room)) teams /= 2;
  const int    threads = 32 * warps * teams;
  const size_t shared  = static_cast<size_t>(teams) * room;
  PetscCall(ResidentBlocks(kernel, threads, shared, &resident)); // lets the kernel have that memory
  block_rows_kernel<R, D, C>
      <<<Blocks(p.rows, teams), static_cast<unsigned>(threads), shared, static_cast<cudaStream_t>(stream)>>>(
          p, warps, longest, room);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The kernel of the sizes that these are.
template <size_t... k> PetscErrorCode LaunchOne(std::index_sequence<k...>, const BlockView &A, const BlockView &B,
                                                const Arguments &p, PetscInt mean, PetscInt longest, bool *done)
{
  PetscErrorCode code = PETSC_SUCCESS;
  const auto     are  = [&](const int(&size)[3]) {
    return size[0] == A.row_size && size[1] == A.column_size && size[2] == B.column_size;
  };

  PetscFunctionBegin;
  *done = false;
  ((are(BLOCK_SIZES[k])
        ? (void)(*done = true, code = Launch<BLOCK_SIZES[k][0], BLOCK_SIZES[k][1], BLOCK_SIZES[k][2]>(p, mean, longest))
        : (void)0),
   ...);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MultiplyBlocks_CUDA(const SparseRows &A, const SparseRows &B, const BlockView &C, PetscInt longest,
                                   Scalar *c)
{
  const Arguments p{
      A.rows / A.blocks.row_size, A.blocks.i, A.blocks.j, B.blocks.i, B.blocks.j, C.i, C.j, A.arrays.a, B.arrays.a, c};
  const PetscInt mean = p.rows ? A.nonzeros / (A.blocks.row_size * A.blocks.column_size) / p.rows : 0;
  bool           done;

  PetscFunctionBegin;
  if (!p.rows || !longest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LaunchOne(std::make_index_sequence<std::size(BLOCK_SIZES)>(), A.blocks, B.blocks, p, mean, longest, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "No kernel for blocks of %" PetscInt_FMT " x %" PetscInt_FMT " times %" PetscInt_FMT " x %" PetscInt_FMT,
             A.blocks.row_size, A.blocks.column_size, B.blocks.row_size, B.blocks.column_size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
