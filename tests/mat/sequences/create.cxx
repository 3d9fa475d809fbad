/// The matrices that sequences start from, and what operations share.
#include "model.hpp"

#include <cmath>
#include <set>

namespace sequences
{

PetscErrorCode IsOurs(Mat A, PetscBool *ours)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, ours, MATSEQAIJSPARSEGPU, MATMPIAIJSPARSEGPU, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool OnDevice(Draw &d)
{
  char vectors[16] = "host";

  PetscCallAbort(PETSC_COMM_SELF,
                 PetscOptionsGetString(nullptr, nullptr, "-vectors", vectors, sizeof(vectors), nullptr));
  const bool other = d.OneIn(2);
  return !strcmp(vectors, "device") || (!strcmp(vectors, "mixed") && other);
}

PetscErrorCode LeftOut(const char name[], bool *out)
{
  char     *names[32];
  PetscInt  n = 32;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-without", names, &n, nullptr));
  *out = false;
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(PetscStrcmp(names[k], name, &same));
    *out |= same == PETSC_TRUE;
    PetscCall(PetscFree(names[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Has the off-diagonal block of any rank a column that none of its entries is in? Rows may have lost them.
static PetscErrorCode OldGhosts(Mat plain, bool *old)
{
  Mat             blocks[2];
  const PetscInt *i, *j;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBeginUser;
  *old = false;
  PetscCall(Blocks(plain, blocks));
  if (!blocks[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(blocks[1], 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  const std::set<PetscInt> used(j, j + i[n]);
  PetscCall(MatRestoreRowIJ(blocks[1], 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatGetSize(blocks[1], nullptr, &n));
  PetscMPIInt mine = (PetscInt)used.size() < n, any;
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  *old = any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetFacts(Mat plain, Facts *f)
{
  const PetscInt *rows, *cols;
  PetscInt        row_block, col_block;
  PetscReal       largest = 0;
  bool            finite  = true;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &f->rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &f->size));
  PetscCall(testing::Gather(plain, &f->p));
  PetscCall(MatGetOwnershipRanges(plain, &rows));
  PetscCall(MatGetOwnershipRangesColumn(plain, &cols));
  f->row_of.assign(rows, rows + f->size + 1);
  f->col_of.assign(cols, cols + f->size + 1);
  PetscCall(MatGetBlockSizes(plain, &row_block, &col_block));
  f->block   = row_block == col_block ? row_block : 1;
  f->blocked = row_block > 1 || col_block > 1;
  f->row.assign((size_t)f->p.rows, {});
  PetscInt diagonal = 0;
  for (const Entry &e : f->p.entries) {
    f->row[(size_t)e.i].push_back(e.j);
    diagonal += e.i == e.j;
    finite &= oracle::Finite(e.v);
    largest = std::max(largest, PetscAbsScalar(e.v));
  }
  PetscCall(OldGhosts(plain, &f->old_ghosts));
  f->congruent     = f->row_of == f->col_of;
  f->full_diagonal = f->congruent && diagonal == f->p.rows;
  // Beyond these a product of three matrices could overflow in single precision, and sequences would crawl.
  f->tame = finite && largest < 1e9 && (largest > 1e-6 || largest == 0) && f->p.rows > 0 && f->p.rows <= 400 &&
            f->p.cols <= 400 && f->p.entries.size() <= 6000;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetEntries(Mat A, const Problem &p)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (const Entry &e : p.entries)
    if (e.i >= begin && e.i < end) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(const char type[], PetscInt m, PetscInt n, PetscInt block, const Problem &p, Mat *A)
{
  PetscInt    row0, row1, col0, col1;
  PetscLayout rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, n, p.rows, p.cols));
  PetscCall(MatSetBlockSizes(*A, block, block));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatGetLayouts(*A, &rows, &cols));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutSetUp(cols));
  PetscCall(PetscLayoutGetRange(rows, &row0, &row1));
  PetscCall(PetscLayoutGetRange(cols, &col0, &col1));
  std::vector<PetscInt> diagonal((size_t)m + 1, 0), off((size_t)m + 1, 0);
  for (const Entry &e : p.entries)
    if (e.i >= row0 && e.i < row1) ++(e.j >= col0 && e.j < col1 ? diagonal : off)[(size_t)(e.i - row0)];
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, diagonal.data()));
  PetscCall(MatMPIAIJSetPreallocation(*A, 0, diagonal.data(), 0, off.data()));
  PetscCall(SetEntries(*A, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Problem DrawProblem(Draw &d, PetscInt rows, PetscInt cols, PetscInt block)
{
  const PetscInt                     kind    = block > 1 && d.OneIn(2) ? 5 : d.Below(5);
  const bool                         full    = d.OneIn(2); // mantissas
  const unsigned long long           seed    = d.Next() >> 8;
  static const char *const           names[] = {"stencil", "bands", "random", "dense row", "empty rows", "blocks"};
  std::vector<std::vector<PetscInt>> columns((size_t)rows);
  const PetscInt                     nx = 2 + d.Below(rows / 3 + 1), dense = d.Below(rows), width = 1 + d.Below(6);
  std::vector<PetscInt>              offsets = {-nx, -1, 0, 1, nx};

  if (kind == 1) {
    offsets.assign(1, 0);
    for (PetscInt k = 0; k < width; ++k) offsets.push_back(d.Below(rows + cols) - rows);
  }
  for (PetscInt i = 0; i < rows; ++i) {
    std::vector<PetscInt> &c = columns[(size_t)i];
    if (kind <= 1)
      for (PetscInt offset : offsets) c.push_back(i + offset);
    else if (kind <= 4) {
      const PetscInt length = i == dense && kind == 3 ? cols : kind == 4 && !d.OneIn(3) ? 0 : d.Below(2 * width);
      for (PetscInt k = 0; k < length; ++k) c.push_back(length == cols ? k : d.Below(cols));
      if (kind == 3) c.push_back(i);
    } else
      for (PetscInt q = 0; q < block; ++q)
        for (PetscInt node : {i / block, (i / block + 3) % (rows / block), rows / block - 1 - i / block})
          c.push_back(node * block + q);
    std::sort(c.begin(), c.end());
    c.erase(std::unique(c.begin(), c.end()), c.end());
    c.erase(std::remove_if(c.begin(), c.end(), [cols](PetscInt j) { return j < 0 || j >= cols; }), c.end());
  }
  Problem p{names[kind], rows, cols, {}, {}};
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt j : columns[(size_t)i])
      p.entries.push_back({i, j, full ? conformance::Value(seed + p.entries.size()) : d.Value()});
  return p;
}

/// Shares of n, multiples of `block`, that may be empty: even, or cut where drawn.
static PetscInt DrawShare(Draw &d, PetscInt n, PetscInt block, PetscMPIInt rank, PetscMPIInt size)
{
  const bool            even  = d.OneIn(3);
  const PetscInt        nodes = n / block;
  std::vector<PetscInt> cut(1, 0);

  for (PetscMPIInt r = 1; r < size; ++r) {
    const PetscInt at = d.Below(nodes + 1);
    cut.push_back(even ? r * nodes / size : at);
  }
  cut.push_back(nodes);
  std::sort(cut.begin(), cut.end());
  return (cut[(size_t)rank + 1] - cut[(size_t)rank]) * block;
}

PetscErrorCode Start(Side &s, Draw d, std::string *words)
{
  static const PetscInt blocks[] = {1, 1, 1, 2, 3};
  const PetscInt        block    = blocks[d.Below(5)];
  PetscMPIInt           rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(DestroyAll(s));
  // Some are so large that malloc treats their arrays otherwise, and gives them their old places again.
  const PetscInt most = d.OneIn(4) && block == 1 ? 350 : 60;
  const PetscInt rows = (10 + d.Below(most)) * block, other = (5 + d.Below(60)) * block;
  const bool     square = !d.OneIn(4);
  const PetscInt cols = square ? rows : other, m = DrawShare(d, rows, block, rank, size);
  const PetscInt apart = DrawShare(d, cols, block, rank, size), n = square && !d.OneIn(6) ? m : apart;
  const Problem  p = DrawProblem(d, rows, cols, block);
  PetscCall(Create(s.type.c_str(), m, n, block, p, &s.slot[MAIN]));
  s.preallocated = ++s.version;
  *words         = "create " + std::to_string(rows) + " x " + std::to_string(cols) + ", " + p.name + ", block size " +
           std::to_string(block);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Replace(Side &s, Slot slot, Mat by)
{
  PetscFunctionBeginUser;
  if (s.slot[slot] != by) PetscCall(MatDestroy(&s.slot[slot]));
  s.slot[slot] = by;
  s.link[slot] = by ? s.version : -1;
  if (slot != MAIN) s.coo_arrays[slot] = false;
  if (slot == SECOND) s.shared = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DestroyAll(Side &s)
{
  PetscFunctionBeginUser;
  s.slot[SERIAL] = nullptr;
  if (s.serial) PetscCall(MatDestroySubMatrices(1, &s.serial));
  s.serial = nullptr;
  for (int slot = SLOTS - 1; slot >= 0; --slot) PetscCall(Replace(s, (Slot)slot, nullptr));
  PetscCall(ISDestroy(&s.sub_rows));
  PetscCall(ISDestroy(&s.sub_cols));
  s.stored = s.coo   = -1;
  s.coo_arrays[MAIN] = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AllowNewNonzeros(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Blocks(Mat A, Mat blocks[2])
{
  PetscBool parallel;

  PetscFunctionBeginUser;
  blocks[0] = A;
  blocks[1] = nullptr;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DrawVector(Mat A, bool rows, bool powers, Draw &d, Vec *v)
{
  PetscInt    n;
  const char *type = VECSTANDARD;

  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  if (OnDevice(d)) type = VECCUDA;
#endif
  PetscCall(testing::CreateVector(A, oracle::Op::Plain, !rows, type, v));
  PetscCall(VecGetSize(*v, &n));
  std::vector<PetscScalar> values;
  for (PetscInt i = 0; i < n; ++i) values.push_back(powers ? d.Power() : d.Value());
  PetscCall(testing::SetVector(*v, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Multiply(Mat A, PetscInt times)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(testing::CreateVector(A, oracle::Op::Plain, true, VECSTANDARD, &x));
  PetscCall(testing::CreateVector(A, oracle::Op::Plain, false, VECSTANDARD, &y));
  PetscCall(VecSet(x, 1));
  for (PetscInt k = 0; k < times; ++k) PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
