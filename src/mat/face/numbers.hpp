/// Distinct numbers of rows or columns, and which of them one is.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>
#include "device/buffer.hpp"

namespace sparsegpu::face
{

class Numbers
{
public:
  /// Those among `given`, which may come several times. Throws what std::vector does.
  void Assign(const std::vector<PetscInt> &given) { AssignOutside(0, 0, given); }
  /// Those of them that are not of [begin, begin + own).
  void AssignOutside(PetscInt begin, PetscInt own, const std::vector<PetscInt> &given)
  {
    PetscInt last  = -1;
    size_t   count = 0;

    list_.clear();
    place_.clear();
    first_           = PETSC_MAX_INT;
    const auto visit = [&](const auto &call) {
      for (const PetscInt number : given)
        if (number < begin || number >= begin + own) call(number);
    };
    visit([&](PetscInt number) {
      first_ = std::min(first_, number);
      last   = std::max(last, number);
      count++;
    });
    if (count == 0) return;
    // as a rule many of them are neighbours, and a table of the range takes less time than a sort
    const size_t range = static_cast<size_t>(last - first_) + 1;
    if (range > 16 * count) {
      list_.reserve(count);
      visit([&](PetscInt number) { list_.push_back(number); });
      std::sort(list_.begin(), list_.end());
      list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
      return;
    }
    place_.assign(range, -1);
    visit([&](PetscInt number) { place_[static_cast<size_t>(number - first_)] = 0; });
    for (size_t k = 0; k < range; k++)
      if (place_[k] == 0) {
        place_[k] = static_cast<PetscInt>(list_.size());
        list_.push_back(first_ + static_cast<PetscInt>(k));
      }
  }

  const std::vector<PetscInt> &list() const { return list_; } ///< ascending, each once
  /// Which one `number` is, that is there.
  PetscInt Place(PetscInt number) const
  {
    if (!place_.empty()) return place_[static_cast<size_t>(number - first_)];
    return static_cast<PetscInt>(std::lower_bound(list_.begin(), list_.end(), number) - list_.begin());
  }

private:
  std::vector<PetscInt> list_, place_; ///< place_ [range of the numbers], or empty: -1 where there is none
  PetscInt              first_ = 0;
};

/// Where `count` numbers of `space` are best looked at: a few on the host, as launches take longer.
inline Space WhereNumbersGo(Space space, size_t count)
{
  return count < 8192 ? Space::Host : space;
}
/// The array in `space`.
PetscErrorCode Bring(Space space, Array<PetscInt> *numbers);
/// *others: those among `given`, ascending, and among `numbers` that are not of [begin, begin + own), ascending, each
/// once. Then `numbers`, where they lie, become local: own ones count from 0, others are their places in *others behind
/// `own`. Errors: PETSC_ERR_MEM.
PetscErrorCode NumberLocally(PetscInt begin, PetscInt own, const std::vector<PetscInt> &given, Array<PetscInt> *numbers,
                             std::vector<PetscInt> *others);

} // namespace sparsegpu::face
