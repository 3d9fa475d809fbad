/// z = op(A) x + y on the local arrays of any mix of host and device vectors.
#include "device/vectors.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu
{

namespace
{
/// A vector's local array, borrowed where it lies.
struct Borrowed {
  enum Access {
    Read,
    Write,
    ReadWrite
  };
  Vec          vec = nullptr;
  Access       access;
  PetscScalar *array = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;

  PetscErrorCode Get(Vec v, Access how)
  {
    PetscFunctionBegin;
    vec    = v;
    access = how;
    if (how == Read)
      PetscCall(VecGetArrayReadAndMemType(v, const_cast<const PetscScalar **>(&array), &where));
    else if (how == Write)
      PetscCall(VecGetArrayWriteAndMemType(v, &array, &where));
    else
      PetscCall(VecGetArrayAndMemType(v, &array, &where));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore()
  {
    PetscFunctionBegin;
    if (!vec) PetscFunctionReturn(PETSC_SUCCESS);
    if (access == Read)
      PetscCall(VecRestoreArrayReadAndMemType(vec, const_cast<const PetscScalar **>(&array)));
    else if (access == Write)
      PetscCall(VecRestoreArrayWriteAndMemType(vec, &array));
    else
      PetscCall(VecRestoreArrayAndMemType(vec, &array));
    vec = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool OnDevice() const { return PetscMemTypeDevice(where); }
};

PetscErrorCode MultOnHost(Mat A, Context *context, Operation operation, Vec x, Vec y, Vec z, PetscLogDouble *flops)
{
  ConvertedMatrix   *converted;
  const PetscScalar *px, *py = nullptr;
  PetscScalar       *pz;

  PetscFunctionBegin;
  PetscCall(GetConverted(A, context, operation, Space::Host, Use::Product, &converted));
  *flops = 2.0 * converted->pattern.nonzeros;
  PetscCall(VecGetArrayRead(x, &px));
  if (y == z) {
    PetscCall(VecGetArray(z, &pz));
    py = pz;
  } else {
    if (y) PetscCall(VecGetArrayRead(y, &py));
    PetscCall(VecGetArrayWrite(z, &pz));
  }
  PetscCall(converted->format->Mult(reinterpret_cast<const Scalar *>(px), reinterpret_cast<const Scalar *>(py),
                                    reinterpret_cast<Scalar *>(pz), nullptr));
  PetscCall(VecRestoreArrayRead(x, &px));
  if (y == z)
    PetscCall(VecRestoreArray(z, &pz));
  else {
    if (y) PetscCall(VecRestoreArrayRead(y, &py));
    PetscCall(VecRestoreArrayWrite(z, &pz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyIn(Mat A, const Borrowed &v, PetscInt n, Scalar *to, Stream stream)
{
  const size_t bytes = static_cast<size_t>(n) * sizeof(Scalar);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(CopyEvent, A, nullptr, nullptr, nullptr));
  PetscCall(DeviceCopyIn(to, v.array, bytes, stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  PetscCall(PetscLogEventEnd(CopyEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The array on the device: itself, or a copy in `scratch` (copied in where it is to be read).
PetscErrorCode Stage(Mat A, const Borrowed &v, PetscInt n, DeviceMemory *scratch, Stream stream, Scalar **p)
{
  PetscFunctionBegin;
  *p = reinterpret_cast<Scalar *>(v.array);
  if (v.OnDevice()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(scratch->Reserve(static_cast<size_t>(n) * sizeof(Scalar)));
  *p = static_cast<Scalar *>(scratch->data());
  if (v.access != Borrowed::Write) PetscCall(CopyIn(A, v, n, *p, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x and z are borrowed already. Asynchronous if they are on the device; ends synchronised where z is on the host.
PetscErrorCode MultOnDevice(Mat A, Context *context, Operation operation, const Borrowed &x, Vec y, const Borrowed &z,
                            PetscLogDouble *flops)
{
  const PetscInt rows = operation == Operation::Normal ? A->rmap->n : A->cmap->n,
                 cols = operation == Operation::Normal ? A->cmap->n : A->rmap->n;
  ConvertedMatrix *converted;
  Borrowed         by;
  Stream           stream;
  Scalar          *px, *py = nullptr, *pz;

  PetscFunctionBegin;
  PetscCall(GetConverted(A, context, operation, Space::Device, Use::Product, &converted));
  *flops = 2.0 * converted->pattern.nonzeros;
  PetscCall(DeviceStream(&stream));
  PetscCall(Stage(A, x, cols, &context->x, stream, &px));
  PetscCall(Stage(A, z, rows, &context->z, stream, &pz));
  if (y == z.vec)
    py = pz;
  else if (y) {
    PetscCall(by.Get(y, Borrowed::Read));
    py = by.OnDevice() ? reinterpret_cast<Scalar *>(by.array) : pz;
    if (!by.OnDevice()) PetscCall(CopyIn(A, by, rows, pz, stream)); // added to in place: no scratch of its own
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(converted->format->Mult(px, py, pz, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(by.Restore());
  if (!z.OnDevice()) {
    const size_t bytes = static_cast<size_t>(rows) * sizeof(Scalar);
    PetscCall(PetscLogEventBegin(CopyEvent, A, nullptr, nullptr, nullptr));
    PetscCall(DeviceCopyOut(z.array, pz, bytes, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
    PetscCall(PetscLogEventEnd(CopyEvent, A, nullptr, nullptr, nullptr));
  }
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

PetscErrorCode MultLocal(Mat A, Operation operation, Space space, Vec x, Vec y, Vec z)
{
  Context       *context;
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  if (operation == Operation::ConjugateTranspose) operation = Operation::Transpose;
#endif
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  if (space == Space::Host) {
    PetscCall(MultOnHost(A, context, operation, x, y, z, &flops));
    PetscCall(PetscLogFlops(flops));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Borrowed bx, bz;
  PetscCall(bx.Get(x, Borrowed::Read));
  PetscCall(bz.Get(z, y == z ? Borrowed::ReadWrite : Borrowed::Write));
  PetscCall(MultOnDevice(A, context, operation, bx, y, bz, &flops));
  PetscCall(bz.Restore());
  PetscCall(bx.Restore());
  PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
