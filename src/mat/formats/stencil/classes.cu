/// Finds the classes of rows of a matrix on the GPU: a hash table of the rows' offsets and values, then a comparison of
/// each row with the first of its class.
#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/formats/stencil/classes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int LANES = 8; ///< threads of a row

namespace
{
/// Hash table of the rows.
struct ClassTable {
  static constexpr int                SLOTS = ROW_CLASS_SLOTS;
  static constexpr unsigned long long NONE  = 0;

  unsigned long long hash[SLOTS];
  int                count;
  int                differs;      ///< rows of one hash that are not the same
  unsigned long long first[SLOTS]; ///< row; all bits set before the first
};
} // namespace

/// The hash of a row, by its lanes: a sum, so that each may take its entries alone. All lanes of a warp must call.
__device__ __forceinline__ unsigned long long hash_of(const CsrArrays &A, PetscInt r, bool has)
{
  unsigned long long h = 0;
  if (has) {
    const PetscInt first = A.i[r], end = A.i[r + 1];
    for (PetscInt e = first + threadIdx.x % LANES; e < end; e += LANES)
      h += MixHash(MixHash(MixHash(static_cast<std::uint64_t>(e - first + 1), static_cast<std::uint64_t>(A.j[e] - r)),
                           BitsOfValue(A.a[e])),
                   1);
    if (threadIdx.x % LANES == 0) h += MixHash(1, static_cast<std::uint64_t>(end - first));
  }
  for (int mask = LANES / 2; mask > 0; mask /= 2) h += __shfl_xor_sync(0xffffffffu, h, mask);
  return h == ClassTable::NONE ? 1 : h;
}

/// Finds or inserts `h`, the hash of row r; false if the table has too many hashes. Entries are first read through the
/// L1 cache, which may be stale: a hash never moves, and a stale `first` only leads to an atomicMin() that changes
/// nothing.
__device__ __forceinline__ bool enter(ClassTable *table, unsigned long long h, PetscInt r, unsigned short *slot)
{
  const volatile int                *count = &table->count;
  const volatile unsigned long long *known = table->hash, *first = table->first;
  const unsigned long long           row = static_cast<unsigned long long>(r);
  int                                s   = static_cast<int>(h >> 54);

  while (__ldca(table->hash + s) != h) {
    if (*count > StencilLayout::CLASSES) return false; // the search in a full table does not end
    unsigned long long there = known[s];
    if (there == ClassTable::NONE) {
      there = atomicCAS(&table->hash[s], ClassTable::NONE, h);
      if (there == ClassTable::NONE) {
        atomicAdd(&table->count, 1);
        there = h;
      }
    }
    if (there == h) break;
    s = (s + 1) % ClassTable::SLOTS;
  }
  slot[r] = static_cast<unsigned short>(s);
  if (row < __ldca(table->first + s) && row < first[s]) atomicMin(table->first + s, row);
  return true;
}

/// slot[r]: where the hash of row r is in the table. Stops, with a count above CLASSES, if there are too many classes.
static __global__ void hash_rows_kernel(PetscInt rows, CsrArrays A, ClassTable *table, unsigned short *slot)
{
  const PetscCount lane = threadIdx.x % 32, end = static_cast<PetscCount>(rows) * LANES;
  bool             over = false; // a count from the multiprocessor's cache may be stale

  for (PetscCount t = thread_index(); t - lane < end; t += static_cast<PetscCount>(gridDim.x) * THREADS) {
    if (__any_sync(0xffffffffu, over || __ldca(&table->count) > StencilLayout::CLASSES)) return; // the warp together
    const PetscInt           r   = static_cast<PetscInt>(t / LANES);
    const bool               has = r < rows && A.i[r + 1] - A.i[r] <= StencilLayout::ENTRIES;
    const unsigned long long h   = hash_of(A, r, has);
    if (r < rows && !has) table->count = StencilLayout::CLASSES + 1; // the table has no room for such a row
    if (has && threadIdx.x % LANES == 0) over = !enter(table, h, r, slot);
  }
}

/// number [SLOTS]: of the class in each slot.
static __global__ void number_rows_kernel(PetscInt rows, CsrArrays A, ClassTable *table, const unsigned short *slot,
                                          const unsigned char *number, unsigned char *row_class)
{
  const PetscInt r = static_cast<PetscInt>(thread_index() / LANES);
  if (r >= rows) return;
  const int      s = slot[r];
  const PetscInt q = static_cast<PetscInt>(table->first[s]), length = A.i[r + 1] - A.i[r];
  bool           same = A.i[q + 1] - A.i[q] == length;
  for (PetscInt k = threadIdx.x % LANES; same && k < length; k += LANES) {
    const PetscInt e = A.i[r] + k, f = A.i[q] + k;
    same = A.j[e] - r == A.j[f] - q && SameBits(A.a[e], A.a[f]);
  }
  if (!same) table->differs = 1;
  if (threadIdx.x % LANES == 0) row_class[r] = number[s];
}

