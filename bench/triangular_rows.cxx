#include <algorithm>
#include <cmath>
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
  PetscInt colours;
  PetscCallAbort(PETSC_COMM_SELF, sparsegpu::BlockMulticolour(A.rows, i.data(), j.data(), block, &order, &colours));
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
  const size_t      colon = full_name.find(':');
  const std::string name  = full_name.substr(0, colon);
  HostRows          A;
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
  Mat             M;
  PetscInt        rows, cols;
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;
  PetscCallAbort(PETSC_COMM_SELF, LoadMatrix(PETSC_COMM_SELF, file.c_str(), &M));
  PetscCallAbort(PETSC_COMM_SELF, MatGetSize(M, &rows, &cols));
  if (rows == cols) {
    PetscCallAbort(PETSC_COMM_SELF, MatSeqAIJGetCSRAndMemType(M, &i, &j, &a, &where));
    A = Tamed(rows, i, j, a);
  }
  PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&M));
  A.name = file.substr(file.find_last_of('/') + 1);
  return A;
}

void EachRows(void (*call)(const HostRows &, void *), void *argument)
{
  PetscInt nonzeros = 5000000;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetInt(nullptr, nullptr, "-gen_size", &nonzeros, nullptr));
  for (const char *option : {"-gen", "-f"}) {
    char    *names[64];
    PetscInt count = 64;
    PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetStringArray(nullptr, nullptr, option, names, &count, nullptr));
    for (PetscInt k = 0; k < count; k++) {
      const HostRows A = option[1] == 'g' ? MakeRows(names[k], static_cast<int>(nonzeros)) : ReadRows(names[k]);
      if (A.rows > 0)
        call(A, argument);
      else
        PetscCallAbort(PETSC_COMM_SELF,
                       PetscPrintf(PETSC_COMM_SELF, "{\"matrix\":\"%s\",\"refused\":\"not square\"}\n", names[k]));
      PetscCallAbort(PETSC_COMM_SELF, PetscFree(names[k]));
    }
  }
}
#endif
