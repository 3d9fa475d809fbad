#include "matrix_market.hpp"

#include <cctype>
#include <limits>

#include "text_cursor.hpp"

namespace
{
enum class Symmetry {
  General,
  Symmetric,
  Skew,
  Hermitian
};

struct Header {
  bool     array, pattern, integer, complex;
  Symmetry symmetry;
};

struct Sizes {
  long long rows, cols, entries; ///< entries: of the file, one triangle where it is symmetric
};

struct Triples {
  std::vector<PetscInt>    i, j; ///< from 0
  std::vector<PetscScalar> a;
};

/// Reads one word of the header, any case, and finds it among `allowed`, ended by a null pointer.
PetscErrorCode ReadKeyword(Cursor *c, const char what[], const char *const allowed[], int *which)
{
  std::string word, list;

  PetscFunctionBeginUser;
  c->SkipBlanks();
  PetscCallCXX(word.assign(c->at, c->WordEnd()));
  for (char &letter : word) letter = static_cast<char>(tolower(static_cast<unsigned char>(letter)));
  for (*which = 0; allowed[*which]; ++*which) {
    if (word == allowed[*which]) {
      c->at = c->WordEnd();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallCXX(list += std::string(*which ? ", " : "") + allowed[*which]);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
          "%s, line %lld: %s \"%s\" of the MatrixMarket header is none of: %s", c->file, c->line, what,
          c->Word().c_str(), list.c_str());
}

PetscErrorCode ReadHeader(Cursor *c, Header *header)
{
  static const char *const banners[] = {"%%matrixmarket", nullptr};
  static const char *const objects[] = {"matrix", nullptr};
  static const char *const formats[] = {"coordinate", "array", nullptr};
  static const char *const fields[]  = {"real", "double", "complex", "pattern", "integer", "unsigned-integer", nullptr};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", nullptr};
  int                      which, field;

  PetscFunctionBeginUser;
  PetscCall(ReadKeyword(c, "banner", banners, &which));
  PetscCall(ReadKeyword(c, "object", objects, &which));
  PetscCall(ReadKeyword(c, "format", formats, &which));
  header->array = which == 1;
  PetscCall(ReadKeyword(c, "field", fields, &field));
  header->complex = field == 2;
  header->pattern = field == 3;
  header->integer = field >= 4;
  PetscCall(ReadKeyword(c, "symmetry", symmetries, &which));
  header->symmetry = static_cast<Symmetry>(which);
  PetscCall(c->ExpectLineEnd());
  PetscCheck(!header->array || !header->pattern, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: format \"array\" with field \"pattern\" says nothing", c->file, c->line);
#if !defined(PETSC_USE_COMPLEX)
  PetscCheck(!header->complex, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s, line %lld: field \"complex\" needs a PETSc with complex scalars; this one's are real", c->file,
             c->line);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reads the line of sizes. Nothing is allocated before the rest of the text is known to be long enough.
PetscErrorCode ReadSizes(Cursor *c, const Header &header, Sizes *size)
{
  // The shortest entries are "1 1\n", "1 1 0\n", "1 1 0 0\n" and, in an array, "0\n" and "0 0\n"; the last may lack its
  // "\n".
  const int  shortest = (header.array ? 0 : 4) + (header.pattern ? 0 : 2) + (header.complex ? 2 : 0);
  const bool general  = header.symmetry == Symmetry::General;

  PetscFunctionBeginUser;
  c->NextLine();
  PetscCheck(c->at < c->end, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: the file ends before its sizes", c->file, c->line);
  // one row less than a PetscInt can count: compressed rows have as many beginnings, and an end
  PetscCall(c->ReadInteger("number of rows", 0, PETSC_MAX_INT - 1, &size->rows));
  PetscCall(c->ReadInteger("number of columns", 0, PETSC_MAX_INT, &size->cols));
  PetscCheck(general || size->rows == size->cols, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: a symmetric matrix cannot be %lld x %lld", c->file, c->line, size->rows, size->cols);
  if (!header.array) {
    PetscCall(c->ReadInteger("number of entries", 0, PETSC_MAX_INT, &size->entries));
  } else if (size->rows > 0 && size->cols > std::numeric_limits<long long>::max() / 2 / size->rows) {
    size->entries = std::numeric_limits<long long>::max(); // more than any file holds: refused below
  } else {
    size->entries = size->rows * size->cols;
    if (!general) size->entries = (size->entries + (header.symmetry == Symmetry::Skew ? -1 : 1) * size->rows) / 2;
  }
  PetscCall(c->ExpectLineEnd());
  const long long left = c->end - c->at;
  PetscCheck(size->entries <= left / shortest + 1, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: %lld entries cannot be in the %lld bytes that follow", c->file, c->line, size->entries,
             left);
  // Rows cost memory even where they are empty. A thousand of them for every byte is a damaged number, not a matrix.
  PetscCheck(PetscMax(size->rows, size->cols) <= 1000000 + 1000 * left, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: %lld x %lld cannot be the sizes of a matrix in the %lld bytes that follow", c->file,
             c->line, size->rows, size->cols, left);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadScalar(Cursor *c, const Header &header, PetscScalar *value)
{
  PetscReal part[2] = {1, 0}; // of a pattern

  PetscFunctionBeginUser;
  if (!header.pattern) PetscCall(c->ReadReal(header.integer, &part[0]));
  if (header.complex) PetscCall(c->ReadReal(false, &part[1]));
  PetscCall(c->ExpectLineEnd());
#if defined(PETSC_USE_COMPLEX)
  *value = PetscScalar(part[0], part[1]);
#else
  *value = part[0];
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Appends an entry and, where the file holds one triangle, its mirror image.
PetscErrorCode Append(const Header &header, long long i, long long j, PetscScalar a, Triples *t)
{
  PetscFunctionBeginUser;
  PetscCallCXX(t->i.push_back(static_cast<PetscInt>(i)));
  PetscCallCXX(t->j.push_back(static_cast<PetscInt>(j)));
  PetscCallCXX(t->a.push_back(a));
  if (header.symmetry == Symmetry::General || i == j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(t->i.push_back(static_cast<PetscInt>(j)));
  PetscCallCXX(t->j.push_back(static_cast<PetscInt>(i)));
  const PetscScalar mirrored = header.symmetry == Symmetry::Skew ? -a : PetscConj(a);
  PetscCallCXX(t->a.push_back(header.symmetry == Symmetry::Symmetric ? a : mirrored));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NextEntry(Cursor *c, long long done, long long entries)
{
  PetscFunctionBeginUser;
  c->NextLine();
  PetscCheck(c->at < c->end, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: the file ends after %lld of %lld entries", c->file, c->line, done, entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadCoordinates(Cursor *c, const Header &header, const Sizes &size, Triples *t)
{
  int side = 0; // of the diagonal on which a symmetric file's entries lie: -1 below, 1 above, 0 not known yet

  PetscFunctionBeginUser;
  for (long long e = 0; e < size.entries; e++) {
    long long   i, j;
    PetscScalar a = 0;
    PetscCall(NextEntry(c, e, size.entries));
    PetscCall(c->ReadInteger("row", 1, size.rows, &i));
    PetscCall(c->ReadInteger("column", 1, size.cols, &j));
    PetscCall(ReadScalar(c, header, &a));
    if (header.symmetry != Symmetry::General) {
      const int here = (j > i) - (j < i);
      // The format asks for the lower triangle; some writers give the upper one; both would count every entry twice.
      PetscCheck(
          here * side >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
          "%s, line %lld: (%lld, %lld) is in the other triangle than the entries before; symmetric files hold one",
          c->file, c->line, i, j);
      if (here) side = here;
      PetscCheck(here || header.symmetry != Symmetry::Skew || a == PetscScalar(0), PETSC_COMM_SELF,
                 PETSC_ERR_FILE_UNEXPECTED,
                 "%s, line %lld: (%lld, %lld) is on the diagonal, which is zero in a skew-symmetric matrix", c->file,
                 c->line, i, j);
    }
    PetscCall(Append(header, i - 1, j - 1, a, t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadArray(Cursor *c, const Header &header, const Sizes &size, Triples *t)
{
  long long done = 0;

  PetscFunctionBeginUser;
  for (long long j = 0; j < size.cols; j++) {
    const long long first = header.symmetry == Symmetry::General ? 0 : j + (header.symmetry == Symmetry::Skew);
    for (long long i = first; i < size.rows; i++) {
      PetscScalar a = 0;
      PetscCall(NextEntry(c, done++, size.entries));
      PetscCall(ReadScalar(c, header, &a));
      if (a != PetscScalar(0)) PetscCall(Append(header, i, j, a, t));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sorts by row, keeping the order of the file within a row; O(rows + entries).
PetscErrorCode Compress(const Triples &t, Rows *rows)
{
  std::vector<PetscInt> next;

  PetscFunctionBeginUser;
  PetscCallCXX(rows->start.assign(rows->rows + 1, 0));
  PetscCallCXX(rows->column.resize(t.j.size()));
  PetscCallCXX(rows->value.resize(t.j.size()));
  for (const PetscInt i : t.i) rows->start[i + 1]++;
  for (PetscInt r = 0; r < rows->rows; r++) rows->start[r + 1] += rows->start[r];
  PetscCallCXX(next.assign(rows->start.begin(), rows->start.end() - 1));
  for (size_t e = 0; e < t.i.size(); e++) {
    const PetscInt at = next[t.i[e]]++;
    rows->column[at]  = t.j[e];
    rows->value[at]   = t.a[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ReadMatrixMarket(const char file[], const std::string &text, Rows *rows)
{
  Cursor  c(file, text);
  Header  header;
  Sizes   size;
  Triples t;

  PetscFunctionBeginUser;
  PetscCall(ReadHeader(&c, &header));
  PetscCall(ReadSizes(&c, header, &size));
  PetscCall(header.array ? ReadArray(&c, header, size, &t) : ReadCoordinates(&c, header, size, &t));
  c.NextLine();
  PetscCheck(c.at == c.end, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: \"%s\" follows the last of the %lld entries that the header promises", file, c.line,
             c.Word().c_str(), size.entries);
  PetscCheck(t.i.size() <= static_cast<size_t>(PETSC_MAX_INT), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s: %zu nonzeros need a PETSc with 64-bit integers", file, t.i.size());
  rows->rows = static_cast<PetscInt>(size.rows);
  rows->cols = static_cast<PetscInt>(size.cols);
  PetscCall(Compress(t, rows));
  PetscCall(SortRows(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
