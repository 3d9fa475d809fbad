/// MatCreateGraph(), which multigrid coarsens: on the device, step by step as MatCreateGraph_Simple_AIJ() of PETSc 3.24
/// does it on the host, and to the same result. The pattern of the graph stays there for products with it. Its values
/// come home at the end: PETSc's coarsening by heavy edges reads the array without asking.
#include "mat/face/graph.hpp"
#include "mat/face/pattern.hpp"
#include "mat/face/value_place.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/sort_coordinates.hpp"

namespace sparsegpu::face
{
#if PETSC_VERSION_GE(3, 24, 0)
using namespace there;
namespace
{
/// What MatCreateGraph() is asked for.
struct Wanted {
  PetscBool symmetrize, scale;
  PetscReal filter; ///< below 0: none
  PetscInt  indices;
  bool      Plain() const { return filter < 0 && !scale; } ///< values as they are, but of blocks
};

/// Where the graph of A is to be made, and A's rows there; a->is is false where PETSc makes it.
PetscErrorCode FindRows(Mat A, There *a)
{
  PetscBool found = PETSC_TRUE;
  bool      lives = false;
  Space     space = Space::Host;
  Context  *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(LivesThere(context, &lives));
  PetscCall(PlannedSpace(context, &space));
  if (space == Space::Device) PetscCall(DeviceFound(&found)); // a backend may have been asked for in vain
  if (!lives || !found || AtHomeScope::Any() || context->settings.release_csr || !A->assembled ||
      A->rmap->n != A->cmap->n || A->rmap->bs != A->cmap->bs)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetHostPattern(A, &a->pattern));
  if (a->pattern.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  context->read_here = true;
  PetscCall(Bring(A, space, true, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *G, of A's type and settings, has the pattern i, j in `space` and the values that operation(their array) writes
/// there for each of them.
template <class Operation> PetscErrorCode Create(Mat A, PetscInt rows, Array<PetscInt> &&i, Array<PetscInt> &&j,
                                                 Space space, const Operation &operation, Mat *G)
{
  const PetscCount nonzeros = static_cast<PetscCount>(j.size());
  Context         *context;
  Scalar          *a;
  Space            where = Space::Host;
  bool             lazy  = false;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), G));
  PetscCall(MatSetSizes(*G, rows, rows, rows, rows));
  PetscCall(MatSetType(*G, ((PetscObject)A)->type_name));
  PetscCall(InheritSettings(A, *G));
  PetscCall(GetContext(*G, &context));
  context->read_here = true;
  PetscCall(TakePattern(*G, std::move(i), std::move(j), space));
  PetscCall(GetContext(*G, &context));
  PetscCall(MayGoAway(*G, context, &lazy, &where));
  lazy = lazy && where == space && nonzeros;
  if (!lazy) PetscCall(ComeHome(*G, context));
  PetscCall(context->rows.RoomForValues(*G, space, &a));
  if (space == Space::Device) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(values::ForEach(space, nonzeros, operation(a)));
  if (space == Space::Device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(lazy ? ValuesWrittenThere(*G, context, false) : ValuesWrittenInBoth(*G, context, a, space));
  if (!lazy) PetscCall(PetscObjectStateIncrease((PetscObject)*G)); // which the former expects of an operation's end
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A copy of entries that lie in `space`.
template <class T> PetscErrorCode CopyIn(Space space, const T *entries, size_t size, Array<T> *copy)
{
  PetscFunctionBegin;
  if (space == Space::Device)
    PetscCall(copy->CopyFrom(entries, nullptr, size));
  else
    PetscCall(copy->Copy(entries, size, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A's own rows, with the magnitudes of its values if these are to be compared. What MatDuplicate() hands on goes
/// along.
PetscErrorCode CreateOfEntries(Mat A, const There &a, const Wanted &wanted, Mat *G)
{
  const CsrView  &rows = a.pattern;
  Array<PetscInt> i, j;
  PetscObject     dm;

  PetscFunctionBegin;
  PetscCall(CopyIn(a.space, rows.device.i, static_cast<size_t>(rows.rows) + 1, &i));
  PetscCall(CopyIn(a.space, rows.device.j, static_cast<size_t>(rows.nonzeros), &j));
  if (wanted.Plain())
    PetscCall(Create(
        A, rows.rows, std::move(i), std::move(j), a.space,
        [&](Scalar *to) {
          return values::Copy{a.a, to};
        },
        G));
  else
    PetscCall(Create(
        A, rows.rows, std::move(i), std::move(j), a.space,
        [&](Scalar *to) {
          return values::Magnitudes{a.a, to};
        },
        G));
  (*G)->nooffproczerorows = A->nooffproczerorows;
  (*G)->nooffprocentries  = A->nooffprocentries;
  PetscCall(PetscObjectQuery((PetscObject)A, "__PETSc_dm", &dm));
  if (dm) PetscCall(PetscObjectCompose((PetscObject)*G, "__PETSc_dm", dm));
  PetscCall(MatPropagateSymmetryOptions(A, *G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does PETSc take sums of blocks as they lie (`even`), and are these the sums of the blocks of the entries (`plain`)?
PetscErrorCode LookAtBlocks(const There &a, PetscInt size, bool *even, bool *plain)
{
  Array<int> flags;
  int        found[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(flags.Copy(found, 2, a.space));
  PetscCall(values::ForEach(
      a.space, a.pattern.rows / size,
      values::CheckBlocks{size, a.pattern.device.i, a.pattern.device.j, flags.data(), flags.data() + 1}));
  if (a.space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(found, flags.data(), sizeof(found), stream));
  } else {
    std::copy(flags.data(), flags.data() + 2, found);
  }
  *even  = !found[0];
  *plain = !found[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row for each `size` of A's; the magnitudes of the real parts of a block are summed in the order of the rows, as
/// PETSc's MatSetValues() sums them. *G is null where PETSc's graph is another one.
PetscErrorCode CreateOfBlocks(Mat A, const There &a, PetscInt size, const Wanted &wanted, Mat *G)
{
  const CsrView    &rows   = a.pattern;
  const PetscInt    blocks = rows.rows / size;
  bool              even = false, plain = false;
  Array<PetscInt>   i, j;
  SortedCoordinates sorted;

  PetscFunctionBegin;
  if (rows.rows % size || !CanSortCoordinates(blocks, blocks, rows.nonzeros)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LookAtBlocks(a, size, &even, &plain));
  if (even && (!plain || wanted.indices)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(i.Allocate(static_cast<size_t>(rows.nonzeros), a.space));
  PetscCall(j.Allocate(static_cast<size_t>(rows.nonzeros), a.space));
  PetscCall(values::ForEach(a.space, rows.rows,
                            values::BlocksOfEntries{size, rows.device.i, rows.device.j, i.data(), j.data()}));
  PetscCall(SortCoordinates(blocks, blocks, rows.nonzeros, i.data(), j.data(), a.space, &sorted));
  for (Array<PetscInt> *done : {&i, &j}) *done = Array<PetscInt>();
  const PetscInt *const jmap = sorted.jmap.data_or_null(), *const perm = sorted.perm.data();
  const auto sum = [&](Scalar *to) { return values::SumMagnitudes{jmap, perm, a.a, to}; };
  PetscCall(Create(A, blocks, std::move(sorted.i), std::move(sorted.j), a.space, sum, G));
  (*G)->num_ass = 1; // of PETSc's MatSetValues()
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *F = G without its small entries: MatFilter() with what is dropped compressed and the diagonal kept.
PetscErrorCode CreateFiltered(Mat G, const There &g, PetscReal limit, Mat *F)
{
  const CsrView       &rows = g.pattern;
  const values::Filter filter{limit, true, rows.device.i, rows.device.j, g.a};
  Array<PetscInt>      i, j;
  Array<Scalar>        a;
  PetscInt             total = 0;

  PetscFunctionBegin;
  PetscCall(i.Allocate(static_cast<size_t>(rows.rows) + 1, g.space));
  PetscCall(values::ForEach(g.space, rows.rows, values::CountFiltered{filter, i.data()}));
  PetscCall(RunningSumIn(g.space, rows.rows, &i, &total));
  PetscCall(j.Allocate(static_cast<size_t>(total), g.space));
  PetscCall(a.Allocate(static_cast<size_t>(total), g.space));
  PetscCall(values::ForEach(g.space, rows.rows, values::TakeFiltered{filter, i.data(), j.data(), a.data()}));
  PetscCall(
      PetscInfo(G, "Filtering left %" PetscInt_FMT " of %" PetscInt_FMT " entries in graph\n", total, rows.nonzeros));
  PetscCall(Create(
      G, rows.rows, std::move(i), std::move(j), g.space,
      [&](Scalar *to) {
        return values::Copy{a.data(), to};
      },
      F));
  PetscCall(MatPropagateSymmetryOptions(G, *F));
  (*F)->num_ass = 1; // PETSc's has been assembled before, so that it forgets symmetry and the like now
  PetscCall(MatAssemblyBegin(*F, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*F, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the values of *G lie there still, it is replaced; else PETSc filters it.
PetscErrorCode FilterGraph(Mat *G, PetscReal limit)
{
  Mat       F = nullptr;
  There     g;
  PetscBool seq, mpi;
  bool      lacks = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(*G, &seq, &mpi));
  if (seq) PetscCall(Find(*G, Need::Read, &g));
  if (g.is) PetscCall(Bring(*G, g.space, true, &g));
  if (g.is) PetscCall(MayLackMemory([&] { return CreateFiltered(*G, g, limit, &F); }, &lacks));
  if (lacks) PetscCall(MatDestroy(&F));
  if (!F) {
    PetscCall(MatFilter(*G, limit, PETSC_TRUE, PETSC_TRUE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDestroy(G));
  *G = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc does to the first graph G of A.
PetscErrorCode Finish(Mat A, const Wanted &wanted, Mat *G)
{
  PetscBool known, symmetric;
  Mat       transposed;
  Vec       diagonal;

  PetscFunctionBegin;
  if (wanted.symmetrize) {
    PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
    if (!known || !symmetric) {
      PetscCall(MatTranspose(*G, MAT_INITIAL_MATRIX, &transposed));
      PetscCall(
          MatAXPY(*G, 1.0, transposed,
                  (*G)->structurally_symmetric == PETSC_BOOL3_TRUE ? SAME_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
      PetscCall(MatDestroy(&transposed));
    }
    PetscCall(MatSetOption(*G, MAT_SYMMETRIC, PETSC_TRUE));
  } else {
    PetscCall(MatPropagateSymmetryOptions(A, *G));
  }
  if (wanted.scale) {
    PetscCall(MatCreateVecs(*G, &diagonal, nullptr));
    PetscCall(MatGetDiagonal(*G, diagonal));
    PetscCall(VecReciprocal(diagonal));
    PetscCall(VecSqrtAbs(diagonal));
    PetscCall(MatDiagonalScale(*G, diagonal, diagonal));
    PetscCall(VecDestroy(&diagonal));
  }
  PetscCall(MatViewFromOptions(*G, nullptr, "-mat_graph_view"));
  if (wanted.filter >= 0) {
    PetscCall(FilterGraph(G, wanted.filter));
    PetscCall(MatViewFromOptions(*G, nullptr, "-mat_filter_graph_view"));
  }
  PetscCall(BringHome(*G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateGraph(Mat A, PetscBool symmetrize, PetscBool scale, PetscReal filter, PetscInt indices,
                           PetscInt index[], Mat *G)
{
  const Wanted wanted{symmetrize, scale, filter, indices};
  PetscInt     size;
  There        a;
  bool         lacks = false;

  PetscFunctionBegin;
  *G = nullptr;
  PetscCall(MatGetBlockSize(A, &size));
  // without any of these it is A itself
  if (size > 1 || symmetrize || !wanted.Plain()) PetscCall(FindRows(A, &a));
  if (a.is)
    PetscCall(MayLackMemory(
        [&] { return size > 1 ? CreateOfBlocks(A, a, size, wanted, G) : CreateOfEntries(A, a, wanted, G); }, &lacks));
  if (lacks) PetscCall(MatDestroy(G));
  if (*G)
    PetscCall(Finish(A, wanted, G));
  else
    PetscCall(OnHost(&_MatOps::creategraph, A, symmetrize, scale, filter, indices, index, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

void SetCreateGraph(struct _MatOps *operations, const struct _MatOps &parent, bool on)
{
  if (operations->creategraph == (on ? parent.creategraph : CreateGraph))
    operations->creategraph = on ? CreateGraph : parent.creategraph;
}
#else
void SetCreateGraph(struct _MatOps *, const struct _MatOps &, bool) {}
#endif

} // namespace sparsegpu::face
