/// MatSetValuesCOO(): through the map of a matrix that was preallocated where it lives, else by PETSc. The sums are
/// made in the array of Rows, where the converted copies take them from; the values may come from the host, too.
#include "device/scatter.hpp"
#include "mat/face/coo.hpp"
#include "mat/face/parallel_coo.hpp"
#include "mat/rows/fingerprint.hpp"

namespace sparsegpu::face
{

PetscErrorCode MapFits(Mat A, Context *context, CsrView *csr, bool *fits)
{
  Coordinates  *coo = &context->coo;
  PatternKey    key;
  std::uint64_t fingerprint;

  PetscFunctionBegin;
  *fits = false;
  if (!coo->map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context->rows.GetPattern(A, csr, &key));
  if (coo->fresh) { // MatSetPreallocationCOO() has moved the nonzero state when we had returned
    PatternKey expected = coo->pattern;
    expected.nonzero    = key.nonzero;
    if (expected == key) coo->pattern = key;
    coo->fresh = false;
  }
  *fits = key == coo->pattern;
  if (*fits || csr->nonzeros != coo->map->nonzeros) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PatternFingerprint(*csr, &fingerprint)); // the key may have moved for nothing
  *fits = fingerprint == coo->map->fingerprint;
  if (*fits) coo->pattern = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// SumCoordinates_CUDA() on the host.
void SumCoordinates_Host(PetscInt count, const PetscInt *jmap, const PetscInt *perm, const Scalar *v, bool add,
                         Scalar *a)
{
  for (PetscInt e = 0; e < count; e++) {
    Scalar sum(0);
    for (PetscInt k = jmap ? jmap[e] : e, end = jmap ? jmap[e + 1] : e + 1; k < end; k++) sum += v[perm[k]];
    a[e] = add ? a[e] + sum : sum;
  }
}

PetscErrorCode CheckFits(const CsrView &csr, bool fits)
{
  PetscFunctionBegin;
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The pattern, of %" PetscInt_FMT
             " nonzeros now, is not that of MatSetPreallocationCOO() any more: call that again",
             csr.nonzeros);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MapOnHost(std::shared_ptr<CooMap> *map)
{
  std::shared_ptr<CooMap> host;
  Stream                  stream;

  PetscFunctionBegin;
  if ((*map)->space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(host = std::make_shared<CooMap>());
  host->space       = Space::Host;
  host->nonzeros    = (*map)->nonzeros;
  host->entries     = (*map)->entries;
  host->fingerprint = (*map)->fingerprint;
  PetscCall(DeviceStream(&stream));
  for (auto part : {&CooMap::jmap, &CooMap::perm}) {
    const Array<PetscInt> &from = (*map).get()->*part;
    Array<PetscInt>       *to   = &(host.get()->*part);
    if (from.size() == 0) continue;
    PetscCall(to->Allocate(from.size(), Space::Host));
    PetscCall(DeviceCopyOut(to->data(), from.data(), from.bytes(), stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(from.bytes())));
  }
  *map = host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In the array on the host.
PetscErrorCode SumOnHost(Mat A, PetscInt nonzeros, const CooMap &map, Scalar *v, InsertMode mode)
{
  Array<Scalar> room;
  PetscScalar  *a;

  PetscFunctionBegin;
  PetscCall(InSpace(Space::Host, v, map.entries, &room, &v));
  PetscCall(MatSeqAIJGetArray(A, &a));
  SumCoordinates_Host(nonzeros, map.jmap.data_or_null(), map.perm.data(), v, mode == ADD_VALUES,
                      reinterpret_cast<Scalar *>(a));
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In the array of Rows where the map lies. `done` is false where the values of A may not be newest there, which in
/// tests is the host: the sums are to be made in PETSc's array. Errors: PETSC_ERR_MEM; nothing has been done then.
PetscErrorCode SumThere(Mat A, Context *context, PetscInt nonzeros, Scalar *v, InsertMode mode, bool *done)
{
  const CooMap &map = *context->coo.map;
  Array<Scalar> room;
  Stream        stream;
  Space         space = Space::Host;
  bool          may   = false;
  Scalar       *a;

  PetscFunctionBegin;
  *done = false;
  PetscCall(MayGoAway(A, context, &may, &space));
  const bool lazy = may && space == map.space, device = map.space == Space::Device;
  if (!lazy && !device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InSpace(map.space, v, map.entries, &room, &v));
  if (!lazy || context->rows.values_space() != map.space) PetscCall(ComeHome(A, context));
  if (mode == ADD_VALUES)
    PetscCall(context->rows.BringValues(A, map.space, &a));
  else
    PetscCall(context->rows.RoomForValues(A, map.space, &a));
  if (device) {
    PetscCall(DeviceStream(&stream));
    PetscCall(
        SumCoordinates_CUDA(nonzeros, map.jmap.data_or_null(), map.perm.data(), v, mode == ADD_VALUES, a, stream));
    PetscCall(DeviceBeforeVectors()); // v may be a vector's, and be filled again
  } else {
    SumCoordinates_Host(nonzeros, map.jmap.data_or_null(), map.perm.data(), v, mode == ADD_VALUES, a);
  }
  PetscCall(lazy ? ValuesWrittenThere(A, context) : ValuesWrittenInBoth(A, context, a, Space::Device));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SetValuesByMap(Mat A, Context *context, Scalar *v, InsertMode mode)
{
  CsrView       csr = {};
  Array<Scalar> zeros;
  bool          fits = false, done = false, lacks = false;

  PetscFunctionBegin;
  PetscCall(MapFits(A, context, &csr, &fits));
  PetscCall(CheckFits(csr, fits));
  if (csr.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!v) { // MatSetValuesCOO() allows that
    PetscCall(zeros.Allocate(static_cast<size_t>(context->coo.map->entries), Space::Host));
    v = zeros.data();
  }
  PetscCall(MayLackMemory([&] { return SumThere(A, context, csr.nonzeros, v, mode, &done); }, &lacks));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  std::shared_ptr<CooMap> map = context->coo.map; // its own stays where A lives
  PetscCall(MapOnHost(&map));
  PetscCall(SumOnHost(A, csr.nonzeros, *map, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// PETSc's function of A's kind, of values that may lie on the device.
PetscErrorCode SetValuesOfParent(Mat A, bool parallel, Context *context, Scalar *v, InsertMode mode)
{
  AnyFunction   parent;
  Array<Scalar> room, zeros;
  PetscBool     device;

  PetscFunctionBegin;
  PetscCall(DevicePointer(v, &device));
  PetscCheck(!device || context->coo.entries >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "Call MatSetPreallocationCOO() first");
  if (!v && parallel && context->coo.entries > 0) { // MatSetValuesCOO() allows that, PETSc's parallel one does not
    PetscCall(zeros.Allocate(static_cast<size_t>(context->coo.entries), Space::Host));
    v = zeros.data();
  }
  PetscCall(InSpace(Space::Host, v, context->coo.entries, &room, &v)); // in parallel PETSc sends them from there
  PetscCall(BringHome(A));
  PetscCall(GetParentFunction(parallel, "MatSetValuesCOO_C", &parent));
  const AtHomeScope scope;
  PetscCall((*reinterpret_cast<SetValuesCoo>(parent))(A, reinterpret_cast<const PetscScalar *>(v), mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SetValuesOnHost(Mat A, std::shared_ptr<CooMap> *map, const PetscScalar v[], InsertMode mode)
{
  CsrView       csr;
  std::uint64_t fingerprint;

  PetscFunctionBegin;
  PetscCall(GetHostRows(A, &csr));
  PetscCall(PatternFingerprint(csr, &fingerprint));
  PetscCall(CheckFits(csr, fingerprint == (*map)->fingerprint));
  PetscCall(MapOnHost(map));
  PetscCall(SumOnHost(A, csr.nonzeros, **map, reinterpret_cast<Scalar *>(const_cast<PetscScalar *>(v)), mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesCOO_SparseGPU(Mat A, const PetscScalar v[], InsertMode mode)
{
  PetscBool     seq, mpi;
  Context      *context;
  Scalar *const values = reinterpret_cast<Scalar *>(const_cast<PetscScalar *>(v)); // only read

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  if (seq && !context->coo.map) {
    PetscCall(TakeKeptMap(A, &context->coo.map));
    if (context->coo.map) context->coo.entries = context->coo.map->entries;
  }
  if (mpi && !context->parallel_coo) PetscCall(TakeParallelCoordinates(A, &context->parallel_coo));
  if (seq && context->coo.map)
    PetscCall(SetValuesByMap(A, context, values, mode));
  else if (mpi && context->parallel_coo)
    PetscCall(SetValuesParallel(A, context, values, mode));
  else
    PetscCall(SetValuesOfParent(A, mpi, context, values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
