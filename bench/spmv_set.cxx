#include "spmv_set.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include "generate.hpp"
#include "load.hpp"
#include "surrogate.hpp"

static const char TWIN[] = "surrogate:";

static const ThesisMatrix *FindSurrogate(const std::string &generator)
{
  if (generator.rfind(TWIN, 0) != 0) return nullptr;
  const auto found = std::find_if(ThesisMatrices.begin(), ThesisMatrices.end(),
                                  [&](const ThesisMatrix &m) { return generator.substr(sizeof(TWIN) - 1) == m.name; });
  return found == ThesisMatrices.end() ? nullptr : &*found;
}

PetscErrorCode ReadSet(const char file[], std::vector<Case> *cases)
{
  std::ifstream in(file);
  std::string   line;

  PetscFunctionBeginUser;
  PetscCheck(in.good(), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", file);
  for (int number = 1; std::getline(in, line); number++) {
    if (number == 1 || line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Case               c;
    long long          size, seed;
    std::string        values, rest;
    PetscCheck(words >> c.kind >> c.generator >> size >> seed >> values && !(words >> rest) && size >= 0 && seed >= 0 &&
                   (values == "full" || values == "natural"),
               PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %d: \"%s\" is not a class, a generator, a size, a seed and full or natural", file, number,
               line.c_str());
    PetscCheck(c.generator.rfind(TWIN, 0) != 0 || FindSurrogate(c.generator), PETSC_COMM_SELF,
               PETSC_ERR_FILE_UNEXPECTED, "%s, line %d: there is no %s", file, number, c.generator.c_str());
    c.size    = static_cast<PetscInt>(size);
    c.seed    = static_cast<PetscInt>(seed);
    c.natural = values == "natural";
    PetscCallCXX(cases->push_back(c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExpectedNonzeros(const Case &c, PetscInt64 *nonzeros)
{
  const ThesisMatrix *surrogate = FindSurrogate(c.generator);

  PetscFunctionBeginUser;
  *nonzeros = !c.file.empty() ? 0 : surrogate ? surrogate->nonzeros : c.size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateCase(const Case &c, Mat *A)
{
  const ThesisMatrix *surrogate = FindSurrogate(c.generator);

  PetscFunctionBeginUser;
  if (!c.file.empty())
    PetscCall(LoadMatrix(PETSC_COMM_SELF, c.file.c_str(), A));
  else if (surrogate)
    PetscCall(CreateSurrogate(PETSC_COMM_SELF, *surrogate, A));
  else
    PetscCall(
        GenerateMatrix(PETSC_COMM_SELF, c.generator.c_str(), c.size, c.natural ? PETSC_TRUE : PETSC_FALSE, A, c.seed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InspectCase(Mat A, CaseFacts *facts)
{
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;
  double          squares = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &facts->rows, &facts->cols));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where));
  facts->nonzeros = facts->rows ? i[facts->rows] : 0;
  facts->mean     = facts->rows ? static_cast<double>(facts->nonzeros) / facts->rows : 0;
  for (PetscInt r = 0; r < facts->rows; r++)
    squares += (i[r + 1] - i[r] - facts->mean) * (i[r + 1] - i[r] - facts->mean);
  facts->deviation = facts->rows ? std::sqrt(squares / facts->rows) : 0;
  facts->csr_bytes = static_cast<double>(facts->nonzeros) * (sizeof(PetscScalar) + sizeof(PetscInt)) +
                     (facts->rows + 1.0) * sizeof(PetscInt) +
                     (static_cast<double>(facts->rows) + facts->cols) * sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

double Correlation(const std::vector<double> &x, const std::vector<double> &y)
{
  const size_t n      = x.size();
  double       mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t k = 0; k < n; k++) {
    mean_x += x[k] / n;
    mean_y += y[k] / n;
  }
  for (size_t k = 0; k < n; k++) {
    xx += (x[k] - mean_x) * (x[k] - mean_x);
    yy += (y[k] - mean_y) * (y[k] - mean_y);
    xy += (x[k] - mean_x) * (y[k] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}
