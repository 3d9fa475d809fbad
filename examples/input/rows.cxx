#include "rows.hpp"

#include <algorithm>
#include <numeric>

PetscErrorCode SortRows(Rows *rows)
{
  std::vector<PetscInt>    order, column;
  std::vector<PetscScalar> value;
  PetscInt                 kept = 0, begin = 0;

  PetscFunctionBeginUser;
  for (size_t r = 0; r + 1 < rows->start.size(); r++) {
    const PetscInt end = rows->start[r + 1], length = end - begin;
    PetscInt      *j = rows->column.data() + begin;
    PetscScalar   *a = rows->value.data() + begin;
    if (!std::is_sorted(j, j + length)) {
      PetscCallCXX(order.resize(length));
      std::iota(order.begin(), order.end(), PetscInt{0});
      // Entries of the same place keep the order of the file, so that their sum is the same on every run.
      std::stable_sort(order.begin(), order.end(), [j](PetscInt p, PetscInt q) { return j[p] < j[q]; });
      PetscCallCXX(column.assign(j, j + length));
      PetscCallCXX(value.assign(a, a + length));
      for (PetscInt k = 0; k < length; k++) {
        j[k] = column[order[k]];
        a[k] = value[order[k]];
      }
    }
    const PetscInt first = kept;
    for (PetscInt k = 0; k < length; k++) {
      if (kept > first && rows->column[kept - 1] == j[k]) {
        rows->value[kept - 1] += a[k];
      } else {
        rows->column[kept]  = j[k];
        rows->value[kept++] = a[k];
      }
    }
    begin              = end;
    rows->start[r + 1] = kept;
  }
  rows->column.resize(kept);
  rows->value.resize(kept);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Sends `count` items, or receives them if `receive`; MPI counts are int, so in pieces.
template <class T>
PetscErrorCode Transfer(MPI_Comm comm, bool receive, PetscMPIInt partner, MPI_Datatype type, T *data, PetscInt count)
{
  constexpr PetscInt piece = 1 << 26;

  PetscFunctionBeginUser;
  for (PetscInt done = 0; done < count; done += piece) {
    const PetscMPIInt items = static_cast<PetscMPIInt>(std::min(piece, count - done));
    if (receive)
      PetscCallMPI(MPI_Recv(data + done, items, type, partner, 0, comm, MPI_STATUS_IGNORE));
    else
      PetscCallMPI(MPI_Send(data + done, items, type, partner, 0, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ScatterRows(MPI_Comm comm, Rows *all, Rows *mine)
{
  PetscMPIInt rank, size;
  PetscInt    sizes[2] = {all->rows, all->cols}, held = PETSC_DECIDE, entries;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Bcast(sizes, 2, MPIU_INT, 0, comm));
  PetscCall(PetscSplitOwnership(comm, &held, &sizes[0]));
  if (rank != 0) {
    mine->rows = sizes[0];
    mine->cols = sizes[1];
    PetscCallCXX(mine->start.resize(held + 1));
    PetscCall(Transfer(comm, true, 0, MPIU_INT, mine->start.data(), held + 1));
    const PetscInt offset = mine->start[0];
    for (PetscInt &s : mine->start) s -= offset;
    entries = mine->start[held];
    PetscCallCXX(mine->column.resize(entries));
    PetscCallCXX(mine->value.resize(entries));
    PetscCall(Transfer(comm, true, 0, MPIU_INT, mine->column.data(), entries));
    PetscCall(Transfer(comm, true, 0, MPIU_SCALAR, mine->value.data(), entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt begin = held;
  for (PetscMPIInt p = 1; p < size; p++) {
    const PetscInt theirs = sizes[0] / size + (p < sizes[0] % size),
                   first  = all->start[begin]; // as PetscSplitOwnership()
    entries               = all->start[begin + theirs] - first;
    PetscCall(Transfer(comm, false, p, MPIU_INT, all->start.data() + begin, theirs + 1));
    PetscCall(Transfer(comm, false, p, MPIU_INT, all->column.data() + first, entries));
    PetscCall(Transfer(comm, false, p, MPIU_SCALAR, all->value.data() + first, entries));
    begin += theirs;
  }
  *mine = std::move(*all);
  mine->start.resize(held + 1);
  mine->column.resize(mine->start[held]);
  mine->value.resize(mine->start[held]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// For the types that do not take compressed rows: PETSc before 3.19 needs the number of entries of each row
/// beforehand.
PetscErrorCode SetRowByRow(Mat A, const Rows &mine)
{
  const PetscInt        held = static_cast<PetscInt>(mine.start.size()) - 1;
  PetscInt              first, left, right;
  PetscLayout           columns;
  std::vector<PetscInt> inside, outside;

  PetscFunctionBeginUser;
  PetscCallCXX(inside.resize(held));
  PetscCallCXX(outside.resize(held));
  PetscCall(MatGetLayouts(A, nullptr, &columns));
  PetscCall(PetscLayoutSetUp(columns));
  PetscCall(PetscLayoutGetRange(columns, &left, &right));
  for (PetscInt r = 0; r < held; r++) {
    for (PetscInt e = mine.start[r]; e < mine.start[r + 1]; e++)
      (mine.column[e] >= left && mine.column[e] < right ? inside : outside)[r]++;
  }
  PetscCall(MatSeqSELLSetPreallocation(A, 0, inside.data()));
  PetscCall(MatMPISELLSetPreallocation(A, 0, inside.data(), 0, outside.data()));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &first, nullptr));
  for (PetscInt r = 0; r < held; r++) {
    const PetscInt row = first + r, begin = mine.start[r];
    PetscCall(MatSetValues(A, 1, &row, mine.start[r + 1] - begin, mine.column.data() + begin, mine.value.data() + begin,
                           INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatFromRows(MPI_Comm comm, const Rows &mine, PetscInt block, Mat *A)
{
  const PetscInt held = static_cast<PetscInt>(mine.start.size()) - 1;
  void (*seq)(void) = nullptr, (*mpi)(void) = nullptr;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, held, mine.rows == mine.cols ? held : PETSC_DECIDE, mine.rows, mine.cols));
  if (block > 1) PetscCall(MatSetBlockSize(*A, block));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscObjectQueryFunction((PetscObject)*A, "MatSeqAIJSetPreallocationCSR_C", &seq));
  PetscCall(PetscObjectQueryFunction((PetscObject)*A, "MatMPIAIJSetPreallocationCSR_C", &mpi));
  if (seq)
    PetscCall(MatSeqAIJSetPreallocationCSR(*A, mine.start.data(), mine.column.data(), mine.value.data()));
  else if (mpi)
    PetscCall(MatMPIAIJSetPreallocationCSR(*A, mine.start.data(), mine.column.data(), mine.value.data()));
  else
    PetscCall(SetRowByRow(*A, mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}
