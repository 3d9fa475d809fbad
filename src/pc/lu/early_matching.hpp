/// A matching that is found in a thread of its own while other work is done that may make it unnecessary.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include "pc/lu/matching.hpp"

namespace sparsegpu::lu
{

class EarlyMatching
{
public:
  EarlyMatching() = default;
  ~EarlyMatching() { Drop(); }
  EarlyMatching(const EarlyMatching &)            = delete;
  EarlyMatching &operator=(const EarlyMatching &) = delete;

  /// Begins with a copy of A, if a thread can be had. Throws std::bad_alloc.
  void Begin(const CsrView &A);
  /// Whether *matching is A's: it is not if nothing was begun, or with other rows or values, or if memory was lacking.
  /// Waits, and forgets it.
  bool Take(const CsrView &A, Matching *matching);
  /// Ends the thread soon, and waits for that.
  void Drop();

private:
  std::vector<PetscInt> i_, j_;
  std::vector<Scalar>   a_;
  std::atomic<bool>     stop_{false};
  std::future<Matching> found_;
};

} // namespace sparsegpu::lu
