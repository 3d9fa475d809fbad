#include <algorithm>
#include "device/cuda_check.hpp"
#include "mat/formats/stencil/classes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

namespace
{
/// The hashes that were met.
struct ClassTable {
  static constexpr int                SLOTS = ROW_CLASS_SLOTS;
  static constexpr unsigned long long NONE = 0, LATE = ~0ull;

  unsigned long long hash[SLOTS];
  unsigned long long first[SLOTS]; ///< row
  int                count;
  int                differs; ///< rows of one hash that are not the same
};
} // namespace

/// slot[r]: where the hash of row r is in the table. Gives up, with a count above CLASSES, where they are too many.
static __global__ void hash_rows_kernel(PetscInt rows, CsrArrays A, ClassTable *table, unsigned short *slot)
{
  const PetscInt               r     = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  const volatile int          *count = &table->count;
  volatile unsigned long long *known = table->hash;

  if (r >= rows || *count > StencilLayout::CLASSES) return;
  unsigned long long h = HashOfRow(A, r);
  if (h == ClassTable::NONE) h = 1;
  int s = static_cast<int>(h >> 54);
  for (;; s = (s + 1) % ClassTable::SLOTS) {
    if (*count > StencilLayout::CLASSES) return; // a full table has no end
    unsigned long long there = known[s];
    if (there == ClassTable::NONE) {
      there = atomicCAS(&table->hash[s], ClassTable::NONE, h);
      if (there == ClassTable::NONE) {
        atomicAdd(&table->count, 1);
        there = h;
      }
    }
    if (there == h) break;
  }
  slot[r] = static_cast<unsigned short>(s);
  if (static_cast<unsigned long long>(r) < *static_cast<volatile unsigned long long *>(table->first + s))
    atomicMin(table->first + s, static_cast<unsigned long long>(r));
}

/// number [SLOTS]: of the class in each slot.
static __global__ void number_rows_kernel(PetscInt rows, CsrArrays A, ClassTable *table, const unsigned short *slot,
                                          const unsigned char *number, unsigned char *row_class)
{
  const PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  if (r >= rows) return;
  const int s = slot[r];
  if (!SameRow(A, r, static_cast<PetscInt>(table->first[s]))) table->differs = 1;
  row_class[r] = number[s];
}

/// A thread an entry of the table; classes are few.
static __global__ void class_values_kernel(PetscInt classes, CsrArrays A, const PetscInt *first, const PetscInt *begin,
                                           Scalar *value)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= begin[classes]) return;
  PetscInt c = 0;
  while (begin[c + 1] <= k) c++;
  value[k] = A.a[A.i[first[c]] + k - begin[c]];
}

static unsigned Blocks(PetscInt threads)
{
  return static_cast<unsigned>((threads + THREADS - 1) / THREADS);
}

PetscErrorCode FindRowClasses_CUDA(const CsrView &A, RowClasses *classes, bool *few, bool *collide)
{
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
  std::fill(found.hash, found.hash + ClassTable::SLOTS, ClassTable::NONE);
  std::fill(found.first, found.first + ClassTable::SLOTS, ClassTable::LATE);
  found.count = found.differs = 0;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(table.Copy(host.data(), 1, Space::Device));
  PetscCall(slot.Allocate(A.rows, Space::Device));
  if (A.rows) hash_rows_kernel<<<Blocks(A.rows), THREADS, 0, s>>>(A.rows, A.device, table.data(), slot.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(host.data(), table.data(), sizeof(ClassTable), stream));
  if (found.count > StencilLayout::CLASSES) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < ClassTable::SLOTS; k++)
    if (found.hash[k] != ClassTable::NONE) PetscCallCXX(used.push_back(k));
  std::sort(used.begin(), used.end(), [&](int a, int b) { return found.first[a] < found.first[b]; });
  for (size_t c = 0; c < used.size(); c++) {
    const PetscInt r = static_cast<PetscInt>(found.first[used[c]]);
    PetscCallCXX(classes->first.push_back(r));
    classes->entries += A.i[r + 1] - A.i[r];
    number[used[c]] = static_cast<unsigned char>(c);
  }
  if (classes->entries > StencilLayout::ENTRIES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(numbers.Take(std::move(number), Space::Device));
  PetscCall(classes->on_device.Allocate(A.rows, Space::Device));
  if (A.rows)
    number_rows_kernel<<<Blocks(A.rows), THREADS, 0, s>>>(A.rows, A.device, table.data(), slot.data(), numbers.data(),
                                                          classes->on_device.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(host.data(), table.data(), sizeof(ClassTable), stream));
  *collide = found.differs != 0;
  *few     = !*collide;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowClassValues_CUDA(const CsrView &A, const std::vector<PetscInt> &first,
                                   const std::vector<PetscInt> &begin, Scalar *value)
{
  const PetscInt  classes = static_cast<PetscInt>(first.size());
  Array<PetscInt> firsts, begins;
  Stream          stream;

  PetscFunctionBegin;
  if (begin.back() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(firsts.Copy(first.data(), first.size(), Space::Device));
  PetscCall(begins.Copy(begin.data(), begin.size(), Space::Device));
  class_values_kernel<<<Blocks(begin.back()), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      classes, A.device, firsts.data(), begins.data(), value);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
