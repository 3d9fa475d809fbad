static const char help[] =
    "Sums over the ranks of a host: bits, thousands in a row, a rank that is late or never comes.\n\n";

#include "channel.hpp"
#include "comm/reduce.hpp"

#include <unistd.h>

using namespace testing;
using comm::Reducer;
using comm::ReduceSide;

namespace
{
/// Value v of rank r in reduction k, of full mantissa and of any size.
Scalar Term(int r, int v, int k)
{
  std::mt19937_64 random(static_cast<unsigned>((k * 64 + v) * 64 + r));
  const PetscReal mantissa = std::uniform_real_distribution<PetscReal>(-1, 1)(random);
  return Scalar(std::ldexp(mantissa, static_cast<int>(random() % 40)));
}

/// One reduction of n values, through the device's memory where the peers are there.
PetscErrorCode SumOnce(Reducer *reducer, Space space, int n, int k, std::vector<Scalar> *values)
{
  Stream       stream = nullptr;
  DeviceMemory device;

  PetscFunctionBeginUser;
  values->clear();
  for (int v = 0; v < n; v++) values->push_back(Term(PetscGlobalRank, v, k));
  if (space == Space::Host) {
    PetscCall(reducer->Sum(n, values->data(), stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(device.Reserve(static_cast<size_t>(n + 1) * sizeof(Scalar)));
  PetscCall(DeviceCopyIn(device.data(), values->data(), values->size() * sizeof(Scalar), stream));
  PetscCall(reducer->Sum(n, static_cast<Scalar *>(device.data()), stream));
  PetscCall(DeviceCopyOut(values->data(), device.data(), values->size() * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSums(const std::vector<Scalar> &sums, int k)
{
  PetscFunctionBeginUser;
  for (size_t v = 0; v < sums.size(); v++) {
    Scalar expected = Term(0, static_cast<int>(v), k);
    for (int r = 1; r < PetscGlobalSize; r++) expected = expected + Term(r, static_cast<int>(v), k);
    PetscCheck(BitsOf(RealPart(sums[v])) == BitsOf(RealPart(expected)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Reduction %d, value %zu: %.17g, not %.17g", k, v, (double)RealPart(sums[v]),
               (double)RealPart(expected));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All numbers of values in turn, thousands of reductions; now and then a rank is late.
PetscErrorCode TestSums()
{
  std::shared_ptr<Peers> peers;
  Reducer                reducer;
  std::string            why, message;
  std::vector<Scalar>    values;
  std::mt19937           random(static_cast<unsigned>(PetscGlobalRank));

  PetscFunctionBeginUser;
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(reducer.Create(peers, 60, &why));
  PetscCheck(why.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No reducer: %s", why.c_str());
  for (int k = 1; k <= 3000; k++) {
    if (random() % 256 == 0) usleep(random() % 4000);
    PetscCall(SumOnce(&reducer, peers->space(), k % (ReduceSide::VALUES + 1), k, &values));
    PetscCall(CheckSums(values, k));
  }
  values.resize(ReduceSide::VALUES + 1);
  PetscCall(ExpectError(
      "33 values", [&] { return reducer.Sum(ReduceSide::VALUES + 1, values.data(), nullptr); }, &message,
      PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("33 values", message, {"33 values", "0 to 32"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The last rank stays away from the third reduction: an error that names it, on a device after sums that are NaN.
PetscErrorCode TestLost()
{
  std::shared_ptr<Peers> peers;
  Reducer                reducer;
  std::string            why, message;
  std::vector<Scalar>    values;

  PetscFunctionBeginUser;
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(reducer.Create(peers, 0.3, &why));
  for (int k = 1; k <= 2; k++) {
    PetscCall(SumOnce(&reducer, peers->space(), 5, k, &values));
    PetscCall(CheckSums(values, k));
  }
  const int last = PetscGlobalSize - 1;
  if (PetscGlobalRank != last && peers->space() == Space::Device) {
    PetscCall(SumOnce(&reducer, peers->space(), 5, 3, &values));
    for (Scalar v : values)
      PetscCheck(RealPart(v) != RealPart(v), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A sum that lacks a rank is a number");
  }
  if (PetscGlobalRank != last) {
    PetscCall(ExpectError(
        "lost", [&] { return SumOnce(&reducer, peers->space(), 5, 3, &values); }, &message, PETSC_ERR_SYS));
    PetscCall(CheckText("lost", message, {"Rank " + std::to_string(last) + " has not taken part in a reduction"}));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); // none is stuck inside
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"sums", TestSums}, {"lost", TestLost}});
}
