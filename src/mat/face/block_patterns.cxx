/// Entries are counted and placed where the rows lie; the host sees those of other processes' columns alone, sorted.
#include "mat/face/block_patterns.hpp"
#include <type_traits>
#include "device/sort.hpp"
#include "mat/face/numbers.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

namespace
{
#if defined(SPARSEGPU_HAVE_CUDA)
/// The numbers of `columns` columns, sorted.
PetscErrorCode SortOnDevice(const Array<PetscInt> &numbers, PetscInt columns, std::vector<PetscInt> *sorted)
{
  using Key            = std::conditional_t<sizeof(PetscInt) == sizeof(unsigned), unsigned, unsigned long long>;
  int             bits = 1;
  Array<Key>      keys;
  Array<PetscInt> order;
  DeviceMemory    scratch;
  Stream          stream;

  PetscFunctionBegin;
  while (bits < 8 * static_cast<int>(sizeof(PetscInt)) - 1 && columns >> bits) bits++;
  PetscCall(DeviceStream(&stream));
  PetscCall(keys.CopyFrom(reinterpret_cast<const Key *>(numbers.data()), nullptr, numbers.size()));
  PetscCall(SortKeys(static_cast<PetscInt>(numbers.size()), bits, &keys, &order, &scratch, stream));
  PetscCall(keys.ToHost(reinterpret_cast<Key *>(sorted->data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// The columns that `numbers` names, each once.
PetscErrorCode FindGhosts(Space space, const Array<PetscInt> &numbers, PetscInt columns, std::vector<PetscInt> *ghosts)
{
  PetscFunctionBegin;
  PetscCallCXX(ghosts->resize(numbers.size()));
  if (numbers.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Host) {
    Numbers distinct;
    std::copy_n(numbers.data(), numbers.size(), ghosts->data());
    PetscCallCXX(distinct.Assign(std::move(*ghosts)));
    PetscCallCXX(*ghosts = distinct.list());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCall(SortOnDevice(numbers, columns, ghosts));
#endif
  ghosts->erase(std::unique(ghosts->begin(), ghosts->end()), ghosts->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SplitPattern(Space space, const Array<PetscInt> &i, const Array<PetscInt> &j, PetscInt begin,
                            PetscInt end, PetscInt columns, BlockPatterns *patterns)
{
  const PetscInt  rows = static_cast<PetscInt>(i.size()) - 1;
  Array<PetscInt> ghosts;
  PetscInt        total;

  PetscFunctionBegin;
  for (Array<PetscInt> &of_block : patterns->i) PetscCall(of_block.Allocate(i.size(), space));
  PetscInt *const own_i = patterns->i[0].data(), *const others_i = patterns->i[1].data();
  PetscCall(
      rows::values::ForEach(space, rows, rows::values::CountParts{begin, end, i.data(), j.data(), own_i, others_i}));
  for (int b = 0; b < 2; b++) {
    PetscCall(rows::RunningSumIn(space, rows, &patterns->i[b], &total));
    PetscCall(patterns->j[b].Allocate(static_cast<size_t>(total), space));
  }
  PetscCall(rows::values::ForEach(space, rows,
                                  rows::values::SplitRows{begin, end, i.data(), j.data(), own_i, others_i,
                                                          patterns->j[0].data(), patterns->j[1].data()}));
  Array<PetscInt> *const others = &patterns->j[1];
  PetscCall(FindGhosts(space, *others, columns, &patterns->ghosts));
  PetscCall(ghosts.Copy(patterns->ghosts.data(), patterns->ghosts.size(), space));
  PetscCall(rows::values::ForEach(
      space, static_cast<PetscCount>(others->size()),
      rows::values::FindPlaces{static_cast<PetscInt>(patterns->ghosts.size()), ghosts.data(), others->data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
