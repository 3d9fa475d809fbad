/// The pattern of A B, each row by a hash table in shared memory: once to count its columns, and once more to sort and
/// write them, so that no memory is needed for terms (Nagasaka, Nukada & Matsuoka, ICPP 2017). A warp makes a row, a
/// block of threads one of long rows of A or of more columns than the warp's table holds. A product that has a row with
/// more than that of a block is left to be made in another way.
#include <type_traits>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/products/hashed.hpp"
#include "mat/rows/running_sum.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

namespace
{
constexpr int WARPS = THREADS / 32;

using Word           = std::conditional_t<sizeof(PetscInt) == 8, unsigned long long, unsigned>;
constexpr Word EMPTY = ~Word(0);

constexpr PetscInt LONG  = 512;  ///< entries of A's row that are a block's
constexpr PetscInt FEW   = 4096; ///< rows that do not fill a GPU with a warp each: a block has all of some entries
constexpr int      SMALL = 256, LARGE = sizeof(PetscInt) == 8 ? 2048 : 4096; ///< words of a table
/// Columns that a table takes: all threads may come in between before one sees that it is full.
template <int size> constexpr int MOST = size / 4 * 3;

/// What the counting finds, summed up by many: one address would be the bottleneck.
struct Counters {
  static constexpr int WAYS = 64;
  unsigned long long   large, lost;
  unsigned long long   terms[WAYS], columns[WAYS];
};

struct Arguments {
  PetscInt  rows;
  CsrArrays a, b;
  PetscInt *i, *j;
  PetscInt *list; ///< [rows] those of a block each
  PetscInt  most; ///< entries of A's row that are a warp's
  Counters *counters;
};

/// The columns of one row, of `threads` threads.
template <int size> struct Table {
  volatile Word *word;
  int           *number; ///< of columns

  /// Nothing once there are more than MOST.
  __device__ void Add(PetscInt column)
  {
    const Word key = static_cast<Word>(column);
    unsigned   at  = (static_cast<unsigned>(column) * 0x9e3779b1u) >> 16;
    for (;; at++) {
      volatile Word *const place = word + at % size;
      Word                 seen  = *place;
      if (seen == key) return;
      if (seen != EMPTY) continue;
      if (*static_cast<volatile int *>(number) > MOST<size>) return;
      seen = atomicCAS(const_cast<Word *>(place), EMPTY, key);
      if (seen == EMPTY) atomicAdd(number, 1);
      if (seen == EMPTY || seen == key) return;
    }
  }
};

/// Adds the columns of all terms of a row; `lanes` neighbouring threads of `threads` have an entry of A together.
/// Returns this thread's share of the number of terms. All threads of the row call.
template <int lanes, int threads, class Row, class Wait>
__device__ unsigned long long add_terms(const Arguments &p, PetscInt row, int thread, Row *table, const Wait &wait)
{
  const int          part  = thread % lanes;
  const PetscInt     end   = p.a.i[row + 1];
  unsigned long long terms = 0;
  for (PetscInt first = p.a.i[row]; first < end; first += threads / lanes) {
    const PetscInt e = first + thread / lanes;
    if (e < end) {
      const PetscInt k = p.a.j[e], begin = p.b.i[k], stop = p.b.i[k + 1];
      if (part == 0) terms += static_cast<unsigned long long>(stop - begin);
      for (PetscInt q = begin + part; q < stop; q += lanes) table->Add(p.b.j[q]);
    }
    if (wait(*table)) break; // full
  }
  return terms;
}

/// j [count] = the columns of the table, ascending, by threads of number thread < `threads`.
template <int size, int threads, class Wait>
__device__ void write_columns(Table<size> table, PetscInt *j, int thread, Word *found, int *cursor, const Wait &wait)
{
  for (int k = thread; k < size; k += threads) {
    const Word w = table.word[k];
    if (w != EMPTY) found[atomicAdd(cursor, 1)] = w;
  }
  wait();
  const int count = *table.number;
  for (int k = thread; k < count; k += threads) {
    const Word mine  = found[k];
    int        place = 0;
    for (int q = 0; q < count; q++) place += found[q] < mine;
    j[place] = static_cast<PetscInt>(mine);
  }
}

/// A warp a row: i[row] = its number of columns, or, `write`, j from i[row] on = these. Rows that are a block's are put
/// on the list.
template <int lanes, bool write> __global__ void __launch_bounds__(THREADS) small_kernel(Arguments p)
{
  __shared__ Word    words[WARPS][SMALL], found[write ? WARPS : 1][write ? SMALL : 1];
  __shared__ int     number[WARPS], cursor[WARPS];
  const int          warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const PetscCount   row = thread_index() / 32;
  Table<SMALL>       table{words[warp], number + warp};
  unsigned long long terms = 0;

  if (row >= p.rows) return;
  const PetscInt r = static_cast<PetscInt>(row);
  for (int k = lane; k < SMALL; k += 32) words[warp][k] = EMPTY;
  if (lane == 0) number[warp] = cursor[warp] = 0;
  __syncwarp();
  bool large = p.a.i[r + 1] - p.a.i[r] > p.most;
  if (!large) {
    terms = add_terms<lanes, 32>(p, r, lane, &table, [](const Table<SMALL> &t) {
      __syncwarp();
      const bool full = *static_cast<volatile int *>(t.number) > MOST<SMALL>;
      __syncwarp();
      return full;
    });
    large = number[warp] > MOST<SMALL>;
  }
  if constexpr (write) {
    if (!large) write_columns<SMALL, 32>(table, p.j + p.i[r], lane, found[warp], cursor + warp, [] { __syncwarp(); });
  } else {
    terms = warp_sum(terms);
    if (lane != 0) return;
    if (large) {
      p.list[atomicAdd(&p.counters->large, 1ull)] = r;
      return;
    }
    p.i[r] = number[warp];
    atomicAdd(p.counters->terms + blockIdx.x % Counters::WAYS, terms);
    atomicAdd(p.counters->columns + blockIdx.x % Counters::WAYS, static_cast<unsigned long long>(number[warp]));
  }
}

/// The same by a block for each row of the list.
template <int lanes, bool write> __global__ void __launch_bounds__(THREADS) large_kernel(Arguments p)
{
  __shared__ Word words[LARGE], found[write ? LARGE : 1];
  __shared__ int  number, cursor;
  const PetscInt  r = p.list[blockIdx.x];
  Table<LARGE>    table{words, &number};

  for (int k = static_cast<int>(threadIdx.x); k < LARGE; k += THREADS) words[k] = EMPTY;
  if (threadIdx.x == 0) number = cursor = 0;
  __syncthreads();
  const unsigned long long terms =
      add_terms<lanes, THREADS>(p, r, static_cast<int>(threadIdx.x), &table, [](const Table<LARGE> &t) {
        __syncthreads();
        const bool full = *static_cast<volatile int *>(t.number) > MOST<LARGE>;
        __syncthreads();
        return full;
      });
  if constexpr (write) {
    __syncthreads();
    write_columns<LARGE, THREADS>(table, p.j + p.i[r], static_cast<int>(threadIdx.x), found, &cursor,
                                  [] { __syncthreads(); });
  } else {
    const unsigned long long of_warp = warp_sum(terms);
    if (threadIdx.x % 32 == 0) atomicAdd(p.counters->terms + blockIdx.x % Counters::WAYS, of_warp);
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (number > MOST<LARGE>) p.counters->lost = 1;
    p.i[r] = number;
    atomicAdd(p.counters->columns + blockIdx.x % Counters::WAYS, static_cast<unsigned long long>(number));
  }
}

template <int lanes, bool write> PetscErrorCode Launch(const Arguments &p, PetscInt large, cudaStream_t s)
{
  PetscFunctionBegin;
  if (write || !large) {
    small_kernel<lanes, write><<<Blocks(static_cast<PetscCount>(p.rows) * 32), THREADS, 0, s>>>(p);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  if (large) {
    large_kernel<lanes, write><<<static_cast<unsigned>(large), THREADS, 0, s>>>(p);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool write> PetscErrorCode Pass(const SparseRows &B, const Arguments &p, PetscInt large, cudaStream_t s)
{
  const PetscCount mean = B.rows ? static_cast<PetscCount>(B.nonzeros) / B.rows : 0;

  PetscFunctionBegin;
  if (mean < 8)
    PetscCall((Launch<1, write>(p, large, s)));
  else if (mean < 32)
    PetscCall((Launch<4, write>(p, large, s)));
  else
    PetscCall((Launch<16, write>(p, large, s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

unsigned long long SumOf(const unsigned long long (&all)[Counters::WAYS])
{
  unsigned long long sum = 0;
  for (const unsigned long long one : all) sum += one;
  return sum;
}
} // namespace

PetscErrorCode MultiplyPatternHashed_CUDA(const SparseRows &A, const SparseRows &B, Pattern *C, bool *done)
{
  Array<PetscInt> list;
  Array<Counters> counters;
  Counters        found;
  PetscInt        total = 0;
  Stream          stream;

  PetscFunctionBegin;
  *done = false;
  if (!A.rows || !A.nonzeros) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(C->i.Allocate(static_cast<size_t>(A.rows) + 1, Space::Device));
  PetscCall(list.Allocate(static_cast<size_t>(A.rows), Space::Device));
  PetscCall(counters.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(counters.data(), 0, counters.bytes(), s));
  SparseGPUCallCUDA(cudaMemsetAsync(C->i.data() + A.rows, 0, sizeof(PetscInt), s)); // the sum's own place
  Arguments p{A.rows,         A.arrays, B.arrays, C->i.data(), nullptr, list.data(), A.rows <= FEW ? LONG / 16 : LONG,
              counters.data()};
  PetscCall(Pass<false>(B, p, 0, s));
  PetscCall(counters.ToHost(&found));
  const PetscInt large = static_cast<PetscInt>(found.large);
  if (large) {
    PetscCall(Pass<false>(B, p, large, s));
    PetscCall(counters.ToHost(&found));
    if (found.lost) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(SumOf(found.columns) <= static_cast<unsigned long long>(PETSC_MAX_INT), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "The product has %llu nonzeros, more than %" PetscInt_FMT, SumOf(found.columns),
             PETSC_MAX_INT);
  C->terms = static_cast<PetscCount>(SumOf(found.terms));
  PetscCall(rows::RunningSumIn(Space::Device, A.rows, &C->i, &total));
  PetscCall(C->j.Allocate(static_cast<size_t>(total), Space::Device));
  p.j = C->j.data();
  if (total) PetscCall(Pass<true>(B, p, large, s));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
