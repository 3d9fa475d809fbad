/// The other threads are kept: the C library of a copy does not learn that a thread has ended, and would keep that
/// thread's memory.
#if defined(SPARSEGPU_HAVE_METIS)
  #include "pc/ordering/metis_copies.hpp"
  #include <condition_variable>
  #include <csignal>
  #include <cstring>
  #include <dlfcn.h>
  #include <mutex>
  #include <stdlib.h>
  #include <system_error>
  #include <thread>
  #include <unistd.h>
  #include <vector>
  #include "device/signals_blocked.hpp"

namespace sparsegpu::ordering
{

namespace
{
using Task = std::function<void(const Metis &)>;

/// The numbers of rand() that METIS begins anew and draws are not the program's, whose own go on afterwards. The state
/// has the size of the one that a process, and so a copy, begins with: the same numbers for the same seed.
class RandomNumbers
{
public:
  RandomNumbers() : theirs_(initstate(1, ours_, sizeof(ours_))) {}
  ~RandomNumbers()
  {
    if (theirs_) (void)setstate(theirs_);
  }
  RandomNumbers(const RandomNumbers &)            = delete;
  RandomNumbers &operator=(const RandomNumbers &) = delete;

private:
  char        ours_[128] = {0};
  char *const theirs_;
};

/// METIS has handlers of its own for two signals while it works, and puts back what it found: of two at a time, the
/// other's. One that asks the program to end waits until METIS has ended, unless another thread of the program gets it.
class Signals
{
public:
  Signals()
  {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    blocked_ = pthread_sigmask(SIG_BLOCK, &end, &mask_) == 0;
    for (int k = 0; k < 2; k++) known_[k] = sigaction(CAUGHT[k], nullptr, &theirs_[k]) == 0;
  }
  ~Signals()
  {
    for (int k = 0; k < 2; k++)
      if (known_[k]) (void)sigaction(CAUGHT[k], &theirs_[k], nullptr);
    if (blocked_) (void)pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  Signals(const Signals &)            = delete;
  Signals &operator=(const Signals &) = delete;

private:
  static constexpr int CAUGHT[2] = {SIGABRT, SIGTERM};
  struct sigaction     theirs_[2];
  sigset_t             mask_;
  bool                 known_[2], blocked_;
};

/// Another METIS from the file of this one, null: none. Not where METIS is part of a larger library.
void *LoadCopy()
{
  #if defined(LM_ID_NEWLM)
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&METIS_NodeND), &info) || !info.dli_fname) return nullptr;
  const char *const slash = strrchr(info.dli_fname, '/');
  if (strncmp(slash ? slash + 1 : info.dli_fname, "libmetis", 8) != 0) return nullptr;
  return dlmopen(LM_ID_NEWLM, info.dli_fname, RTLD_NOW | RTLD_LOCAL);
  #else
  return nullptr;
  #endif
}

/// Threads that wait for a task, each with a copy. They stay until the process ends, and with them what they run and
/// wait for. A process that was forked from this one has none of them.
class Workers
{
public:
  bool InThisProcess() const { return getpid() == process_; }
  void Grow(size_t count); ///< to so many, or as many as can be had
  void Begin(const Task &task, int most);
  void End(); ///< waits for those that have begun

private:
  void Work(const Metis &metis);

  const pid_t             process_ = getpid();
  size_t                  count_   = 0;
  bool                    all_     = false; ///< no more can be had
  std::mutex              mutex_;           // of all below
  std::condition_variable begin_, end_;
  const Task             *task_   = nullptr;
  long                    number_ = 0; ///< of the task
  int                     places_ = 0, working_ = 0;
};

void Workers::Grow(size_t count)
{
  while (count_ < count && !all_) {
    void *const copy = LoadCopy();
    const auto  find = [&](const char name[]) { return copy ? dlsym(copy, name) : nullptr; };
    const Metis metis{reinterpret_cast<decltype(Metis::order)>(find("METIS_NodeND")),
                      reinterpret_cast<decltype(Metis::separate)>(find("METIS_ComputeVertexSeparator"))};
    all_ = !metis.order || !metis.separate;
    if (all_) return;
    const SignalsBlocked blocked; // METIS raises SIGABRT for itself
    try {
      std::thread([this, metis] { Work(metis); }).detach();
      count_++;
    } catch (const std::system_error &) { // no more can be had
      all_ = true;
    }
  }
}

void Workers::Work(const Metis &metis)
{
  std::unique_lock<std::mutex> lock(mutex_);
  for (long last = 0;;) {
    begin_.wait(lock, [&] { return task_ && number_ != last && places_ > 0; });
    const Task &task = *task_;
    last             = number_;
    places_--;
    working_++;
    lock.unlock();
    task(metis);
    lock.lock();
    working_--;
    end_.notify_all();
  }
}

void Workers::Begin(const Task &task, int most)
{
  const std::lock_guard<std::mutex> lock(mutex_);
  task_   = &task;
  places_ = most;
  number_++;
  begin_.notify_all();
}

void Workers::End()
{
  std::unique_lock<std::mutex> lock(mutex_);
  task_ = nullptr;
  end_.wait(lock, [&] { return working_ == 0; });
}

/// The library that this is part of is not unloaded any more: the threads run its code.
void Stay()
{
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&ServeByMetis), &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
} // namespace

void ServeByMetis(int threads, const Task &serve)
{
  static std::mutex     one_at_a_time;
  static Workers *const workers = [] {
    Stay();
    return new Workers;
  }();
  std::lock_guard<std::mutex> lock(one_at_a_time);
  const RandomNumbers         numbers;
  const Signals               signals;
  const bool                  several = threads > 1 && workers->InThisProcess();
  if (several) {
    workers->Grow(static_cast<size_t>(threads) - 1);
    workers->Begin(serve, threads - 1);
  }
  serve({METIS_NodeND, METIS_ComputeVertexSeparator});
  if (several) workers->End();
}

} // namespace sparsegpu::ordering
#endif
