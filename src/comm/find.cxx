/// Which ranks reach each other's memory: asked once a communicator, kept in an attribute of it, and agreed on.
#include <algorithm>
#include <set>
#include "comm/peers.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
{
/// What is known of a communicator in one space.
struct Known {
  bool                   asked = false, tried = false;
  std::string            never;  ///< why there can be no peers
  std::string            shared; ///< why there are none unless the option asks for them
  std::shared_ptr<Peers> peers;
};
struct Attribute {
  MPI_Comm comm;
  Known    known[2]; ///< [space]
};

int                      keyval = MPI_KEYVAL_INVALID;
std::vector<Attribute *> attributes; ///< of all communicators, oldest first

PetscErrorCode CloseAll(Attribute *attribute)
{
  PetscFunctionBegin;
  for (Known &known : attribute->known)
    if (known.peers) PetscCall(known.peers->Close());
  attributes.erase(std::remove(attributes.begin(), attributes.end(), attribute), attributes.end());
  delete attribute;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int DeleteAttribute(MPI_Comm, int, void *value, void *)
{
  return CloseAll(static_cast<Attribute *>(value)) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

PetscErrorCode GetAttribute(MPI_Comm comm, Attribute **attribute)
{
  int found;

  PetscFunctionBegin;
  if (keyval == MPI_KEYVAL_INVALID)
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, DeleteAttribute, &keyval, nullptr));
  PetscCallMPI(MPI_Comm_get_attr(comm, keyval, attribute, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(*attribute = new Attribute);
  (*attribute)->comm = comm;
  PetscCallCXX(attributes.push_back(*attribute));
  PetscCallMPI(MPI_Comm_set_attr(comm, keyval, *attribute));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether each rank has a GPU, and which. No CUDA call on a rank before it is known that all share a host.
PetscErrorCode AskDevices(MPI_Comm comm, PetscMPIInt size, Known *known)
{
  std::array<char, 16>              mine = {};
  PetscBool                         found;
  const char                       *reason;
  std::vector<std::array<char, 16>> all(static_cast<size_t>(size));

  PetscFunctionBegin;
  PetscCall(DeviceFound(&found, &reason));
  if (!found) PetscCallCXX(known->never = std::string("a rank has no GPU: ") + reason);
  PetscCall(AgreeOnReason(comm, &known->never));
  if (!known->never.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceIdentity(mine.data()));
  PetscCallMPI(MPI_Allgather(mine.data(), 16, MPI_BYTE, all.data(), 16, MPI_BYTE, comm));
  const size_t different = std::set<std::array<char, 16>>(all.begin(), all.end()).size();
  if (different < all.size())
    PetscCallCXX(known->shared = std::to_string(size) + " ranks share " + std::to_string(different) +
                                 (different == 1 ? " GPU" : " GPUs"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ask(MPI_Comm comm, Space space, Known *known)
{
  MPI_Comm    host;
  PetscMPIInt size, here, least;

  PetscFunctionBegin;
  known->asked = true;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_size(host, &here));
  PetscCallMPI(MPI_Comm_free(&host));
  PetscCallMPI(MPI_Allreduce(&here, &least, 1, MPI_INT, MPI_MIN, comm));
  if (size == 1)
    PetscCallCXX(known->never = "one rank");
  else if (least < size)
    PetscCallCXX(known->never = "the ranks are on several hosts");
  else if (space == Space::Device)
    PetscCall(AskDevices(comm, size, known));
  else
    PetscCallCXX(known->shared = "the vectors are on the host");
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Peers::Find(MPI_Comm comm, Space space, Use use, std::shared_ptr<Peers> *peers, std::string *why)
{
  Attribute *attribute;

  PetscFunctionBegin;
  peers->reset();
  why->clear();
  if (use == Use::No) {
    PetscCallCXX(*why = "-sparsegpu_peer no");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetAttribute(comm, &attribute));
  Known *const known = &attribute->known[static_cast<int>(space)];
  if (!known->asked) PetscCall(Ask(comm, space, known));
  if (!known->never.empty() || (use == Use::Auto && !known->shared.empty())) {
    PetscCallCXX(*why = known->never.empty() ? known->shared : known->never);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!known->tried) {
    known->tried = true;
    PetscCallCXX(known->peers = std::make_shared<Peers>());
    PetscCall(known->peers->Create(comm, space, &known->never));
    if (!known->never.empty()) known->peers.reset();
    PetscCall(PetscInfo(nullptr, "Peer memory of the %s: %s\n", space == Space::Host ? "host" : "GPUs",
                        known->never.empty() ? "yes" : known->never.c_str()));
  }
  *peers = known->peers;
  PetscCallCXX(*why = known->never);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadUse(PetscOptions options, Use *use, double *timeout)
{
  const char *const names[]  = {"auto", "yes", "no"};
  char              name[64] = "auto";
  PetscReal         seconds  = 300; // a rank may well be busy for minutes, writing a file
  PetscBool         same;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_SELF, nullptr, "Peer memory of sparsegpu", "Mat");
  PetscOptionsObject->options = options;
  PetscCall(PetscOptionsString(
      "-sparsegpu_peer", "Ghosts and values travel through memory of other ranks: auto (GPUs of one host), yes or no",
      "MATSPARSEGPU", name, name, sizeof(name), nullptr));
  PetscCall(PetscOptionsReal("-sparsegpu_peer_timeout", "Seconds after which a rank that does not come is an error",
                             "MATSPARSEGPU", seconds, &seconds, nullptr));
  PetscOptionsEnd();
  PetscCheck(seconds > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-sparsegpu_peer_timeout %g: the seconds must be positive", (double)seconds);
  *timeout = static_cast<double>(seconds);
  for (int u = 0; u < 3; u++) {
    PetscCall(PetscStrcasecmp(name, names[u], &same));
    if (!same) continue;
    *use = static_cast<Use>(u);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown -sparsegpu_peer \"%s\": auto, yes and no are known",
          name);
}

PetscErrorCode Finalize()
{
  PetscFunctionBegin;
  while (!attributes.empty()) PetscCallMPI(MPI_Comm_delete_attr(attributes.front()->comm, keyval));
  if (keyval != MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_free_keyval(&keyval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
