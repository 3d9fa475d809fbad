/// Random sequences of operations on a pair of matrices, one of ours and one of PETSc's AIJ, in lock-step.
///
/// A sequence is a list of items, each an operation or a check. What item k does is a function of the sequence's seed
/// and of k, of the rows of the plain matrix when it runs, and of the number of ranks: items can be left out, and the
/// others stay what they are. An item draws the same numbers on every rank and for both matrices.
#pragma once

#include "../../family.hpp"
#include "../../device_array.hpp"

namespace sequences
{

using conformance::Entry;
using conformance::Problem;

/// splitmix64 (Steele et al. 2014) as a stream.
class Draw
{
public:
  Draw(unsigned long long seed, unsigned long long stream) : state_(seed * 0xd1342543de82ef95ull + stream) { Next(); }
  unsigned long long Next()
  {
    unsigned long long h = (state_ += 0x9e3779b97f4a7c15ull);
    h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h                    = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
  }
  PetscInt Below(PetscInt n) { return (PetscInt)((Next() >> 16) % (unsigned long long)(n > 0 ? n : 1)); }
  bool     OneIn(PetscInt n) { return Below(n) == 0; }
  /// A multiple of 1/256 of magnitude below 4 and not 0: sums of a few have no rounding error, in any order.
  PetscScalar Value()
  {
    const auto part = [this] { return (PetscReal)(1 + Below(1023)) / 256 * (OneIn(2) ? 1 : -1); };
#if defined(PETSC_USE_COMPLEX)
    const PetscReal re = part(), im = part();
    return PetscCMPLX(re, im);
#else
    return part();
#endif
  }
  /// A power of two or its negative: products with it have no rounding error.
  PetscScalar Power()
  {
    static const double powers[] = {0.5, 2, -1, -0.5, -2, 0.25, 4};
    return (PetscReal)powers[Below(7)];
  }
  template <class T> const T &One(const std::vector<T> &of)
  {
    return of[(size_t)Below((PetscInt)of.size())];
  }

private:
  unsigned long long state_;
};

enum Slot {
  MAIN,       ///< the matrix that operations are applied to
  SECOND,     ///< a copy, a conversion or a sum
  SUB,        ///< a submatrix of MAIN
  TRANSPOSED, ///< its transpose
  PRODUCT,    ///< a product with it
  SERIAL,     ///< one of MatCreateSubMatrices(), of one process
  SLOTS
};
inline const char *Name(int slot)
{
  static const char *const names[] = {"the matrix",    "the second matrix", "the submatrix",
                                      "the transpose", "the product",       "the rank's submatrix"};
  return names[slot];
}

/// One of the two worlds. Both go through the same values of all but `ours` and the matrices.
struct Side {
  bool           ours;
  std::string    type;                  ///< of its matrices
  Mat            slot[SLOTS] = {};      ///< null where there is none
  Mat           *serial      = nullptr; ///< the array whose first matrix is in slot SERIAL
  IS             sub_rows = nullptr, sub_cols = nullptr;
  long           version           = 0;                        ///< of MAIN's pattern and identity
  long           link[SLOTS]       = {-1, -1, -1, -1, -1, -1}; ///< the version that the slot was made of
  long           stored            = -1; ///< the version that MatStoreValues() saw; -1: there was none, -2: unknown
  long           coo               = -1; ///< the version that MatSetPreallocationCOO() saw
  long           preallocated      = -1; ///< the version whose rows were preallocated exactly
  size_t         coo_entries       = 0;
  PetscReal      product_error     = 0;                      ///< by which entries of PRODUCT may differ
  MatProductType product_type      = MATPRODUCT_UNSPECIFIED; ///< asked for: PETSc renames what it does in two steps
  bool           coo_arrays[SLOTS] = {};    ///< a matrix whose arrays were made by MatSetPreallocationCOO()
  bool           shared            = false; ///< SECOND has MAIN's pattern arrays
};

/// What the plain MAIN is like: the same on every rank.
struct Facts {
  Problem                            p;
  std::vector<std::vector<PetscInt>> row;            ///< [p.rows] columns
  std::vector<PetscInt>              row_of, col_of; ///< [ranks + 1] first row and column of each rank
  PetscMPIInt                        rank, size;
  PetscInt                           block   = 1;
  bool                               blocked = false; ///< has a block size of rows or columns above 1
  bool                               congruent;       ///< square, rows and columns laid out alike
  bool                               full_diagonal;   ///< congruent, and every diagonal entry is stored
  bool                               tame;            ///< finite, neither huge nor large
  bool                               old_ghosts;      ///< a rank's off-diagonal block has a column without an entry

