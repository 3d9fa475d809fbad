/// MatSetValuesCOO() of a parallel matrix: values for other ranks are sent, from the device where they lie there, and
/// each block sums its own through its map.
#include <cstring>
#include "device/scatter.hpp"
#include "mat/face/coo.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_coo.hpp"
#include "mat/face/parallel_pattern.hpp"

namespace sparsegpu::face
{

namespace
{
constexpr char KEPT[] = "__sparsegpu_parallel_coordinates"; ///< a plain AIJ matrix's

/// packed[k] = v[coo->sent[k]], of values on the device.
PetscErrorCode PackThere(ParallelCoordinates *coo, const Scalar *v, Array<Scalar> *packed)
{
  const size_t count = coo->sent.size();
  Stream       stream;

  PetscFunctionBegin;
  if (coo->sent_there.size() != count) PetscCall(coo->sent_there.Copy(coo->sent.data(), count, Space::Device));
  PetscCall(packed->Allocate(count, Space::Device));
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceAfterVectors()); // they may be a vector's
  PetscCall(PermuteValues_CUDA(static_cast<PetscInt>(count), coo->sent_there.data(), v, false, packed->data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values that other ranks have for this one, through the host, where any MPI finds them.
PetscErrorCode Receive(ParallelCoordinates *coo, Scalar *v, bool device, std::vector<Scalar> *received)
{
  std::vector<Scalar> sent;
  Array<Scalar>       room, packed;

  PetscFunctionBegin;
  PetscCallCXX(received->resize(static_cast<size_t>(coo->receives)));
  if (device && !coo->sent.empty()) {
    bool lacks = false;
    PetscCall(MayLackMemory([&] { return PackThere(coo, v, &packed); }, &lacks));
    device = !lacks;
    if (lacks) PetscCall(InSpace(Space::Host, v, coo->entries, &room, &v));
  }
  if (device)
    PetscCall(CopyToHost(packed, &sent));
  else
    for (PetscInt k : coo->sent) PetscCallCXX(sent.push_back(v[k]));
  PetscCall(coo->pieces.Exchange(Space::Host, sent.data(), received->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JoinOnHost(const ParallelCoordinates &coo, Scalar *v, const std::vector<Scalar> &received,
                          Array<Scalar> *room)
{
  const size_t  given = static_cast<size_t>(coo.entries);
  Array<Scalar> copy;

  PetscFunctionBegin;
  PetscCall(InSpace(Space::Host, v, coo.entries, &copy, &v));
  PetscCall(room->Allocate(given + received.size(), Space::Host));
  std::copy(v, v + given, room->data());
  std::copy(received.begin(), received.end(), room->data() + given);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The given values on the device, with room for those received behind them.
PetscErrorCode MakeRoomThere(const ParallelCoordinates &coo, const Scalar *v, bool device, Array<Scalar> *room)
{
  const size_t given = static_cast<size_t>(coo.entries), bytes = given * sizeof(Scalar);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(room->Allocate(given + static_cast<size_t>(coo.receives), Space::Device));
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceAfterVectors()); // the given ones may be a vector's
  if (bytes && device) PetscCall(DeviceCopyWithin(room->data(), v, bytes, stream));
  if (bytes && !device) {
    PetscCall(DeviceCopyIn(room->data(), v, bytes, stream));
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  }
  PetscCall(DeviceBeforeVectors()); // and be filled again
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JoinThere(const ParallelCoordinates &coo, const Scalar *v, bool device,
                         const std::vector<Scalar> &received, Array<Scalar> *room)
{
  const size_t bytes = received.size() * sizeof(Scalar);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(MakeRoomThere(coo, v, device, room));
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyIn(room->data() + coo.entries, received.data(), bytes, stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  PetscCall(DeviceSynchronize(stream)); // copies from pageable memory may still be under way when that ends
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values on the device are packed there, and the received ones put behind them. *lacks: memory; nothing has been sent.
PetscErrorCode ExchangeThere(ParallelCoordinates *coo, const Scalar *v, Array<Scalar> *room, Scalar **all, bool *lacks)
{
  Array<Scalar> packed;
  const auto    reserve = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PackThere(coo, v, &packed));
    if (coo->receives) PetscCall(MakeRoomThere(*coo, v, true, room));
    PetscCall(coo->pieces.Reserve(Space::Device));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(MayLackMemory(reserve, lacks));
  if (*lacks) PetscFunctionReturn(PETSC_SUCCESS);
  if (coo->receives) *all = room->data();
  PetscCall(coo->pieces.Exchange(Space::Device, packed.data(), coo->receives ? *all + coo->entries : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Exchange(ParallelCoordinates *coo, Scalar *v, Space space, Array<Scalar> *room, Scalar **all)
{
  std::vector<Scalar> received;
  Array<Scalar>       zeros;
  PetscBool           device = PETSC_FALSE;
  bool                lacks  = space == Space::Host;

  PetscFunctionBegin;
  if (!v) { // MatSetValuesCOO() allows that
    PetscCall(room->Allocate(static_cast<size_t>(coo->entries), Space::Host));
    v = room->data();
    if (coo->receives) {
      zeros = std::move(*room);
      v     = zeros.data();
    }
  } else {
    PetscCall(DevicePointer(v, &device));
  }
  *all = v;
  if (coo->none) PetscFunctionReturn(PETSC_SUCCESS);
  // each rank by its own values: what is sent is the same
  if (space == Space::Device && (device || coo->entries == 0)) {
    PetscCall(ExchangeThere(coo, v, room, all, &lacks));
    if (!lacks) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Receive(coo, v, device, &received));
  if (received.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!lacks) PetscCall(MayLackMemory([&] { return JoinThere(*coo, v, device, received, room); }, &lacks));
  if (lacks) PetscCall(JoinOnHost(*coo, v, received, room));
  *all = room->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetValuesParallel(Mat A, Context *context, Scalar *v, InsertMode mode)
{
  const std::shared_ptr<ParallelCoordinates> coo = context->parallel_coo;
  Array<Scalar>                              room;
  Mat                                        blocks[2];
  Context                                   *of_block[2];

  PetscFunctionBegin;
  if (!A->assembled) PetscCall(BringHome(A));
  PetscCall(ConvertBlocks(A));
  PetscCall(GetBlocks(A, blocks));
  for (int b = 0; b < 2; b++) {
    PetscCall(GetContext(blocks[b], &of_block[b]));
    if (!of_block[b]->coo.map) PetscCall(TakeKeptMap(blocks[b], &of_block[b]->coo.map));
    PetscCheck(of_block[b]->coo.map, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "The pattern is not that of MatSetPreallocationCOO() any more: call that again");
  }
  PetscCall(Exchange(coo.get(), v, of_block[0]->coo.map->space, &room, &v));
  BlocksMayLeave scope;
  PetscCall(scope.Begin(A));
  for (int b = 0; b < 2; b++) PetscCall(SetValuesByMap(blocks[b], of_block[b], v, mode));
  PetscCall(scope.End());
  context->coo_set = true; // the assembly in MatSetValuesCOO() has nothing to put in
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
using Kept = std::shared_ptr<ParallelCoordinates>;

/// Null where A has kept none.
PetscErrorCode FindKept(Mat A, Kept **kept)
{
  PetscObject container;
  void       *pointer = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, KEPT, &container));
  if (container) PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &pointer));
  *kept = static_cast<Kept *>(pointer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_KeptParallel(Mat A, PetscCount n, PetscInt coo_i[], PetscInt coo_j[])
{
  AnyFunction parent;

  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)A, KEPT, nullptr));
  PetscCall(GetParentFunction(true, "MatSetValuesCOO_C", &parent));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", parent));
  PetscCall(GetParentFunction(true, "MatSetPreallocationCOO_C", &parent));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", parent));
  PetscCall((*reinterpret_cast<PreallocateCoo>(parent))(A, n, coo_i, coo_j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesCOO_KeptParallel(Mat A, const PetscScalar v[], InsertMode mode)
{
  Kept         *kept = nullptr;
  Array<Scalar> room;
  Scalar       *all;
  Mat           blocks[2];

  PetscFunctionBegin;
  PetscCall(FindKept(A, &kept));
  PetscCheck(kept, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Call MatSetPreallocationCOO() first");
  PetscCall(Exchange(kept->get(), reinterpret_cast<Scalar *>(const_cast<PetscScalar *>(v)), Space::Host, &room, &all));
  PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) PetscCall(SetValuesKept(block, reinterpret_cast<const PetscScalar *>(all), mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KeepParallelCoordinates(Mat A)
{
  const Context *context = static_cast<Context *>(A->spptr);
  Kept          *kept;

  PetscFunctionBegin;
  if (!context || !context->parallel_coo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(kept = new Kept(context->parallel_coo));
  PetscCall(ComposeOwned((PetscObject)A, KEPT, kept));
  PetscCall(
      PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", MatSetPreallocationCOO_KeptParallel));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", MatSetValuesCOO_KeptParallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeParallelCoordinates(Mat A, std::shared_ptr<ParallelCoordinates> *coo)
{
  Kept *kept = nullptr;

  PetscFunctionBegin;
  coo->reset();
  PetscCall(FindKept(A, &kept));
  if (!kept) PetscFunctionReturn(PETSC_SUCCESS);
  *coo = *kept;
  PetscCall(PetscObjectCompose((PetscObject)A, KEPT, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForgetParallelCoordinates(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)A, KEPT, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
