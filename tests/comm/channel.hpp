/// Graphs at random, exchanges over them, and what must arrive.
#pragma once

#include "../testing.hpp"
#include "comm/channel.hpp"

#include <algorithm>
#include <random>

namespace testing
{

using namespace sparsegpu;
using comm::Channel;
using comm::Graph;
using comm::Peers;

/// The spaces in which exchanges can be tested here: Device with -space device.
inline PetscErrorCode FindPeers(std::shared_ptr<Peers> *peers)
{
  char        name[16] = "host", use[16] = "yes";
  std::string why;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-space", name, sizeof(name), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-sparsegpu_peer", use, sizeof(use), nullptr));
  const bool device = !strcmp(name, "device");
  PetscCall(Peers::Find(PETSC_COMM_WORLD, device ? Space::Device : Space::Host,
                        strcmp(use, "yes") ? comm::Use::Auto : comm::Use::Yes, peers, &why));
  if (!*peers) PetscCall(Skip("skipped: " + why));
  PetscCheck(*peers || device || PetscGlobalSize == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No peers on the host: %s",
             why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A graph in which a rank sends to each other one with a probability, and so not always in both directions; the same
/// on all ranks. what[r][s]: the entries that rank r sends to rank s.
using Lists = std::vector<std::vector<std::vector<int>>>;
inline Lists RandomLists(int ranks, int entries, double probability, unsigned seed)
{
  std::mt19937 random(seed);
  Lists        lists(static_cast<size_t>(ranks), std::vector<std::vector<int>>(static_cast<size_t>(ranks)));
  for (size_t r = 0; r < lists.size(); r++)
    for (size_t s = 0; s < lists.size(); s++) {
      const bool sends = r != s && std::uniform_real_distribution<double>(0, 1)(random) < probability;
      const int  count = sends ? std::uniform_int_distribution<int>(1, entries)(random) : 0;
      for (int e = 0; e < count; e++) lists[r][s].push_back(std::uniform_int_distribution<int>(0, entries - 1)(random));
    }
  return lists;
}

inline Graph GraphOf(const Lists &lists, int rank)
{
  Graph graph;
  graph.send_start.assign(1, 0);
  graph.receive_start.assign(1, 0);
  for (size_t r = 0; r < lists.size(); r++) {
    const std::vector<int> &out = lists[static_cast<size_t>(rank)][r], &in = lists[r][static_cast<size_t>(rank)];
    graph.send.insert(graph.send.end(), out.begin(), out.end());
    graph.send_start.push_back(static_cast<PetscInt>(graph.send.size()));
    graph.receive_start.push_back(graph.receive_start.back() + static_cast<PetscInt>(in.size()));
  }
  return graph;
}

/// Entry e of rank r in exchange k: no two of those that could be mistaken for each other are the same.
inline PetscReal Value(int r, int e, int k)
{
  return static_cast<PetscReal>(k % 977) * 4096 + static_cast<PetscReal>(r) * 512 + static_cast<PetscReal>(e);
}

struct Arrays {
  std::vector<Scalar> host, got;
  DeviceMemory        device;
  Stream              stream = nullptr;
};

/// One exchange of the whole array, whose entries are those of exchange k; what arrives is in arrays->got.
inline PetscErrorCode Exchange(Channel *channel, Space space, int rank, int k, Arrays *arrays)
{
  const Scalar *received, *from = arrays->host.data();
  const size_t  bytes = arrays->host.size() * sizeof(Scalar);

  PetscFunctionBeginUser;
  for (size_t e = 0; e < arrays->host.size(); e++) arrays->host[e] = Scalar(Value(rank, static_cast<int>(e), k));
  if (space == Space::Device) {
    PetscCall(DeviceStream(&arrays->stream));
    PetscCall(arrays->device.Reserve(bytes));
    PetscCall(DeviceCopyIn(arrays->device.data(), from, bytes, arrays->stream));
    from = static_cast<const Scalar *>(arrays->device.data());
  }
  PetscCall(channel->Begin(from, arrays->stream));
  PetscCall(channel->End(arrays->stream, &received));
  arrays->got.resize(static_cast<size_t>(channel->receives()));
  if (space == Space::Device)
    PetscCall(DeviceCopyOut(arrays->got.data(), received, arrays->got.size() * sizeof(Scalar), arrays->stream));
  else
    std::copy(received, received + channel->receives(), arrays->got.begin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode CheckReceived(const Lists &lists, int rank, int k, const Arrays &arrays)
{
  size_t at = 0;

  PetscFunctionBeginUser;
  for (size_t r = 0; r < lists.size(); r++)
    for (int e : lists[r][static_cast<size_t>(rank)]) {
      const PetscReal got = RealPart(arrays.got[at]), expected = Value(static_cast<int>(r), e, k);
      PetscCheck(got == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Exchange %d: entry %zu is %g, not %g, entry %d of rank %zu", k, at, (double)got, (double)expected, e,
                 r);
      at++;
    }
  PetscCheck(at == arrays.got.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu entries, not %zu", arrays.got.size(), at);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
