static const char help[] =
    "Products of sparse parallel matrices of ours, whose values are hidden from the host, against loops over entries\n"
    "and against the pattern of plain AIJ's: with -sparsegpu_test_away.\n\n";

#include <algorithm>
#include <map>
#include "hidden_pair.hpp"

using namespace testing;

namespace
{
/// About `width` entries a row at random, none in every seventh; the same on all ranks.
Problem Random(PetscInt rows, PetscInt cols, PetscInt width, unsigned seed)
{
  Problem    p;
  const auto draw = [&seed](PetscInt below) {
    seed = seed * 1664525U + 1013904223U;
    return (PetscInt)((seed >> 8) % (unsigned)below);
  };

  p.name = "random";
  p.rows = rows;
  p.cols = cols;
  for (PetscInt i = 0; i < rows; ++i) {
    std::vector<PetscInt> columns;
    for (PetscInt k = 0; k < width && i % 7 != 3; ++k) columns.push_back(k ? draw(cols) : i % cols);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (PetscInt j : columns) {
      PetscScalar v = (PetscReal)(draw(2001) - 1000) / 997;
#if defined(PETSC_USE_COMPLEX)
      v += PETSC_i * (PetscReal)(draw(2001) - 1000) / 991;
#endif
      p.entries.push_back({i, j, v});
    }
  }
  return p;
}

/// Entries of a product with the magnitudes that were summed.
struct Sum {
  PetscScalar v     = 0;
  PetscReal   all   = 0;
  PetscInt    terms = 0;
};
using Sums = std::map<std::pair<PetscInt, PetscInt>, Sum>;

/// The entries of a matrix as sums of one term.
PetscErrorCode SumsOf(Mat A, bool transposed, Sums *sums)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(Gather(A, &p));
  for (const conformance::Entry &e : p.entries)
    (*sums)[transposed ? std::make_pair(e.j, e.i) : std::make_pair(e.i, e.j)] = Sum{e.v, PetscAbsScalar(e.v), 1};
  PetscFunctionReturn(PETSC_SUCCESS);
}
Sums Times(const Sums &a, const Sums &b)
{
  std::map<PetscInt, std::vector<std::pair<PetscInt, Sum>>> rows;
  Sums                                                      c;

  for (const auto &[place, sum] : b) rows[place.first].push_back({place.second, sum});
  for (const auto &[place, left] : a)
    for (const auto &[column, right] : rows[place.second]) {
      Sum *sum = &c[{place.first, column}];
      sum->v += left.v * right.v;
      sum->all += left.all * right.all;
      sum->terms += left.terms + right.terms;
    }
  return c;
}

/// The operands of a product, of ours with hidden values or plain.
struct Operands {
  Mat A = nullptr, B = nullptr, C = nullptr; ///< C of a product of three alone
};

