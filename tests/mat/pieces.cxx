static const char help[] = "Entries that ranks send each other in pieces, by MPI and through memory of peers.\n\n";

#include "../testing.hpp"

#include "comm/peers.hpp"
#include "mat/face/pieces.hpp"

using namespace testing;
using sparsegpu::Array;
using sparsegpu::Scalar;
using sparsegpu::Space;
using sparsegpu::face::Piece;
using sparsegpu::face::PieceExchange;

namespace
{
/// How many entries go from one rank to another: none, few, or so many that a channel is made at once where `large`.
PetscInt CountOf(int from, int to, bool large)
{
  return from == to ? 0 : (from + 2 * to) % 3 == 1 ? 0 : (large ? 20000 : 3) + 7 * from + to;
}

/// Entry k from one rank to another, in a round.
Scalar Value(int from, int to, PetscInt k, int round)
{
  return Scalar((PetscReal)(((round * 100 + from) * 100 + to) * 1000 + k % 1000));
}

/// Sends and receives once, with values in `space`.
PetscErrorCode Round(PieceExchange *pieces, Space space, bool large, int round)
{
  const int           me = PetscGlobalRank;
  std::vector<Scalar> sent, expected, received;
  Array<Scalar>       from, to;

  PetscFunctionBeginUser;
  for (int r = 0; r < PetscGlobalSize; ++r) {
    for (PetscInt k = 0; k < CountOf(me, r, large); ++k) sent.push_back(Value(me, r, k, round));
    for (PetscInt k = 0; k < CountOf(r, me, large); ++k) expected.push_back(Value(r, me, k, round));
  }
  received.assign(expected.size(), Scalar(-1));
  PetscCall(from.Copy(sent.data(), sent.size(), space));
  PetscCall(to.Copy(received.data(), received.size(), space));
  PetscCall(pieces->Exchange(space, from.data_or_null(), received.empty() ? nullptr : to.data()));
  if (!received.empty()) PetscCall(to.ToHost(received.data()));
  for (size_t k = 0; k < expected.size(); ++k)
    PetscCheck(!memcmp(&received[k], &expected[k], sizeof(Scalar)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Round %d: entry %zu is %g, not %g", round, k, (double)sparsegpu::RealPart(received[k]),
               (double)sparsegpu::RealPart(expected[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether ranks reach each other's memory in this space, as the options have it.
PetscErrorCode HavePeers(Space space, bool *have)
{
  std::shared_ptr<sparsegpu::comm::Peers> peers;
  sparsegpu::comm::Use                    use;
  std::string                             why;
  double                                  timeout;
  MPI_Comm                                comm;
  PetscMPIInt                             tag;

  PetscFunctionBeginUser;
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &comm, &tag));
  PetscCall(sparsegpu::comm::ReadUse(nullptr, &use, &timeout));
  PetscCall(sparsegpu::comm::Peers::Find(comm, space, use, &peers, &why));
  *have = peers != nullptr;
  PetscCall(PetscCommDestroy(&comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Values arrive by rank in each round, wherever each rank has them; where there are peers no message goes through MPI
/// from the first round on, or from the second where pieces are small.
static PetscErrorCode Rounds()
{
  PetscBool   device;
  PetscMPIInt all;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  all = device;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  for (Space space : {Space::Host, Space::Device})
    for (bool large : {false, true})
      for (bool serve : {true, false}) {
        PieceExchange      pieces;
        std::vector<Piece> sent;
        PetscInt           receives, expected = 0;
        bool               fits, peers;
        if (space == Space::Device && !all) continue;
        PetscCall(HavePeers(space, &peers));
        for (int r = 0; r < PetscGlobalSize; ++r) {
          sent.push_back(Piece{r, CountOf(PetscGlobalRank, r, large)});
          expected += CountOf(r, PetscGlobalRank, large);
        }
        PetscCall(pieces.SetUp(PETSC_COMM_WORLD, sent, &receives, &fits));
        PetscCheck(fits && receives == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d entries come, not %d",
                   (int)receives, (int)expected);
        if (serve) PetscCall(pieces.LetPeersServe(nullptr));
        for (int round = 0; round < 7; ++round) {
          // once that is decided, each rank may have its values elsewhere
          const bool           other  = all && round > 2 && (round + PetscGlobalRank) % 2;
          const Space          here   = !other ? space : space == Space::Host ? Space::Device : Space::Host;
          const PetscLogDouble before = petsc_isend_ct;
          PetscCall(Round(&pieces, here, large, round));
          const bool by_peers = serve && peers && (large || round > 0), sends = pieces && petsc_isend_ct > before;
          PetscInt   count = 0;
          for (const Piece &piece : sent) count += piece.count;
          PetscCheck(sends == (!by_peers && count > 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Round %d: %s messages by MPI",
                     round, sends ? "there are" : "there are no");
        }
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"rounds", Rounds}});
}
