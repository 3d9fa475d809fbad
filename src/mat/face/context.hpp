/// What our types keep beside the AIJ data: the local matrix, coordinates, scratch memory and the halo.
#pragma once

#include <petsc/private/matimpl.h>
#include <functional>
#include "mat/choice/local_matrix.hpp"
#include "mat/face/away.hpp"
#include "mat/face/halo.hpp"
#include "mat/rows/coordinates.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"
#include "sparsegpu.h"

namespace sparsegpu::face
{

struct ParallelCoordinates;

/// That all ranks are ready for products of one kind: see Prepare() of parallel_ready.hpp.
struct Agreement {
  Version          version   = 0;     ///< of the matrix; 0: of none
  bool             of_values = false; ///< it holds for all values that the blocks may get
  PetscObjectState nonzero   = -1;    ///< PETSc's nonzero state of the matrix then
  PetscObjectId    blocks[2] = {-1, -1};
};

struct Context : LocalMatrix {
  enum class TestAway {
    Unknown,
    No,
    Yes
  };
  Coordinates           coo;
  std::unique_ptr<Away> away;                 ///< while the values are newest on the device alone
  bool                  stays_home   = false; ///< PETSc may read the values without an accessor
  bool                  block        = false; ///< of a parallel matrix of ours, in whose operations alone values leave
  bool                  may_leave    = false; ///< there is such an operation: see BlocksMayLeave
  bool                  product_here = false; ///< a product of ours has set it up as its result, at least once
  bool                  read_here    = false; ///< a product or a factorization of ours has read them
  /// What the next assembly is for, which is called in it, as PETSc views and tests no matrix in an assembly. seqaij
  std::function<PetscErrorCode()> in_assembly;
  TestAway                        test_away = TestAway::Unknown; ///< -sparsegpu_test_away
  DeviceMemory                    x, z; ///< scratch for host vectors in a product on the device
  // mpiaijsparsegpu
  bool product_elsewhere = false;          ///< a product of ours lacked memory for it on some rank: it is PETSc's
  std::unique_ptr<struct _MatOps> at_home; ///< its operations, while values of its blocks may be away
  bool                            nothing_set = false; ///< no rank has set values: assembly leaves them where they are
  bool                            coo_set     = false; ///< the next assembly is MatSetValuesCOO()'s: so does that one
  Halo                            halo;
  std::shared_ptr<ParallelCoordinates> parallel_coo; ///< null: PETSc has the coordinates, if any
  static constexpr int                 SOLVE = 3;
  Agreement                            agreed[2][4]; ///< [space][operation or SOLVE]
  bool agreed_scratch[3] = {}; ///< all ranks know that there is scratch for host vectors in products on the device
};

/// The context of a matrix of ours, made on first use: MatHeaderMerge() and friends may have taken the old one away.
/// One that came from another matrix keeps its settings and loses all copies of values and patterns.
PetscErrorCode GetContext(Mat A, Context **context);
/// The same for the public functions. Errors: PETSC_ERR_ARG_WRONG if A is not of our types, naming its type.
PetscErrorCode OurContext(Mat A, Context **context);
/// The version of A now. It moves with the object state, and when the matrix gets the insides of another one.
PetscErrorCode GetVersion(Mat A, Context *context, Version *version);
PetscErrorCode DestroyContext(Mat A);
/// PETSc exchanges the insides of a living matrix (MatHeaderMerge() in MatAXPY(), MatShift(), COO assembly ...): it
/// destroys the old ones, our context with them, and the new ones know no settings. Those of the living are kept aside
/// by address.
PetscErrorCode StashSettings(Mat A);
PetscErrorCode DropStash(Mat A);
PetscErrorCode DropAllStashes();
/// Reads the options of A under its prefix, within MatSetFromOptions() and outside. Errors: PETSC_ERR_ARG_OUTOFRANGE or
/// PETSC_ERR_ARG_UNKNOWN_TYPE naming the value met and those allowed; the settings then stay as they were.
PetscErrorCode ReadOptions(Mat A, Context *context, SparseGPUOptionItems items);
PetscErrorCode ReadOptions(Mat A, Context *context);
/// The settings of A from now on: those it has, those of the matrix whose insides it took, or those of the options.
PetscErrorCode Decide(Mat A, Context *context);
/// The unprefixed -sparsegpu_backend: the default of every matrix, whatever its prefix.
PetscErrorCode ReadBackendDefault(Mat A, Context *context);
/// Copies the settings of A to B if B is of our types: it lives and multiplies where A does.
PetscErrorCode InheritSettings(Mat A, Mat B);
PetscErrorCode IsOurs(Mat A, PetscBool *seq, PetscBool *mpi);
PetscErrorCode ParseBackend(const char *name, Backend *backend);
PetscErrorCode ParseFormat(const char *name, std::string *format);
/// PetscErrorCode PETSC_ERR_GPU naming the reason if `backend` is Cuda and there is no device.
PetscErrorCode RequireDevice(const char *asked_by);

/// Host CSR of a seqaijsparsegpu matrix and its key.
PetscErrorCode GetCsr(Mat A, CsrView *view, PatternKey *key);
/// z = op(A) x + y on local arrays, in `space`; y may be null or z. x, y, z may be parallel: their local parts are
/// used.
PetscErrorCode MultLocal(Mat A, Operation operation, Space space, Vec x, Vec y, Vec z);
/// The same on the device, with op(A) = A, beginning the exchange with entries of x, which brings the factor of `off`,
/// an off-diagonal block; null: nothing comes. Where exchange->complete is true then, off's product is in z, too.
PetscErrorCode MultSending(Mat A, Mat off, comm::DeviceExchange *exchange, Vec x, Vec y, Vec z);
/// Whether products of a diagonal block in this format can be such: Format::TakesGhosts(). Converts `off`, which has
/// *nonzeros unless that is null, where they can.
PetscErrorCode TakesGhosts(ConvertedMatrix *diagonal, Mat off, bool *takes, PetscInt *nonzeros);
/// z += A x on local arrays of the host; x [columns of A].
PetscErrorCode AddProduct(Mat A, const Scalar *x, Vec z);
/// The same on the device, where x are the entries that the exchange brings.
PetscErrorCode AddArriving(Mat A, const comm::DeviceExchange &exchange, Vec z);
/// Whether the product of a seqaijsparsegpu matrix is ours: a program may have put another one there.
bool MultipliesByItself(Mat A);
/// Where the product of these vectors runs: where the backend asked for is, else where one of them lies. x and z null:
/// PlannedSpace(). *copies, if asked for: on the device, where one of the vectors is not. Errors: PETSC_ERR_GPU where a
/// backend was asked for that has no device.
PetscErrorCode ProductSpace(Context *context, Vec x, Vec z, Space *space, bool *copies = nullptr);
/// Takes the memory that such a product on the device needs where x or z lies on the host.
PetscErrorCode ReserveScratch(Mat A, Context *context, Operation operation);
/// Where a product would run, before any vector is known.
PetscErrorCode PlannedSpace(Context *context, Space *space);

/// What MatSparseGPUGetInfo() tells of A, whose products run on `converted`.
PetscErrorCode FillInfo(Mat A, const ConvertedMatrix &converted, MatSparseGPUInfo *info);
/// What MatView() adds: a line, and all facts where `detail`. Nothing is converted or changed. Collective.
PetscErrorCode ViewInfo(Mat A, PetscViewer viewer, bool detail);

PETSC_INTERN PetscErrorCode MatCreate_SeqAIJSparseGPU(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJSparseGPU(Mat);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJSparseGPU(Mat, MatType, MatReuse, Mat *);
PetscErrorCode              MatAssemblyEnd_MPIAIJSparseGPU(Mat, MatAssemblyType);

using AnyFunction = void (*)(void);
/// The operations and composed functions of the plain parents.
PetscErrorCode GetParentOps(bool parallel, const struct _MatOps **ops);
PetscErrorCode GetParentFunction(bool parallel, const char *name, AnyFunction *function);
PetscErrorCode ForgetParents();

/// A plain AIJ matrix becomes one of ours, in place, and back.
PetscErrorCode BecomeOurs(Mat A, bool parallel);
PetscErrorCode MatConvert_SparseGPU_Any(Mat A, MatType type, MatReuse reuse, Mat *M);
PetscErrorCode MatConvert_Any_SparseGPU(Mat A, MatType type, MatReuse reuse, Mat *M);
PetscErrorCode BecomeParent(Mat A, bool parallel);
PetscErrorCode BlocksBecomeParents(Mat A);
/// The blocks of a parallel matrix become of our type, with its settings: whenever these change, and before products,
/// as PETSc makes new blocks on preallocation and assembly.
PetscErrorCode ConvertBlocks(Mat A);
/// The same for a matrix of any kind that may have no blocks yet.
PetscErrorCode PassSettingsOn(Mat A);
PetscErrorCode SetOps_Seq(Mat A);
PetscErrorCode SetOps_MPI(Mat A);
/// Composes converters, products by type name and COO assembly; `on` false removes them.
PetscErrorCode Compose(Mat A, bool parallel, bool on);
PetscErrorCode ComposeCoo(Mat A, bool parallel, bool on);
/// A, which becomes plain AIJ, goes on to take values by the coordinates that it was preallocated with.
PetscErrorCode KeepCoordinates(Mat A);
/// B, a duplicate of A, takes values by the same coordinates.
PetscErrorCode InheritCoo(Mat A, Mat B);
/// Drops the converted copies, after a change of settings; in parallel also those of the blocks.
PetscErrorCode ForgetConverted(Mat A);
PetscErrorCode ForgetAgreement(Mat A);
/// Builds what a product would need, so that MatSparseGPUGetInfo() can tell of it; collective.
PetscErrorCode PrepareToTell(Mat A);
/// DMDA and DMStag give interpolation only types whose names begin with "aij". Where A was
/// made by one, it and its coarser ones ask for aijsparsegpu from now on.
PetscErrorCode NameTypeForDM(Mat A);
/// Device vectors from MatCreateVecs() where PETSc has them and products run on the device.
PetscErrorCode ChooseVecType(Mat A, Context *context);
/// `call` is called by ChooseVecType() for each matrix whose products run on the device. One call at a time is known.
void OnDeviceMatrices(PetscErrorCode (*call)());

} // namespace sparsegpu::face
