/// MATSEQAIJSPARSEGPU: the PETSc face of the sequential type.
#include <utility>
#include "mat/face/context.hpp"
#include "mat/face/kept_arrays.hpp"
#include "mat/face/multiply.hpp"

namespace sparsegpu::face
{

namespace
{
PetscErrorCode Multiply(Mat A, Operation operation, Vec x, Vec y, Vec z)
{
  Context *context;
  Space    space;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(ProductSpace(context, x, z, &space));
  PetscCall(MultLocal(A, operation, space, x, y, z));
  PetscCall(SendAwayForTests(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAssemblyEnd_SeqAIJSparseGPU(Mat A, MatAssemblyType mode)
{
  const struct _MatOps *parent;
  Context              *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  if (const auto call = std::exchange(context->in_assembly, nullptr)) PetscCall(call());
  PetscCall(GetParentOps(false, &parent));
  if (!context->away) PetscCall((*parent->assemblyend)(A, mode)); // else nothing was set: that brings values home first
  if (mode == MAT_FINAL_ASSEMBLY) PetscCall(NameTypeForDM(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's function takes a second factor by the name of its type alone, and reads it as AIJ: B bears that name
/// meanwhile.
PetscErrorCode MatSeqAIJKron_SeqAIJSparseGPU(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  PetscBool   seq, mpi;
  AnyFunction parent;

  PetscFunctionBegin;
  PetscCall(GetParentFunction(false, "MatSeqAIJKron_C", &parent));
  PetscCall(BringHome(A));
  PetscCall(BringHome(B));
  PetscCall(IsOurs(B, &seq, &mpi));
  char *const name  = ((PetscObject)B)->type_name;
  char        aij[] = MATSEQAIJ;
  if (seq) ((PetscObject)B)->type_name = aij;
  const PetscErrorCode code   = reinterpret_cast<PetscErrorCode (*)(Mat, Mat, MatReuse, Mat *)>(parent)(A, B, reuse, C);
  ((PetscObject)B)->type_name = name;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

bool MultipliesByItself(Mat A)
{
  return A->ops->mult == Products<Multiply>::Mult<Operation::Normal>;
}

PetscErrorCode SetOps_Seq(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSeqAIJKron_C", MatSeqAIJKron_SeqAIJSparseGPU));
  A->ops->assemblyend = MatAssemblyEnd_SeqAIJSparseGPU;
  SetKeepersOfArrays(A->ops);
  Products<Multiply>::Set(A->ops);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSeqAIJRegister()'s converter, for -mat_seqaij_type: in place on a plain or other AIJ.
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJSparseGPU(Mat A, MatType, MatReuse reuse, Mat *M)
{
  PetscBool plain;

  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
  PetscCall(PetscObjectTypeCompare((PetscObject)*M, MATSEQAIJ, &plain));
  if (!plain) {
    PetscBool seq, mpi;
    PetscCall(IsOurs(*M, &seq, &mpi));
    if (!seq) PetscCall(MatConvert(*M, MATSEQAIJ, MAT_INPLACE_MATRIX, M));
  }
  PetscCall(BecomeOurs(*M, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN PetscErrorCode MatCreate_SeqAIJSparseGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatConvert_SeqAIJ_SeqAIJSparseGPU(A, MATSEQAIJSPARSEGPU, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
