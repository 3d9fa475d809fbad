/// Distinct numbers of rows or columns, and which of them one is.
#pragma once

#include <petscsys.h>
#include <algorithm>
#include <utility>
#include <vector>

namespace sparsegpu::face
{

class Numbers
{
public:
  /// Those among `given`, which may come several times. Throws what std::vector does.
  void Assign(std::vector<PetscInt> &&given)
  {
    list_ = std::move(given);
    place_.clear();
    if (list_.empty()) return;
    const auto ends = std::minmax_element(list_.begin(), list_.end());
    first_          = *ends.first;
    // as a rule many of them are neighbours, and a table of the range takes less time than a sort
    const size_t range = static_cast<size_t>(*ends.second - first_) + 1;
    if (range <= 16 * list_.size()) {
      place_.assign(range, -1);
      for (PetscInt number : list_) place_[static_cast<size_t>(number - first_)] = 0;
      list_.clear();
      for (size_t k = 0; k < range; k++)
        if (place_[k] == 0) {
          place_[k] = static_cast<PetscInt>(list_.size());
          list_.push_back(first_ + static_cast<PetscInt>(k));
        }
      return;
    }
    std::sort(list_.begin(), list_.end());
    list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
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

} // namespace sparsegpu::face
