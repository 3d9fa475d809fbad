static const char help[] = "A matrix takes its pattern from arrays of the device.\n\n";

#include "away.hpp"
#include "device/device.hpp"
#include "mat/face/context.hpp"
#include "mat/face/pattern.hpp"

using namespace testing;

namespace
{
/// The pattern of p, whose entries come by rows and columns.
void Rows(const Problem &p, std::vector<PetscInt> *i, std::vector<PetscInt> *j)
{
  i->assign((size_t)p.rows + 1, 0);
  j->clear();
  for (const conformance::Entry &e : p.entries) {
    (*i)[(size_t)e.i + 1]++;
    j->push_back(e.j);
  }
  for (size_t r = 0; r < (size_t)p.rows; ++r) (*i)[r + 1] += (*i)[r];
}

PetscErrorCode Take(Mat A, const Problem &p, sparsegpu::Space space)
{
  std::vector<PetscInt>      i, j;
  sparsegpu::Array<PetscInt> begin, columns;

  PetscFunctionBeginUser;
  Rows(p, &i, &j);
  PetscCall(begin.Take(std::move(i), space));
  PetscCall(columns.Take(std::move(j), space));
  PetscCall(sparsegpu::face::TakePattern(A, std::move(begin), std::move(columns), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A has the pattern of p, and values zero.
PetscErrorCode CheckZeros(Mat A, const Problem &p, const std::string &what)
{
  Problem found;

  PetscFunctionBeginUser;
  PetscCheck(A->assembled, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not assembled", what.c_str());
  PetscCall(Gather(A, &found));
  PetscCheck(found.entries.size() == p.entries.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu entries, not %zu",
             what.c_str(), found.entries.size(), p.entries.size());
  for (size_t k = 0; k < p.entries.size(); ++k) {
    const conformance::Entry &a = found.entries[k], &b = p.entries[k];
    PetscCheck(a.i == b.i && a.j == b.j && a.v == (PetscScalar)0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: entry %zu is (%" PetscInt_FMT ", %" PetscInt_FMT ") of value %g, not (%" PetscInt_FMT
               ", %" PetscInt_FMT ") of value 0",
               what.c_str(), k, a.i, a.j, (double)PetscRealPart(a.v), b.i, b.j);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetAll(Mat A, const Problem &p)
{
  PetscFunctionBeginUser;
  for (const conformance::Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<Problem> Patterns()
{
  Problem empty = conformance::WorkedExample(), none = empty;
  empty.entries.clear();
  none.entries.clear();
  none.rows = 0;
  return {conformance::Grid("grid", 20, 13, false), conformance::WorkedExample(), empty, none,
          conformance::Banded("wide", 40, 90, {-7, 0, 3, 50})};
}

/// One matrix takes pattern after pattern of its size; products and values follow.
PetscErrorCode TakeAll(sparsegpu::Space space)
{
  PetscFunctionBeginUser;
  for (const Problem &p : Patterns()) {
    const std::string what  = p.name + ", " + std::to_string(p.entries.size()) + " entries";
    Problem           fewer = p;
    Mat               A;
    fewer.entries.clear();
    for (size_t k = 0; k < p.entries.size(); ++k)
      if (k % 3) fewer.entries.push_back(p.entries[k]);
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetSizes(A, p.rows, p.cols, p.rows, p.cols));
    PetscCall(MatSetType(A, MATSPARSEGPU));
    for (const Problem &now : {p, fewer, p}) {
      PetscCall(Take(A, now, space));
      PetscCall(CheckZeros(A, now, what));
      PetscCall(Take(A, now, space)); // of values that may be away
      PetscCall(SetAll(A, now));
      PetscCall(CheckProducts(A, now, what));
      PetscCall(CheckIsOurs(A, what));
    }
    PetscCall(Take(A, p, space));
    PetscCall(MatShift(A, 0)); // may add to the pattern
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Host()
{
  PetscFunctionBeginUser;
  PetscCall(TakeAll(sparsegpu::Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With -sparsegpu_test_away the zeros are not the host's.
PetscErrorCode Away()
{
  const Problem             p = conformance::Grid("grid", 9, 9, false);
  Mat                       A;
  sparsegpu::face::Context *context;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, p.rows, p.cols, p.rows, p.cols));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(Take(A, p, sparsegpu::Space::Host));
  PetscCall(sparsegpu::face::GetContext(A, &context));
  PetscCheck(context->rows.away(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The zeros are on the host");
  PetscCall(CheckZeros(A, p, "away"));
  PetscCheck(!context->rows.away(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A reader left the values away");
  {
    const sparsegpu::face::AtHomeScope scope; // as within an operation of PETSc
    PetscCall(Take(A, p, sparsegpu::Space::Host));
    PetscCheck(!context->rows.away(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Values left within PETSc's operation");
  }
  PetscCall(CheckZeros(A, p, "at home"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Device()
{
  bool none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (!none) PetscCall(TakeAll(sparsegpu::Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern is on the device afterwards: it is not uploaded.
PetscErrorCode Kept()
{
  const Problem              p = conformance::Grid("grid", 50, 50, false);
  std::vector<PetscInt>      i, j;
  sparsegpu::Array<PetscInt> begin, columns;
  sparsegpu::face::Context  *context;
  const PetscInt            *there_i, *there_j;
  Mat                        A;
  bool                       none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, p.rows, p.cols, p.rows, p.cols));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  Rows(p, &i, &j);
  PetscCall(begin.Take(std::move(i), sparsegpu::Space::Device));
  PetscCall(columns.Take(std::move(j), sparsegpu::Space::Device));
  const PetscInt *const given_i = begin.data(), *const given_j = columns.data();
  PetscCall(sparsegpu::face::TakePattern(A, std::move(begin), std::move(columns), sparsegpu::Space::Device));
  PetscCall(sparsegpu::face::GetContext(A, &context));
  PetscCall(context->rows.BringPattern(A, sparsegpu::Space::Device, &there_i, &there_j));
  PetscCheck(there_i == given_i && there_j == given_j, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows uploaded the pattern");
  PetscCall(SetAll(A, p)); // a write on the host: the pattern may be another one
  PetscCall(CheckProducts(A, p, "after it"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"host", Host}, {"away", Away}, {"device", Device}, {"kept", Kept}});
}
