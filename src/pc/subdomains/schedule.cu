/// From the levels of a Schedule to a SubdomainLayout: positions are sorted by subdomain, half and level.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "device/sort.hpp"
#include "pc/subdomains/solve.hpp"
#include "pc/trisolve/system.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

using Key = unsigned long long; ///< subdomain << 33 | half << 32 | level

static constexpr int LANES = 8; ///< that copy the entries of a position

/// Row r of L is number r before the sort, that of U number rows + r.
static __global__ void key_kernel(SystemView S, const int *level, PetscInt subdomains, const PetscInt *begin, Key *key)
{
  const PetscInt v = static_cast<PetscInt>(thread_index()), rows = S.factors.rows;
  if (v >= 2 * rows) return;
  const PetscInt r = v < rows ? v : v - rows, u = v < rows ? r : 2 * rows - 1 - r;
  const PetscInt s = lower_bound<PetscInt>(begin, 0, subdomains + 1, r + 1) - 1;
  key[v] = static_cast<Key>(s) << 33 | (v < rows ? 0ull : 1ull << 32) | static_cast<Key>(level[UnknownOf(S, u)]);
}

/// Of the sorted keys: 1 where a level begins, 0 at the end, where a running sum looks.
static __global__ void head_kernel(PetscInt positions, const Key *key, PetscInt *head)
{
  const PetscInt k = static_cast<PetscInt>(thread_index());
  if (k <= positions) head[k] = k < positions && (k == 0 || key[k] != key[k - 1]);
}

/// number[k]: levels that begin before position k -> where levels begin, and the first level of each half.
static __global__ void level_kernel(PetscInt positions, const Key *key, const PetscInt *number, PetscInt *level,
                                    PetscInt halves, PetscInt *half)
{
  const PetscInt k = static_cast<PetscInt>(thread_index());
  if (k > positions) return;
  if (k == positions) {
    level[number[k]] = k;
    half[halves]     = number[k];
    return;
  }
  if (k == 0 || key[k] != key[k - 1]) level[number[k]] = k;
  if (k == 0 || key[k] >> 32 != key[k - 1] >> 32) half[key[k] >> 32] = number[k];
}

/// Facts of the positions; first [positions + 1]: their entries, 0 at the end.
static __global__ void position_kernel(FactorView F, const Key *key, const PetscInt *order, const PetscInt *begin,
                                       unsigned short *local, PetscInt *pivot, PetscInt *first)
{
  const PetscInt k = static_cast<PetscInt>(thread_index());
  if (k > 2 * F.rows) return;
  if (k == 2 * F.rows) {
    first[k] = 0;
    return;
  }
  const PetscInt r = order[k] < F.rows ? order[k] : order[k] - F.rows;
  local[k]         = static_cast<unsigned short>(r - begin[key[k] >> 33]);
  pivot[k]         = F.diagonal[r];
  first[k]         = order[k] < F.rows ? F.diagonal[r] - F.i[r] : F.i[r + 1] - F.diagonal[r] - 1;
}

/// LANES lanes a position.
static __global__ void entry_kernel(FactorView F, const Key *key, const PetscInt *order, const PetscInt *begin,
                                    const PetscInt *first, unsigned short *j, PetscInt *from)
{
  const PetscCount k = thread_index() / LANES;
  if (k >= 2 * static_cast<PetscCount>(F.rows)) return;
  const PetscInt base   = begin[key[k] >> 33];
  const PetscInt source = order[k] < F.rows ? F.i[order[k]] : F.diagonal[order[k] - F.rows] + 1;
  for (PetscInt e = threadIdx.x % LANES; e < first[k + 1] - first[k]; e += LANES) {
    j[first[k] + e]    = static_cast<unsigned short>(F.j[source + e] - base);
    from[first[k] + e] = source + e;
  }
}

