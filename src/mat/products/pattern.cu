/// The pattern of A B: by hash tables (hashed.cu) or, where a row has too many columns for these, the columns of all
/// terms, keyed by their rows, are sorted and each is kept once ("expand, sort, compress": Bell, Dalton & Olson, SIAM
/// J. Sci. Comput. 34(4), 2012), chunk of rows after chunk, so that the memory for terms is bounded. Radix sort and
/// selection are CUB's.
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "device/sort.hpp"
#include "mat/products/hashed.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

namespace
{
using Key = unsigned long long; ///< row of the chunk, then column

constexpr PetscCount CHUNK = PetscCount(1) << 24; ///< terms sorted at a time, or those of one row: 16 bytes each

/// terms[row] = the entries of the rows of B that A's row names. A warp a row.
__global__ void row_terms_kernel(PetscInt rows, CsrArrays a, const PetscInt *bi, PetscCount *terms)
{
  const PetscCount row  = thread_index() / 32;
  const int        lane = threadIdx.x % 32;
  PetscCount       sum  = 0;

  if (row >= rows) return;
  for (PetscInt e = a.i[row] + lane; e < a.i[row + 1]; e += 32) sum += bi[a.j[e] + 1] - bi[a.j[e]];
  sum = warp_sum(sum);
  if (lane == 0) terms[row] = sum;
}

/// Chunk k begins at row[k], which is the first one whose terms begin at k * CHUNK or later, with term begin[k].
__global__ void chunks_kernel(PetscInt rows, int chunks, const PetscCount *first_term, PetscInt *row, PetscCount *begin)
{
  const int k = static_cast<int>(thread_index());
  if (k > chunks) return;
  row[k]   = k == chunks ? rows : lower_bound(first_term, PetscInt(0), rows, k * CHUNK);
  begin[k] = first_term[row[k]];
}

/// The keys of all terms of rows first .. end - 1. A warp a row; lanes read neighbouring columns of B.
__global__ void expand_kernel(PetscInt first, PetscInt end, CsrArrays a, CsrArrays b, int bits,
                              const PetscCount *first_term, Key *key)
{
  const PetscCount row  = first + thread_index() / 32;
  const int        lane = threadIdx.x % 32;

  if (row >= end) return;
  const Key  prefix = static_cast<Key>(row - first) << bits;
  PetscCount at     = first_term[row] - first_term[first];
  for (PetscInt e0 = a.i[row], e_end = a.i[row + 1]; e0 < e_end; e0 += 32) {
    const int      count = e_end - e0 < 32 ? static_cast<int>(e_end - e0) : 32;
    const PetscInt j = lane < count ? a.j[e0 + lane] : 0, mine = lane < count ? b.i[j] : 0;
    const PetscInt length = lane < count ? b.i[j + 1] - mine : 0;
    for (int t = 0; t < count; t++) {
      const PetscInt begin = __shfl_sync(0xffffffffu, mine, t), n = __shfl_sync(0xffffffffu, length, t);
      for (PetscInt k = lane; k < n; k += 32) key[at + k] = prefix | static_cast<Key>(b.j[begin + k]);
      at += n;
    }
  }
}

__global__ void columns_kernel(PetscInt count, Key mask, const Key *key, PetscInt *j)
{
  const PetscCount e = thread_index();
  if (e < count) j[e] = static_cast<PetscInt>(key[e] & mask);
}

/// i[r] = base + the first of the `count` ascending keys of row r of the chunk; r = rows is left to the next chunk.
__global__ void begin_kernel(PetscInt rows, PetscInt count, int bits, const Key *key, PetscInt base, PetscInt *i)
{
  const PetscCount r = thread_index();
  if (r < rows) i[r] = base + lower_bound(key, PetscInt(0), count, static_cast<Key>(r) << bits);
}

__global__ void end_kernel(PetscInt rows, PetscInt nonzeros, PetscInt *i)
{
  i[rows] = nonzeros;
}

__global__ void longest_kernel(PetscInt rows, const PetscInt *i, PetscInt *longest)
{
  const PetscCount r      = thread_index();
  const PetscInt   length = warp_max(r < rows ? i[r + 1] - i[r] : PetscInt(0));
  if (threadIdx.x % 32 == 0) atomic_max(longest, length);
}

/// place[e] = in which entry of C's row the term of each entry of A is. A warp a row.
__global__ void places_kernel(PetscInt rows, CsrArrays a, CsrArrays b, const PetscInt *i, const PetscInt *j,
                              unsigned char *place)
{
  const PetscCount row = thread_index() / 32;
  if (row >= rows) return;
  for (PetscInt e = a.i[row] + static_cast<PetscInt>(threadIdx.x % 32); e < a.i[row + 1]; e += 32)
    place[e] = static_cast<unsigned char>(lower_bound(j, i[row], i[row + 1], b.j[a.j[e]]) - i[row]);
}

int Bits(PetscInt numbers)
{
  int bits = 1;
  while (bits < 63 && static_cast<Key>(numbers - 1) >> bits) bits++;
  return bits;
}

template <class T> PetscErrorCode Download(const Array<T> &from, std::vector<T> *to, Stream stream)
{
  PetscFunctionBegin;
  PetscCallCXX(to->resize(from.size()));
  PetscCall(DeviceCopyOut(to->data(), from.data(), from.bytes(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class Builder
{
public:
  Builder(const SparseRows &A, const SparseRows &B, Pattern *C) : A_(A), B_(B), C_(C), bits_(Bits(B.cols)) {}

  PetscErrorCode Build()
  {
    PetscFunctionBegin;
    // walks step over the ends of rows by a warp's width
    PetscCheck(A_.nonzeros <= PETSC_MAX_INT - 32 && B_.nonzeros <= PETSC_MAX_INT - 32, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE,
               "Factors of %" PetscInt_FMT " and %" PetscInt_FMT " nonzeros, of %" PetscInt_FMT, A_.nonzeros,
               B_.nonzeros, PETSC_MAX_INT - 32);
    PetscCall(DeviceStream(&stream_));
    s_          = static_cast<cudaStream_t>(stream_);
    bool hashed = false;
    PetscCall(MultiplyPatternHashed_CUDA(A_, B_, C_, &hashed));
    if (!hashed) PetscCall(Sort());
    PetscCall(Longest(A_.rows, C_->i.data(), &C_->longest));
    PetscCall(Places());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Sort()
  {
    PetscFunctionBegin;
    C_->terms = 0;
    PetscCall(C_->i.Allocate(static_cast<size_t>(A_.rows) + 1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(C_->i.data(), 0, C_->i.bytes(), s_));
    if (A_.rows && A_.nonzeros) PetscCall(CountTerms());
    PetscCall(AllChunks());
    PetscCall(Join());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode CountTerms()
  {
    PetscFunctionBegin;
    PetscCall(terms_.Allocate(static_cast<size_t>(A_.rows) + 1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(terms_.data() + A_.rows, 0, sizeof(PetscCount), s_)); // the sum's own place
    row_terms_kernel<<<Blocks(static_cast<PetscCount>(A_.rows) * 32), THREADS, 0, s_>>>(A_.rows, A_.arrays, B_.arrays.i,
                                                                                        terms_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(RunningSum(A_.rows, &terms_, &C_->terms, &scratch_, stream_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode AllChunks()
  {
    const int               chunks = static_cast<int>((C_->terms + CHUNK - 1) / CHUNK);
    Array<PetscInt>         row;
    Array<PetscCount>       begin;
    std::vector<PetscInt>   rows;
    std::vector<PetscCount> begins;

    PetscFunctionBegin;
    if (chunks == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(row.Allocate(static_cast<size_t>(chunks) + 1, Space::Device));
    PetscCall(begin.Allocate(static_cast<size_t>(chunks) + 1, Space::Device));
    chunks_kernel<<<Blocks(chunks + 1), THREADS, 0, s_>>>(A_.rows, chunks, terms_.data(), row.data(), begin.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(Download(row, &rows, stream_));
    PetscCall(Download(begin, &begins, stream_));
    PetscCount most = 0;
    for (int k = 0; k < chunks; k++) most = std::max(most, begins[k + 1] - begins[k]);
    PetscCheck(most <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "A row of the product has %lld terms, more than %" PetscInt_FMT, static_cast<long long>(most),
               PETSC_MAX_INT);
    PetscCall(key_.Allocate(most, Space::Device));
    PetscCall(other_.Allocate(most, Space::Device));
    PetscCall(kept_.Allocate(1, Space::Device));
    for (int k = 0; k < chunks; k++) {
      const PetscInt terms = static_cast<PetscInt>(begins[k + 1] - begins[k]);
      if (rows[k + 1] > rows[k]) PetscCall(Chunk(rows[k], rows[k + 1], terms));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Chunk(PetscInt first, PetscInt end, PetscInt terms)
  {
    const PetscInt         rows = end - first;
    PetscCount             kept = 0;
    cub::DoubleBuffer<Key> keys(key_.data(), other_.data());

    PetscFunctionBegin;
    PetscCheck(bits_ + Bits(rows) <= 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%" PetscInt_FMT " rows of %" PetscInt_FMT " columns have no numbers of 64 bits", rows, B_.cols);
    if (terms > 0) {
      expand_kernel<<<Blocks(static_cast<PetscCount>(rows) * 32), THREADS, 0, s_>>>(first, end, A_.arrays, B_.arrays,
                                                                                    bits_, terms_.data(), key_.data());
      SparseGPUCallCUDA(cudaPeekAtLastError());
      CallCUB(&scratch_, cub::DeviceRadixSort::SortKeys, keys, static_cast<int64_t>(terms), 0, bits_ + Bits(rows), s_);
      CallCUB(&scratch_, cub::DeviceSelect::Unique, keys.Current(), keys.Alternate(), kept_.data(),
              static_cast<int64_t>(terms), s_);
      PetscCall(DeviceCopyOut(&kept, kept_.data(), sizeof(kept), stream_));
    }
    PetscCheck(kept <= PETSC_MAX_INT - nonzeros_, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The product has more than %" PetscInt_FMT " nonzeros in its first %" PetscInt_FMT " rows",
               PETSC_MAX_INT, end);
    const PetscInt count = static_cast<PetscInt>(kept);
    begin_kernel<<<Blocks(rows), THREADS, 0, s_>>>(rows, count, bits_, keys.Alternate(), nonzeros_,
                                                   C_->i.data() + first);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCallCXX(columns_.emplace_back());
    PetscCall(columns_.back().Allocate(count, Space::Device));
    if (count)
      columns_kernel<<<Blocks(count), THREADS, 0, s_>>>(count, (Key(1) << bits_) - 1, keys.Alternate(),
                                                        columns_.back().data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    nonzeros_ += count;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Join()
  {
    PetscInt at = 0;

    PetscFunctionBegin;
    end_kernel<<<1, 1, 0, s_>>>(A_.rows, nonzeros_, C_->i.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    key_   = Array<Key>();
    other_ = Array<Key>();
    if (columns_.size() == 1) {
      C_->j = std::move(columns_[0]);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(C_->j.Allocate(nonzeros_, Space::Device));
    for (const Array<PetscInt> &columns : columns_) {
      if (columns.size()) PetscCall(DeviceCopyWithin(C_->j.data() + at, columns.data(), columns.bytes(), stream_));
      at += static_cast<PetscInt>(columns.size());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Of rows that begin at i [rows + 1].
  PetscErrorCode Longest(PetscInt rows, const PetscInt *i, PetscInt *longest)
  {
    Array<PetscInt> most;

    PetscFunctionBegin;
    PetscCall(most.Allocate(1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(most.data(), 0, most.bytes(), s_));
    longest_kernel<<<Blocks(static_cast<PetscCount>(rows) + 1), THREADS, 0, s_>>>(rows, i, most.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(longest, most.data(), sizeof(*longest), stream_)); // waits
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Places()
  {
    PetscInt longest = 0;

    PetscFunctionBegin;
    if (!A_.nonzeros || B_.nonzeros != B_.rows || C_->longest > Pattern::PLACES) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Longest(B_.rows, B_.arrays.i, &longest));
    if (longest != 1) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(C_->place.Allocate(A_.nonzeros, Space::Device));
    places_kernel<<<Blocks(static_cast<PetscCount>(A_.rows) * 32), THREADS, 0, s_>>>(
        A_.rows, A_.arrays, B_.arrays, C_->i.data(), C_->j.data(), C_->place.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const SparseRows &A_, &B_;
  Pattern *const    C_;
  const int         bits_; ///< of a column

  Stream                       stream_ = nullptr;
  cudaStream_t                 s_      = nullptr;
  DeviceMemory                 scratch_;
  Array<PetscCount>            terms_; ///< [rows + 1] first term of each row
  Array<Key>                   key_, other_;
  Array<PetscCount>            kept_;
  std::vector<Array<PetscInt>> columns_; ///< of each chunk
  PetscInt                     nonzeros_ = 0;
};
} // namespace

PetscErrorCode MultiplyPattern_CUDA(const SparseRows &A, const SparseRows &B, Pattern *C)
{
  PetscFunctionBegin;
  C->terms   = 0;
  C->longest = 0;
  PetscCall(Builder(A, B, C).Build());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
