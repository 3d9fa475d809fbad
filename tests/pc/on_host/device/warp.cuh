/// Thread blocks of CUDA kernels on the host, whose threads run one after the other, in any order, to the next barrier
/// of their warp or of the block. Stands in for the header of the same name in src, for tests of what the kernels of
/// direct factorizations do with lanes and shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __shared__      static // one block at a time

struct OnHostIndex {
  unsigned x;
};
inline OnHostIndex threadIdx, blockDim;
struct dim3 {
  unsigned x, y;
  dim3(unsigned across, unsigned down) : x(across), y(down) {}
};
using std::max;
using std::min;

namespace on_host
{

class Block
{
public:
  explicit Block(unsigned seed) : any_(seed) {}
  /// body() by so many threads, a multiple of 32. False: some wait for others that do not come.
  bool Run(unsigned threads, const std::function<void()> &body)
  {
    std::vector<unsigned> order(threads);
    unsigned              left = threads;
    body_                      = &body;
    running_                   = this;
    blockDim.x                 = threads;
    warp_.assign(threads / 32, Meeting{32});
    block_ = Meeting{threads};
    thread_.clear();
    for (unsigned t = 0; t < threads; t++) {
      order[t] = t;
      thread_.push_back(std::make_unique<Thread>());
      ucontext_t *context = &thread_[t]->context;
      getcontext(context);
      context->uc_stack.ss_sp   = thread_[t]->stack.data();
      context->uc_stack.ss_size = thread_[t]->stack.size();
      context->uc_link          = &outside_;
      makecontext(context, Start, 0);
    }
    for (bool moved = true; left > 0 && moved;) {
      moved = false;
      std::shuffle(order.begin(), order.end(), any_);
      for (const unsigned t : order) {
        Thread &thread = *thread_[t];
        if (thread.done || (thread.at && thread.at->met == thread.since)) continue;
        threadIdx.x = t;
        swapcontext(&outside_, &thread.context);
        left -= thread.done;
        moved = true;
      }
    }
    return left == 0;
  }
  static void Barrier() { running_->Meet(&running_->block_); }
  /// The values of all lanes of the warp.
  template <class T> static std::vector<T> Exchange(const T &value)
  {
    Meeting *warp = &running_->warp_[threadIdx.x / 32];
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "a word");
    std::memcpy(warp->word + threadIdx.x % 32, &value, sizeof(T));
    running_->Meet(warp);
    std::vector<T> all(32);
    for (int lane = 0; lane < 32; lane++) std::memcpy(&all[lane], warp->word + lane, sizeof(T));
    running_->Meet(warp); // all have read
    return all;
  }

private:
  struct Meeting {
    unsigned      members = 0, arrived = 0, met = 0;
    std::uint64_t word[32] = {};
    explicit Meeting(unsigned all = 0) : members(all) {}
  };
  struct Thread {
    std::vector<char> stack = std::vector<char>(128 << 10);
    ucontext_t        context;
    bool              done  = false;
    Meeting          *at    = nullptr; ///< waits there, until it has met more often than ...
    unsigned          since = 0;
  };
  void Meet(Meeting *meeting)
  {
    const unsigned t      = threadIdx.x;
    Thread        &thread = *thread_[t];
    if (++meeting->arrived == meeting->members) {
      meeting->arrived = 0;
      meeting->met++;
      return;
    }
    thread.at    = meeting;
    thread.since = meeting->met;
    swapcontext(&thread.context, &outside_);
    thread.at = nullptr;
  }
  static void Start()
  {
    (*running_->body_)();
    running_->thread_[threadIdx.x]->done = true;
  }

  std::mt19937                         any_;
  std::vector<std::unique_ptr<Thread>> thread_;
  std::vector<Meeting>                 warp_;
  Meeting                              block_;
  const std::function<void()>         *body_ = nullptr;
  ucontext_t                           outside_;
  inline static Block                 *running_ = nullptr;
};

template <class T, class F> T Reduce(const T &value, F combine)
{
  const std::vector<T> all   = Block::Exchange(value);
  T                    total = all[0];
  for (int lane = 1; lane < 32; lane++) total = combine(total, all[lane]);
  return total;
}

} // namespace on_host

inline void __syncthreads()
{
  on_host::Block::Barrier();
}
inline void __syncwarp()
{
  (void)on_host::Block::Exchange(0);
}
template <class T> T __shfl_sync(unsigned, const T &value, int lane)
{
  return on_host::Block::Exchange(value)[lane & 31];
}
template <class T> T __shfl_xor_sync(unsigned, const T &value, int mask)
{
  const int own = static_cast<int>(threadIdx.x % 32);
  return on_host::Block::Exchange(value)[own ^ mask];
}
inline unsigned __ballot_sync(unsigned, bool holds)
{
  return on_host::Reduce(holds ? 1u << threadIdx.x % 32 : 0u, [](unsigned a, unsigned b) { return a | b; });
}
inline bool __any_sync(unsigned, bool holds)
{
  return __ballot_sync(0, holds) != 0;
}
inline int __reduce_add_sync(unsigned, int value)
{
  return on_host::Reduce(value, [](int a, int b) { return a + b; });
}
inline unsigned __reduce_or_sync(unsigned, unsigned value)
{
  return on_host::Reduce(value, [](unsigned a, unsigned b) { return a | b; });
}
inline int __ffs(int bits)
{
  return __builtin_ffs(bits);
}
template <class T, class V> T atomicAdd(T *to, V value)
{
  const T before = *to;
  *to            = static_cast<T>(before + value);
  return before;
}
template <class T, class V> T atomicOr(T *to, V value)
{
  const T before = *to;
  *to            = static_cast<T>(before | value);
  return before;
}
template <class T, class V> T atomicMin(T *to, V value)
{
  const T before = *to;
  *to            = std::min<T>(before, value);
  return before;
}

namespace sparsegpu
{
template <class Bits> Bits LargestOfWarp(Bits bits)
{
  return on_host::Reduce(bits, [](Bits a, Bits b) { return a > b ? a : b; });
}
} // namespace sparsegpu
