/// Fill of ILU(k) and ICC(k) on the device, a level at a time. Row r gets an entry of level l in column c where
/// level(r, m) + level(m, c) + 1 = l for an m < min(r, c) and it has none of a lower level: that asks for entries of
/// lower levels alone, in rows of any number, so that no row waits for another, unlike on the host, which takes row
/// after row through all levels. The candidates of all rows are written down, sorted and made unique.
#include <algorithm>
#include "device/cub_call.cuh"
#include "device/search.cuh"
#include "device/sort.hpp"
#include "pc/ilu/ilu.hpp"
#include "pc/ilu/keys.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

static constexpr unsigned ALL = 0xffffffffu;

namespace
{
/// A pattern with levels, on the device.
struct Leveled {
  PetscInt        entries;
  const PetscInt *i, *j, *diagonal;
  const PetscInt *row;   ///< [entries] of each entry
  const PetscInt *level; ///< [entries]
};
} // namespace

/// row[e] of each entry, a warp per row; source, unless null: each entry is the matrix's own.
static __global__ void rows_kernel(PetscInt rows, const PetscInt *i, PetscInt *row, PetscInt *source)
{
  const PetscInt r = static_cast<PetscInt>(thread_index() / 32);
  if (r >= rows) return;
  for (PetscInt e = i[r] + threadIdx.x % 32; e < i[r + 1]; e += 32) {
    row[e] = r;
    if (source) source[e] = e;
  }
}

/// The fill that an entry (r, m) of L causes in its row: columns of row m of U which row r lacks, `lanes` threads an
/// entry. key null: counts them, count[e] for begin <= e < end and 0 for entry `end`; else writes them to key[count[e]
/// - base] and on.
static __global__ void candidates_kernel(Leveled F, PetscInt wanted, int lanes, PetscInt begin, PetscInt end,
                                         PetscCount *count, PetscCount base, int bits, Key *key)
{
  const PetscCount e    = begin + thread_index() / lanes;
  const unsigned   lane = threadIdx.x % 32, own = lane & (lanes - 1u);
  // the lanes of this entry, and those of them before this one
  const unsigned group = (lanes == 32 ? ALL : (1u << lanes) - 1) << (lane - own), before = group & ((1u << lane) - 1);
  PetscInt       r = 0, last = 0, rest = 0;
  PetscCount     found = 0, f = 0; // f goes on beyond its row, while others have not ended

  if (e < end) {
    const PetscInt m = F.j[e];
    r                = F.row[e];
    if (m < r) {
      rest = wanted - 1 - F.level[e];
      f    = F.diagonal[m] + 1;
      last = F.i[m + 1];
    }
    if (key) found = count[e] - base;
  }
  const unsigned turns = last > f ? static_cast<unsigned>((last - f - 1) / lanes + 1) : 0;
  const unsigned most  = __reduce_max_sync(ALL, turns);
  f += static_cast<PetscInt>(own);
  for (unsigned turn = 0; turn < most; turn++, f += lanes) {
    bool     lacks = false;
    PetscInt c     = 0;
    if (f < last && F.level[f] == rest) {
      c     = F.j[f];
      lacks = find_column(F.j, static_cast<PetscInt>(e) + 1, F.i[r + 1], c) < 0;
    }
    const unsigned votes = __ballot_sync(ALL, lacks);
    if (key && lacks) key[found + __popc(votes & before)] = static_cast<Key>(r) << bits | static_cast<Key>(c);
    found += __popc(votes & group);
  }
  if (!key && e <= end && own == 0) count[e] = found;
}

namespace
{
/// Where a piece of the candidates begins: with the candidates of a row.
struct Cut {
  PetscCount candidate, entry;
};
} // namespace

/// cut[k], k <= cuts: the first row whose candidates begin at k * limit or later; the last one is the end.
static __global__ void cuts_kernel(PetscInt rows, const PetscInt *i, const PetscCount *count, PetscCount limit,
                                   PetscInt cuts, Cut *cut)
{
  const PetscCount k = thread_index();
  if (k > cuts) return;
  PetscInt low = 0, high = rows;
  while (low < high && k < cuts) {
    const PetscInt middle = low + (high - low) / 2;
    if (count[i[middle]] < k * limit)
      low = middle + 1;
    else
      high = middle;
  }
  cut[k].entry     = i[k < cuts ? low : rows];
  cut[k].candidate = count[cut[k].entry];
}

