/// MatSetPreallocationCOO() and MatSetValuesCOO(): PETSc's own for host arrays; for device arrays the sums are made on
/// the device, in the array of Rows, where the converted copies take them from.
#include <algorithm>
#include "device/scatter.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu
{

namespace
{
using Preallocate = PetscErrorCode (*)(Mat, PetscCount, PetscInt[], PetscInt[]);
using SetValues   = PetscErrorCode (*)(Mat, const PetscScalar[], InsertMode);

/// Which given entries make up each nonzero: [nonzeros + 1] and [entries kept]. Negative indices are ignored, as PETSc
/// does.
PetscErrorCode MapCoordinates(Mat A, Context *context, const std::vector<PetscInt> &i, const std::vector<PetscInt> &j)
{
  std::shared_ptr<CooMap> map;
  CsrView                 csr;
  std::vector<PetscInt>   entry;
  std::vector<PetscCount> jmap, perm, next;

  PetscFunctionBegin;
  PetscCallCXX(map = std::make_shared<CooMap>());
  PetscCall(GetCsr(A, &csr, &context->coo.pattern));
  PetscCallCXX(entry.assign(i.size(), -1));
  PetscCallCXX(jmap.assign(static_cast<size_t>(csr.nonzeros) + 1, 0));
  for (size_t k = 0; k < i.size(); k++) {
    if (i[k] < 0 || j[k] < 0) continue;
    const PetscInt *begin = csr.j + csr.i[i[k]], *end = csr.j + csr.i[i[k] + 1],
                   *at = std::lower_bound(begin, end, j[k]);
    PetscCheck(at != end && *at == j[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Coordinate (%" PetscInt_FMT ", %" PetscInt_FMT ") is not in the matrix", i[k], j[k]);
    entry[k] = static_cast<PetscInt>(at - csr.j);
    jmap[entry[k] + 1]++;
  }
  for (PetscInt e = 0; e < csr.nonzeros; e++) jmap[e + 1] += jmap[e];
  PetscCallCXX(next = jmap);
  PetscCallCXX(perm.resize(jmap.back()));
  for (size_t k = 0; k < i.size(); k++)
    if (entry[k] >= 0) perm[next[entry[k]]++] = static_cast<PetscCount>(k);
  PetscCall(map->jmap.Take(std::move(jmap), Space::Device));
  PetscCall(map->perm.Take(std::move(perm), Space::Device));
  context->coo.map   = map;
  context->coo.fresh = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc reads indices on the host: *indices [n] is there afterwards, in `room` where it was not.
PetscErrorCode OnHost(PetscCount n, std::vector<PetscInt> *room, PetscInt **indices)
{
  PetscBool device;
  Stream    stream;

  PetscFunctionBegin;
  PetscCall(DevicePointer(*indices, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(room->resize(n));
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(room->data(), *indices, room->size() * sizeof(PetscInt), stream));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(room->size() * sizeof(PetscInt))));
  *indices = room->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_SparseGPU(Mat A, PetscCount n, PetscInt coo_i[], PetscInt coo_j[])
{
  AnyFunction           parent;
  PetscBool             seq, mpi;
  Context              *context;
  Space                 space;
  std::vector<PetscInt> i, j, host_i, host_j;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(PlannedSpace(context, &space));
  const bool map = seq && space == Space::Device;
  PetscCall(OnHost(n, &host_i, &coo_i));
  PetscCall(OnHost(n, &host_j, &coo_j));
  if (map) { // PETSc may reorder the arrays
    PetscCallCXX(i.assign(coo_i, coo_i + n));
    PetscCallCXX(j.assign(coo_j, coo_j + n));
  }
  PetscCall(BringHome(A));
  PetscCall(GetParentFunction(mpi, "MatSetPreallocationCOO_C", &parent));
  const AtHomeScope scope;
  PetscCall((*reinterpret_cast<Preallocate>(parent))(A, n, coo_i, coo_j));
  PetscCall(ComposeCoo(A, mpi, true));
  PetscCall(GetContext(A, &context)); // maybe another one than before
  context->rows.PatternWritten();     // the new rows may lie where the old ones did, in the old nonzero state
  context->coo.map.reset();
  context->coo.entries = n;
  if (map) {
    PetscBool found;
    PetscCall(DeviceFound(&found));
    if (found) PetscCall(MapCoordinates(A, context, i, j));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is there a map for the pattern that A has now?
PetscErrorCode HasMap(Mat A, Context *context, CsrView *csr, bool *has)
{
  PatternKey key;

  PetscFunctionBegin;
  *has = false;
  if (!context->coo.map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->rows.GetPattern(A, csr, &key));
  if (context->coo.fresh) { // MatSetPreallocationCOO() has moved the nonzero state when we had returned
    PatternKey expected = context->coo.pattern;
    expected.nonzero    = key.nonzero;
    if (expected == key) context->coo.pattern = key;
    context->coo.fresh = false;
  }
  *has = key == context->coo.pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Device values through the map; `mapped` is false if there is none for this pattern.
PetscErrorCode SetValuesOnDevice(Mat A, Context *context, const Scalar *v, InsertMode mode, bool *mapped)
{
  CsrView csr;
  Stream  stream;
  Space   space = Space::Host;
  bool    may   = false;
  Scalar *a;

  PetscFunctionBegin;
  PetscCall(HasMap(A, context, &csr, mapped));
  if (!*mapped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayGoAway(A, context, &may, &space));
  const bool lazy = may && space == Space::Device;
  if (!lazy) PetscCall(ComeHome(A, context));
  if (mode == ADD_VALUES)
    PetscCall(context->rows.BringValues(A, Space::Device, &a));
  else
    PetscCall(context->rows.RoomForValues(A, Space::Device, &a));
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceAfterVectors()); // v may be a vector's, and be filled again
  PetscCall(SumCoordinates_CUDA(csr.nonzeros, context->coo.map->jmap.data(), context->coo.map->perm.data(), v,
                                mode == ADD_VALUES, a, stream));
  PetscCall(DeviceBeforeVectors());
  PetscCall(lazy ? ValuesWrittenThere(A, context) : ValuesWrittenInBoth(A, context, Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesCOO_SparseGPU(Mat A, const PetscScalar v[], InsertMode mode)
{
  AnyFunction parent;
  PetscBool   seq, mpi;
  Context    *context;
  PetscBool   device;
  bool        mapped = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(DevicePointer(v, &device));
  if (device && seq) PetscCall(SetValuesOnDevice(A, context, reinterpret_cast<const Scalar *>(v), mode, &mapped));
  if (!mapped) {
    std::vector<PetscScalar> host;
    const PetscScalar       *values = v;
    if (device) { // in parallel PETSc sends entries to their owners from the host
      Stream stream;
      PetscCheck(context->coo.entries >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
                 "Call MatSetPreallocationCOO() first");
      PetscCallCXX(host.resize(context->coo.entries));
      PetscCall(DeviceStream(&stream));
      PetscCall(DeviceCopyOut(host.data(), v, host.size() * sizeof(PetscScalar), stream));
      PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(host.size() * sizeof(PetscScalar))));
      values = host.data();
    }
    PetscCall(BringHome(A));
    PetscCall(GetParentFunction(mpi, "MatSetValuesCOO_C", &parent));
    const AtHomeScope scope;
    PetscCall((*reinterpret_cast<SetValues>(parent))(A, values, mode));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode InheritCoo(Mat A, Mat B)
{
  PetscBool seq, mpi;
  Context  *from, *to;
  CsrView   csr;
  bool      has = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(B, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &from));
  PetscCall(GetContext(B, &to));
  to->coo.entries = from->coo.entries;
  if (seq && A->assembled) PetscCall(HasMap(A, from, &csr, &has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  to->coo.map = from->coo.map;
  PetscCall(to->rows.GetPattern(B, &csr, &to->coo.pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComposeCoo(Mat A, bool parallel, bool on)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C",
                                       on ? MatSetPreallocationCOO_SparseGPU : nullptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", on ? MatSetValuesCOO_SparseGPU : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