/// Sorts the rows of L and of U; order [2 rows] as key_kernel numbers them, key: sorted.
static PetscErrorCode SortPositions(const Schedule &schedule, PetscInt subdomains, const PetscInt *begin,
                                    Array<Key> *key, Array<PetscInt> *order, DeviceMemory *scratch, Stream stream)
{
  const PetscInt positions = 2 * schedule.view.factors.rows;
  int            bits      = 33;

  PetscFunctionBegin;
  while (subdomains >> (bits - 33)) bits++;
  PetscCall(key->Allocate(positions, Space::Device));
  key_kernel<<<Blocks(positions), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(schedule.view, schedule.levels,
                                                                                   subdomains, begin, key->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(positions, bits, key, order, scratch, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSubdomains::Analyse(const FactorView &F, Stream stream)
{
  const cudaStream_t s          = static_cast<cudaStream_t>(stream);
  const PetscInt     subdomains = static_cast<PetscInt>(host_begin_.size()) - 1, positions = 2 * F.rows;
  Array<Key>         key;
  Array<PetscInt>    order, number;

  PetscFunctionBegin;
  PetscCheck(F.rows < 1 << 28, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Solves on a GPU take factors of fewer than %d rows, not %" PetscInt_FMT, 1 << 28, F.rows);
  PetscCall(AllocateStuck());
  PetscCall(begin_.Copy(host_begin_.data(), host_begin_.size(), Space::Device));
  PetscCall(schedule_.Build(F, options.spins, stuck(), &scratch_, stream));
  PetscCall(CheckStuck());
  lower_levels = schedule_.lower_levels;
  upper_levels = schedule_.upper_levels;
  layout_      = SubdomainLayout{};
  layout_.rows = F.rows;
  if (F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(SortPositions(schedule_, subdomains, begin_.data(), &key, &order, &scratch_, stream));
  PetscCall(number.Allocate(static_cast<size_t>(positions) + 1, Space::Device));
  head_kernel<<<Blocks(static_cast<PetscCount>(positions) + 1), THREADS, 0, s>>>(positions, key.data(), number.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(positions, &number, &levels_, &scratch_, stream));
  PetscCall(level_.Allocate(static_cast<size_t>(levels_) + 1, Space::Device));
  PetscCall(half_.Allocate(2 * static_cast<size_t>(subdomains) + 1, Space::Device));
  level_kernel<<<Blocks(static_cast<PetscCount>(positions) + 1), THREADS, 0, s>>>(
      positions, key.data(), number.data(), level_.data(), 2 * subdomains, half_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(local_.Allocate(positions, Space::Device));
  PetscCall(pivot_.Allocate(positions, Space::Device));
  PetscCall(first_.Allocate(static_cast<size_t>(positions) + 1, Space::Device));
  position_kernel<<<Blocks(static_cast<PetscCount>(positions) + 1), THREADS, 0, s>>>(
      F, key.data(), order.data(), begin_.data(), local_.data(), pivot_.data(), first_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(positions, &first_, &entries_, &scratch_, stream));
  PetscCall(j_.Allocate(entries_, Space::Device));
  PetscCall(from_.Allocate(entries_, Space::Device));
  entry_kernel<<<Blocks(static_cast<PetscCount>(positions) * LANES), THREADS, 0, s>>>(
      F, key.data(), order.data(), begin_.data(), first_.data(), j_.data(), from_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the sorted keys end here
  PetscCall(FinishLayout(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSubdomains::FinishLayout(const FactorView &F)
{
  PetscFunctionBegin;
  if (options.single)
    PetscCall(single_.Allocate(entries_, Space::Device));
  else
    PetscCall(a_.Allocate(entries_, Space::Device));
  PetscCall(scale_.Allocate(2 * static_cast<size_t>(F.rows), Space::Device));
  layout_.subdomains     = static_cast<PetscInt>(host_begin_.size()) - 1;
  layout_.begin          = begin_.data();
  layout_.half           = half_.data();
  layout_.level          = level_.data();
  layout_.first          = first_.data();
  layout_.local          = local_.data();
  layout_.j              = j_.data();
  layout_.from           = from_.data();
  layout_.pivot          = pivot_.data();
  layout_.a              = options.single ? nullptr : a_.data();
  layout_.single         = single_.data();
  layout_.scale          = scale_.data();
  layout_.row            = F.row;
  layout_.column         = F.column;
  layout_.lower_diagonal = F.lower_diagonal;
  PetscCall(ChooseLaunch());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSubdomains::LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order,
                                            Array<PetscInt> *first, PetscInt *tasks, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(schedule_.LowerTasks(nullptr, longest, together, order, first, tasks, &scratch_, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t DeviceSubdomains::Bytes() const
{
  return schedule_.Bytes() + scratch_.bytes() + begin_.bytes() + half_.bytes() + level_.bytes() + first_.bytes() +
         from_.bytes() + pivot_.bytes() + local_.bytes() + j_.bytes() + a_.bytes() + single_.bytes() + scale_.bytes();
}

} // namespace sparsegpu::subdomains
