#include "petsc_binary.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace
{
/// How the values of a file are stored.
struct Layout {
  int  real; ///< bytes of a value, or of each of its two parts: 4 or 8
  bool complex;
  int  Bytes() const { return complex ? 2 * real : real; }
};

uint64_t BigEndian(const char *p, int size)
{
  uint64_t v = 0;
  for (int k = 0; k < size; k++) v = v << 8 | static_cast<unsigned char>(p[k]);
  return v;
}

long long Integer(const char *p, int size)
{
  return size == 4 ? static_cast<int32_t>(BigEndian(p, 4)) : static_cast<int64_t>(BigEndian(p, 8));
}

double Real(const char *p, int size)
{
  const uint64_t bits   = BigEndian(p, size);
  const uint32_t bits32 = static_cast<uint32_t>(bits);
  float          single;
  double         both;
  if (size == 4) {
    memcpy(&single, &bits32, sizeof(single));
    return single;
  }
  memcpy(&both, &bits, sizeof(both));
  return both;
}

/// The bytes of an integer, 0 if `bytes` is no matrix.
int IntegerSize(const std::string &bytes)
{
  if (bytes.size() >= 16 && Integer(bytes.data(), 4) == MAT_FILE_CLASSID) return 4;
  if (bytes.size() >= 32 && Integer(bytes.data(), 8) == MAT_FILE_CLASSID) return 8;
  return 0;
}

/// The sizes that a file begins with; `entries` is -1 for a dense matrix.
struct Sizes {
  long long rows, cols, entries, values;
};

PetscErrorCode ReadSizes(const char file[], const std::string &bytes, int integer, Sizes *size)
{
  const long long   total = static_cast<long long>(bytes.size()), room = total / 4; // no value is shorter than 4 bytes
  const char *const name[] = {"number of rows", "number of columns", "number of nonzeros"};
  long long         number[3];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    number[k] = Integer(bytes.data() + (k + 1) * integer, integer);
    PetscCheck(number[k] >= (k == 2 ? -1 : 0) && number[k] <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s, byte %d: %s %lld is out of range %d ... %lld", file, (k + 1) * integer, name[k], number[k],
               k == 2 ? -1 : 0, static_cast<long long>(PETSC_MAX_INT));
  }
  *size            = {number[0], number[1], number[2], number[2]};
  const bool dense = size->entries < 0;
  PetscCheck(dense || (size->rows <= room && size->entries <= room), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, byte %d: %lld rows with %lld nonzeros cannot be in a file of %lld bytes", file, integer, size->rows,
             size->entries, total);
  PetscCheck(!dense || size->rows == 0 || size->cols <= room / size->rows, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, byte %d: %lld x %lld dense values cannot be in a file of %lld bytes", file, integer, size->rows,
             size->cols, total);
  // As in the text format: a row or column costs memory even where it is empty, as all rows of a dense matrix may be.
  PetscCheck(PetscMax(size->rows, size->cols) <= 1000000 + 1000 * total, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, byte %d: %lld x %lld cannot be the sizes of a matrix in a file of %lld bytes", file, integer,
             size->rows, size->cols, total);
  if (dense) size->values = size->rows * size->cols;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds how the values are stored, which begin at byte `offset`: the file ends with them, or another PETSc object
/// follows. What this PETSc itself writes is tried first; 8 bytes are otherwise real, so complex values of single
/// precision are recognised by a PETSc of that kind alone.
PetscErrorCode FindLayout(const char file[], const std::string &bytes, int integer, long long offset, long long values,
                          Layout *layout)
{
  constexpr Layout native       = {sizeof(PetscReal), sizeof(PetscScalar) != sizeof(PetscReal)},
                   candidates[] = {native, {8, false}, {4, false}, {8, true}};
  const long long size          = static_cast<long long>(bytes.size());

  PetscFunctionBeginUser;
  for (const bool last : {true, false}) {
    for (const Layout &candidate : candidates) {
      const long long end = offset + values * candidate.Bytes();
      const long long id  = end + integer <= size ? Integer(bytes.data() + end, integer) : 0;
      // Class identifiers of PETSc's files are close together.
      const bool followed = id > MAT_FILE_CLASSID - 32 && id < MAT_FILE_CLASSID + 32;
      if (last ? end == size : followed) {
        *layout = candidate;
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
          "%s, byte %lld: %lld values of 4, 8 or 16 bytes should follow, but %lld bytes do", file, offset, values,
          size - offset);
}

/// Reads the row lengths, or makes those of a dense matrix, and checks that their sum is the number of values.
PetscErrorCode ReadStarts(const char file[], const char *p, int integer, const Sizes &size, Rows *rows)
{
  long long sum = 0;

  PetscFunctionBeginUser;
  PetscCallCXX(rows->start.assign(size.rows + 1, 0));
  for (long long r = 0; r < size.rows; r++) {
    const int       byte   = static_cast<int>(4 * integer);
    const long long length = size.entries < 0 ? size.cols : Integer(p + r * integer, integer);
    PetscCheck(length >= 0 && length <= size.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s, byte %lld: length %lld of row %lld is out of range 0 ... %lld", file, byte + r * integer, length, r,
               size.cols);
    sum += length;
    PetscCheck(sum <= size.values, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, byte %lld: the rows up to %lld have %lld nonzeros, the whole matrix %lld", file, byte + r * integer,
               r, sum, size.values);
    rows->start[r + 1] = static_cast<PetscInt>(sum);
  }
  PetscCheck(sum == size.values, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, byte %d: number of nonzeros %lld is not the sum %lld of the row lengths", file, 3 * integer,
             size.values, sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

bool IsPetscBinary(const std::string &bytes)
{
  return IntegerSize(bytes) != 0;
}

PetscErrorCode ReadPetscBinary(const char file[], const std::string &bytes, Rows *rows)
{
  const int integer = IntegerSize(bytes);
  Sizes     size;
  Layout    layout;

  PetscFunctionBeginUser;
  PetscCheck(integer, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, byte 0: not a matrix in PETSc's binary format",
             file);
  PetscCall(ReadSizes(file, bytes, integer, &size));
  const bool      dense   = size.entries < 0;
  const long long columns = (4 + (dense ? 0 : size.rows)) * integer,
                  values  = columns + (dense ? 0 : size.entries) * integer;
  PetscCheck(values <= static_cast<long long>(bytes.size()), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: %lld rows with %lld nonzeros need more than the file's %zu bytes: cut short", file, size.rows,
             size.entries, bytes.size());
  PetscCall(FindLayout(file, bytes, integer, values, size.values, &layout));
#if !defined(PETSC_USE_COMPLEX)
  PetscCheck(
      !layout.complex, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "%s, byte %lld: values of 16 bytes, which are complex, need a PETSc with complex scalars; this one's are real",
      file, values);
#endif
  rows->rows = static_cast<PetscInt>(size.rows);
  rows->cols = static_cast<PetscInt>(size.cols);
  PetscCall(ReadStarts(file, bytes.data() + 4 * integer, integer, size, rows));
  PetscCallCXX(rows->column.resize(size.values));
  PetscCallCXX(rows->value.resize(size.values));
  for (long long e = 0; e < size.values; e++) {
    const long long column = dense ? e % size.cols : Integer(bytes.data() + columns + e * integer, integer),
                    at     = values + e * layout.Bytes();
    const double real      = Real(bytes.data() + at, layout.real),
                 imaginary = layout.complex ? Real(bytes.data() + at + layout.real, layout.real) : 0;
    PetscCheck(column >= 0 && column < size.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s, byte %lld: column %lld is out of range 0 ... %lld", file, columns + e * integer, column,
               size.cols - 1);
    PetscCheck(std::isfinite(static_cast<PetscReal>(real)) && std::isfinite(static_cast<PetscReal>(imaginary)),
               PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s, byte %lld: value %g %+gi is not a finite number of %zu bytes", file, at, real, imaginary,
               sizeof(PetscReal));
    rows->column[e] = static_cast<PetscInt>(column);
#if defined(PETSC_USE_COMPLEX)
    rows->value[e] = PetscScalar(static_cast<PetscReal>(real), static_cast<PetscReal>(imaginary));
#else
    rows->value[e] = static_cast<PetscScalar>(real);
#endif
  }
  PetscCall(SortRows(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
