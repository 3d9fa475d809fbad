/// One call per registration; the order of those of factors is the one that PETSc searches them in.
#include "pc/names.hpp"
#include "pc/pc.hpp"
#include "mat/face/context.hpp"
#include "pc/amg/amg.hpp"
#include "pc/blocks/point_block.hpp"
#include "pc/factor/matsolver.hpp"
#include "pc/ilu/matsolver.hpp"
#include "pc/lu/matsolver.hpp"
#include "pc/ordering/abmc.hpp"
#include "pc/ordering/leastfill.hpp"
#include "pc/ordering/libraries.hpp"
#include "pc/pcsparsegpu.hpp"
#include "pc/smooth/pcsmoother.hpp"

namespace sparsegpu::pc
{

PetscErrorCode RegisterPreconditioners()
{
  PetscFunctionBegin;
  ForgetFactors();
  PetscCall(RegisterIncompleteFactors());
  PetscCall(lu::RegisterDirectFactors());
  OnDeviceMatrices(RegisterDefaultFactors);
  PetscCall(ordering::RegisterOrderings());
  PetscCall(ordering::RegisterLeastFill());
  PetscCall(ordering::RegisterLibraries());
  PetscCall(RegisterPreconditioner());
  PetscCall(blocks::RegisterPointBlocks());
  PetscCall(smooth::RegisterSmoother());
  PetscCall(amg::RegisterMultigrid());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::pc
