#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include "generate.hpp"
#include "load.hpp"
#include "pc/ordering/abmc.hpp"
#include "petsc/compat.hpp"
#include "triangular.hpp"

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
static HostRows Chain(int rows)
{
  HostRows A;
  A.rows = rows;
  A.i    = {0};
  for (int r = 0; r < rows; r++) {
    for (int c = std::max(r - 1, 0); c <= std::min(r + 1, rows - 1); c++) {
      A.j.push_back(c);
      A.a.push_back(c == r ? 4 : -1 + 0.1 * std::sin(1.0 * r));
    }
    A.i.push_back(static_cast<int>(A.j.size()));
  }
  return A;
}

/// Sorted rows, with a diagonal that dominates.
static HostRows Tamed(int rows, const PetscInt *i, const PetscInt *j, const PetscScalar *a)
{
  HostRows                            A;
  std::vector<std::pair<int, double>> row;
  A.rows = rows;
  A.i    = {0};
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    row.clear();
    for (PetscInt e = i[r]; e < i[r + 1]; e++)
      if (j[e] != r) {
        row.push_back({static_cast<int>(j[e]), a[e]});
        sum += std::fabs(a[e]);
      }
    row.push_back({r, 1.05 * sum + 1e-3});
    std::sort(row.begin(), row.end());
    for (const auto &entry : row) {
      A.j.push_back(entry.first);
      A.a.push_back(entry.second);
    }
    A.i.push_back(static_cast<int>(A.j.size()));
  }
  return A;
}

static HostRows Permuted(const HostRows &A, int block)
{
  // the graph with both directions of each edge
  std::vector<PetscInt> i(A.rows + 1, 0), j, order, step(A.rows);
  for (int r = 0; r < A.rows; r++)
    for (int e = A.i[r]; e < A.i[r + 1]; e++) {
      i[r + 1]++;
      i[A.j[e] + 1]++;
    }
  for (int r = 0; r < A.rows; r++) i[r + 1] += i[r];
  std::vector<PetscInt> next(i.begin(), i.end() - 1);
  j.resize(i[A.rows]);
  for (int r = 0; r < A.rows; r++)
    for (int e = A.i[r]; e < A.i[r + 1]; e++) {
      j[next[r]++]      = A.j[e];
      j[next[A.j[e]]++] = r;
    }
  const sparsegpu::ordering::RowPattern pattern{sparsegpu::Space::Host, A.rows, i[A.rows], i.data(), j.data()};
  sparsegpu::ordering::BlockColours     colours;
  order.resize(A.rows);
  PetscCallAbort(PETSC_COMM_SELF, sparsegpu::ordering::BlockMulticolour(pattern, block, order.data(), &colours));
  for (int r = 0; r < A.rows; r++) step[order[r]] = r;
  HostRows                            B;
  std::vector<std::pair<int, double>> row;
  B.rows = A.rows;
  B.i    = {0};
  for (int r = 0; r < A.rows; r++) {
    row.clear();
    for (int e = A.i[order[r]]; e < A.i[order[r] + 1]; e++) row.push_back({static_cast<int>(step[A.j[e]]), A.a[e]});
    std::sort(row.begin(), row.end());
    for (const auto &entry : row) {
      B.j.push_back(entry.first);
      B.a.push_back(entry.second);
    }
    B.i.push_back(static_cast<int>(B.j.size()));
  }
  return B;
}

HostRows MakeRows(const std::string &full_name, int nonzeros)
{
  const size_t      colon = full_name.find(':'), at = full_name.find('@');
  const std::string name = full_name.substr(0, std::min(colon, at));
  HostRows          A;
  if (at != std::string::npos) nonzeros = std::stoi(full_name.substr(at + 1));
  if (name == "chain") {
    A = Chain(nonzeros / 3);
  } else {
    Mat             M;
    PetscInt        rows;
    const PetscInt *i, *j;
    PetscScalar    *a;
    PetscMemType    where;
    PetscCallAbort(PETSC_COMM_SELF, GenerateMatrix(PETSC_COMM_SELF, name.c_str(), nonzeros, PETSC_FALSE, &M));
    PetscCallAbort(PETSC_COMM_SELF, MatGetSize(M, &rows, nullptr));
    PetscCallAbort(PETSC_COMM_SELF, MatSeqAIJGetCSRAndMemType(M, &i, &j, &a, &where));
    A = Tamed(rows, i, j, a);
    PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&M));
  }
  if (colon != std::string::npos) {
    const std::string block = full_name.substr(colon + 1 + 4); // abmcN
    A                       = Permuted(A, block.empty() ? 256 : std::stoi(block));
  }
  A.name = full_name;
  return A;
}

