/// Parts of a graph that wait for one of several threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace sparsegpu::ordering
{

/// Part::Size() tells how many nodes a part has.
template <class Part> class PartQueue
{
public:
  void Put(Part part)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_.push_back(std::move(part));
    change_.notify_one();
  }
  /// Calls cut(part) for the largest part that is ready, one after the other; `cut` may put others. Returns when no
  /// thread has a part any more, or when `cut` has thrown anywhere.
  template <class Cut> void Serve(Cut cut)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      change_.wait(lock, [&] { return !ready_.empty() || working_ == 0 || error_; });
      if (ready_.empty() || error_) return;
      std::iter_swap(ready_.end() - 1, std::max_element(ready_.begin(), ready_.end(), [](const Part &a, const Part &b) {
                       return a.Size() < b.Size();
                     }));
      std::exception_ptr error;
      {
        Part part = std::move(ready_.back());
        ready_.pop_back();
        working_++;
        lock.unlock();
        try {
          cut(part);
        } catch (...) {
          error = std::current_exception();
        }
      }
      lock.lock();
      working_--;
      if (error && !error_) error_ = error;
      change_.notify_all();
    }
  }
  /// Throws what `cut` has thrown first. To be called when all threads are back.
  void Check() const
  {
    if (error_) std::rethrow_exception(error_);
  }

private:
  std::mutex              mutex_;
  std::condition_variable change_;
  std::vector<Part>       ready_;
  int                     working_ = 0;
  std::exception_ptr      error_;
};

} // namespace sparsegpu::ordering
