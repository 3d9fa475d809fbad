/// Operations that derive matrices: submatrices and products, made once and made again with new values.
#include "model.hpp"

namespace sequences
{

namespace
{
bool Always(const Side &, const Facts &)
{
  return true;
}

/// Some of begin, ..., end - 1, ascending; all of them now and then.
std::vector<PetscInt> Some(Draw &d, PetscInt begin, PetscInt end)
{
  const bool            all = d.OneIn(3);
  std::vector<PetscInt> some;
  for (PetscInt i = begin; i < end; ++i)
    if (d.Below(3) > 0 || all) some.push_back(i);
  return some;
}
PetscErrorCode MakeIS(MPI_Comm comm, const std::vector<PetscInt> &indices, IS *is)
{
  PetscFunctionBeginUser;
  PetscCall(ISDestroy(is));
  PetscCall(ISCreateGeneral(comm, (PetscInt)indices.size(), indices.data(), PETSC_COPY_VALUES, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubMatrix(Side &s, const Facts &f, Draw d, std::string *words)
{
  const size_t rank = (size_t)f.rank;
  Draw         own(d.Next(), rank);
  Mat          B;

  PetscFunctionBeginUser;
  *words = "MatCreateSubMatrix, MAT_INITIAL_MATRIX";
  PetscCall(MakeIS(PETSC_COMM_WORLD, Some(own, f.row_of[rank], f.row_of[rank + 1]), &s.sub_rows));
  PetscCall(MakeIS(PETSC_COMM_WORLD, Some(own, f.col_of[rank], f.col_of[rank + 1]), &s.sub_cols));
  PetscCall(MatCreateSubMatrix(s.slot[MAIN], s.sub_rows, s.sub_cols, MAT_INITIAL_MATRIX, &B));
  PetscCall(Replace(s, SUB, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Other columns, so that each of the rows keeps its length: turned by a few, else in the reverse order.
std::vector<PetscInt> OtherColumns(const Facts &f, Draw &d, const std::vector<PetscInt> &rows,
                                   const std::vector<PetscInt> &cols)
{
  const auto length = [&f](PetscInt row, const std::vector<PetscInt> &in) {
    const std::vector<PetscInt> &r = f.row[(size_t)row];
    return std::count_if(in.begin(), in.end(),
                         [&r](PetscInt j) { return std::find(r.begin(), r.end(), j) != r.end(); });
  };
  for (int attempt = 0; attempt < 4; ++attempt) {
    const PetscInt        turn  = 1 + d.Below(f.p.cols - 1);
    std::vector<PetscInt> other = cols;
    for (PetscInt &j : other) j = (j + turn) % f.p.cols;
    std::sort(other.begin(), other.end());
    if (std::all_of(rows.begin(), rows.end(), [&](PetscInt row) { return length(row, cols) == length(row, other); }))
      return other;
  }
  return {cols.rbegin(), cols.rend()};
}

PetscErrorCode SubMatrixReuse(Side &s, const Facts &f, Draw d, std::string *words)
{
  const bool      other = f.size == 1 && d.OneIn(2); // in parallel PETSc asks for the same index sets
  PetscInt        n, m;
  const PetscInt *rows, *cols;

  PetscFunctionBeginUser;
  *words = std::string("MatCreateSubMatrix, MAT_REUSE_MATRIX") + (other ? ", other columns, rows as long" : "");
  if (other) {
    PetscCall(ISGetLocalSize(s.sub_rows, &m));
    PetscCall(ISGetLocalSize(s.sub_cols, &n));
    PetscCall(ISGetIndices(s.sub_rows, &rows));
    PetscCall(ISGetIndices(s.sub_cols, &cols));
    const std::vector<PetscInt> columns = OtherColumns(f, d, {rows, rows + m}, {cols, cols + n});
    PetscCall(ISRestoreIndices(s.sub_rows, &rows));
    PetscCall(ISRestoreIndices(s.sub_cols, &cols));
    PetscCall(MakeIS(PETSC_COMM_WORLD, columns, &s.sub_cols));
  }
  PetscCall(MatCreateSubMatrix(s.slot[MAIN], s.sub_rows, s.sub_cols, MAT_REUSE_MATRIX, &s.slot[SUB]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One submatrix for each rank, of rows and columns anywhere; maybe once more after a change of values. Where every
/// rank asks for the whole of a square matrix PETSc takes its columns to lie as its rows
/// (MatCreateSubMatrix_MPIAIJ_All()), and writes past its arrays if they do not; so a rank leaves out one there.
PetscErrorCode SubMatrices(Side &s, const Facts &f, Draw d, std::string *words)
{
  const bool again = d.OneIn(2);
  Draw       own(d.Next(), (unsigned long long)f.rank);
  IS         rows = nullptr, cols = nullptr;

  PetscFunctionBeginUser;
  *words         = std::string("MatCreateSubMatrices") + (again ? ", MatScale by -2, again with MAT_REUSE_MATRIX" : "");
  s.slot[SERIAL] = nullptr;
  if (s.serial) PetscCall(MatDestroySubMatrices(1, &s.serial));
  std::vector<PetscInt> some_rows = Some(own, 0, f.p.rows);
  if (f.rank == 0 && !f.congruent && (PetscInt)some_rows.size() == f.p.rows) some_rows.pop_back();
  PetscCall(MakeIS(PETSC_COMM_SELF, some_rows, &rows));
  PetscCall(MakeIS(PETSC_COMM_SELF, Some(own, 0, f.p.cols), &cols));
  PetscCall(MatCreateSubMatrices(s.slot[MAIN], 1, &rows, &cols, MAT_INITIAL_MATRIX, &s.serial));
  if (again) {
    PetscCall(MatScale(s.slot[MAIN], -2));
    PetscCall(MatCreateSubMatrices(s.slot[MAIN], 1, &rows, &cols, MAT_REUSE_MATRIX, &s.serial));
  }
  s.slot[SERIAL] = s.serial[0];
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In parallel PETSc adds the parts of A^T B and P^T A P in the order of their arrival; products on the device, or
/// where a test's second array stands for it, are ours. An entry is a sum of at most as many terms as MAIN has entries,
/// each at most its largest times 6^2, as DrawProblem()'s values are smaller than 6.
PetscReal OtherOrder(const Facts &f, MatProductType type)
{
  PetscReal largest = 0, n = (PetscReal)f.p.entries.size();
  PetscBool device = PETSC_FALSE, away = PETSC_FALSE;

  PetscCallAbort(PETSC_COMM_SELF, SparseGPUHasDevice(&device));
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &away, nullptr));
  if (!device && !away && (f.size == 1 || type == MATPRODUCT_AB)) return 0;
  for (const Entry &e : f.p.entries) largest = std::max(largest, PetscAbsScalar(e.v));
  return 2 * (n + 2) * PETSC_MACHINE_EPSILON * n * largest * 36;
}

/// MAIN times a matrix of few columns (or, transposed, rows), or between two, which lie as MAIN's columns and rows.
PetscErrorCode Product(Side &s, const Facts &f, Draw d, std::string *words)
{
  static const MatProductType types[] = {MATPRODUCT_AB,   MATPRODUCT_AtB, MATPRODUCT_PtAP,
                                         MATPRODUCT_RARt, MATPRODUCT_ABC, MATPRODUCT_ABt};
  const PetscInt              kind    = d.Below(f.size == 1 ? 6 : 5); // not every PETSc has A B^T of parallel matrices
  const MatProductType        type    = (kind == 2 || kind == 3) && !f.congruent ? MATPRODUCT_AB : types[kind];
  const char *const           other   = OtherType(s, d);
  const PetscInt              few = 2 + d.Below(6), local = f.rank == 0 ? few : 2, all = few + 2 * (f.size - 1);
  const bool                  at = type == MATPRODUCT_AtB, bt = type == MATPRODUCT_ABt || type == MATPRODUCT_RARt;
  Mat                         B, L                            = nullptr, C;

  PetscFunctionBeginUser;
  *words = std::string("MatProduct ") + MatProductTypes[type] + (strcmp(other, MATAIJ) ? "" : ", the other one aij");
  const Problem p = DrawProblem(d, bt ? all : at ? f.p.rows : f.p.cols, bt ? f.p.cols : all, 1);
  PetscCall(Create(other, bt ? local : at ? f.LocalRows() : f.LocalCols(), bt ? f.LocalCols() : local, 1, p, &B));
  if (type == MATPRODUCT_ABC) PetscCall(Create(other, local, f.LocalRows(), 1, DrawProblem(d, all, f.p.rows, 1), &L));
  if (L)
    PetscCall(MatProductCreate(L, s.slot[MAIN], B, &C));
  else
    PetscCall(MatProductCreate(s.slot[MAIN], B, nullptr, &C));
  PetscCall(MatProductSetType(C, type));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&L));
  PetscCall(Replace(s, PRODUCT, C));
  s.product_type  = type;
  s.product_error = OtherOrder(f, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductNumeric(Side &s, const Facts &f, Draw, std::string *words)
{
  PetscFunctionBeginUser;
  s.product_error = OtherOrder(f, s.product_type);
  *words          = "MatProductNumeric again";
  PetscCall(MatProductNumeric(s.slot[PRODUCT]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 24, 0)
/// Without scaling, so that the values have no rounding errors.
PetscErrorCode Graph(Side &s, const Facts &, Draw d, std::string *words)
{
  const bool      symmetrize = d.OneIn(2);
  const PetscReal filters[] = {0, 0.5, -1}, filter = filters[d.Below(symmetrize ? 3 : 2)]; // else it is MAIN itself
  Mat             G;

  PetscFunctionBeginUser;
  *words = std::string("MatCreateGraph") + (symmetrize ? ", symmetrized" : "") + ", filter " + std::to_string(filter);
  PetscCall(MatCreateGraph(s.slot[MAIN], symmetrize ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, filter, 0, nullptr, &G));
  PetscCall(Replace(s, SECOND, G));
  s.shared = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
} // namespace

const std::vector<Operation> &DerivedOperations()
{
  static const std::vector<Operation> operations = {
    {"submatrix", 3, false, Always, SubMatrix},
    {"submatrix_reuse", 4, false, [](const Side &s, const Facts &) { return s.slot[SUB] && s.link[SUB] == s.version; },
     SubMatrixReuse},
    {"submatrices", 1, false, Always, SubMatrices},
    {"product", 3, false, Always, Product},
#if PETSC_VERSION_GE(3, 24, 0)
    {"graph", 1, false, // magnitudes of complex values are rounded, on a GPU in another way
     [](const Side &, const Facts &f) { return f.size == 1 && f.congruent && f.tame && !PetscDefined(USE_COMPLEX); },
     Graph},
#endif
    {"product_numeric", 4, false,
     [](const Side &s, const Facts &) { return s.slot[PRODUCT] && s.link[PRODUCT] == s.version; }, ProductNumeric},
  };
  return operations;
}

} // namespace sequences
