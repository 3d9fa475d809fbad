static const char help[] =
    "Channels between ranks: what arrives, in thousands of exchanges of random graphs, with ranks that are late or never\n"
    "come, and memory that channels take and give back. On the host, and from GPU to GPU where each rank has one.\n\n";

#include "channel.hpp"

#include <unistd.h>

using namespace testing;

namespace
{
/// Thousands of exchanges over graphs of all densities; now and then a rank is late.
PetscErrorCode TestRandom()
{
  std::shared_ptr<Peers> peers;
  PetscInt               exchanges = 1000;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-exchanges", &exchanges, nullptr));
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  for (unsigned seed = 1; seed <= 8; seed++) {
    const Lists  lists = RandomLists(PetscGlobalSize, 40 * (seed % 3 ? 1 : 10), 0.15 * seed, seed);
    Channel      channel;
    std::string  why;
    Arrays       arrays;
    std::mt19937 random(seed * 100 + static_cast<unsigned>(PetscGlobalRank));
    PetscCall(channel.Create(peers, GraphOf(lists, PetscGlobalRank), 60, &why));
    PetscCheck(why.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No channel: %s", why.c_str());
    arrays.host.resize(400);
    for (int k = 1; k <= exchanges; k++) {
      if (random() % 256 == 0) usleep(random() % 4000);
      PetscCall(Exchange(&channel, peers->space(), PetscGlobalRank, k, &arrays));
      PetscCall(CheckReceived(lists, PetscGlobalRank, k, arrays));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each rank in turn is half a second late; the others wait and get what it sends.
PetscErrorCode TestLate()
{
  std::shared_ptr<Peers> peers;
  Channel                channel;
  std::string            why;
  Arrays                 arrays;

  PetscFunctionBeginUser;
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  const Lists lists = RandomLists(PetscGlobalSize, 30, 0.7, 5);
  PetscCall(channel.Create(peers, GraphOf(lists, PetscGlobalRank), 60, &why));
  arrays.host.resize(30);
  for (int k = 1; k <= 2 * PetscGlobalSize; k++) {
    if (k % PetscGlobalSize == PetscGlobalRank) usleep(500000);
    PetscCall(Exchange(&channel, peers->space(), PetscGlobalRank, k, &arrays));
    PetscCall(CheckReceived(lists, PetscGlobalRank, k, arrays));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The last rank stays away from the third exchange: the others get an error that names it, and none hangs. On a GPU
/// the entries are NaN and the next exchange returns the error.
PetscErrorCode TestLost()
{
  std::shared_ptr<Peers> peers;
  Channel                channel;
  std::string            why, message;
  Arrays                 arrays;
  const int              last = PetscGlobalSize - 1;

  PetscFunctionBeginUser;
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  const Lists lists = RandomLists(PetscGlobalSize, 30, 1, 5); // all are neighbours
  PetscCall(channel.Create(peers, GraphOf(lists, PetscGlobalRank), 0.3, &why));
  arrays.host.resize(30);
  for (int k = 1; k <= 2; k++) {
    PetscCall(Exchange(&channel, peers->space(), PetscGlobalRank, k, &arrays));
    PetscCall(CheckReceived(lists, PetscGlobalRank, k, arrays));
  }
  if (PetscGlobalRank != last && peers->space() == Space::Device) {
    PetscCall(Exchange(&channel, peers->space(), PetscGlobalRank, 3, &arrays));
    for (Scalar v : arrays.got)
      PetscCheck(RealPart(v) != RealPart(v), PETSC_COMM_SELF, PETSC_ERR_PLIB, "An entry that never came is a number");
  }
  if (PetscGlobalRank != last) {
    PetscCall(ExpectError(
        "lost", [&] { return Exchange(&channel, peers->space(), PetscGlobalRank, 3, &arrays); }, &message,
        PETSC_ERR_SYS));
    PetscCall(
        CheckText("the error", message,
                  {"Rank " + std::to_string(last) + " has not taken part in exchange 3", "-sparsegpu_peer_timeout"}));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); // none is stuck inside
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What ghosts hold is added to the owners' entries, in the order of the ranks, where rank r sends lists[r].
PetscErrorCode AddGhosts(const std::shared_ptr<Peers> &peers, const Lists &lists, Channel *there, Channel *back)
{
  constexpr size_t ENTRIES = 50;
  const Graph      graph   = GraphOf(lists, PetscGlobalRank);
  const auto       value   = [](size_t s, PetscInt g, int k) { // of ghost g of rank s in exchange k
    return Scalar(1 / (static_cast<PetscReal>(s) + static_cast<PetscReal>(g) + static_cast<PetscReal>(k)));
  };
  std::string   why;
  DeviceMemory  device, ghosts;
  const Scalar *received;
  Stream        stream = nullptr;

  PetscFunctionBeginUser;
  PetscCall(there->Create(peers, graph, 60, &why));
  PetscCall(back->Create(peers, comm::Reversed(graph), 60, &why));
  PetscCheck(why.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No channel: %s", why.c_str());
  for (int k = 1; k <= 5; k++) {
    std::vector<Scalar> sums(ENTRIES, Scalar(PetscReal(1) / 3)), expected(sums), mine;
    for (size_t s = 0; s < lists.size(); s++) {
      PetscInt g = 0;
      for (size_t r = 0; r < lists.size(); r++)
        for (int e : lists[r][s]) {
          if (static_cast<int>(r) == PetscGlobalRank) expected[static_cast<size_t>(e)] += value(s, g, k);
          g++;
        }
    }
    for (PetscInt g = 0; g < graph.receives(); g++) mine.push_back(value(static_cast<size_t>(PetscGlobalRank), g, k));
    const Scalar *from = mine.data();
    Scalar       *to   = sums.data();
    if (peers->space() == Space::Device) {
      PetscCall(DeviceStream(&stream));
      PetscCall(ghosts.Reserve((mine.size() + 1) * sizeof(Scalar)));
      PetscCall(device.Reserve(ENTRIES * sizeof(Scalar)));
      PetscCall(DeviceCopyIn(ghosts.data(), from, mine.size() * sizeof(Scalar), stream));
      PetscCall(DeviceCopyIn(device.data(), to, ENTRIES * sizeof(Scalar), stream));
      from = static_cast<const Scalar *>(ghosts.data());
      to   = static_cast<Scalar *>(device.data());
    }
    PetscCall(back->Begin(from, stream));
    PetscCall(back->End(stream, &received));
    PetscCall(there->AddReceived(received, to, stream));
    if (peers->space() == Space::Device) PetscCall(DeviceCopyOut(sums.data(), to, ENTRIES * sizeof(Scalar), stream));
    for (size_t e = 0; e < ENTRIES; e++)
      PetscCheck(BitsOf(RealPart(sums[e])) == BitsOf(RealPart(expected[e])), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Exchange %d, entry %zu: %.17g, not %.17g", k, e, (double)RealPart(sums[e]),
                 (double)RealPart(expected[e]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Graphs in turn on the same channels: all ranks send, one of them none, none at all.
PetscErrorCode TestBack()
{
  std::shared_ptr<Peers> peers;
  Channel                there, back;

  PetscFunctionBeginUser;
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t silent = 0; silent <= static_cast<size_t>(PetscGlobalSize); silent++)
    for (double probability : {1., 0.5, 0.}) {
      Lists lists = RandomLists(PetscGlobalSize, 50, probability, 9);
      if (silent < lists.size())
        for (std::vector<int> &list : lists[silent]) list.clear();
      PetscCall(AddGhosts(peers, lists, &there, &back));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Channels come and go, in another order on each rank, and of other sizes: those alive keep their entries, and memory
/// is used again.
PetscErrorCode TestMemory()
{
  std::shared_ptr<Peers> peers;
  std::mt19937           together(7), alone(static_cast<unsigned>(PetscGlobalRank) + 70);
  struct Alive {
    Lists                    lists;
    std::unique_ptr<Channel> channel;
    int                      k;
  };
  std::vector<Alive> alive;
  const char        *first = nullptr;
  Arrays             arrays;

  PetscFunctionBeginUser;
  PetscCall(FindPeers(&peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  arrays.host.resize(4000);
  for (int round = 0; round < 40; round++) {
    while (alive.size() < 6) {
      std::string why;
      Alive       fresh{RandomLists(PetscGlobalSize, round % 5 ? 50 : 4000, 0.6, static_cast<unsigned>(together())),
                  std::make_unique<Channel>(), 0};
      PetscCall(fresh.channel->Create(peers, GraphOf(fresh.lists, PetscGlobalRank), 60, &why));
      PetscCheck(why.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No channel: %s", why.c_str());
      alive.push_back(std::move(fresh));
    }
    for (Alive &one : alive) {
      one.k++;
      PetscCall(Exchange(one.channel.get(), peers->space(), PetscGlobalRank, one.k, &arrays));
      PetscCall(CheckReceived(one.lists, PetscGlobalRank, one.k, arrays));
    }
    std::shuffle(alive.begin(), alive.end(), together);
    std::vector<Alive> ending;
    for (unsigned n = together() % 6 + 1; n; n--) {
      ending.push_back(std::move(alive.back()));
      alive.pop_back();
    }
    std::shuffle(ending.begin(), ending.end(), alone);
    while (!ending.empty()) {
      if (alone() % 4 == 0) usleep(1000);
      ending.pop_back();
    }
  }
  alive.clear();
  comm::Piece piece; // all have been given back: it is the first again
  std::string why;
  PetscCall(peers->Take(1, &piece, &why));
  first = peers->at(piece, PetscGlobalRank);
  PetscCheck(first && piece.slot == 0 && piece.segment == 0 && piece.offset == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A piece has slot %d, segment %d and offset %zu after all have been given back", piece.slot, piece.segment,
             piece.offset);
  peers->GiveBack(piece);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(
      argc, argv, help,
      {{"random", TestRandom}, {"late", TestLate}, {"back", TestBack}, {"memory", TestMemory}, {"lost", TestLost}});
}
