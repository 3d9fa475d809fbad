/// A thread block of a CUDA kernel on the host: its threads take turns from one barrier to the next. Stands in for the
/// header of the same name in src, for tests of what a kernel does with its blocks, threads and shared memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>
#include "petsc/compat.hpp"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static // one block at a time

struct OnHostIndex {
  unsigned x;
};
inline OnHostIndex threadIdx, blockIdx, blockDim, gridDim;

namespace on_host
{

/// What went wrong first; null: nothing.
inline const char *failure = nullptr;
inline void        Expect(bool holds, const char *otherwise)
{
  if (!holds && !failure) failure = otherwise;
}

class Block
{
public:
  /// Runs body() as each thread of block `index`.
  void Run(unsigned index, unsigned threads, const std::function<void()> &body)
  {
    constexpr size_t STACK = 256 << 10;
    body_                  = &body;
    blockIdx.x             = index;
    blockDim.x             = threads;
    while (thread_.size() < threads) thread_.push_back(std::make_unique<Thread>(STACK));
    for (unsigned t = 0; t < threads; t++) {
      Thread &thread = *thread_[t];
      thread.done    = false;
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp   = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link          = &outside_;
      makecontext(&thread.context, Start, 0);
    }
    for (unsigned left = threads; left > 0;) { // from one barrier to the next
      const unsigned before = left;
      for (unsigned t = 0; t < threads; t++) {
        if (thread_[t]->done) continue;
        threadIdx.x = t;
        running_    = this;
        swapcontext(&outside_, &thread_[t]->context);
        left -= thread_[t]->done;
      }
      Expect(left == 0 || left == before, "threads end while others wait at a barrier");
    }
  }
  static void Barrier()
  {
    Block *const block = running_;
    swapcontext(&block->thread_[threadIdx.x]->context, &block->outside_);
  }
  /// The most or the least of a warp's values.
  static int Reduced(int value, bool most)
  {
    constexpr unsigned WARP = 32;
    static int         all[1024];
    all[threadIdx.x] = value;
    Barrier();
    const unsigned first = threadIdx.x / WARP * WARP;
    for (unsigned t = first; t < first + WARP; t++) value = (all[t] > value) == most ? all[t] : value;
    Barrier();
    return value;
  }

private:
  struct Thread {
    explicit Thread(size_t bytes) : stack(bytes) {}
    std::vector<char> stack;
    ucontext_t        context;
    bool              done = false;
  };
  static void Start()
  {
    (*running_->body_)();
    running_->thread_[threadIdx.x]->done = true;
  }

  std::vector<std::unique_ptr<Thread>> thread_;
  const std::function<void()>         *body_ = nullptr;
  ucontext_t                           outside_;
  inline static Block                 *running_ = nullptr;
};

} // namespace on_host

inline void __syncthreads()
{
  on_host::Block::Barrier();
}
inline int __reduce_max_sync(unsigned, int value)
{
  return on_host::Block::Reduced(value, true);
}
inline int __reduce_min_sync(unsigned, int value)
{
  return on_host::Block::Reduced(value, false);
}

namespace sparsegpu
{
inline void begin_in_turn() {}
} // namespace sparsegpu
