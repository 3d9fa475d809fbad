/// z = op(A) x + y on the local arrays of any mix of host and device vectors.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::face
{

namespace
{
/// x null: `array` is its entries.
PetscErrorCode MultOnHost(Mat A, Context *context, Operation operation, Vec x, const Scalar *array, Vec y, Vec z,
                          PetscLogDouble *flops)
{
  ConvertedMatrix *converted;
  LocalArray       bx, by, bz;

  PetscFunctionBegin;
  PetscCall(GetConverted(A, context, operation, Space::Host, Use::Product, &converted));
  *flops = 2.0 * converted->pattern.nonzeros;
  if (x) PetscCall(bx.Get(x, Space::Host, Access::Read));
  if (y && y != z) PetscCall(by.Get(y, Space::Host, Access::Read));
  PetscCall(bz.Get(z, Space::Host, y == z ? Access::ReadWrite : Access::Write));
  PetscCall(converted->format->Mult(x ? bx.read() : array, y == z ? bz.read() : by.read(), bz.write(), nullptr));
  PetscCall(bx.Restore());
  PetscCall(by.Restore());
  PetscCall(bz.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Asynchronous where x, y and z are on the device; ends synchronised where z is on the host. With an exchange, which
/// the product begins with entries of x, or even makes `complete`, with `off`; x null: which brings the entries that
/// z += A x takes.
PetscErrorCode MultOnDevice(Mat A, Context *context, Operation operation, Vec x, comm::DeviceExchange *exchange,
                            Mat off, Vec y, Vec z, PetscLogDouble *flops)
{
  const PetscObject logged = reinterpret_cast<PetscObject>(A);
  ConvertedMatrix  *converted;
  LocalArray        bx, by, bz;
  const Scalar     *py = nullptr;
  Stream            stream;

  PetscFunctionBegin;
  if (x) PetscCall(bx.Get(x, Space::Device, Access::Read));
  PetscCall(bz.Get(z, Space::Device, y == z ? Access::ReadWrite : Access::Write));
  PetscCall(GetConverted(A, context, operation, Space::Device, Use::Product, &converted));
  *flops = 2.0 * converted->pattern.nonzeros;
  if (off) {
    PetscInt more = 0;
    PetscCall(TakesGhosts(converted, off, &exchange->complete, &more));
    if (exchange->complete) *flops += 2.0 * more;
  }
  PetscCall(DeviceStream(&stream));
  if (x) PetscCall(bx.Stage(&context->x, stream, logged));
  PetscCall(bz.Stage(&context->z, stream, logged));
  if (y == z)
    py = bz.read();
  else if (y) {
    PetscCall(by.Get(y, Space::Device, Access::Read));
    PetscCall(by.StageIn(bz.write(), stream, logged)); // added to in place: no scratch of its own
    py = by.read();
  }
  PetscCall(PetscLogGpuTimeBegin());
  if (!exchange)
    PetscCall(converted->format->Mult(bx.read(), py, bz.write(), stream));
  else if (x)
    PetscCall(converted->format->MultInto(bx.read(), {py, bz.write()}, exchange, stream));
  else
    PetscCall(converted->format->AddArriving(*exchange, {bz.write()}, stream));
  PetscCall(PetscLogGpuTimeEnd());
  const bool uploaded = (x && !bx.on_device()) || (y && y != z && !by.on_device());
  if (uploaded && bz.on_device()) PetscCall(DeviceSynchronize(stream)); // may be pinned memory that the caller reuses
  PetscCall(by.Restore());
  PetscCall(bz.Restore());
  PetscCall(bx.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ProductSpace(Context *context, Vec x, Vec z, Space *space, bool *copies)
{
  const bool asked   = context->settings.backend == Backend::Cuda;
  Space      x_space = Space::Host, z_space = Space::Host;

  PetscFunctionBegin;
  if (copies) *copies = false;
  PetscCall(PlannedSpace(context, space));
  if (*space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  if (asked) PetscCall(RequireDevice("-sparsegpu_backend cuda"));
  if (!x || (asked && !copies)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ProductSpaceOf(x, &x_space));
  PetscCall(ProductSpaceOf(z, &z_space));
  if (!asked && x_space == Space::Host && z_space == Space::Host) *space = Space::Host;
  if (copies) *copies = *space == Space::Device && (x_space == Space::Host || z_space == Space::Host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReserveScratch(Mat A, Context *context, Operation operation)
{
  const size_t rows = static_cast<size_t>(A->rmap->n) * sizeof(Scalar),
               cols = static_cast<size_t>(A->cmap->n) * sizeof(Scalar);

  PetscFunctionBegin;
  PetscCall(context->x.Reserve(operation == Operation::Normal ? cols : rows));
  PetscCall(context->z.Reserve(operation == Operation::Normal ? rows : cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakesGhosts(ConvertedMatrix *diagonal, Mat off, bool *takes, PetscInt *nonzeros)
{
  Context         *context;
  ConvertedMatrix *converted;
  Version          version;
  bool             changed = false;

  PetscFunctionBegin;
  *takes = false;
  if (!diagonal->format->MayTakeGhosts()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(off, &context));
  PetscCall(Decide(off, context));
  context->read_here = true;
  PetscCall(GetConverted(off, context, Operation::Normal, Space::Device, Use::Prepare, &converted));
  PetscCall(GetVersion(off, context, &version));
  PetscCall(diagonal->format->TakesGhosts(*converted->format, version, takes, &changed));
  if (changed) PetscCallCXX(diagonal->details = diagonal->format->Details());
  if (nonzeros) *nonzeros = converted->pattern.nonzeros;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultEither(Mat A, Operation operation, Space space, Vec x, const Scalar *array,
                                 comm::DeviceExchange *exchange, Mat off, Vec y, Vec z)
{
  Context       *context;
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  if (operation == Operation::ConjugateTranspose) operation = Operation::Transpose;
#endif
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  context->read_here = true;
  if (space == Space::Host) {
    PetscCall(MultOnHost(A, context, operation, x, array, y, z, &flops));
    PetscCall(PetscLogFlops(flops));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MultOnDevice(A, context, operation, x, exchange, off, y, z, &flops));
  PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultLocal(Mat A, Operation operation, Space space, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultEither(A, operation, space, x, nullptr, nullptr, nullptr, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultSending(Mat A, Mat off, comm::DeviceExchange *exchange, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultEither(A, Operation::Normal, Space::Device, x, nullptr, exchange, off, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddProduct(Mat A, const Scalar *x, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultEither(A, Operation::Normal, Space::Host, nullptr, x, nullptr, nullptr, z, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddArriving(Mat A, const comm::DeviceExchange &exchange, Vec z)
{
  comm::DeviceExchange arriving = exchange;

  PetscFunctionBegin;
  PetscCall(MultEither(A, Operation::Normal, Space::Device, nullptr, nullptr, &arriving, nullptr, z, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