HostRows ReadRows(const std::string &file)
{
  HostRows        A;
  Mat             M = nullptr;
  PetscInt        rows, cols;
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;
  A.name = file.substr(file.find_last_of('/') + 1);
  PetscCallAbort(PETSC_COMM_SELF, PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  const PetscErrorCode error = LoadMatrix(PETSC_COMM_SELF, file.c_str(), &M);
  PetscCallAbort(PETSC_COMM_SELF, PetscPopErrorHandler());
  if (error) return A;
  PetscCallAbort(PETSC_COMM_SELF, MatGetSize(M, &rows, &cols));
  if (rows == cols) {
    PetscCallAbort(PETSC_COMM_SELF, MatSeqAIJGetCSRAndMemType(M, &i, &j, &a, &where));
    const std::string name = A.name;
    A                      = Tamed(rows, i, j, a);
    A.name                 = name;
  }
  PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&M));
  return A;
}

namespace
{
struct Source {
  std::string name;
  bool        generated;
};
/// One of each kind of parallelism, in two orders where the order decides; those of many nonzeros last.
const char *const DEFAULTS[] = {"stencil7@27136",
                                "chain@196608",
                                "stencil5@4996000",
                                "stencil5@4996000:abmc1024",
                                "circuit@8273138",
                                "rmat@16100000",
                                "random@17100471",
                                "stencil7@28518400",
                                "stencil7@28518400:abmc512",
                                "elasticity@25769592",
                                "stencil27@45882712",
                                "stencil27@45882712:abmc64"};

std::vector<Source> Sources()
{
  std::vector<Source> sources;
  bool                any = false;
  for (const char *option : {"-gen", "-f"}) {
    char     *names[128];
    PetscInt  count = 128;
    PetscBool given;
    PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetStringArray(nullptr, nullptr, option, names, &count, &given));
    any = any || given;
    for (PetscInt k = 0; given && k < count; k++) {
      sources.push_back({names[k], option[1] == 'g'});
      PetscCallAbort(PETSC_COMM_SELF, PetscFree(names[k]));
    }
  }
  if (!any)
    for (const char *name : DEFAULTS) sources.push_back({name, true});
  return sources;
}
} // namespace

void EachRows(void (*call)(const HostRows &, void *), void *argument)
{
  PetscInt  nonzeros = 5000000;
  PetscReal seconds  = PETSC_MAX_REAL;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetInt(nullptr, nullptr, "-gen_size", &nonzeros, nullptr));
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetReal(nullptr, nullptr, "-seconds", &seconds, nullptr));
  const auto begin = std::chrono::steady_clock::now();
  for (const Source &source : Sources()) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    JsonLine     line;
    if (spent > seconds) {
      line.Add("\"matrix\":\"%s\",\"left_out\":\"after %.0f s\"", source.name.c_str(), spent);
      line.Print();
      continue;
    }
    const HostRows A = source.generated ? MakeRows(source.name, static_cast<int>(nonzeros)) : ReadRows(source.name);
    if (A.rows > 0) {
      call(A, argument);
      continue;
    }
    line.Add("\"matrix\":\"%s\",\"refused\":\"not square, or not to be read\"", A.name.c_str());
    line.Print();
  }
}

void JsonLine::Add(const char *format, ...)
{
  char    piece[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(piece, sizeof(piece), format, arguments);
  va_end(arguments);
  text_ += (text_.empty() ? "" : ",") + std::string(piece);
}

void JsonLine::Print()
{
  printf("{%s}\n", text_.c_str());
  fflush(stdout);
}
#endif

#if !defined(SPARSEGPU_HAVE_CUDA)
double WallSeconds(void (*call)(void *), void *argument)
{
  const auto begin = std::chrono::steady_clock::now();
  call(argument);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
#endif