PetscErrorCode Expected(MatProductType type, const Operands &of, Sums *sums)
{
  Sums a, b, b_transposed, c;

  PetscFunctionBeginUser;
  PetscCall(SumsOf(of.A, type == MATPRODUCT_AtB, &a));
  PetscCall(SumsOf(of.B, false, &b));
  PetscCall(SumsOf(of.B, true, &b_transposed));
  if (of.C) PetscCall(SumsOf(of.C, false, &c));
  const bool bt = type == MATPRODUCT_ABt || type == MATPRODUCT_RARt;
  *sums         = type == MATPRODUCT_ABC ? Times(a, Times(b, c)) : Times(a, bt ? b_transposed : b);
  if (type == MATPRODUCT_PtAP) *sums = Times(b_transposed, *sums);
  if (type == MATPRODUCT_RARt) *sums = Times(b, *sums);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C, of ours or not, has exactly these entries. Each of 4 operations on complex numbers rounds; both sums do.
PetscErrorCode Check(const std::string &what, Mat C, const Sums &sums)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(Gather(C, &p));
  PetscCheck(p.entries.size() == sums.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu entries, not %zu", what.c_str(),
             p.entries.size(), sums.size());
  for (const conformance::Entry &e : p.entries) {
    const auto found = sums.find({e.i, e.j});
    PetscCheck(found != sums.end(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: an entry (%" PetscInt_FMT ", %" PetscInt_FMT ")", what.c_str(), e.i, e.j);
    const PetscReal off = PetscAbsScalar(e.v - found->second.v);
    const PetscReal most =
        8 * (PetscReal)(found->second.terms + 2) * PETSC_MACHINE_EPSILON * found->second.all; // of both sums
    PetscCheck(off <= most, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is off by %g > %g", what.c_str(), e.i, e.j,
               (double)off, (double)most);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr MatProductType TYPES[]  = {MATPRODUCT_AB,   MATPRODUCT_AtB,  MATPRODUCT_ABt,
                                     MATPRODUCT_PtAP, MATPRODUCT_RARt, MATPRODUCT_ABC};
constexpr Layout         PLACES[] = {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast};
constexpr PetscInt       OTHERS[] = {7, 40, 61}; ///< what is free of the sizes

/// A has 60 columns, or rows where it is transposed; the result has `others` columns.
PetscErrorCode Create(const char *type, MatProductType product, Layout layout, PetscInt others, PetscInt width,
                      unsigned seed, Operands *of)
{
  const PetscInt n      = 60;
  const bool     square = product == MATPRODUCT_PtAP || product == MATPRODUCT_RARt, at = product == MATPRODUCT_AtB,
             bt    = product == MATPRODUCT_ABt || product == MATPRODUCT_RARt;
  const PetscInt m = square ? n : 45, k = product == MATPRODUCT_ABC ? 33 : others;
  Numbers        none;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Random(at ? n : m, at ? m : n, width, seed), type, nullptr, layout, &of->A));
  PetscCall(
      CreateMatrix(PETSC_COMM_WORLD, Random(bt ? k : n, bt ? n : k, width, seed + 1), type, nullptr, layout, &of->B));
  if (product == MATPRODUCT_ABC)
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, Random(k, others, width, seed + 2), type, nullptr, layout, &of->C));
  for (Mat M : {of->A, of->B, of->C})
    if (M) PetscCall(Multiply(M, &none)); // hides the values of ours
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Destroy(Operands *of)
{
  PetscFunctionBeginUser;
  for (Mat *M : {&of->A, &of->B, &of->C}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product(MatProductType type, const Operands &of, MatReuse reuse, Mat *D)
{
  PetscFunctionBeginUser;
  switch (type) {
  case MATPRODUCT_AB: PetscCall(MatMatMult(of.A, of.B, reuse, PETSC_DEFAULT, D)); break;
  case MATPRODUCT_AtB: PetscCall(MatTransposeMatMult(of.A, of.B, reuse, PETSC_DEFAULT, D)); break;
  case MATPRODUCT_ABt: PetscCall(MatMatTransposeMult(of.A, of.B, reuse, PETSC_DEFAULT, D)); break;
  case MATPRODUCT_RARt: PetscCall(MatRARt(of.A, of.B, reuse, PETSC_DEFAULT, D)); break;
  case MATPRODUCT_ABC: PetscCall(MatMatMatMult(of.A, of.B, of.C, reuse, PETSC_DEFAULT, D)); break;
  default: PetscCall(MatPtAP(of.A, of.B, reuse, PETSC_DEFAULT, D));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The product of plain matrices. Of A B^T PETSc has none before 3.24.
PetscErrorCode PlainProduct(MatProductType type, const Operands &of, Mat *D)
{
  Operands transposed = of;

  PetscFunctionBeginUser;
  if (type != MATPRODUCT_ABt) {
    PetscCall(Product(type, of, MAT_INITIAL_MATRIX, D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatTranspose(of.B, MAT_INITIAL_MATRIX, &transposed.B));
  PetscCall(Product(MATPRODUCT_AB, transposed, MAT_INITIAL_MATRIX, D));
  PetscCall(MatDestroy(&transposed.B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ours has the type and the pattern of plain AIJ's product, and the right values.
PetscErrorCode CheckProduct(const std::string &what, MatProductType type, const Operands &of, Mat C)
{
  Sums    sums;
  MatType kind;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(C, &kind));
  PetscCall(CheckText(what, kind, {MATMPIAIJSPARSEGPU}));
  PetscCall(Expected(type, of, &sums));
  PetscCall(Check(what, C, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every kind, layout and shape; the values of the operands do not come to the host for it.
PetscErrorCode Kinds()
{
  unsigned seed = 0;

  PetscFunctionBeginUser;
  for (MatProductType type : TYPES)
    for (Layout layout : PLACES)
      for (PetscInt cols : OTHERS)
        for (PetscInt width : {0, 1, 5}) {
          const std::string what = std::string(MatProductTypes[type]) + ", " + Name(layout) + ", " +
                                   std::to_string(cols) + " columns, width " + std::to_string(width);
          const PetscScalar *a[2], *b[2];
          Operands           ours, plain;
          Mat                C, D;
          PetscCall(Create(MATMPIAIJSPARSEGPU, type, layout, cols, width, ++seed, &ours));
          PetscCall(HostArrays(ours.A, a)); // which brings them home
          PetscCall(HostArrays(ours.B, b));
          Numbers none;
          PetscCall(Multiply(ours.A, &none));
          PetscCall(Multiply(ours.B, &none));
          PetscCall(CheckHidden(a, what + ", before"));
          PetscCall(Product(type, ours, MAT_INITIAL_MATRIX, &C));
          PetscCall(CheckHidden(a, what + ", A"));
          PetscCall(CheckHidden(b, what + ", B"));
          PetscCall(Create(MATMPIAIJ, type, layout, cols, width, seed, &plain));
          PetscCall(PlainProduct(type, plain, &D));
          Sums sums;
          PetscCall(SumsOf(D, false, &sums));
          Problem p;
          PetscCall(Gather(C, &p));
          PetscCheck(p.entries.size() == sums.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: %zu entries, plain AIJ has %zu", what.c_str(), p.entries.size(), sums.size());
          PetscCall(CheckProduct(what, type, ours, C));
          PetscCall(MatDestroy(&C));
          PetscCall(MatDestroy(&D));
          PetscCall(Destroy(&ours));
          PetscCall(Destroy(&plain));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that change, of one operand and of both, and of the result itself; the same values give the same bits.
PetscErrorCode Again()
{
  PetscFunctionBeginUser;
  for (MatProductType type : TYPES) {
    const std::string what = MatProductTypes[type];
    Operands          of;
    Mat               C;
    Problem           first, second;
    Numbers           none;
    PetscReal         norm;
    PetscCall(Create(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 6, 99, &of));
    PetscCall(Product(type, of, MAT_INITIAL_MATRIX, &C));
    PetscCall(Multiply(C, &none));
    PetscCall(MatScale(C, 3));
    PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
    PetscCall(Gather(C, &first));
    PetscCall(CheckProduct(what + " again", type, of, C));
    PetscCall(MatScale(of.A, -2)); // there
    PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
    PetscCall(CheckProduct(what + " of another A", type, of, C));
    PetscCall(MatNorm(of.B, NORM_1, &norm));
    PetscCall(MatScale(of.A, -0.5));
    PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
    PetscCall(Gather(C, &second));
    for (size_t k = 0; k < first.entries.size(); ++k)
      PetscCheck(first.entries[k].v == second.entries[k].v, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry %zu has other bits", what.c_str(), k);
    for (Mat M : {of.B, of.C}) {
      PetscInt row, end, cols;
      if (!M) continue;
      PetscCall(MatGetSize(M, nullptr, &cols));
      PetscCall(MatGetOwnershipRange(M, &row, &end));
      while (row % 7 == 3) ++row;                                                  // these have no entry
      if (row < end) PetscCall(MatSetValue(M, row, row % cols, 7, INSERT_VALUES)); // on the host
      PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatZeroEntries(C));
      PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
      PetscCall(CheckProduct(what + " of another B or C", type, of, C));
    }
    PetscCall(MatDestroy(&C));
    PetscCall(Destroy(&of));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What must not be taken for what the product was set up for: another pattern of an operand or of the result, another
/// layout of ghosts, an operand that has become plain or has been replaced, and ours again after that.
PetscErrorCode Changed()
{
  PetscFunctionBeginUser;
  for (MatProductType type : TYPES) {
    const std::string what = MatProductTypes[type];
    Operands          of, wider;
    Mat               C, first;
    PetscInt          row, end;
    PetscCall(Create(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 4, 7, &of));
    PetscCall(Create(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 7, 17, &wider));
    PetscCall(Product(type, of, MAT_INITIAL_MATRIX, &C));
    first = of.A;
    for (Mat Operands::*M : {&Operands::A, &Operands::B, &Operands::C})
      if (of.*M) {
        const Mat own = of.*M;
        for (Mat other : {wider.*M, own}) { // of another pattern, and of that of before
          of.*M = other;
          PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
          PetscCall(CheckProduct(what + " of another pattern", type, of, C));
        }
      }
    PetscCall(MatGetOwnershipRange(C, &row, &end));
    if (row < end) PetscCall(MatSetValue(C, row, 24, 5, ADD_VALUES)); // products take new entries
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
    PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
    PetscCall(CheckProduct(what + " to a result with another entry", type, of, C));
    PetscCall(MatConvert(first, MATMPIAIJ, MAT_INPLACE_MATRIX, &first));
    PetscCall(MatScale(first, 3));
    Sums sums;
    if (type != MATPRODUCT_ABt) { // PETSc's
      PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
      PetscCall(Expected(type, of, &sums));
      PetscCall(Check(what + " of a plain operand", C, sums));
    }
    PetscCall(MatConvert(first, MATMPIAIJSPARSEGPU, MAT_INPLACE_MATRIX, &first));
    PetscCall(MatScale(first, -3));
    PetscCall(Product(type, of, MAT_REUSE_MATRIX, &C));
    sums.clear();
    PetscCall(Expected(type, of, &sums));
    PetscCall(Check(what + " of ours again", C, sums));
    PetscCall(MatDestroy(&C));
    PetscCall(Destroy(&of));
    PetscCall(Destroy(&wider));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Did the product leave the values of A where they were?
PetscErrorCode IsOurs(MatProductType type, const char *algorithm, bool api, bool *ours)
{
  const PetscScalar *arrays[2];
  Numbers            none;
  Operands           of;
  Mat                C;
  int                away = 0;

  PetscFunctionBeginUser;
  PetscCall(Create(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 4, 5, &of));
  PetscCall(HostArrays(of.A, arrays));
  PetscCall(Multiply(of.A, &none));
  if (api) {
    PetscCall(Product(type, of, MAT_INITIAL_MATRIX, &C));
  } else {
    PetscCall(MatProductCreate(of.A, of.B, of.C, &C));
    PetscCall(MatProductSetType(C, type));
    if (algorithm) PetscCall(MatProductSetAlgorithm(C, algorithm));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
  }
  if (arrays[0] && arrays[0][0] != arrays[0][0]) away = 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &away, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  *ours = away != 0;
  Sums sums;
  PetscCall(Expected(type, of, &sums));
  PetscCall(Check(std::string(MatProductTypes[type]) + " as asked", C, sums));
  PetscCall(MatDestroy(&C));
  PetscCall(Destroy(&of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An algorithm by name, and the host by option, are PETSc's.
PetscErrorCode Asked()
{
  struct {
    MatProductType type;
    const char    *via, *cpu; ///< via null: PETSc has one algorithm
  } const kinds[] = {
    {MATPRODUCT_AB, "-matmatmult_via", "-matmatmult_backend_cpu"},
    {MATPRODUCT_AtB, "-mattransposematmult_via", "-mattransposematmult_backend_cpu"},
#if PETSC_VERSION_GE(3, 24, 0) // that has such a product
    {MATPRODUCT_ABt, "-matmatmult_via", "-matmattransposemult_backend_cpu"},
#endif
    {MATPRODUCT_PtAP, "-matptap_via", "-matptap_backend_cpu"},
    {MATPRODUCT_RARt, nullptr, "-matrart_backend_cpu"},
    {MATPRODUCT_ABC, "-matmatmatmult_via", "-matmatmatmult_backend_cpu"}
  };

  PetscFunctionBeginUser;
  for (const auto &kind : kinds) {
    bool ours[6];
    PetscCall(IsOurs(kind.type, nullptr, true, &ours[0]));
    PetscCall(IsOurs(kind.type, nullptr, false, &ours[1]));
    PetscCall(IsOurs(kind.type, "nonscalable", false, &ours[2]));
    ours[3] = false;
    if (kind.via) {
      const Option via(kind.via, "nonscalable");
      PetscCall(IsOurs(kind.type, nullptr, true, &ours[3]));
    }
    {
      const Option cpu(kind.cpu, "1");
      PetscCall(IsOurs(kind.type, nullptr, true, &ours[4]));
    }
    ours[5] = false;
    if (kind.via) {
      const Option algorithm("-mat_product_algorithm", "nonscalable");
      PetscCall(IsOurs(kind.type, nullptr, false, &ours[5]));
    }
    for (int k = 0; k < 6; ++k)
      PetscCheck(ours[k] == (k < 2), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, way %d: the product is %s",
                 MatProductTypes[kind.type], k, ours[k] ? "ours" : "PETSc's");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result lives where its operands do, has their settings and their block sizes, is zero between the phases, and is
/// an operand of the next product.
PetscErrorCode Results()
{
  const PetscScalar *arrays[2];
  Operands           of, next;
  Mat                C, D;
  const char        *format;
  PetscReal          norm;
  PetscInt           rows, cols;

  PetscFunctionBeginUser;
  PetscCall(Create(MATMPIAIJSPARSEGPU, MATPRODUCT_PtAP, Layout::Even, 30, 5, 3, &of));
  PetscCall(MatSparseGPUSetFormat(of.A, "sell"));
  PetscCall(MatProductCreate(of.A, of.B, nullptr, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
  PetscCheck(norm == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product without values has the norm %g", (double)norm);
  PetscCall(HostArrays(C, arrays));
  PetscCall(MatProductNumeric(C));
  for (const PetscScalar *array : arrays)
    PetscCheck(!array || array[0] == 0.0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values of the product are on the host");
  PetscCall(CheckProduct("C", MATPRODUCT_AB, of, C));
  PetscCall(MatSparseGPUGetFormat(C, &format));
  PetscCheck(!strcmp(format, "sell"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The format of the product is %s", format);
  PetscCall(MatGetBlockSizes(C, &rows, &cols));
  PetscCheck(rows == 1 && cols == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Block sizes %" PetscInt_FMT ", %" PetscInt_FMT,
             rows, cols);
  next.A = of.A;
  next.B = C;
  PetscCall(Product(MATPRODUCT_AB, next, MAT_INITIAL_MATRIX, &D));
  PetscCall(CheckProduct("A C", MATPRODUCT_AB, next, D));
  PetscCall(MatScale(of.B, 2));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatProductNumeric(D));
  PetscCall(CheckProduct("A C again", MATPRODUCT_AB, next, D));
  PetscCall(MatProductClear(C));
  PetscCall(MatScale(C, 2));
  PetscCall(MatProductNumeric(D));
  PetscCall(CheckProduct("A C of another C", MATPRODUCT_AB, next, D));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&C));
  PetscCall(Destroy(&of));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"kinds", Kinds}, {"again", Again}, {"changed", Changed}, {"asked", Asked}, {"results", Results}});
}