static __global__ void class_lengths_kernel(PetscInt classes, const PetscInt *i, const PetscInt *first,
                                            PetscInt *length)
{
  const PetscCount c = thread_index();
  if (c < classes) length[c] = i[first[c] + 1] - i[first[c]];
}

/// One thread per entry of the table; the class is searched for linearly, as there are few.
static __global__ void class_entries_kernel(PetscInt classes, CsrArrays A, const PetscInt *first, const PetscInt *begin,
                                            PetscInt *offset, Scalar *value)
{
  const PetscInt k = static_cast<PetscInt>(thread_index());
  if (k >= begin[classes]) return;
  PetscInt c = 0;
  while (begin[c + 1] <= k) c++;
  const PetscInt e = A.i[first[c]] + k - begin[c];
  offset[k]        = A.j[e] - first[c];
  value[k]         = A.a[e];
}

/// classes->begin from the lengths of the rows classes->first.
static PetscErrorCode FindBeginnings(const CsrView &A, RowClasses *classes, Stream stream)
{
  const PetscInt  count = static_cast<PetscInt>(classes->first.size());
  Array<PetscInt> firsts, length;

  PetscFunctionBegin;
  PetscCallCXX(classes->begin.assign(classes->first.size() + 1, 0));
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(firsts.Copy(classes->first.data(), classes->first.size(), Space::Device));
  PetscCall(length.Allocate(classes->first.size(), Space::Device));
  class_lengths_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, A.device.i,
                                                                                         firsts.data(), length.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(length.ToHost(classes->begin.data() + 1));
  for (PetscInt c = 0; c < count; c++) classes->begin[c + 1] += classes->begin[c];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindRowClasses_CUDA(const CsrView &A, RowClasses *classes, bool *few, bool *collide)
{
  constexpr unsigned         MOST = 1056; // blocks: more would start after the search has ended
  std::vector<ClassTable>    host(1);
  std::vector<int>           used;
  std::vector<unsigned char> number(ClassTable::SLOTS, 0);
  Array<ClassTable>          table;
  Array<unsigned short>      slot;
  Array<unsigned char>       numbers;
  ClassTable                &found = host[0];
  Stream                     stream;

  PetscFunctionBegin;
  *few = *collide = false;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(table.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(table.data(), 0, table.bytes(), s)); // NONE
  SparseGPUCallCUDA(cudaMemsetAsync(table.data()->first, 0xff, sizeof(found.first), s));
  PetscCall(slot.Allocate(A.rows, Space::Device));
  if (A.rows)
    hash_rows_kernel<<<PetscMin(Blocks(static_cast<PetscCount>(A.rows) * LANES), MOST), THREADS, 0, s>>>(
        A.rows, A.device, table.data(), slot.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&found.count, &table.data()->count, sizeof(found.count), stream));
  if (found.count > StencilLayout::CLASSES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceCopyOut(host.data(), table.data(), sizeof(ClassTable), stream));
  for (int k = 0; k < ClassTable::SLOTS; k++)
    if (found.hash[k] != ClassTable::NONE) PetscCallCXX(used.push_back(k));
  std::sort(used.begin(), used.end(), [&](int a, int b) { return found.first[a] < found.first[b]; });
  for (size_t c = 0; c < used.size(); c++) {
    PetscCallCXX(classes->first.push_back(static_cast<PetscInt>(found.first[used[c]])));
    number[used[c]] = static_cast<unsigned char>(c);
  }
  PetscCall(FindBeginnings(A, classes, stream));
  if (classes->begin.back() > StencilLayout::ENTRIES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(numbers.Take(std::move(number), Space::Device));
  PetscCall(classes->on_device.Allocate(A.rows, Space::Device));
  if (A.rows)
    number_rows_kernel<<<Blocks(static_cast<PetscCount>(A.rows) * LANES), THREADS, 0, s>>>(
        A.rows, A.device, table.data(), slot.data(), numbers.data(), classes->on_device.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&found.differs, &table.data()->differs, sizeof(found.differs), stream));
  *collide = found.differs != 0;
  *few     = !*collide;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowClassEntries_CUDA(const CsrView &A, const RowClasses &classes, PetscInt *offset, Scalar *value)
{
  const PetscInt  count = static_cast<PetscInt>(classes.first.size()), entries = classes.begin.back();
  Array<PetscInt> firsts, begins;
  Stream          stream;

  PetscFunctionBegin;
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(firsts.Copy(classes.first.data(), classes.first.size(), Space::Device));
  PetscCall(begins.Copy(classes.begin.data(), classes.begin.size(), Space::Device));
  class_entries_kernel<<<Blocks(entries), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      count, A.device, firsts.data(), begins.data(), offset, value);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
