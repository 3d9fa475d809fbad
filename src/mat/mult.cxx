/// z = op(A) x + y on the local arrays of any mix of host and device vectors.
#include "mat/context.hpp"

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

PetscErrorCode MultOnHost(Mat A, Context *context, Side side, Vec x, Vec y, Vec z, PetscLogDouble *flops)
{
  Shadow            *shadow;
  const PetscScalar *px, *py = nullptr;
  PetscScalar       *pz;

  PetscFunctionBegin;
  PetscCall(GetShadow(A, context, side, Space::Host, Use::Product, &shadow));
  *flops = 2.0 * shadow->pattern.nonzeros;
  PetscCall(VecGetArrayRead(x, &px));
  if (y == z) {
    PetscCall(VecGetArray(z, &pz));
    py = pz;
  } else {
    if (y) PetscCall(VecGetArrayRead(y, &py));
    PetscCall(VecGetArrayWrite(z, &pz));
  }
  PetscCall(shadow->format->Mult(reinterpret_cast<const Scalar *>(px), reinterpret_cast<const Scalar *>(py),
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
PetscErrorCode MultOnDevice(Mat A, Context *context, Side side, const Borrowed &x, Vec y, const Borrowed &z,
                            PetscLogDouble *flops)
{
  const PetscInt rows = side == Side::Normal ? A->rmap->n : A->cmap->n,
                 cols = side == Side::Normal ? A->cmap->n : A->rmap->n;
  Shadow  *shadow;
  Borrowed by;
  Stream   stream;
  Scalar  *px, *py = nullptr, *pz;

  PetscFunctionBegin;
  PetscCall(GetShadow(A, context, side, Space::Device, Use::Product, &shadow));
  *flops = 2.0 * shadow->pattern.nonzeros;
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
  PetscCall(shadow->format->Mult(px, py, pz, stream));
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

PetscErrorCode ReserveScratch(Mat A, Context *context, Side side)
{
  const size_t rows = static_cast<size_t>(A->rmap->n) * sizeof(Scalar),
               cols = static_cast<size_t>(A->cmap->n) * sizeof(Scalar);

  PetscFunctionBegin;
  PetscCall(context->x.Reserve(side == Side::Normal ? cols : rows));
  PetscCall(context->z.Reserve(side == Side::Normal ? rows : cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultLocal(Mat A, Side side, Vec x, Vec y, Vec z)
{
  Context       *context;
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  if (side == Side::Hermitian) side = Side::Transpose;
#endif
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  const Backend backend = context->settings.bound_to_cpu ? Backend::Kokkos : context->settings.backend;
#if defined(PETSC_HAVE_CUDA)
  const bool host = backend == Backend::Kokkos;
#else // vectors lie on the host: auto stays there, too
  const bool host = backend != Backend::Cuda;
#endif
  bool done = false;
  if (!host) {
    if (backend == Backend::Cuda) PetscCall(RequireDevice("-sparsegpu_backend cuda"));
    Borrowed bx, bz;
    PetscCall(bx.Get(x, Borrowed::Read));
    PetscCall(bz.Get(z, y == z ? Borrowed::ReadWrite : Borrowed::Write));
    if (backend == Backend::Cuda || bx.OnDevice() || bz.OnDevice()) {
      PetscCall(MultOnDevice(A, context, side, bx, y, bz, &flops));
      done = true;
    }
    PetscCall(bz.Restore());
    PetscCall(bx.Restore());
  }
  if (!done) PetscCall(MultOnHost(A, context, side, x, y, z, &flops));
  if (done)
    PetscCall(PetscLogGpuFlops(flops));
  else
    PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
