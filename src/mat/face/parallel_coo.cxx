/// MatSetPreallocationCOO() of a parallel matrix that is to live on the device. The host tells the entries apart: those
/// of each block, and those for other ranks; each block's are sorted where the block is to live.
#include "mat/face/parallel_coo.hpp"
#include <algorithm>
#include <map>
#include "mat/face/coo.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_pattern.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "petsc/option_flags.hpp"

namespace sparsegpu::face
{

namespace
{
/// An error of this rank that all ranks are to return with.
struct Fault {
  int         code = PETSC_SUCCESS;
  std::string text;
};

PetscErrorCode AgreeOnFault(MPI_Comm comm, const Fault &fault)
{
  struct {
    int code, rank;
  } mine, worst;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine.code = fault.code;
  mine.rank = rank;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, comm));
  PetscCheck(!fault.code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(fault.code), "%s", fault.text.c_str());
  PetscCheck(!worst.code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(worst.code),
             "Rank %d refuses its coordinates: see its message", worst.rank);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Are the blocks of A to live in *space, which is the host in tests alone, and can their coordinates be sorted there?
PetscErrorCode SortsThere(Mat A, Context *context, PetscCount n, bool *sorts, Space *space)
{
  PetscBool found = PETSC_TRUE, hypre;
  bool      lives, ignores, known;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp("_internal_COO_mat_for_hypre", ((PetscObject)A)->name, &hypre)); // its diagonal comes first
  PetscCall(LivesThere(context, &lives));
  PetscCall(PlannedSpace(context, space));
  if (*space == Space::Device) PetscCall(DeviceFound(&found)); // a backend may have been asked for in vain
  PetscCall(IgnoresOthersRows(A, &ignores, &known));
  *sorts = lives && found && !hypre && known && !A->product && CanSortCoordinates(A->rmap->n, A->cmap->N, n);
  PetscCall(AllAgree(PetscObjectComm((PetscObject)A), *sorts, sorts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The entries of each other rank.
using ByRank = std::map<PetscMPIInt, std::vector<PetscInt>>;

/// Tells whose the rows are. Errors are PETSc's.
PetscErrorCode FindOthers(Mat A, PetscCount n, const PetscInt *i, const PetscInt *j, ByRank *others, Fault *fault)
{
  const PetscInt *ranges;
  PetscMPIInt     size;
  bool            ignores, known;

  PetscFunctionBegin;
  PetscCall(IgnoresOthersRows(A, &ignores, &known));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PetscLayoutGetRanges(A->rmap, &ranges));
  for (PetscCount k = 0; k < n && !fault->code; k++) {
    if (i[k] < 0 || j[k] < 0) continue;
    const bool mine = i[k] >= A->rmap->rstart && i[k] < A->rmap->rend;
    if (!mine && A->nooffprocentries) {
      fault->code = PETSC_ERR_USER_INPUT;
      PetscCallCXX(fault->text = "MAT_NO_OFF_PROC_ENTRIES is set but insert to remote rows");
    } else if (!mine && ignores) {
      continue;
    } else if (i[k] >= A->rmap->N || j[k] >= A->cmap->N) {
      const bool row = i[k] >= A->rmap->N;
      fault->code    = PETSC_ERR_ARG_OUTOFRANGE;
      PetscCallCXX(fault->text = std::string("COO ") + (row ? "row" : "column") + " index " +
                                 std::to_string(row ? i[k] : j[k]) + " is >= the matrix " + (row ? "row" : "column") +
                                 " size " + std::to_string(row ? A->rmap->N : A->cmap->N));
    } else if (!mine) {
      const auto owner = std::upper_bound(ranges, ranges + size + 1, i[k]) - ranges - 1;
      PetscCallCXX((*others)[static_cast<PetscMPIInt>(owner)].push_back(static_cast<PetscInt>(k)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How the entries of `others` are received, by rank. *fits: see PieceExchange.
PetscErrorCode SendOthers(MPI_Comm comm, PetscOptions options, const ByRank &others, ParallelCoordinates *coo,
                          bool *fits)
{
  std::vector<Piece> pieces;

  PetscFunctionBegin;
  for (const auto &[rank, entries] : others) {
    PetscCallCXX(pieces.push_back(Piece{rank, static_cast<PetscInt>(entries.size())}));
    PetscCallCXX(coo->sent.insert(coo->sent.end(), entries.begin(), entries.end()));
  }
  PetscCall(coo->pieces.SetUp(comm, pieces, &coo->receives, fits));
  PetscCall(coo->pieces.LetPeersServe(options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The numbers that other ranks have for the entries received.
PetscErrorCode Receive(ParallelCoordinates *coo, const PetscInt *given, std::vector<PetscInt> *received)
{
  std::vector<PetscInt> sent;

  PetscFunctionBegin;
  for (PetscInt k : coo->sent) PetscCallCXX(sent.push_back(given[k]));
  PetscCallCXX(received->resize(static_cast<size_t>(coo->receives)));
  PetscCall(coo->pieces.Exchange(sent.data(), received->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Coordinates of one block, of all entries given and received; those of others are -1.
struct BlockCoordinates {
  std::vector<PetscInt> i, j;
};

/// Local rows; local columns of the diagonal block, and global ones of the off-diagonal.
PetscErrorCode TellApart(Mat A, PetscCount n, const PetscInt *i, const PetscInt *j, BlockCoordinates blocks[2])
{
  PetscFunctionBegin;
  for (PetscCount k = 0; k < n; k++) {
    const bool mine     = j[k] >= 0 && i[k] >= A->rmap->rstart && i[k] < A->rmap->rend;
    const bool diagonal = j[k] >= A->cmap->rstart && j[k] < A->cmap->rend;
    for (int b = 0; b < 2; b++) {
      const bool here = mine && diagonal == (b == 0);
      PetscCallCXX(blocks[b].i.push_back(here ? i[k] - A->rmap->rstart : -1));
      PetscCallCXX(blocks[b].j.push_back(here ? j[k] - (b ? 0 : A->cmap->rstart) : -1));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sorts a block's coordinates in `space`; the pattern comes to the host.
PetscErrorCode SortBlock(Mat A, bool diagonal, BlockCoordinates &&given, Space space, HostPattern *pattern, CooMap *map)
{
  const PetscCount  count = static_cast<PetscCount>(given.i.size());
  Array<PetscInt>   i, j;
  SortedCoordinates sorted;

  PetscFunctionBegin;
  PetscCall(i.Take(std::move(given.i), space));
  PetscCall(j.Take(std::move(given.j), space));
  PetscCall(SortCoordinates(A->rmap->n, diagonal ? A->cmap->n : A->cmap->N, count, i.data(), j.data(), space, &sorted));
  PetscCall(CopyToHost(sorted.i, &pattern->i));
  PetscCall(CopyToHost(sorted.j, &pattern->j));
  map->nonzeros = static_cast<PetscInt>(pattern->j.size());
  map->jmap     = std::move(sorted.jmap);
  map->perm     = std::move(sorted.perm);
  map->space    = space;
  map->entries  = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The block, which has the pattern that `map` maps to, takes values through it.
PetscErrorCode Attach(Mat block, const std::shared_ptr<CooMap> &map)
{
  Context *context;
  CsrView  csr;

  PetscFunctionBegin;
  PetscCall(GetContext(block, &context));
  context->read_here   = true; // who sorts there wants its values there
  context->coo.map     = map;
  context->coo.entries = map->entries;
  context->coo.fresh   = false;
  PetscCall(context->rows.GetPattern(block, &csr, &context->coo.pattern));
  PetscCheck(csr.nonzeros == map->nonzeros, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A block of %" PetscInt_FMT " nonzeros for a map to %" PetscInt_FMT, csr.nonzeros, map->nonzeros);
  PetscCall(PatternFingerprint(csr, &map->fingerprint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All but A's own pattern: what each block's is to be and the maps. Errors: PETSC_ERR_MEM, on this rank alone.
PetscErrorCode SortBlocks(Mat A, const ParallelCoordinates &coo, const PetscInt *i, const PetscInt *j,
                          const std::vector<PetscInt> received[2], Space space, HostPattern patterns[2],
                          std::shared_ptr<CooMap> maps[2])
{
  BlockCoordinates blocks[2];

  PetscFunctionBegin;
  PetscCall(TellApart(A, coo.entries, i, j, blocks));
  PetscCall(TellApart(A, coo.receives, received[0].data(), received[1].data(), blocks));
  for (int b = 0; b < 2; b++) {
    PetscCallCXX(maps[b] = std::make_shared<CooMap>());
    PetscCall(SortBlock(A, b == 0, std::move(blocks[b]), space, &patterns[b], maps[b].get()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode PreallocateParallel(Mat A, PetscCount n, PetscInt *i, PetscInt *j, bool *done)
{
  const MPI_Comm                       comm = PetscObjectComm((PetscObject)A);
  Context                             *context;
  Space                                space = Space::Host;
  std::shared_ptr<ParallelCoordinates> coo;
  std::shared_ptr<CooMap>              maps[2];
  HostPattern                          patterns[2];
  Array<PetscInt>                      room[2];
  std::vector<PetscInt>                received[2];
  ByRank                               others;
  Fault                                fault;
  Mat                                  blocks[2];
  bool                                 lacks = false;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(SortsThere(A, context, n, done, &space));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InSpace(Space::Host, i, n, &room[0], &i));
  PetscCall(InSpace(Space::Host, j, n, &room[1], &j));
  PetscCall(FindOthers(A, n, i, j, &others, &fault));
  PetscCall(AgreeOnFault(comm, fault));
  PetscCallCXX(coo = std::make_shared<ParallelCoordinates>());
  coo->entries = n;
  PetscCall(SendOthers(comm, ((PetscObject)A)->options, others, coo.get(), done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AllAgree(comm, coo->sent.empty(), &coo->none));
  PetscCall(Receive(coo.get(), i, &received[0]));
  PetscCall(Receive(coo.get(), j, &received[1]));
  const bool fits = CanSortCoordinates(A->rmap->n, A->cmap->N, n + coo->receives);
  if (fits)
    PetscCall(MayLackMemory([&] { return SortBlocks(A, *coo, i, j, received, space, patterns, maps); }, &lacks));
  PetscCall(AllAgree(comm, fits && !lacks, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakePattern(A, patterns));
  PetscCall(GetBlocks(A, blocks));
  for (int b = 0; b < 2; b++) PetscCall(Attach(blocks[b], maps[b]));
  PetscCall(EachBlock(A, [](Mat block) { return MatZeroEntries(block); }));
  PetscCall(GetContext(A, &context));
  context->parallel_coo = coo;
  context->coo.entries  = n;
  context->coo.map.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
