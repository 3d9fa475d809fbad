/// Encodes the values of a matrix on the GPU: whether single precision or a dictionary holds all of them, bit for bit,
/// and the encoded arrays.
#include "mat/formats/codec/values.hpp"
#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/flag.cuh"
#include "device/grid.cuh"
#include "device/load.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Enough blocks to fill the device a few times over, with a grid-stride loop each.
static unsigned StrideBlocks(size_t n)
{
  return static_cast<unsigned>(std::min<size_t>((n + THREADS - 1) / THREADS, 2048));
}
#define STRIDE_LOOP(e, n)                                                           \
  for (size_t e = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x; e < (n); \
       e += static_cast<size_t>(gridDim.x) * THREADS)

static __global__ void all_single_kernel(const Scalar *a, size_t n, int *wrong)
{
  STRIDE_LOOP(e, n)
  {
    const Scalar v = load_stream(a + e);
    if (!SameBits(Widen(Narrow(v)), v)) {
      *wrong = 1;
      return;
    }
  }
}

static __global__ void narrow_kernel(const Scalar *a, size_t n, SingleScalar *single)
{
  STRIDE_LOOP(e, n) single[e] = Narrow(a[e]);
}

static __global__ void round_kernel(const Scalar *a, size_t n, SingleScalar *single, int *wrong)
{
  STRIDE_LOOP(e, n)
  {
    const Scalar v = load_stream(a + e);
    single[e]      = RoundToSingle(v);
    if (!InRangeOfSingle(&v)) *wrong = 1;
  }
}

static __global__ void fill_from_kernel(const Scalar *from, size_t n, Scalar *values)
{
  const Scalar v              = *from;
  STRIDE_LOOP(e, n) values[e] = v;
}

static __global__ void code_kernel(const Scalar *a, size_t n, const Scalar *dictionary, int size, unsigned char *code)
{
  __shared__ Scalar value[DictionaryValues::SIZE];

  for (int k = threadIdx.x; k < size; k += THREADS) value[k] = dictionary[k];
  __syncthreads();
  STRIDE_LOOP(e, n) code[e] = static_cast<unsigned char>(PlaceOf(value, size, load_stream(a + e)));
}

#if !defined(PETSC_USE_COMPLEX)
static constexpr int      SLOTS = 4 * DictionaryValues::SIZE;
static constexpr RealBits EMPTY = PAD_BITS; ///< a matrix with this bit pattern among its values gets no dictionary

namespace
{
/// The different values of a matrix, by open addressing.
struct Table {
  RealBits slot[SLOTS];
  int      count;
};
} // namespace

static __global__ void clear_kernel(Table *table)
{
  for (int s = threadIdx.x; s < SLOTS; s += THREADS) table->slot[s] = EMPTY;
  if (threadIdx.x == 0) table->count = 0;
}

/// Puts `bits` into the open-addressing table `slot`; counts new ones in *count.
static __device__ void insert(RealBits bits, RealBits *slot, int *count)
{
  unsigned s =
      static_cast<unsigned>(bits * static_cast<RealBits>(0x9e3779b97f4a7c15ull) >> (8 * sizeof(RealBits) - 10));
  while (true) {
    const RealBits there = *static_cast<volatile RealBits *>(slot + s);
    if (there == bits) return;
    if (there == EMPTY) {
      const RealBits before = atomicCAS(slot + s, EMPTY, bits);
      if (before == bits) return;
      if (before == EMPTY) {
        atomicAdd(count, 1);
        return;
      }
    }
    if (*static_cast<volatile int *>(count) > DictionaryValues::SIZE) return; // keeps the table from filling up
    s = (s + 1) % SLOTS;
  }
}

