/// Solves for several right-hand sides that must repeat bit for bit, whatever else the processors do.
#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include "columns.hpp"

namespace testing
{

/// Threads that leave the process little of its processors, until they go.
class BusyProcessors
{
public:
  BusyProcessors()
  {
    for (unsigned k = 0; k < std::thread::hardware_concurrency(); ++k)
      threads_.emplace_back([this] {
        while (!ends_) {}
      });
  }
  BusyProcessors(const BusyProcessors &)            = delete;
  BusyProcessors &operator=(const BusyProcessors &) = delete;
  ~BusyProcessors()
  {
    ends_ = true;
    for (std::thread &thread : threads_) thread.join();
  }

private:
  std::atomic<bool>        ends_{false};
  std::vector<std::thread> threads_;
};

/// The same bits each time, on a device however late the host hears of columns that are solved.
inline PetscErrorCode CheckRepeats(const Columns &s, int times)
{
  Together first;

  PetscFunctionBeginUser;
  PetscCall(SolveTogether(s, &first));
  PetscCall(CheckEndedApart(s, first));
  for (bool busy : {false, true}) {
    std::optional<BusyProcessors> processors;
    if (busy && !s.on_host) processors.emplace();
    for (int k = 0; k < (s.on_host ? 1 : times); ++k) {
      Together again;
      PetscCall(SolveTogether(s, &again));
      PetscCall(CheckEqual(first.X, again.X, std::to_string(s.count) + " columns, solved again"));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for systems create(side, &matrix) of grids with these sides; large ones, without columns on the host, where
/// nothing depends on time, fewer times.
template <class Create> PetscErrorCode CheckRepeatsOf(std::initializer_list<PetscInt> sides, Create create)
{
  PetscFunctionBeginUser;
  for (PetscInt side : sides) {
    const bool large = side > 100;
    System     matrix;
    PetscCall(create(side, &matrix));
    for (const std::string &type : DenseTypes()) {
      Columns s;
      if (large && type == MATDENSE) continue;
      PetscCall(s.Create(matrix.A, 13, type));
      PetscCall(FillApart(&s));
      PetscCall(CheckRepeats(s, large ? 5 : 20));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
