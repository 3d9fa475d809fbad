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

PetscErrorCode Expected(MatProductType type, Mat A, Mat B, Sums *sums)
{
  Sums a, b, transposed;

  PetscFunctionBeginUser;
  PetscCall(SumsOf(A, type == MATPRODUCT_AtB, &a));
  PetscCall(SumsOf(B, false, &b));
  PetscCall(SumsOf(B, true, &transposed));
  *sums = Times(a, b);
  if (type == MATPRODUCT_PtAP) *sums = Times(transposed, *sums);
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

/// The operands of a product, of ours with hidden values or plain.
struct Pair {
  Mat A = nullptr, B = nullptr;
};
constexpr MatProductType TYPES[]  = {MATPRODUCT_AB, MATPRODUCT_AtB, MATPRODUCT_PtAP};
constexpr Layout         PLACES[] = {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast};
constexpr PetscInt       OTHERS[] = {7, 40, 61}; ///< columns of B, or of P

PetscErrorCode CreatePair(const char *type, MatProductType product, Layout layout, PetscInt cols, PetscInt width,
                          unsigned seed, Pair *pair)
{
  const PetscInt n = 60, other = product == MATPRODUCT_PtAP ? n : 45;
  const bool     at = product == MATPRODUCT_AtB;
  Numbers        none;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Random(at ? n : other, at ? other : n, width, seed), type, nullptr, layout,
                         &pair->A));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Random(n, cols, width, seed + 1), type, nullptr, layout, &pair->B));
  PetscCall(Multiply(pair->A, &none)); // hides the values of ours
  PetscCall(Multiply(pair->B, &none));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Destroy(Pair *pair)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&pair->A));
  PetscCall(MatDestroy(&pair->B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product(MatProductType type, const Pair &pair, MatReuse reuse, Mat *C)
{
  PetscFunctionBeginUser;
  switch (type) {
  case MATPRODUCT_AB: PetscCall(MatMatMult(pair.A, pair.B, reuse, PETSC_DEFAULT, C)); break;
  case MATPRODUCT_AtB: PetscCall(MatTransposeMatMult(pair.A, pair.B, reuse, PETSC_DEFAULT, C)); break;
  default: PetscCall(MatPtAP(pair.A, pair.B, reuse, PETSC_DEFAULT, C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ours has the type and the pattern of plain AIJ's product, and the right values.
PetscErrorCode CheckProduct(const std::string &what, MatProductType type, const Pair &pair, Mat C)
{
  Sums    sums;
  MatType kind;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(C, &kind));
  PetscCall(CheckText(what, kind, {MATMPIAIJSPARSEGPU}));
  PetscCall(Expected(type, pair.A, pair.B, &sums));
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
          const PetscScalar *arrays[2];
          Pair               ours, plain;
          Mat                C, D;
          PetscCall(CreatePair(MATMPIAIJSPARSEGPU, type, layout, cols, width, ++seed, &ours));
          PetscCall(HostArrays(ours.A, arrays)); // which brings them home
          Numbers none;
          PetscCall(Multiply(ours.A, &none));
          PetscCall(CheckHidden(arrays, what + ", before"));
          PetscCall(Product(type, ours, MAT_INITIAL_MATRIX, &C));
          PetscCall(CheckHidden(arrays, what));
          PetscCall(CreatePair(MATMPIAIJ, type, layout, cols, width, seed, &plain));
          PetscCall(Product(type, plain, MAT_INITIAL_MATRIX, &D));
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
    Pair              pair;
    Mat               C;
    Problem           first, second;
    Numbers           none;
    PetscReal         norm;
    PetscCall(CreatePair(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 6, 99, &pair));
    PetscCall(Product(type, pair, MAT_INITIAL_MATRIX, &C));
    PetscCall(Multiply(C, &none));
    PetscCall(MatScale(C, 3));
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
    PetscCall(Gather(C, &first));
    PetscCall(CheckProduct(what + " again", type, pair, C));
    PetscCall(MatScale(pair.A, -2)); // there
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
    PetscCall(CheckProduct(what + " of another A", type, pair, C));
    PetscCall(MatNorm(pair.B, NORM_1, &norm));
    PetscCall(MatScale(pair.A, -0.5));
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
    PetscCall(Gather(C, &second));
    for (size_t k = 0; k < first.entries.size(); ++k)
      PetscCheck(first.entries[k].v == second.entries[k].v, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry %zu has other bits", what.c_str(), k);
    PetscInt row, end;
    PetscCall(MatGetOwnershipRange(pair.B, &row, &end));
    while (row % 7 == 3) ++row;                                                     // these have no entry
    if (row < end) PetscCall(MatSetValue(pair.B, row, row % 25, 7, INSERT_VALUES)); // on the host
    PetscCall(MatAssemblyBegin(pair.B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pair.B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatZeroEntries(C));
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
    PetscCall(CheckProduct(what + " of another B", type, pair, C));
    PetscCall(MatDestroy(&C));
    PetscCall(Destroy(&pair));
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
    Pair              pair, wider;
    Mat               C, first;
    PetscInt          row, end;
    PetscCall(CreatePair(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 4, 7, &pair));
    PetscCall(CreatePair(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 7, 17, &wider));
    PetscCall(Product(type, pair, MAT_INITIAL_MATRIX, &C));
    first = pair.A;
    for (Mat A : {wider.A, first}) { // of another pattern, and of that of before
      pair.A = A;
      PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
      PetscCall(CheckProduct(what + " of another pattern", type, pair, C));
    }
    PetscCall(MatGetOwnershipRange(C, &row, &end));
    if (row < end) PetscCall(MatSetValue(C, row, 24, 5, ADD_VALUES)); // products take new entries
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
    PetscCall(CheckProduct(what + " to a result with another entry", type, pair, C));
    PetscCall(MatConvert(first, MATMPIAIJ, MAT_INPLACE_MATRIX, &first));
    PetscCall(MatScale(first, 3));
    Sums sums;
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C)); // PETSc's
    PetscCall(Expected(type, pair.A, pair.B, &sums));
    PetscCall(Check(what + " of a plain operand", C, sums));
    PetscCall(MatConvert(first, MATMPIAIJSPARSEGPU, MAT_INPLACE_MATRIX, &first));
    PetscCall(MatScale(first, -3));
    PetscCall(Product(type, pair, MAT_REUSE_MATRIX, &C));
    sums.clear();
    PetscCall(Expected(type, pair.A, pair.B, &sums));
    PetscCall(Check(what + " of ours again", C, sums));
    PetscCall(MatDestroy(&C));
    PetscCall(Destroy(&pair));
    PetscCall(Destroy(&wider));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Did the product leave the values of A where they were?
PetscErrorCode IsOurs(MatProductType type, const char *algorithm, bool api, bool *ours)
{
  const PetscScalar *arrays[2];
  Numbers            none;
  Pair               pair;
  Mat                C;
  int                away = 0;

  PetscFunctionBeginUser;
  PetscCall(CreatePair(MATMPIAIJSPARSEGPU, type, Layout::Even, 25, 4, 5, &pair));
  PetscCall(HostArrays(pair.A, arrays));
  PetscCall(Multiply(pair.A, &none));
  if (api) {
    PetscCall(Product(type, pair, MAT_INITIAL_MATRIX, &C));
  } else {
    PetscCall(MatProductCreate(pair.A, pair.B, nullptr, &C));
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
  PetscCall(Expected(type, pair.A, pair.B, &sums));
  PetscCall(Check(std::string(MatProductTypes[type]) + " as asked", C, sums));
  PetscCall(MatDestroy(&C));
  PetscCall(Destroy(&pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An algorithm by name, and the host by option, are PETSc's.
PetscErrorCode Asked()
{
  const char *const via[] = {"-matmatmult_via", "-mattransposematmult_via", "-matptap_via"};
  const char *const cpu[] = {"-matmatmult_backend_cpu", "-mattransposematmult_backend_cpu", "-matptap_backend_cpu"};

  PetscFunctionBeginUser;
  for (int t = 0; t < 3; ++t) {
    bool ours[6];
    PetscCall(IsOurs(TYPES[t], nullptr, true, &ours[0]));
    PetscCall(IsOurs(TYPES[t], nullptr, false, &ours[1]));
    PetscCall(IsOurs(TYPES[t], "nonscalable", false, &ours[2]));
    PetscCall(PetscOptionsSetValue(nullptr, via[t], "nonscalable"));
    PetscCall(IsOurs(TYPES[t], nullptr, true, &ours[3]));
    PetscCall(PetscOptionsClearValue(nullptr, via[t]));
    PetscCall(PetscOptionsSetValue(nullptr, cpu[t], nullptr));
    PetscCall(IsOurs(TYPES[t], nullptr, true, &ours[4]));
    PetscCall(PetscOptionsClearValue(nullptr, cpu[t]));
    PetscCall(PetscOptionsSetValue(nullptr, "-mat_product_algorithm", "nonscalable"));
    PetscCall(IsOurs(TYPES[t], nullptr, false, &ours[5]));
    PetscCall(PetscOptionsClearValue(nullptr, "-mat_product_algorithm"));
    for (int k = 0; k < 6; ++k)
      PetscCheck(ours[k] == (k < 2), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, way %d: the product is %s",
                 MatProductTypes[TYPES[t]], k, ours[k] ? "ours" : "PETSc's");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result lives where its operands do, has their settings and their block sizes, is zero between the phases, and is
/// an operand of the next product.
PetscErrorCode Results()
{
  const PetscScalar *arrays[2];
  Pair               pair, next;
  Mat                C, D;
  const char        *format;
  PetscReal          norm;
  PetscInt           rows, cols;

  PetscFunctionBeginUser;
  PetscCall(CreatePair(MATMPIAIJSPARSEGPU, MATPRODUCT_PtAP, Layout::Even, 30, 5, 3, &pair));
  PetscCall(MatSparseGPUSetFormat(pair.A, "sell"));
  PetscCall(MatProductCreate(pair.A, pair.B, nullptr, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
  PetscCheck(norm == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product without values has the norm %g", (double)norm);
  PetscCall(HostArrays(C, arrays));
  PetscCall(MatProductNumeric(C));
  for (const PetscScalar *array : arrays)
    PetscCheck(!array || array[0] == 0.0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values of the product are on the host");
  PetscCall(CheckProduct("C", MATPRODUCT_AB, pair, C));
  PetscCall(MatSparseGPUGetFormat(C, &format));
  PetscCheck(!strcmp(format, "sell"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The format of the product is %s", format);
  PetscCall(MatGetBlockSizes(C, &rows, &cols));
  PetscCheck(rows == 1 && cols == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Block sizes %" PetscInt_FMT ", %" PetscInt_FMT,
             rows, cols);
  next.A = pair.A;
  next.B = C;
  PetscCall(Product(MATPRODUCT_AB, next, MAT_INITIAL_MATRIX, &D));
  PetscCall(CheckProduct("A C", MATPRODUCT_AB, next, D));
  PetscCall(MatScale(pair.B, 2));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatProductNumeric(D));
  PetscCall(CheckProduct("A C again", MATPRODUCT_AB, next, D));
  PetscCall(MatProductClear(C));
  PetscCall(MatScale(C, 2));
  PetscCall(MatProductNumeric(D));
  PetscCall(CheckProduct("A C of another C", MATPRODUCT_AB, next, D));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&C));
  PetscCall(Destroy(&pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"kinds", Kinds}, {"again", Again}, {"changed", Changed}, {"asked", Asked}, {"results", Results}});
}
