/// On the device numbers are sorted; on the host a table of their range, of neighbours as a rule, takes less time.
#include "mat/face/numbers.hpp"
#include <iterator>
#include "mat/rows/running_sum.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

PetscErrorCode Bring(Space space, Array<PetscInt> *numbers)
{
  std::vector<PetscInt> host;

  PetscFunctionBegin;
  if (numbers->space() == space) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Device) { // the array is the host's
    Array<PetscInt> there;
    PetscCall(there.Copy(numbers->data(), numbers->size(), space));
    *numbers = std::move(there);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(host.resize(numbers->size()));
  PetscCall(numbers->ToHost(host.data()));
  PetscCall(numbers->Take(std::move(host), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// *others = `given` and `found`, and place [of found] in it.
PetscErrorCode Unite(const std::vector<PetscInt> &given, const std::vector<PetscInt> &found,
                     std::vector<PetscInt> *others, std::vector<PetscInt> *place)
{
  std::vector<PetscInt> all;

  PetscFunctionBegin;
  PetscCallCXX(std::set_union(given.begin(), given.end(), found.begin(), found.end(), std::back_inserter(all)));
  auto at = all.begin();
  for (const PetscInt number : found) {
    at = std::lower_bound(at, all.end(), number);
    PetscCallCXX(place->push_back(static_cast<PetscInt>(at - all.begin())));
  }
  *others = std::move(all);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NumberOnHost(PetscInt begin, PetscInt own, const std::vector<PetscInt> &given, Array<PetscInt> *numbers,
                            std::vector<PetscInt> *others)
{
  std::vector<PetscInt> host, place;
  Numbers               distinct;

  PetscFunctionBegin;
  PetscCallCXX(host.assign(numbers->data(), numbers->data() + numbers->size()));
  PetscCallCXX(distinct.AssignOutside(begin, own, host));
  PetscCall(Unite(given, distinct.list(), others, &place));
  for (PetscInt &number : host)
    number = number >= begin && number < begin + own ? number - begin
                                                     : own + place[static_cast<size_t>(distinct.Place(number))];
  PetscCall(numbers->Take(std::move(host), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode NumberOnDevice(PetscInt begin, PetscInt own, const std::vector<PetscInt> &given,
                              Array<PetscInt> *numbers, std::vector<PetscInt> *others)
{
  using namespace rows::values;
  const PetscInt        count = static_cast<PetscInt>(numbers->size());
  constexpr int         BITS  = static_cast<int>(8 * sizeof(NumberKey));
  Array<NumberKey>      key;
  Array<PetscInt>       order, before, list, places;
  std::vector<PetscInt> found, place;
  DeviceMemory          scratch;
  Stream                stream;
  PetscInt              outside;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(key.Allocate(numbers->size(), Space::Device));
  PetscCall(before.Allocate(numbers->size() + 1, Space::Device));
  PetscCall(ForEach(Space::Device, count, KeyOutside{begin, own, numbers->data(), key.data()}));
  PetscCall(SortKeys(count, BITS, &key, &order, &scratch, stream));
  PetscCall(ForEach(Space::Device, count, MarkFirsts{key.data(), before.data()}));
  PetscCall(rows::RunningSumIn(Space::Device, count, &before, &outside));
  PetscCallCXX(found.resize(static_cast<size_t>(outside)));
  PetscCall(list.Allocate(found.size(), Space::Device));
  PetscCall(ForEach(Space::Device, count, TakeFirsts{key.data(), before.data(), list.data()}));
  if (outside) PetscCall(list.ToHost(found.data()));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(list.bytes())));
  PetscCall(Unite(given, found, others, &place));
  PetscCall(places.Take(std::move(place), Space::Device));
  PetscCall(
      ForEach(Space::Device, count,
              LocalizeSorted{begin, own, key.data(), order.data(), before.data(), places.data(), numbers->data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
} // namespace

PetscErrorCode NumberLocally(PetscInt begin, PetscInt own, const std::vector<PetscInt> &given, Array<PetscInt> *numbers,
                             std::vector<PetscInt> *others)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (numbers->space() == Space::Device && numbers->size() > 0) {
    PetscCall(NumberOnDevice(begin, own, given, numbers, others));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(NumberOnHost(begin, own, given, numbers, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
