/// MatSetPreallocationCOO(): of a sequential matrix that is to live on the device the coordinates are sorted there,
/// which gives the pattern and a map that MatSetValuesCOO() sums through; of others by PETSc, which keeps them, too.
#include "mat/face/coo.hpp"
#include "mat/face/parallel_coo.hpp"
#include "mat/face/pattern.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/rows/sort_coordinates.hpp"

namespace sparsegpu::face
{

namespace
{
constexpr char KEPT[] = "__sparsegpu_coordinates"; ///< a plain AIJ matrix's

/// Are the coordinates of A to be sorted in *space? That is the host in tests alone.
PetscErrorCode SortsThere(Mat A, Context *context, PetscCount n, bool *sorts, Space *space)
{
  PetscBool seq, mpi, found = PETSC_TRUE, hypre;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(PetscStrcmp("_internal_COO_mat_for_hypre", ((PetscObject)A)->name, &hypre)); // its diagonal comes first
  *sorts = seq && !hypre && CanSortCoordinates(A->rmap->n, A->cmap->n, n);
  if (!*sorts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LivesThere(context, sorts));
  PetscCall(PlannedSpace(context, space));
  if (*space == Space::Device) PetscCall(DeviceFound(&found)); // the backend asked for may lack a device
  *sorts = *sorts && found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sorts coordinates that lie anywhere, in `space`. Errors: those of SortCoordinates().
PetscErrorCode Sort(Mat A, PetscCount n, PetscInt *i, PetscInt *j, Space space, SortedCoordinates *sorted, CooMap *map)
{
  Array<PetscInt> room_i, room_j;
  CsrView         csr = {};

  PetscFunctionBegin;
  PetscCall(InSpace(space, i, n, &room_i, &i));
  PetscCall(InSpace(space, j, n, &room_j, &j));
  PetscCall(SortCoordinates(A->rmap->n, A->cmap->n, n, i, j, space, sorted));
  csr.rows     = A->rmap->n;
  csr.cols     = A->cmap->n;
  csr.nonzeros = static_cast<PetscInt>(sorted->j.size());
  if (space == Space::Device)
    csr.device = CsrArrays{sorted->i.data(), sorted->j.data(), nullptr};
  else
    csr.i = sorted->i.data(), csr.j = sorted->j.data();
  PetscCall(PatternFingerprint(csr, &map->fingerprint));
  map->nonzeros = csr.nonzeros;
  map->jmap     = std::move(sorted->jmap);
  map->perm     = std::move(sorted->perm);
  map->space    = space;
  map->entries  = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// No coordinates of before are left in A.
PetscErrorCode ForgetCoordinates(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)A, KEPT, nullptr));
  PetscCall(ForgetParallelCoordinates(A));
  PetscCall(PetscObjectCompose((PetscObject)A, "__PETSc_MatCOOStruct_Host", nullptr)); // PETSc's, from 3.20 on
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The preallocation where A is to live; `done` is false where that is not to be, or memory lacks.
PetscErrorCode PreallocateThere(Mat A, PetscCount n, PetscInt *i, PetscInt *j, bool *done)
{
  Context                *context;
  const struct _MatOps   *parent;
  std::shared_ptr<CooMap> map;
  SortedCoordinates       sorted;
  Space                   space = Space::Host;
  CsrView                 csr;
  bool                    lacks = false;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(SortsThere(A, context, n, done, &space));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(map = std::make_shared<CooMap>());
  PetscCall(MayLackMemory([&] { return Sort(A, n, i, j, space, &sorted, map.get()); }, &lacks));
  *done = !lacks;
  if (lacks) PetscFunctionReturn(PETSC_SUCCESS);
  context->read_here = true; // who sorts there wants its values there, the zeros of now among them
  PetscCall(TakePattern(A, std::move(sorted.i), std::move(sorted.j), space));
  PetscCall(GetParentOps(false, &parent));
  PetscCall((*parent->setoption)(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); // as PETSc's leaves it
  PetscCall(ForgetCoordinates(A));
  PetscCall(GetContext(A, &context));
  context->coo.map     = map;
  context->coo.entries = n;
  context->coo.fresh   = true;
  PetscCall(context->rows.GetPattern(A, &csr, &context->coo.pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_SparseGPU(Mat A, PetscCount n, PetscInt coo_i[], PetscInt coo_j[])
{
  AnyFunction     parent;
  PetscBool       seq, mpi;
  Context        *context;
  Array<PetscInt> room_i, room_j;
  bool            done = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  if (mpi) {
    PetscCall(BringHome(A));
    PetscCall(PreallocateParallel(A, n, coo_i, coo_j, &done));
    if (done) PetscCall(ForgetCoordinates(A));
    if (!done) PetscCall(PetscInfo(A, "Coordinates are PETSc's: its way is taken to preallocate and to set values\n"));
  } else {
    PetscCall(PreallocateThere(A, n, coo_i, coo_j, &done));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InSpace(Space::Host, coo_i, n, &room_i, &coo_i));
  PetscCall(InSpace(Space::Host, coo_j, n, &room_j, &coo_j));
  PetscCall(BringHome(A));
  PetscCall(ForgetCoordinates(A));
  PetscCall(GetParentFunction(mpi, "MatSetPreallocationCOO_C", &parent));
  const AtHomeScope scope;
  PetscCall((*reinterpret_cast<PreallocateCoo>(parent))(A, n, coo_i, coo_j));
  PetscCall(ComposeCoo(A, mpi, true));
  PetscCall(GetContext(A, &context)); // maybe another one than before
  context->rows.PatternWritten();     // the new rows may lie where the old ones did, in the old nonzero state
  context->coo.map.reset();
  context->parallel_coo.reset();
  context->coo.entries = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A matrix that has become plain AIJ.

using Kept = std::shared_ptr<CooMap>;

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

PetscErrorCode ComposeParents(Mat A)
{
  PetscFunctionBegin;
  for (const char *name : {"MatSetPreallocationCOO_C", "MatSetValuesCOO_C"}) {
    AnyFunction f;
    PetscCall(GetParentFunction(false, name, &f));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_Kept(Mat A, PetscCount n, PetscInt coo_i[], PetscInt coo_j[])
{
  AnyFunction parent;

  PetscFunctionBegin;
  PetscCall(ForgetCoordinates(A));
  PetscCall(ComposeParents(A));
  PetscCall(GetParentFunction(false, "MatSetPreallocationCOO_C", &parent));
  PetscCall((*reinterpret_cast<PreallocateCoo>(parent))(A, n, coo_i, coo_j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SetValuesKept(Mat A, const PetscScalar v[], InsertMode mode)
{
  Kept *kept = nullptr;

  PetscFunctionBegin;
  PetscCall(FindKept(A, &kept));
  PetscCheck(kept, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Call MatSetPreallocationCOO() first");
  PetscCall(SetValuesOnHost(A, kept, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeKeptMap(Mat A, std::shared_ptr<CooMap> *map)
{
  Kept *kept = nullptr;

  PetscFunctionBegin;
  map->reset();
  PetscCall(FindKept(A, &kept));
  if (!kept) PetscFunctionReturn(PETSC_SUCCESS);
  *map = *kept;
  PetscCall(PetscObjectCompose((PetscObject)A, KEPT, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepCoordinates(Mat A)
{
  const Context *context = static_cast<Context *>(A->spptr);
  Kept          *kept;

  PetscFunctionBegin;
  if (!context || !context->coo.map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(kept = new Kept(context->coo.map));
  PetscCall(ComposeOwned((PetscObject)A, KEPT, kept));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", MatSetPreallocationCOO_Kept));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", SetValuesKept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InheritCoo(Mat A, Mat B)
{
  PetscBool seq, mpi;
  Context  *from, *to;
  CsrView   csr;
  bool      fits = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(B, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &from));
  PetscCall(GetContext(B, &to));
  to->coo.entries  = from->coo.entries;
  to->coo.map      = from->coo.map;
  to->parallel_coo = from->parallel_coo;
  if (seq && A->assembled) PetscCall(MapFits(A, from, &csr, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  to->coo.fresh = true;
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

} // namespace sparsegpu::face
