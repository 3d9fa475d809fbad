/// A product whose sums are not stored but used at once, by a smoother.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"
#include "mat/face/multiply.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_ready.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::face
{

namespace
{
/// Whether the product of x and z and all other vectors are on the device.
PetscErrorCode AllOnDevice(Context *context, const Vec (&vectors)[4], bool *there)
{
  const Vec x = vectors[0], z = vectors[1];
  Space     space;
  bool      copies;

  PetscFunctionBegin;
  PetscCall(ProductSpace(context, x, z, &space, &copies));
  *there = space == Space::Device && !copies;
  for (Vec v : vectors) {
    if (!*there) break;
    if (!v) continue;
    PetscCall(ProductSpaceOf(v, &space));
    *there = space == Space::Device;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The formats that such a product runs in: that of a sequential matrix, or those of both blocks.
PetscErrorCode FormatsForProduct(Mat A, Context *context, bool parallel, const Vec (&vectors)[4],
                                 BlocksForSolve *blocks)
{
  ConvertedMatrix *converted;

  PetscFunctionBegin;
  if (parallel) {
    PetscCall(GetBlocksForProduct(A, vectors[0], vectors[1], blocks));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  context->read_here = true;
  PetscCall(GetConverted(A, context, Operation::Normal, Space::Device, Use::Product, &converted));
  blocks->diagonal = converted->format.get();
  blocks->nonzeros = static_cast<PetscLogDouble>(converted->pattern.nonzeros);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the formats of this rank make steps.
bool TakesSteps(const BlocksForSolve &blocks, bool parallel)
{
  if (!blocks.diagonal || !blocks.diagonal->TakesSteps()) return false;
  if (!parallel) return true;
  return blocks.channel && (blocks.complete || !blocks.channel->receives() || blocks.off->AddsScaled());
}

/// The product, with its ghosts where there is a channel.
PetscErrorCode Multiply(const BlocksForSolve &blocks, const ProductTarget &to, Stream stream)
{
  comm::DeviceExchange exchange;

  PetscFunctionBegin;
  if (!blocks.channel) {
    PetscCall(blocks.diagonal->MultInto(to.x, to, nullptr, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(blocks.channel->Next(&exchange));
  exchange.complete = blocks.complete && blocks.channel->receives() > 0;
  PetscCall(blocks.diagonal->MultInto(to.x, to, &exchange, stream));
  if (blocks.channel->receives() && !exchange.complete)
    PetscCall(blocks.off->AddArriving(exchange, {to.z, to.d, -to.residual}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run(Mat A, const BlocksForSolve &blocks, const StepFactors &factors, const Vec (&vectors)[4])
{
  LocalArray    arrays[4];
  Stream        stream;
  const Access  of_z = factors.before != 0 ? Access::ReadWrite : Access::Write;
  ProductTarget to   = {};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_Mult, A, vectors[0], vectors[1], nullptr));
  PetscCall(DeviceStream(&stream));
  for (int v = 0; v < 4; v++)
    if (vectors[v]) PetscCall(arrays[v].Get(vectors[v], Space::Device, v == 1 ? of_z : Access::Read));
  to.x        = arrays[0].read();
  to.z        = arrays[1].write();
  to.f        = arrays[2].read();
  to.d        = vectors[3] ? arrays[3].read() : nullptr;
  to.before   = factors.before;
  to.now      = factors.now;
  to.residual = factors.residual;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(Multiply(blocks, to, stream));
  PetscCall(PetscLogGpuTimeEnd());
  const bool full = factors.now != 0 || factors.before != 0; // else a residual
  if (full) PetscCall(PetscLogGpuFlops(5.0 * A->rmap->n));
  PetscCall(PetscLogGpuFlops(2.0 * blocks.nonzeros + 2.0 * A->rmap->n));
  for (int v = 0; v < 4; v++)
    if (vectors[v]) PetscCall(arrays[v].Restore());
  PetscCall(PetscLogEventEnd(MAT_Mult, A, vectors[0], vectors[1], nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MultStep(Mat A, const StepFactors &factors, Vec d, Vec f, Vec x, Vec z, bool *done)
{
  const Vec      vectors[4] = {x, z, f, d};
  PetscBool      seq, mpi;
  Context       *context;
  BlocksForSolve blocks;

  PetscFunctionBegin;
  *done = false;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq ? !MultipliesByItself(A) : !mpi || A->ops->mult != Products<MultiplyParallel>::Mult<Operation::Normal>)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(AllOnDevice(context, vectors, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FormatsForProduct(A, context, mpi, vectors, &blocks));
  *done = TakesSteps(blocks, mpi);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Run(A, blocks, factors, vectors));
  if (mpi) PetscCall(SendBlocksAwayForTests(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
