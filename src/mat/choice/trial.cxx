/// -mat_sparsegpu_auto_trial: the formats that select.cxx ranks first multiply the matrix itself, and the fastest is
/// taken. Each is freed before the next is built, so that there is never more than one beside CSR.
#include "mat/choice/select.hpp"
#include <algorithm>
#include <petsctime.h>
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::choice
{

namespace
{
/// Seconds of `times` products.
PetscErrorCode TimeBatch(Format *format, Space space, int times, const Scalar *x, Scalar *z, PetscLogDouble *seconds)
{
  PetscLogDouble begin, end;
  Stream         stream = nullptr;

  PetscFunctionBegin;
  if (space == Space::Device) {
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceSynchronize(stream));
  }
  PetscCall(PetscTime(&begin));
  for (int k = 0; k < times; k++) PetscCall(format->Mult(x, nullptr, z, stream));
  if (space == Space::Device) PetscCall(DeviceSynchronize(stream));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of a product: the median of a few batches after a warm-up, each long enough for the clock.
PetscErrorCode TimeFormat(const std::string &name, Plans *plans, const Scalar *x, Scalar *z, PetscLogDouble *seconds)
{
  constexpr int            BATCHES = 5, MOST = 50;
  constexpr PetscLogDouble LONG  = 2e-4; // seconds of a batch
  const Space              space = plans->look().space();
  std::unique_ptr<Format>  format;
  PetscLogDouble           batch[BATCHES], first;

  PetscFunctionBegin;
  PetscCall(plans->Build(name, &format));
  PetscCall(TimeBatch(format.get(), space, 1, x, z, &first));
  PetscCall(TimeBatch(format.get(), space, 1, x, z, &first));
  const int times = first * MOST > LONG ? std::max(1, static_cast<int>(LONG / first)) : MOST;
  for (PetscLogDouble &b : batch) PetscCall(TimeBatch(format.get(), space, times, x, z, &b));
  std::nth_element(batch, batch + BATCHES / 2, batch + BATCHES);
  *seconds = batch[BATCHES / 2] / times;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TryFormats(Plans *plans, Choice *choice)
{
  const CsrView           &A     = plans->look().rows();
  const Space              space = plans->look().space();
  std::vector<std::string> names;
  std::vector<Scalar>      ones;
  Array<Scalar>            x, z;
  PetscLogDouble           least = 0;
  std::string              times;

  PetscFunctionBegin;
  *choice = Choice();
  PetscCall(RankFormats(plans, &names));
  PetscCallCXX(ones.assign(A.cols, Scalar(1)));
  PetscCall(x.Take(std::move(ones), space));
  PetscCall(z.Allocate(A.rows, space));
  for (const std::string &name : names) {
    PetscLogDouble seconds = 0;
    bool           lacks   = false;
    char           text[64];
    PetscCall(MayLackMemory([&] { return TimeFormat(name, plans, x.data(), z.data(), &seconds); }, &lacks));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%.3g us", seconds * 1e6));
    PetscCallCXX(times += (times.empty() ? "" : ", ") + name + " " + (lacks ? "no memory" : text));
    if (lacks || (!choice->name.empty() && seconds >= least)) continue;
    PetscCallCXX(choice->name = name);
    least = seconds;
  }
  if (choice->name.empty()) PetscCallCXX(choice->name = Baseline());
  PetscCallCXX(choice->reason = "auto, timed, so that another run may choose another: " + times);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::choice
