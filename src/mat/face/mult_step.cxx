/// A product whose sums are not stored but used at once, by a smoother.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"
#include "mat/face/solver_access.hpp"
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

PetscErrorCode Run(Mat A, const ConvertedMatrix &converted, const StepFactors &factors, const Vec (&vectors)[4])
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
  PetscCall(converted.format->MultStep(to, stream));
  PetscCall(PetscLogGpuTimeEnd());
  const bool full = factors.now != 0 || factors.before != 0; // else a residual
  if (full) PetscCall(PetscLogGpuFlops(5.0 * A->rmap->n));
  PetscCall(PetscLogGpuFlops(2.0 * converted.pattern.nonzeros + 2.0 * A->rmap->n));
  for (int v = 0; v < 4; v++)
    if (vectors[v]) PetscCall(arrays[v].Restore());
  PetscCall(PetscLogEventEnd(MAT_Mult, A, vectors[0], vectors[1], nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MultStep(Mat A, const StepFactors &factors, Vec d, Vec f, Vec x, Vec z, bool *done)
{
  const Vec        vectors[4] = {x, z, f, d};
  PetscBool        seq, mpi;
  Context         *context;
  ConvertedMatrix *converted;

  PetscFunctionBegin;
  *done = false;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq || !MultipliesByItself(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(AllOnDevice(context, vectors, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  context->read_here = true;
  PetscCall(GetConverted(A, context, Operation::Normal, Space::Device, Use::Product, &converted));
  *done = converted->format->TakesSteps();
  if (*done) PetscCall(Run(A, *converted, factors, vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