  PetscMPIInt Owner(PetscInt i) const
  {
    return (PetscMPIInt)(std::upper_bound(row_of.begin(), row_of.end(), i) - row_of.begin()) - 1;
  }
  bool     Owns(PetscInt i) const { return i >= row_of[rank] && i < row_of[rank + 1]; }
  PetscInt LocalRows() const { return row_of[rank + 1] - row_of[rank]; }
  PetscInt LocalCols() const { return col_of[rank + 1] - col_of[rank]; }
};

/// May MAIN get new nonzeros? PETSC 3.18 frees what it must not where parallel arrays were made from coordinates.
inline bool CanGrow(const Side &plain, const Facts &f)
{
  return !PETSC_VERSION_LT(3, 20, 0) || f.size == 1 || !plain.coo_arrays[MAIN];
}

struct Operation {
  const char *name;
  PetscInt    weight;
  bool        pattern; ///< may change MAIN's pattern or identity
  bool (*fits)(const Side &plain, const Facts &f);
  PetscErrorCode (*run)(Side &s, const Facts &f, Draw d, std::string *words);
};
const std::vector<Operation> &ValueOperations();    ///< values.cxx
const std::vector<Operation> &PatternOperations();  ///< patterns.cxx
const std::vector<Operation> &IdentityOperations(); ///< identities.cxx
const std::vector<Operation> &DerivedOperations();  ///< derived.cxx

// zeroed.cxx: operations of ValueOperations()
PetscErrorCode ZeroRows(Side &s, const Facts &f, Draw d, std::string *words);
PetscErrorCode ZeroRowsColumns(Side &s, const Facts &f, Draw d, std::string *words);
PetscErrorCode ZeroEntries(Side &s, const Facts &, Draw, std::string *words);

// create.cxx
PetscErrorCode GetFacts(Mat plain, Facts *f);
/// A matrix of m x n local entries. Collective on PETSC_COMM_WORLD.
PetscErrorCode Create(const char type[], PetscInt m, PetscInt n, PetscInt block, const Problem &p, Mat *A);
/// Entries of a drawn kind (stencil, bands, random, a dense row, empty rows, blocks), each place once; `of` names it.
Problem DrawProblem(Draw &d, PetscInt rows, PetscInt cols, PetscInt block);
/// A new MAIN, of a drawn size and layout; everything else of the side is destroyed.
PetscErrorCode Start(Side &s, Draw d, std::string *words);
PetscErrorCode DestroyAll(Side &s);
PetscErrorCode Replace(Side &s, Slot slot, Mat by); ///< destroys what was there
PetscErrorCode SetEntries(Mat A, const Problem &p);
PetscErrorCode AllowNewNonzeros(Mat A);
/// Is A of one of our types?
PetscErrorCode IsOurs(Mat A, PetscBool *ours);
/// The blocks of A, or A itself; blocks[1] null where there is one only.
PetscErrorCode Blocks(Mat A, Mat blocks[2]);
PetscErrorCode Multiply(Mat A, PetscInt times); ///< products with unused results, then a transposed one
/// The type of a second operand: MAIN's, or plain AIJ.
inline const char *OtherType(const Side &s, Draw &d)
{
  return d.OneIn(3) ? MATAIJ : s.type.c_str();
}
/// A vector that fits A's rows (or columns) with drawn values.
PetscErrorCode DrawVector(Mat A, bool rows, bool powers, Draw &d, Vec *v);
PetscErrorCode LeftOut(const char name[], bool *out); ///< is the operation, or "solve", among those of -without?
bool           OnDevice(Draw &d);                     ///< is the next array or vector to be a device's, by -vectors?

// check.cxx
/// Compares products, diagonal, rows and a solve, as drawn (`all`: everything but the solve), of the same slot of both
/// sides. *fault says what is wrong on the calling process, if anything; an error code is one of ours.
PetscErrorCode Check(Side &plain, Side &ours, int slot, bool all, Draw d, std::string *words, std::string *fault);
// solve.cxx
PetscErrorCode CheckSolve(Mat plain, Mat ours, const Problem &p, Draw &d, std::string *words, std::string *fault);

/// The messages of the call that is running, for who has to tell that it does not end.
inline const std::string *&LastMessage()
{
  static const std::string *last = nullptr;
  return last;
}
/// Calls `call` without PETSc's messages; *message gets them. The code is the largest of all ranks.
template <class Call> PetscErrorCode Quietly(Call call, std::string *message, int *code)
{
  int mine;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(testing::CollectMessage, message));
  LastMessage() = message;
  mine          = (int)call();
  PetscCall(PetscPopErrorHandler());
  PetscCallMPI(MPI_Allreduce(&mine, code, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  LastMessage() = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