/// The different bit patterns: each block collects its own in shared memory and joins them to the others' at the end.
/// All blocks stop once one has more than SIZE.
static __global__ void __launch_bounds__(THREADS) distinct_kernel(const Scalar *a, size_t n, Table *table)
{
  RealBits *const     slot  = table->slot;
  int *const          count = &table->count;
  __shared__ RealBits mine[SLOTS];
  __shared__ int      mine_count;
  RealBits            last = EMPTY;

  for (int s = threadIdx.x; s < SLOTS; s += THREADS) mine[s] = EMPTY;
  if (threadIdx.x == 0) mine_count = 0;
  __syncthreads();
  STRIDE_LOOP(e, n)
  {
    const RealBits bits = BitsOf(load_stream(a + e));
    if (bits == EMPTY) {
      atomicAdd(count, 2 * DictionaryValues::SIZE);
      break;
    }
    if (bits == last) continue;
    last = bits;
    insert(bits, mine, &mine_count);
    if (*static_cast<volatile int *>(&mine_count) > DictionaryValues::SIZE ||
        *static_cast<volatile int *>(count) > DictionaryValues::SIZE)
      break;
  }
  __syncthreads();
  if (mine_count > DictionaryValues::SIZE) {
    if (threadIdx.x == 0) atomicAdd(count, 2 * DictionaryValues::SIZE);
    return;
  }
  for (int s = threadIdx.x; s < SLOTS; s += THREADS)
    if (mine[s] != EMPTY) insert(mine[s], slot, count);
}
#endif

PetscErrorCode AllSingle_CUDA(const Scalar *a, size_t n, bool *all)
{
  bool wrong = false;

  const auto launch = [&](int *flag, cudaStream_t stream) {
    all_single_kernel<<<StrideBlocks(n), THREADS, 0, stream>>>(a, n, flag);
  };
  PetscFunctionBegin;
  *all = sizeof(SingleScalar) < sizeof(Scalar);
  if (!*all || n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RaisesFlag(launch, &wrong));
  *all = !wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RoundAll_CUDA(const Scalar *a, size_t n, SingleScalar *single, bool *holds)
{
  bool wrong = false;

  const auto launch = [&](int *flag, cudaStream_t stream) {
    round_kernel<<<StrideBlocks(n), THREADS, 0, stream>>>(a, n, single, flag);
  };
  PetscFunctionBegin;
  PetscCall(RaisesFlag(launch, &wrong));
  *holds = !wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NarrowAll_CUDA(const Scalar *a, size_t n, SingleScalar *single)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  narrow_kernel<<<StrideBlocks(n), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a, n, single);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the values are freed next
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CodeAll_CUDA(const Scalar *a, size_t n, const Scalar *dictionary, int size, unsigned char *code)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  code_kernel<<<StrideBlocks(n), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a, n, dictionary, size, code);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the values are freed next
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FillFrom_CUDA(const Scalar *from, size_t n, Scalar *values)
{
  Stream stream;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  fill_from_kernel<<<StrideBlocks(n), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(from, n, values);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindDictionary_CUDA(const Scalar *a, size_t n, bool *found, std::vector<Scalar> *dictionary)
{
  PetscFunctionBegin;
  *found = false;
#if !defined(PETSC_USE_COMPLEX)
  std::vector<RealBits> slot(SLOTS);
  Array<Table>          table;
  Stream                stream;
  int                   count = 0;

  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(table.Allocate(1, Space::Device));
  clear_kernel<<<1, THREADS, 0, s>>>(table.data());
  distinct_kernel<<<StrideBlocks(n), THREADS, 0, s>>>(a, n, table.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&count, &table.data()->count, sizeof(count), stream));
  if (count > DictionaryValues::SIZE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceCopyOut(slot.data(), table.data()->slot, SLOTS * sizeof(RealBits), stream));
  dictionary->clear();
  std::sort(slot.begin(), slot.end());
  for (RealBits bits : slot)
    if (bits != EMPTY) PetscCallCXX(dictionary->push_back(RealOf(bits)));
  *found = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats

#undef STRIDE_LOOP
