/// Threads that take none of the program's signals.
#pragma once

#include <csignal>

namespace sparsegpu
{

/// While this lives, threads are begun with all signals blocked but those of faults and SIGABRT, so that the program's
/// threads receive theirs: a handler of theirs may count on what a thread of ours does not have.
class SignalsBlocked
{
public:
  SignalsBlocked()
  {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) sigdelset(&all, own);
    blocked_ = pthread_sigmask(SIG_BLOCK, &all, &before_) == 0;
  }
  ~SignalsBlocked()
  {
    if (blocked_) (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked &)            = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
  sigset_t before_;
  bool     blocked_;
};

} // namespace sparsegpu
