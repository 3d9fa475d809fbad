/// Creators of factors in front of those of the packages, and the operations that they give to a factor.
#include "mat/face/host_factors.hpp"
#include <array>
#include <iterator>
#include <type_traits>
#include <utility>
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

namespace
{
/// A place of F for a factorization, among F's operations. In those that derive from this one, NAME is the name under
/// which the package's own function is composed with F, and SYMBOLIC tells which factorizations set the numeric one.
template <auto member> struct InOperations {
  using Function = std::remove_reference_t<decltype(std::declval<struct _MatOps>().*member)>;
  static PetscErrorCode Get(Mat F, Function *function)
  {
    *function = F->ops[0].*member;
    return PETSC_SUCCESS;
  }
  static PetscErrorCode Set(Mat F, Function function)
  {
    F->ops[0].*member = function;
    return PETSC_SUCCESS;
  }
};
struct LUSymbolic : InOperations<&_MatOps::lufactorsymbolic> {
  static constexpr char NAME[]   = "SparseGPUPackageLUFactorSymbolic_C";
  static constexpr bool SYMBOLIC = true;
};
struct LUNumeric : InOperations<&_MatOps::lufactornumeric> {
  static constexpr char NAME[]   = "SparseGPUPackageLUFactorNumeric_C";
  static constexpr bool SYMBOLIC = false;
};
struct CholeskySymbolic : InOperations<&_MatOps::choleskyfactorsymbolic> {
  static constexpr char NAME[]   = "SparseGPUPackageCholeskyFactorSymbolic_C";
  static constexpr bool SYMBOLIC = true;
};
struct CholeskyNumeric : InOperations<&_MatOps::choleskyfactornumeric> {
  static constexpr char NAME[]   = "SparseGPUPackageCholeskyFactorNumeric_C";
  static constexpr bool SYMBOLIC = false;
};
struct ILUSymbolic : InOperations<&_MatOps::ilufactorsymbolic> {
  static constexpr char NAME[]   = "SparseGPUPackageILUFactorSymbolic_C";
  static constexpr bool SYMBOLIC = true;
};
struct ICCSymbolic : InOperations<&_MatOps::iccfactorsymbolic> {
  static constexpr char NAME[]   = "SparseGPUPackageICCFactorSymbolic_C";
  static constexpr bool SYMBOLIC = true;
};

/// The same for factorizations that PETSc finds by a name, which `Place` has.
template <class Place, class Type> struct Composed {
  using Function = Type;
  static PetscErrorCode Get(Mat F, Function *function)
  {
    PetscFunctionBegin;
    PetscCall(PetscObjectQueryFunction((PetscObject)F, Place::PETSC_NAME, function));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode Set(Mat F, Function function)
  {
    PetscFunctionBegin;
    PetscCall(PetscObjectComposeFunction((PetscObject)F, Place::PETSC_NAME, function));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
struct QRSymbolic : Composed<QRSymbolic, PetscErrorCode (*)(Mat, Mat, IS, const MatFactorInfo *)> {
  static constexpr char PETSC_NAME[] = "MatQRFactorSymbolic_C", NAME[] = "SparseGPUPackageQRFactorSymbolic_C";
  static constexpr bool SYMBOLIC = true;
};
struct QRNumeric : Composed<QRNumeric, PetscErrorCode (*)(Mat, Mat, const MatFactorInfo *)> {
  static constexpr char PETSC_NAME[] = "MatQRFactorNumeric_C", NAME[] = "SparseGPUPackageQRFactorNumeric_C";
  static constexpr bool SYMBOLIC = false;
};

constexpr char DESTROY[] = "SparseGPUPackageDestroy_C";

template <bool keeps> PetscErrorCode ExchangeAll(Mat F);

/// The package's function on values of A that are home; where the package keeps A's array for its solves, they stay.
template <bool keeps, class Place, class Function = typename Place::Function> struct AtHome;
template <bool keeps, class Place, class... Arguments>
struct AtHome<keeps, Place, PetscErrorCode (*)(Mat, Mat, Arguments...)> {
  using Function = PetscErrorCode (*)(Mat, Mat, Arguments...);
  static PetscErrorCode Call(Mat F, Mat A, Arguments... arguments)
  {
    Function of_package = nullptr;

    PetscFunctionBegin;
    PetscCall(keeps ? StayHome(A) : BringHome(A));
    PetscCall(PetscObjectQueryFunction((PetscObject)F, Place::NAME, &of_package));
    PetscCheck(of_package, PETSC_COMM_SELF, PETSC_ERR_PLIB, "This factor has lost %s", Place::NAME);
    PetscCall((*of_package)(F, A, arguments...));
    if (Place::SYMBOLIC) PetscCall(ExchangeAll<keeps>(F)); // it has set the numeric one
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode Exchange(Mat F)
  {
    Function found = nullptr;

    PetscFunctionBegin;
    PetscCall(Place::Get(F, &found));
    if (!found || found == Call) PetscFunctionReturn(PETSC_SUCCESS);
    // A creator may have had F made by another creator, also exchanged: the composed function is the package's already.
    if (found != AtHome<!keeps, Place>::Call) PetscCall(PetscObjectComposeFunction((PetscObject)F, Place::NAME, found));
    PetscCall(Place::Set(F, Call));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The package's destroy(), after the functions kept with F are gone: -checkfunctionlist expects none at its end.
template <class... Places> PetscErrorCode Destroy(Mat F)
{
  PetscErrorCode (*of_package)(Mat) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)F, DESTROY, &of_package));
  for (const char *name : {DESTROY, static_cast<const char *>(Places::NAME)...})
    PetscCall(PetscObjectComposeFunction((PetscObject)F, name, nullptr));
  F->ops->destroy = of_package;
  if (of_package) PetscCall((*of_package)(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool keeps, class... Places> PetscErrorCode Exchange(Mat F)
{
  PetscFunctionBegin;
  for (const PetscErrorCode code : {AtHome<keeps, Places>::Exchange(F)...}) PetscCall(code);
  if (F->ops->destroy == Destroy<Places...>) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)F, DESTROY, F->ops->destroy));
  F->ops->destroy = Destroy<Places...>;
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <bool keeps> PetscErrorCode ExchangeAll(Mat F)
{
  return Exchange<keeps, LUSymbolic, LUNumeric, CholeskySymbolic, CholeskyNumeric, ILUSymbolic, ICCSymbolic, QRSymbolic,
                  QRNumeric>(F);
}

using Creator = PetscErrorCode (*)(Mat, MatFactorType, Mat *);

/// All that any version of PETSc has a MATSOLVER for, by name, as no version has all of them. The first, PETSc's own,
/// keeps no array of A; the others may.
constexpr const char *PACKAGES[] = {
    "petsc",        "bas",    "superlu",   "superlu_dist",    "umfpack",     "klu",          "cholmod",
    "spqr",         "mumps",  "strumpack", "pastix",          "mkl_pardiso", "mkl_cpardiso", "essl",
    "lusol",        "matlab", "elemental", "sparseelemental", "scalapack",   "htool",        "cusparse",
    "cusparseband", "cuda",   "hipsparse", "hipsparseband",   "hip",         "kokkos",       "kokkosdevice"};
constexpr size_t COUNT = std::size(PACKAGES);

Creator of_packages[2][COUNT][MAT_FACTOR_NUM_TYPES]; ///< [parallel][package][MatFactorType] PETSc's creators

template <bool parallel, size_t package> PetscErrorCode Create(Mat A, MatFactorType kind, Mat *F)
{
  Mat made = nullptr;

  PetscFunctionBegin;
  PetscCall((*of_packages[parallel][package][kind])(A, kind, &made));
  if (made) PetscCall(ExchangeAll<(package > 0)>(made));
  *F = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <bool parallel, size_t... packages>
constexpr std::array<Creator, COUNT> Creators(std::index_sequence<packages...>)
{
  return {Create<parallel, packages>...};
}

template <bool parallel> PetscErrorCode Register()
{
  constexpr std::array<Creator, COUNT> ours = Creators<parallel>(std::make_index_sequence<COUNT>());
  constexpr MatType                    type = parallel ? MATMPIAIJ : MATSEQAIJ;

  PetscFunctionBegin;
  for (size_t p = 0; p < COUNT; p++)
    for (int k = MAT_FACTOR_NONE + 1; k < MAT_FACTOR_NUM_TYPES; k++) {
      const MatFactorType kind  = static_cast<MatFactorType>(k);
      Creator             found = nullptr;
      PetscCall(MatSolverTypeGet(PACKAGES[p], type, kind, nullptr, nullptr, &found));
      if (!found || found == ours[p]) continue;
      of_packages[parallel][p][k] = found;
      PetscCall(MatSolverTypeRegister(PACKAGES[p], type, kind, ours[p]));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode BringHomeForHostFactors()
{
  PetscFunctionBegin;
  PetscCall(Register<false>());
  PetscCall(Register<true>());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
