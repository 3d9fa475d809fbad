/// C = A B and C = A^T B for a dense B, in the format that products with a vector run on. The product runs where the
/// backend asked for is, else where B or C lies; a dense matrix of the other space is copied, without the gaps between
/// its columns. Other dense products are PETSc's.
#include "mat/face/dense.hpp"
#include "mat/face/context.hpp"
#include "mat/face/dense_array.hpp"

namespace sparsegpu::face
{

namespace
{
PetscErrorCode DenseProductSpace(Context *context, Mat B, Mat C, Space *space)
{
  bool b_there = false, c_there = false;

  PetscFunctionBegin;
  PetscCall(PlannedSpace(context, space));
  if (*space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  if (context->settings.backend == Backend::Cuda) {
    PetscCall(RequireDevice("-sparsegpu_backend cuda"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LiesOnDevice(B, &b_there));
  PetscCall(LiesOnDevice(C, &c_there));
  if (!b_there && !c_there) *space = Space::Host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultOnHost(Mat A, Context *context, Operation operation, Mat B, Mat C, PetscLogDouble *flops)
{
  ConvertedMatrix *converted;
  DenseArray       x, z;

  PetscFunctionBegin;
  PetscCall(GetConverted(A, context, operation, Space::Host, Use::Product, &converted));
  *flops = 2.0 * converted->pattern.nonzeros * B->cmap->n;
  PetscCall(x.Get(B, Space::Host, Access::Read));
  PetscCall(z.Get(C, Space::Host, Access::Write));
  PetscCall(
      converted->format->MultDense(DenseColumns{B->cmap->n, x.data(), x.ld(), z.data(), z.ld()}, nullptr, nullptr));
  PetscCall(x.Restore());
  PetscCall(z.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Asynchronous where B and C are on the device; ends synchronised where C is on the host. The scratch for host vectors
/// is free: one part holds what lies on the host, the other one is the format's.
PetscErrorCode MultOnDevice(Mat A, Context *context, Operation operation, Mat B, Mat C, PetscLogDouble *flops)
{
  ConvertedMatrix *converted;
  DenseArray       x, z;
  Stream           stream;

  PetscFunctionBegin;
  PetscCall(x.Get(B, Space::Device, Access::Read));
  PetscCall(z.Get(C, Space::Device, Access::Write));
  PetscCall(GetConverted(A, context, operation, Space::Device, Use::Product, &converted));
  *flops = 2.0 * converted->pattern.nonzeros * B->cmap->n;
  PetscCall(DeviceStream(&stream));
  PetscCall(context->z.Reserve(x.StagedBytes() + z.StagedBytes()));
  PetscCall(x.Stage(static_cast<Scalar *>(context->z.data()), stream));
  PetscCall(z.Stage(static_cast<Scalar *>(context->z.data()) + x.StagedBytes() / sizeof(Scalar), stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(
      converted->format->MultDense(DenseColumns{B->cmap->n, x.data(), x.ld(), z.data(), z.ld()}, &context->x, stream));
  PetscCall(PetscLogGpuTimeEnd());
  if (!x.on_device() && z.on_device()) PetscCall(DeviceSynchronize(stream)); // may be pinned memory that is reused
  PetscCall(z.Restore());
  PetscCall(x.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultDense(Mat A, Operation operation, Mat B, Mat C)
{
  const PetscInt m = operation == Operation::Normal ? A->rmap->n : A->cmap->n,
                 k = operation == Operation::Normal ? A->cmap->n : A->rmap->n;
  PetscBool      seq, mpi;
  Context       *context;
  Space          space;
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCheck(seq, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The product was set up for a matrix of type %s, which is of type %s now", MATSEQAIJSPARSEGPU,
             ((PetscObject)A)->type_name);
  PetscCheck(B != C, PETSC_COMM_SELF, PETSC_ERR_ARG_IDN, "B and C must be different matrices");
  PetscCheck(B->rmap->n == k, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "B has %" PetscInt_FMT " rows, not %" PetscInt_FMT " as A asks for", B->rmap->n, k);
  PetscCheck(C->rmap->n == m && C->cmap->n == B->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "C is %" PetscInt_FMT " x %" PetscInt_FMT ", not %" PetscInt_FMT " x %" PetscInt_FMT, C->rmap->n,
             C->cmap->n, m, B->cmap->n);
  if (m && B->cmap->n) {
    PetscCall(GetContext(A, &context));
    PetscCall(Decide(A, context));
    context->read_here = true;
    PetscCall(DenseProductSpace(context, B, C, &space));
    if (space == Space::Device) {
      PetscCall(MultOnDevice(A, context, operation, B, C, &flops));
      PetscCall(PetscLogGpuFlops(flops));
    } else {
      PetscCall(MultOnHost(A, context, operation, B, C, &flops));
      PetscCall(PetscLogFlops(flops));
    }
  }
  if (!C->assembled) {
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMatMultNumeric_SparseGPU_Dense(Mat A, Mat B, Mat C)
{
  PetscFunctionBegin;
  PetscCall(MultDense(A, Operation::Normal, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatTransposeMatMultNumeric_SparseGPU_Dense(Mat A, Mat B, Mat C)
{
  PetscFunctionBegin;
  PetscCall(MultDense(A, Operation::Transpose, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductNumeric_SparseGPU_Dense(Mat C)
{
  const Mat_Product *product = C->product;

  PetscFunctionBegin;
  PetscCall(
      MultDense(product->A, product->type == MATPRODUCT_AB ? Operation::Normal : Operation::Transpose, product->B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C is of B's type, unless it is dense already.
PetscErrorCode MatProductSymbolic_SparseGPU_Dense(Mat C)
{
  const Mat_Product *product = C->product;
  const Mat          A = product->A, B = product->B;
  const PetscInt     m = product->type == MATPRODUCT_AB ? A->rmap->n : A->cmap->n;
  PetscBool          dense;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(C, m, B->cmap->n, m, B->cmap->n));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)C, &dense, MATSEQDENSE, MATSEQDENSECUDA, ""));
  if (!dense) PetscCall(MatSetType(C, ((PetscObject)B)->type_name));
  PetscCall(MatSetUp(C));
  C->ops->productsymbolic = MatProductSymbolic_SparseGPU_Dense; // a new type has none
  C->ops->productnumeric  = MatProductNumeric_SparseGPU_Dense;
  // called by PETSc's products of three matrices, of which this may be the last
  C->ops->matmultnumeric          = MatMatMultNumeric_SparseGPU_Dense;
  C->ops->transposematmultnumeric = MatTransposeMatMultNumeric_SparseGPU_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatProductSetFromOptions_SparseGPU_Dense(Mat D, bool *set)
{
  const Mat_Product *product = D->product;
  PetscBool          seq, mpi, dense = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(IsOurs(product->A, &seq, &mpi));
  if (seq && (product->type == MATPRODUCT_AB || product->type == MATPRODUCT_AtB))
    PetscCall(PetscObjectTypeCompareAny((PetscObject)product->B, &dense, MATSEQDENSE, MATSEQDENSECUDA, ""));
  *set = dense;
  if (dense) D->ops->productsymbolic = MatProductSymbolic_SparseGPU_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
