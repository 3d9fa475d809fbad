/// What our types keep beside the AIJ data: settings, the converted copies ("converted copies") and scratch memory.
#pragma once

#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include "device/buffer.hpp"
#include "mat/rows/device_rows.hpp"
#include "mat/choice/select.hpp"
#include "mat/formats/plan.hpp"
#include "petsc/may_lack_memory.hpp"
#include "mat/rows/version.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu
{

enum class Backend {
  Auto,
  Cuda,
  Kokkos
};
extern const char *const BackendNames[3];

/// The operator that a converted copy holds. ConjugateTranspose differs from Transpose only when scalars are complex.
enum class Operation {
  Normal,
  Transpose,
  ConjugateTranspose
};

/// What tells cheaply that a pattern is another one. It cannot prove that two are the same: PETSc can write other
/// columns into the old arrays. What multiplies goes by PatternFingerprint().
struct PatternKey {
  Version          epoch = 0; ///< Context::epoch
  const void      *data = nullptr, *i = nullptr, *j = nullptr;
  PetscObjectState nonzero  = -1;
  PetscInt         nonzeros = -1;
  bool             operator==(const PatternKey &b) const
  {
    return epoch == b.epoch && data == b.data && i == b.i && j == b.j && nonzero == b.nonzero && nonzeros == b.nonzeros;
  }
};

/// A converted copy of the matrix, current when `version` is the matrix's.
struct ConvertedMatrix {
  std::unique_ptr<Format> format;
  Space                   space = Space::Host;
  std::string             reason, details;
  PatternKey              pattern;
  std::uint64_t           fingerprint     = 0; ///< of the pattern, where the format has a copy of it
  Version                 version         = 0;
  PetscLogDouble          convert_seconds = 0, update_seconds = 0;
  // The transpose of the pattern, where the copy is of a transpose
  std::vector<PetscInt> ti, tj;       ///< [cols + 1], [nonzeros]
  std::vector<PetscInt> tperm;        ///< [nonzeros] entry of A
  std::vector<Scalar>   ta;           ///< [nonzeros] value, conjugated in a conjugate transpose
  PetscLogDouble        released = 0; ///< bytes that Release() has freed since the last conversion or update

  /// Bytes beside the format that a change of values needs, in CSR's order.
  PetscLogDouble BytesForUpdates() const;
  /// Frees them; what the format itself multiplies with stays.
  void Release();
};

/// What auto decided for one operation in one space, and the products that wait for its conversion to pay: lazy.cxx.
struct Waiting {
  std::shared_ptr<Choice> choice; ///< null before the analysis
  PatternKey              pattern;
  Version                 version       = 0;
  bool                    inherited     = false; ///< choice of a matrix that this one is a copy of, not compared
  PetscCount              since_pattern = 0, since_values = 0; ///< products as csr since these have changed
};

/// What a converted copy is asked for.
enum class Use {
  Product, ///< one product
  Prepare, ///< whatever the next product needs, not counted
  Tell,    ///< MatView(): as it is, with the choice made
  Solve    ///< as many products as a solver needs
};

/// Assembly from coordinates on the device, for MatSetValuesCOO() with device arrays; duplicates of a matrix share it.
struct CooMap {
  Array<PetscCount> jmap, perm; ///< [nonzeros + 1], [entries kept]: see SumCoordinates_CUDA()
};

struct Settings {
  std::string   format  = "auto";
  Backend       backend = Backend::Auto;
  FormatOptions options;
  bool          decided = false; ///< by the options, a setter or the parent; else the options are read at first use
  bool          strict =
      false; ///< the format was asked for by MatSetFromOptions() or a setter on this very matrix: a refusal
             ///< is an error. Else (sub-matrices, products, coarse operators) what it refuses is stored as csr
  bool bound_to_cpu = false;
  bool off_diagonal = false; ///< an off-diagonal block, never strict
  bool release_csr  = false; ///< -mat_sparsegpu_release_csr: keep nothing beside the format
  bool trial        = false; ///< -mat_sparsegpu_auto_trial: choose by timing products
  bool lazy         = true;  ///< -mat_sparsegpu_auto_lazy: convert once it pays, where no bit shows it
};

/// Which matrix a context belongs to. MatHeaderReplace() and MatHeaderMerge() hand contexts from one matrix to another,
/// whose object state may be any; the address and the id of the owner tell.
struct Owner {
  Mat              mat   = nullptr;
  PetscObjectId    id    = 0;
  PetscObjectState state = -1; ///< of the matrix when `Context::version` was given
};

struct Context {
  Owner                   owner;
  Version                 version = 0; ///< of the values and the pattern: GetVersion()
  Version                 epoch   = 0; ///< moves when the matrix, or all of its pattern, is known to be another one
  Settings                settings;
  ConvertedMatrix         converted[2][3];  ///< [space][operation]
  ConvertedMatrix         early[2][3];      ///< [space][operation] csr, or scattered from it, until the conversion pays
  Waiting                 waiting[2][3];    ///< [space][operation]
  const ConvertedMatrix  *last = nullptr;   ///< used by the last product that was not a transpose's
  DeviceMemory            x, z;             ///< scratch for host vectors in a product on the device
  DeviceRows              rows;             ///< of A, while its format is being chosen and built
  Version                 rows_version = 0; ///< of A then
  std::shared_ptr<Plans>  plans;            ///< of them
  std::shared_ptr<CooMap> coo;              ///< null: none
  PatternKey              coo_pattern;
  bool                    coo_fresh = false; ///< MatSetValuesCOO() has not been called since the preallocation
  DeviceMemory            coo_values;
  PetscCount              coo_entries  = -1; ///< given to MatSetPreallocationCOO()
  Version                 coo_version  = 0;  ///< for which coo_values are the matrix's values
  PetscLogDouble          coo_released = 0;  ///< bytes of coo_values that were freed once the host had them
  // mpiaijsparsegpu
  PetscSF               halo   = nullptr;  ///< owned columns -> ghosts
  Vec                   ghosts = nullptr;  ///< [columns of the off-diagonal block]
  std::vector<PetscInt> halo_columns;      ///< the ghosts' columns in the matrix, for which halo was made
  Version               agreed[2][3] = {}; ///< for which all ranks know the blocks ready
  bool agreed_scratch[3] = {}; ///< all ranks know that there is scratch for host vectors in products on the device
};

/// The context of a matrix of ours, made on first use: MatHeaderMerge() and friends may have taken the old one away.
/// One that came from another matrix keeps its settings and loses all copies of values and patterns.
PetscErrorCode GetContext(Mat A, Context **context);
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
/// The converted copy of A for `operation` in `space`, built or refreshed if A has changed.
PetscErrorCode GetConverted(Mat A, Context *context, Operation operation, Space space, Use use,
                            ConvertedMatrix **converted);
/// view->device, where A is large enough and there is memory: the rows that csr multiplies with until the conversion,
/// or a copy, which GetConverted() drops when it is done.
PetscErrorCode GetDeviceRows(Mat A, Context *context, CsrView *view);
/// The copy, and what was found out from it.
void DropDeviceRows(Context *context);
/// Under auto: is it csr's turn still? Counts the product.
PetscErrorCode IsEarly(Mat A, Context *context, Operation operation, Space space, Use use, bool *early);
/// The plans for products of `view`: where its rows lie on the device those that an earlier look at them has left.
PetscErrorCode GetPlans(Context *context, const CsrView &view, Space space, std::shared_ptr<Plans> *plans);
/// auto's choice for the rows of `plans`, op(A) of key `key`: the one made before, or inherited, if it is of such a
/// matrix; else a new one, by `trial` or by the model.
PetscErrorCode GetChoice(const CsrView &A, Plans *plans, const PatternKey &key, bool trial, Waiting *waiting,
                         std::shared_ptr<Choice> *choice);
/// The choices of A are B's, a copy with A's pattern, until it is asked to differ.
PetscErrorCode InheritChoices(Mat A, Mat B);
/// Why csr, and until when.
PetscErrorCode TellEarly(const Waiting &waiting, std::string *reason);
/// What the transposed products run on; empty if there was none. `plain`: auto's choice for the matrix itself on the
/// host; null: not known.
PetscErrorCode TellTransposed(const Context &context, const Choice *plain, std::string *text);
/// Takes values that already lie on the device over into the Normal device converted copies that are built and of this
/// pattern, from within MatSetValuesCOO().
PetscErrorCode UpdateConvertedFromDevice(Mat A, Context *context, const Scalar *a);
/// A's values on the device in the order of its rows, where device arrays set them and nothing has changed them since;
/// else null.
PetscErrorCode DeviceValues(Mat A, Context *context, const Scalar **a);
/// z = op(A) x + y on local arrays, in `space`; y may be null or z. x, y, z may be parallel: their local parts are
/// used.
PetscErrorCode MultLocal(Mat A, Operation operation, Space space, Vec x, Vec y, Vec z);
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

extern PetscLogEvent ChooseEvent, ConvertEvent, UpdateEvent, CopyEvent;

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
/// B, a duplicate of A, takes values by the same coordinates.
PetscErrorCode InheritCoo(Mat A, Mat B);
/// Drops the converted copies, after a change of settings; in parallel also those of the blocks.
PetscErrorCode ForgetConverted(Mat A);
/// The same for the context alone.
void           ForgetCopies(Context *context);
PetscErrorCode ForgetAgreement(Mat A);
/// Builds what a product would need, so that MatSparseGPUGetInfo() can tell of it; collective.
PetscErrorCode PrepareToTell(Mat A);
/// DMDA and DMStag give interpolation only types whose names begin with "aij". Where A was
/// made by one, it and its coarser ones ask for aijsparsegpu from now on.
PetscErrorCode NameTypeForDM(Mat A);
/// Device vectors from MatCreateVecs() where PETSc has them and products run on the device.
PetscErrorCode ChooseVecType(Mat A, Context *context);

} // namespace sparsegpu
