#include "measure.hpp"

#include <algorithm>
#include <cmath>

#include <petsctime.h>

#include "owned.hpp"

namespace
{
struct Vectors { // of one matrix, by the side on which they fit: y = A x
  OwnedVec x, column_addend, y, row_addend;
};

PetscErrorCode CreateVectors(Mat B, Vectors *v)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(B, &v->x, &v->y));
  PetscCall(VecDuplicate(v->x, &v->column_addend));
  PetscCall(VecDuplicate(v->y, &v->row_addend));
  PetscCall(FillRandom(v->column_addend, Random::ColumnAddend));
  PetscCall(FillRandom(v->row_addend, Random::RowAddend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Compare(Vec v, const Expected &expected, const char name[], Errors *errors)
{
  double error;

  PetscFunctionBeginUser;
  PetscCall(WorstError(v, expected, &error));
  if (error > errors->worst || !errors->worst_product) {
    errors->worst         = error;
    errors->worst_product = name;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CheckProducts(Mat B, const Oracle &oracle, Errors *errors)
{
  Vectors   v;
  PetscBool has;

  PetscFunctionBeginUser;
  *errors = Errors();
  PetscCall(CreateVectors(B, &v));
  PetscCall(FillRandom(v.x, Random::X));
  PetscCall(Poison(v.y));
  PetscCall(MatMult(B, v.x, v.y));
  PetscCall(Compare(v.y, oracle.mult, "MatMult", errors));
  errors->mult = errors->worst;
  PetscCall(MatHasOperation(B, MATOP_MULT_ADD, &has));
  if (has) {
    PetscCall(Poison(v.y));
    PetscCall(MatMultAdd(B, v.x, v.row_addend, v.y));
    PetscCall(Compare(v.y, oracle.mult_add, "MatMultAdd", errors));
    PetscCall(FillRandom(v.y, Random::RowAddend));
    PetscCall(MatMultAdd(B, v.x, v.y, v.y));
    PetscCall(Compare(v.y, oracle.mult_add, "MatMultAdd in place", errors));
  }
  PetscCall(FillRandom(v.y, Random::U));
  PetscCall(MatHasOperation(B, MATOP_MULT_TRANSPOSE, &has));
  if (has) {
    PetscCall(Poison(v.x));
    PetscCall(MatMultTranspose(B, v.y, v.x));
    PetscCall(Compare(v.x, oracle.transpose, "MatMultTranspose", errors));
  }
  PetscCall(MatHasOperation(B, MATOP_MULT_TRANSPOSE_ADD, &has));
  if (has) {
    PetscCall(Poison(v.x));
    PetscCall(MatMultTransposeAdd(B, v.y, v.column_addend, v.x));
    PetscCall(Compare(v.x, oracle.transpose_add, "MatMultTransposeAdd", errors));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
struct Stopwatch {
  Mat                 B = nullptr;
  OwnedVec            x, y, tick;              ///< tick: one entry a rank, of the type of y
  PetscInt            in_batch = 0, count = 0; ///< products of a batch; batches
  std::vector<double> batches;                 ///< [count] seconds of a product
};

/// Seconds that `count` products take together. Products on a device are only queued when MatMult() returns; the dot
/// product of `tick`, queued after them, hands its result to the host when they are done, and costs little beside a
/// batch.
PetscErrorCode Batch(const Stopwatch &w, PetscInt count, double *seconds)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)w.B);
  PetscLogDouble begin, end;
  PetscScalar    dot;
  double         mine;

  PetscFunctionBeginUser;
  if (count > 1) PetscCall(MatMult(w.B, w.x, w.y)); // others have used the caches since
  PetscCall(VecDot(w.tick, w.tick, &dot));
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(&begin));
  for (PetscInt k = 0; k < count; k++) PetscCall(MatMult(w.B, w.x, w.y));
  PetscCall(VecDot(w.tick, w.tick, &dot));
  PetscCall(PetscTime(&end));
  mine = end - begin;
  PetscCallMPI(MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first products, which may convert, and from the next ones how many batches of how many are to be timed.
PetscErrorCode Prepare(Stopwatch *w, PetscInt products, double *first)
{
  constexpr double batch_seconds = 0.02,
                   total_seconds = 0.2; // long beside the clock's grain and beside one interruption
  constexpr double most_products = 1e6; // of a matrix without entries
  VecType          type;
  double           warm;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(w->B, &w->x, &w->y));
  PetscCall(VecGetType(w->y, &type));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)w->B), &w->tick));
  PetscCall(VecSetSizes(w->tick, 1, PETSC_DECIDE));
  PetscCall(VecSetType(w->tick, type));
  PetscCall(VecSet(w->tick, 1));
  PetscCall(FillRandom(w->x, Random::X));
  PetscCall(Batch(*w, 1, first));
  PetscCall(Batch(*w, 2, &warm));
  warm                = std::max(warm / 2, 1e-9);
  w->in_batch         = static_cast<PetscInt>(std::min(std::ceil(batch_seconds / warm), most_products));
  const double wanted = std::max(total_seconds / (w->in_batch * warm), static_cast<double>(products) / w->in_batch);
  w->count            = static_cast<PetscInt>(std::min(std::max(std::ceil(wanted), 5.0), most_products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Summarise(std::vector<double> *batches, Timing *timing)
{
  const size_t n = batches->size();
  std::sort(batches->begin(), batches->end());
  timing->product = (*batches)[n / 2];
  timing->least   = batches->front();
  timing->most    = batches->back();
  timing->spread  = ((*batches)[n - 1 - n / 4] - (*batches)[n / 4]) / 2 / timing->product;
}
} // namespace

PetscErrorCode TimeProducts(const std::vector<Mat> &matrices, PetscInt products,
                            const std::function<PetscErrorCode(size_t k)> &before, std::vector<Timing> *timings)
{
  std::vector<Stopwatch> watches(matrices.size());
  bool                   more = true;

  PetscFunctionBeginUser;
  PetscCallCXX(timings->assign(matrices.size(), Timing()));
  for (size_t k = 0; k < matrices.size(); k++) {
    PetscCall(before(k));
    watches[k].B = matrices[k];
    PetscCall(Prepare(&watches[k], products, &(*timings)[k].first));
  }
  PetscCall(before(matrices.size()));
  while (more) {
    more = false;
    for (Stopwatch &w : watches) {
      double seconds;
      if (static_cast<PetscInt>(w.batches.size()) >= w.count) continue;
      PetscCall(Batch(w, w.in_batch, &seconds));
      PetscCallCXX(w.batches.push_back(seconds / w.in_batch));
      more = true;
    }
  }
  for (size_t k = 0; k < watches.size(); k++) Summarise(&watches[k].batches, &(*timings)[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
