/// Registration: one line per type that PETSc is to know.
#include "comm/peers.hpp"
#include "device/device.hpp"
#include "device/local_array.hpp"
#include "ksp/ksp.hpp"
#include "mat/face/context.hpp"
#include "mat/face/away.hpp"
#include "mat/face/host_factors.hpp"
#include "mat/face/pattern.hpp"
#include "pc/factor/matsolver.hpp"
#include "pc/pc.hpp"

namespace sparsegpu
{
PetscLogEvent choice::ChooseEvent, converted::ConvertEvent, converted::UpdateEvent;

static bool registered = false;

static PetscErrorCode Finalize()
{
  PetscFunctionBegin;
  PetscCall(face::ForgetParents());
  PetscCall(face::DropAllStashes());
  PetscCall(comm::Finalize());
  PetscCall(DeviceFinalize());
  registered = false; // PetscInitialize() may come again, and this library may stay loaded until then
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A plug-in fits one PETSc version and one choice of PetscScalar and PetscInt.
static PetscErrorCode CheckPetsc()
{
  PetscInt      major, minor, subminor, release;
  PetscDataType scalar;
  PetscBool     found;
  size_t        int_size;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libsparsegpu was built for PETSc %d.%d, the program uses %" PetscInt_FMT ".%" PetscInt_FMT
             ": build it against that",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &int_size));
  PetscCheck(int_size == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libsparsegpu was built for a PETSc with %zu-bit PetscInt, the program's has %zu bits",
             8 * sizeof(PetscInt), 8 * int_size);
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(!found || scalar == PETSC_SCALAR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libsparsegpu was built for PetscScalar %s, the program's is %s", PetscDataTypes[PETSC_SCALAR],
             PetscDataTypes[scalar]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace sparsegpu

/*@C
  SparseGPUInitializePackage - Registers the types of sparsegpu with PETSc

  Not Collective

  Level: developer

  Notes:
  Called when PETSc loads the library (-dll_append). A program that links the library calls it once after
`PetscInitialize()`.

.seealso: `MATSPARSEGPU`, `PetscInitialize()`
@*/
PetscErrorCode SparseGPUInitializePackage(void)
{
  using namespace sparsegpu;
  PetscClassId classid;

  PetscFunctionBegin;
  if (registered) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckPetsc());
  registered = true;
  PetscCall(MatInitializePackage());
  PetscCall(MatRegister(MATSEQAIJSPARSEGPU, face::MatCreate_SeqAIJSparseGPU));
  PetscCall(MatRegister(MATMPIAIJSPARSEGPU, face::MatCreate_MPIAIJSparseGPU));
  PetscCall(MatRegisterRootName(MATSPARSEGPU, MATSEQAIJSPARSEGPU, MATMPIAIJSPARSEGPU));
  PetscCall(MatRegisterRootName(MATAIJSPARSEGPU, MATSEQAIJSPARSEGPU, MATMPIAIJSPARSEGPU));
  PetscCall(MatSeqAIJRegister(MATSEQAIJSPARSEGPU, face::MatConvert_SeqAIJ_SeqAIJSparseGPU));
  PetscCall(face::BringHomeForHostFactors());
  PetscCall(face::BringHomeForMAIJ());
  rows::OnPatternAway(face::BringPatternHome);
  PetscCall(pc::RegisterPreconditioners());
  PetscCall(ksp::RegisterSolvers());
  PetscCall(PetscClassIdRegister("SparseGPU", &classid));
  PetscCall(PetscLogEventRegister("SparseGPUChoose", classid, &choice::ChooseEvent));
  PetscCall(PetscLogEventRegister("SparseGPUConv", classid, &converted::ConvertEvent));
  PetscCall(PetscLogEventRegister("SparseGPUUpdate", classid, &converted::UpdateEvent));
  PetscCall(PetscLogEventRegister("SparseGPUCopy", classid, &CopyEvent));
  PetscCall(PetscLogEventRegister("SparseGPUAnalys", classid, &factor::AnalysisEvent));
  PetscCall(PetscLogEventRegister("SparseGPUTriSlv", classid, &factor::TrisolveEvent));
  PetscCall(PetscRegisterFinalize(Finalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What -dll_append calls. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sparsegpu(void);
PetscErrorCode              PetscDLLibraryRegister_sparsegpu(void)
{
  PetscFunctionBegin;
  PetscCall(SparseGPUInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
