/// MatFDColoringSetUp() notes where each entry lies, in the array of the matrix or of its blocks:
/// MatFDColoringSetValues() writes there. MatGetMultiProcBlock() puts the diagonal block itself into another matrix.
/// Before PETSc 3.21 coarsening by heavy edges reads the array of a duplicate of MatCreateGraph()'s result.
#include "mat/face/kept_arrays.hpp"
#include <tuple>
#include "mat/face/away.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

namespace
{
/// AIJ's operation; `of_result`: it is the result, the last argument, whose values stay at home, else the matrix's own.
template <auto member, bool of_result> struct Keeper;
template <class... Arguments, PetscErrorCode (*_MatOps::*member)(Mat, Arguments...), bool of_result>
struct Keeper<member, of_result> {
  static PetscErrorCode Call(Mat A, Arguments... arguments)
  {
    const struct _MatOps *parent;
    PetscBool             seq, mpi;

    PetscFunctionBegin;
    PetscCall(IsOurs(A, &seq, &mpi));
    PetscCall(GetParentOps(mpi, &parent));
    PetscCall(of_result ? BringHome(A) : StayHome(A));
    PetscCall((*(parent->*member))(A, arguments...));
    if constexpr (of_result) PetscCall(StayHome(*std::get<sizeof...(Arguments) - 1>(std::tie(arguments...))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Set(struct _MatOps *operations)
  {
    if (operations->*member) operations->*member = Call;
  }
};
} // namespace

void SetKeepersOfArrays(struct _MatOps *operations)
{
  Keeper<&_MatOps::fdcoloringsetup, false>::Set(operations);
  Keeper<&_MatOps::getmultiprocblock, false>::Set(operations);
#if PETSC_VERSION_LT(3, 21, 0)
  Keeper<&_MatOps::creategraph, true>::Set(operations);
#endif
}

} // namespace sparsegpu::face