/// first[r], r <= rows: the first of the `fresh` keys of row r or later; next_i: the rows of the pattern with them.
static __global__ void fresh_rows_kernel(PetscInt rows, PetscInt fresh, const Key *key, int bits, const PetscInt *i,
                                         PetscInt *first, PetscInt *next_i)
{
  const PetscCount r = thread_index();
  if (r > rows) return;
  first[r]  = lower_bound(key, PetscInt(0), fresh, static_cast<Key>(r) << bits);
  next_i[r] = i[r] + first[r];
}

/// Moves old entries to their places between fresh ones.
static __global__ void move_kernel(Leveled F, const PetscInt *source, const Key *key, int bits, const PetscInt *first,
                                   PetscInt *j, PetscInt *row, PetscInt *level, PetscInt *next_source,
                                   PetscInt *diagonal)
{
  const PetscCount e = thread_index();
  if (e >= F.entries) return;
  const PetscInt r = F.row[e], c = F.j[e];
  const PetscInt at = static_cast<PetscInt>(e) +
                      lower_bound(key, first[r], first[r + 1], static_cast<Key>(r) << bits | static_cast<Key>(c));
  j[at]           = c;
  row[at]         = r;
  level[at]       = F.level[e];
  next_source[at] = source[e];
  if (r == c) diagonal[r] = at;
}

/// Writes fresh entries to their places between old ones.
static __global__ void insert_kernel(Leveled F, PetscInt fresh, PetscInt new_level, const Key *key, int bits,
                                     PetscInt *j, PetscInt *row, PetscInt *level, PetscInt *next_source)
{
  const PetscCount t = thread_index();
  if (t >= fresh) return;
  const PetscInt r = static_cast<PetscInt>(key[t] >> bits), c = static_cast<PetscInt>(key[t] & ((Key(1) << bits) - 1));
  const PetscInt at = static_cast<PetscInt>(t) + lower_bound(F.j, F.i[r], F.i[r + 1], c);
  j[at]             = c;
  row[at]           = r;
  level[at]         = new_level;
  next_source[at]   = -1;
}

