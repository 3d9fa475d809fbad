/// Loops whose parts go to threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <vector>
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

/// work(p) for all p < parts, by so many threads at most. Throws what one of them throws of std::bad_alloc.
template <class Work> void InParts(PetscInt parts, int threads, const Work &work)
{
  std::atomic<PetscInt>    next{0};
  std::atomic<bool>        lacks_memory{false};
  std::vector<std::thread> others;
  const auto               serve = [&] {
    try {
      for (PetscInt p = next++; p < parts; p = next++) work(p);
    } catch (const std::bad_alloc &) {
      lacks_memory = true;
    }
  };
  for (int t = 1; t < std::min<PetscInt>(threads, parts); t++) {
    try {
      others.emplace_back(serve);
    } catch (const std::system_error &) { // no more can be had
      break;
    }
  }
  serve();
  for (std::thread &other : others) other.join();
  if (lacks_memory) throw std::bad_alloc();
}

} // namespace sparsegpu::ordering
