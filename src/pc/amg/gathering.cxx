/// The processes in their order are cut into groups of about as many unknowns. The first of a group that has unknowns
/// gets all of the group.
#include "pc/amg/gathering.hpp"
#include "mat/face/context.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::amg
{

namespace
{
/// The group of each process of so many unknowns: that in which the middle of its unknowns lies.
PetscErrorCode FindGroups(const std::vector<PetscInt> &unknowns, PetscInt64 all, PetscInt64 groups,
                          std::vector<PetscMPIInt> *group)
{
  PetscInt64 before = 0;

  PetscFunctionBegin;
  PetscCallCXX(group->assign(unknowns.size(), 0));
  for (size_t p = 0; p < unknowns.size(); p++) {
    const double middle = (double)before + (double)unknowns[p] / 2;
    (*group)[p]         = (PetscMPIInt)PetscMin((PetscInt64)(middle / (double)all * (double)groups), groups - 1);
    before += unknowns[p];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Gathering::Plan(MPI_Comm comm, PetscInt mine, PetscInt limit, bool one)
{
  PetscMPIInt              size, rank;
  std::vector<PetscInt>    unknowns;
  std::vector<PetscMPIInt> group;
  PetscInt64               all = 0, active = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  comm_  = comm;
  mine_  = mine;
  rows_  = mine;
  to_    = rank;
  moves_ = false;
  sources_.clear();
  if (size == 1 || limit == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(unknowns.resize((size_t)size));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT, unknowns.data(), 1, MPIU_INT, comm));
  for (PetscInt n : unknowns) {
    all += n;
    active += n > 0;
  }
  const PetscInt64 groups = one ? 1 : PetscMax(all / limit, 1);
  if (2 * groups > active) PetscFunctionReturn(PETSC_SUCCESS); // most processes would keep theirs
  moves_ = true;
  rows_  = 0;
  PetscCall(FindGroups(unknowns, all, groups, &group));
  for (PetscMPIInt p = 0, first = -1; p < size; p++) {
    if (unknowns[(size_t)p] == 0) continue;
    if (first < 0 || group[(size_t)p] != group[(size_t)first]) first = p;
    if (p == rank) to_ = first;
    if (first != rank) continue;
    PetscCallCXX(sources_.push_back({p, unknowns[(size_t)p]}));
    rows_ += unknowns[(size_t)p];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode Gathering::MoveValues(MPI_Datatype type, PetscInt columns, std::vector<T> *values) const
{
  std::vector<T>           received, moved;
  std::vector<MPI_Request> requests;
  PetscMPIInt              count, tag;
  size_t                   before = 0;

  PetscFunctionBegin;
  if (!moves_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCommGetNewTag(comm_, &tag));
  PetscCall(OnAll(comm_, [&] {
    PetscFunctionBegin;
    PetscCallCXX(received.resize((size_t)(columns * rows_)));
    PetscCallCXX(moved.resize((size_t)(columns * rows_)));
    PetscCallCXX(requests.resize(sources_.size() + 1, MPI_REQUEST_NULL));
    PetscCall(PetscMPIIntCast(columns * PetscMax(rows_, mine_), &count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  for (size_t s = 0; s < sources_.size(); s++) {
    PetscCall(PetscMPIIntCast(columns * sources_[s].unknowns, &count));
    PetscCallMPI(MPI_Irecv(received.data() + before, count, type, sources_[s].process, tag, comm_, &requests[s]));
    before += (size_t)count;
  }
  PetscCall(PetscMPIIntCast(columns * mine_, &count));
  if (count > 0) PetscCallMPI(MPI_Isend(values->data(), count, type, to_, tag, comm_, &requests.back()));
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  auto     from = received.cbegin();
  PetscInt row  = 0;
  for (const Source &source : sources_) { // each has sent column by column
    for (PetscInt c = 0; c < columns; c++, from += source.unknowns)
      std::copy(from, from + source.unknowns, moved.begin() + (c * rows_ + row));
    row += source.unknowns;
  }
  std::swap(*values, moved);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::Move(PetscInt columns, std::vector<PetscScalar> *values) const
{
  PetscFunctionBegin;
  PetscCall(MoveValues(MPIU_SCALAR, columns, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::Move(PetscInt columns, std::vector<PetscInt> *values) const
{
  PetscFunctionBegin;
  PetscCall(MoveValues(MPIU_INT, columns, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Gathering::MoveColumns(Mat *P) const
{
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> a;
  PetscInt                 begin, end, block, vectors;
  PetscBool                seq, mpi;
  MatType                  type;
  Mat                      moved;

  PetscFunctionBegin;
  if (!moves_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(*P, &begin, &end));
  PetscCallCXX(i.assign(1, 0));
  for (PetscInt r = begin; r < end; r++) {
    PetscInt           n;
    const PetscInt    *columns;
    const PetscScalar *values;

    PetscCall(MatGetRow(*P, r, &n, &columns, &values));
    PetscCallCXX(j.insert(j.end(), columns, columns + n));
    PetscCallCXX(a.insert(a.end(), values, values + n));
    PetscCallCXX(i.push_back((PetscInt)j.size()));
    PetscCall(MatRestoreRow(*P, r, &n, &columns, &values));
  }
  PetscCall(MatGetType(*P, &type));
  PetscCall(MatGetBlockSizes(*P, &block, &vectors));
  PetscCall(MatCreate(comm_, &moved));
  PetscCall(MatSetSizes(moved, end - begin, rows_, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(moved, block, vectors));
  PetscCall(MatSetType(moved, type));
  PetscCall(face::IsOurs(*P, &seq, &mpi));
  if (mpi) PetscCall(face::InheritSettings(*P, moved));
  PetscCall(MatMPIAIJSetPreallocationCSR(moved, i.data(), j.data(), a.data()));
  PetscCall(MatDestroy(P));
  *P = moved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
