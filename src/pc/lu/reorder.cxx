/// The moved matrix becomes a Mat, so that any of PETSc's orderings serves.
#include "pc/lu/reorder.hpp"
#include <algorithm>
#include <cstring>
#include <numeric>
#include <petsc/private/petscimpl.h>
#include "pc/ordering/leastfill.hpp"
#include "pc/ordering/matrix.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

namespace
{
/// type [64]: the ordering that was asked for, or the preferred one. *least: it is leastfill.
PetscErrorCode GetType(const Reordering &c, char type[], bool *least)
{
  const char *prefix = ((PetscObject)c.F)->prefix ? ((PetscObject)c.F)->prefix : ((PetscObject)c.A)->prefix;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(type, MATORDERINGLEASTFILL, 64));
  PetscCall(PetscOptionsGetString(((PetscObject)c.A)->options, prefix, "-pc_factor_mat_ordering_type", type, 64, &set));
  *least = !strcmp(type, MATORDERINGLEASTFILL) || !strcmp(type, MATORDERINGEXTERNAL);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Reorder(const CsrView &B, void *context, std::vector<PetscInt> *order)
{
  const Reordering     *c = static_cast<Reordering *>(context);
  char                  type[64];
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;
  bool                  least;
  Mat                   M;

  PetscFunctionBegin;
  if (B.a) { // as they are
    PetscCall(ordering::LeastFillOf(c->A, c->space, order, c->taken));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetType(*c, type, &least));
  PetscCallCXX(i.assign(B.i, B.i + B.rows + 1));
  PetscCallCXX(j.assign(B.j, B.j + B.nonzeros));
  PetscCallCXX(a.assign(B.nonzeros, Scalar(1)));
  for (PetscInt r = 0; r < B.rows; r++) std::sort(j.begin() + i[r], j.begin() + i[r + 1]);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B.rows, B.cols, i.data(), j.data(),
                                      reinterpret_cast<PetscScalar *>(a.data()), &M));
  PetscCall(PetscObjectSetOptions((PetscObject)M, ((PetscObject)c->A)->options));
  PetscCall(MatSetOptionsPrefix(M, ((PetscObject)c->A)->prefix));
  if (least)
    PetscCall(ordering::LeastFillOf(M, c->space, order, c->taken));
  else
    PetscCall(ordering::OrderOf(M, type, order, c->taken));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReorderPairs(const CsrView &A, const std::vector<PetscInt> &partner, void *context,
                            std::vector<PetscInt> *order)
{
  const Reordering          *c = static_cast<Reordering *>(context);
  char                       type[64];
  std::vector<PetscInt>      i, j, natural;
  symbolic::SymmetricPattern pattern;
  ordering::CompressedGraph  graph;
  bool                       least;

  PetscFunctionBegin;
  PetscCall(GetType(*c, type, &least));
  PetscCallCXX(natural.resize(A.rows));
  std::iota(natural.begin(), natural.end(), 0);
  PetscCall(symbolic::SymmetricPatternOf(A, natural, natural, &pattern));
  if (least) {
    PetscCallCXX(graph = ordering::PairedGraph(pattern, partner));
    PetscCall(ordering::LeastFillOf(c->A, std::move(graph), c->space, order, c->taken));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(symbolic::JoinPairs(partner, &pattern));
  PetscCheck(pattern.i[A.rows] <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%.0f couplings of pairs are too many for PetscInt", (double)pattern.i[A.rows]);
  PetscCallCXX(i.assign(pattern.i.begin(), pattern.i.end()));
  PetscCallCXX(j.assign(pattern.j.begin(), pattern.j.end()));
  const PetscInt nonzeros = static_cast<PetscInt>(j.size());
  PetscCall(Reorder(CsrView{A.rows, A.cols, nonzeros, i.data(), j.data(), nullptr}, context, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