/// As many candidates as fit in a quarter of the free memory, at most the number beyond which larger batches save
/// nothing. Each takes two keys, as many to sort them, and may be kept.
static PetscErrorCode FindLimit(PetscCount *limit)
{
  constexpr double FEWEST = 1 << 16, MOST = 1 << 26, BYTES = 5 * sizeof(Key);
  double           left = 0;

  PetscFunctionBegin;
  PetscCall(DeviceMemoryLeft(&left));
  *limit = static_cast<PetscCount>(std::min(std::max(left / 4 / BYTES, FEWEST), MOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sorted keys of the entries of level `wanted`, `fresh` of them, from up to `limit` candidates and one row's at a
/// time; 0: as memory allows.
static PetscErrorCode FindLevel(const Leveled &F, PetscInt rows, PetscInt wanted, int bits, PetscCount limit,
                                Array<Key> *keys, PetscCount *fresh, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<PetscCount>  count, unique;
  Array<Cut>         cuts;
  std::vector<Cut>   cut;
  Array<Key>         key, sorted, joined;
  PetscCount         total = 0;
  int                lanes = 2;

  PetscFunctionBegin;
  *fresh = 0;
  while (lanes < 32 && static_cast<PetscCount>(lanes) * 2 * rows < F.entries) lanes *= 2; // half a row is U's
  PetscCall(count.Allocate(static_cast<size_t>(F.entries) + 1, Space::Device));
  candidates_kernel<<<Blocks((static_cast<PetscCount>(F.entries) + 1) * lanes), THREADS, 0, s>>>(
      F, wanted, lanes, 0, F.entries, count.data(), 0, bits, nullptr);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(F.entries, &count, &total, scratch, stream));
  if (total == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (limit == 0) PetscCall(FindLimit(&limit));
  const PetscInt pieces = static_cast<PetscInt>((total + limit - 1) / limit);
  PetscCallCXX(cut.resize(static_cast<size_t>(pieces) + 1));
  PetscCall(cuts.Allocate(cut.size(), Space::Device));
  PetscCall(unique.Allocate(1, Space::Device));
  cuts_kernel<<<Blocks(pieces + 1), THREADS, 0, s>>>(rows, F.i, count.data(), limit, pieces, cuts.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(cut.data(), cuts.data(), cuts.bytes(), stream));
  for (PetscInt k = 0; k < pieces; k++) {
    const PetscCount candidates = cut[k + 1].candidate - cut[k].candidate;
    const PetscInt   begin = static_cast<PetscInt>(cut[k].entry), end = static_cast<PetscInt>(cut[k + 1].entry);
    PetscCount       kept = 0;
    if (candidates == 0) continue; // the row before has more than `limit`
    PetscCall(key.Allocate(candidates, Space::Device));
    PetscCall(sorted.Allocate(candidates, Space::Device));
    candidates_kernel<<<Blocks(static_cast<PetscCount>(end - begin) * lanes), THREADS, 0, s>>>(
        F, wanted, lanes, begin, end, count.data(), cut[k].candidate, bits, key.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    CallCUB(scratch, cub::DeviceRadixSort::SortKeys, key.data(), sorted.data(), static_cast<int64_t>(candidates), 0,
            2 * bits, s);
    CallCUB(scratch, cub::DeviceSelect::Unique, sorted.data(), key.data(), unique.data(),
            static_cast<int64_t>(candidates), s);
    PetscCall(DeviceCopyOut(&kept, unique.data(), sizeof(kept), stream));
    PetscCall(joined.Allocate(*fresh + kept, Space::Device));
    PetscCall(DeviceCopyWithin(joined.data(), keys->data(), *fresh * sizeof(Key), stream));
    PetscCall(DeviceCopyWithin(joined.data() + *fresh, key.data(), kept * sizeof(Key), stream));
    std::swap(*keys, joined);
    *fresh += kept;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddFill_CUDA(PetscInt levels, PetscCount limit, DevicePattern *p, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<PetscInt>    i, j, row, level, source, next_row, next_level, first;
  Array<Key>         keys;
  DeviceMemory       scratch;
  PetscInt           highest = 0; // level with an entry
  int                bits    = 1;

  PetscFunctionBegin;
  if (p->nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ColumnBits(p->rows, &bits));
  PetscCall(row.Allocate(p->nonzeros, Space::Device));
  PetscCall(level.Allocate(p->nonzeros, Space::Device));
  if (p->identical) PetscCall(p->source.Allocate(p->nonzeros, Space::Device));
  rows_kernel<<<Blocks(static_cast<PetscCount>(p->rows) * 32), THREADS, 0, s>>>(
      p->rows, p->i.data(), row.data(), p->identical ? p->source.data() : nullptr);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  p->identical = false;
  SparseGPUCallCUDA(cudaMemsetAsync(level.data(), 0, level.bytes(), s));
  // two entries of the highest level cause the highest level of fill that is possible
  for (PetscInt wanted = 1; wanted <= levels && wanted <= 2 * highest + 1; wanted++) {
    const Leveled F{p->nonzeros, p->i.data(), p->j.data(), p->diagonal.data(), row.data(), level.data()};
    PetscCount    fresh = 0;
    PetscCall(FindLevel(F, p->rows, wanted, bits, limit, &keys, &fresh, &scratch, stream));
    if (fresh == 0) continue;
    highest = wanted;
    PetscCheck(fresh <= PETSC_MAX_INT - p->nonzeros, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The factors have more than %" PetscInt_FMT " entries", PETSC_MAX_INT);
    const PetscInt entries = p->nonzeros + static_cast<PetscInt>(fresh);
    PetscCall(first.Allocate(static_cast<size_t>(p->rows) + 1, Space::Device));
    PetscCall(i.Allocate(static_cast<size_t>(p->rows) + 1, Space::Device));
    for (Array<PetscInt> *a : {&j, &next_row, &next_level, &source}) PetscCall(a->Allocate(entries, Space::Device));
    fresh_rows_kernel<<<Blocks(static_cast<PetscCount>(p->rows) + 1), THREADS, 0, s>>>(
        p->rows, static_cast<PetscInt>(fresh), keys.data(), bits, F.i, first.data(), i.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    move_kernel<<<Blocks(F.entries), THREADS, 0, s>>>(F, p->source.data(), keys.data(), bits, first.data(), j.data(),
                                                      next_row.data(), next_level.data(), source.data(),
                                                      p->diagonal.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    insert_kernel<<<Blocks(fresh), THREADS, 0, s>>>(F, static_cast<PetscInt>(fresh), wanted, keys.data(), bits,
                                                    j.data(), next_row.data(), next_level.data(), source.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    std::swap(p->i, i);
    std::swap(p->j, j);
    std::swap(p->source, source);
    std::swap(row, next_row);
    std::swap(level, next_level);
    p->nonzeros = entries;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
