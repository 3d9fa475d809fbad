/// cuBLAS as it is opened, and what of it is called: of cublas.cu alone, since it is opened once.
#pragma once

#include <cublas_v2.h>
#include <climits>
#include <dlfcn.h>
#include <string>
#include "device/cuda_check.hpp"
#include "device/single.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
template <class Number> using Product  = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                                           int, int, const Number *, const Number *, int,
                                                           const Number *, int, const Number *, Number *, int);
template <class Number> using Products = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                                            int, int, const Number *, const Number *, int, long long,
                                                            const Number *, int, long long, const Number *, Number *,
                                                            int, long long, int);

/// The products of one of cuBLAS's types.
template <class Number> struct Routines {
  Product<Number>  product  = nullptr;
  Products<Number> products = nullptr;
};

struct Library {
  bool           tried                                       = false;
  bool           told                                        = false; ///< that it was opened
  bool           lacks_memory                                = false;
  void          *library                                     = nullptr;
  cublasHandle_t handle                                      = nullptr;
  cublasStatus_t (*create)(cublasHandle_t *)                 = nullptr;
  cublasStatus_t (*destroy)(cublasHandle_t)                  = nullptr;
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t) = nullptr;
  cublasStatus_t (*set_math)(cublasHandle_t, cublasMath_t)   = nullptr;
  float *parts                                               = nullptr; ///< [PARTS] short ones of factors
#if defined(PETSC_USE_COMPLEX)
  Routines<cuDoubleComplex> full;
  Routines<cuComplex>       single;
#else
  Routines<double> full;
  Routines<float>  single;
#endif
};
Library cublas;

#if defined(PETSC_USE_COMPLEX)
constexpr char FULL[] = "cublasZgemm", SINGLE[] = "cublasCgemm";
#else
constexpr char FULL[] = "cublasDgemm", SINGLE[] = "cublasSgemm";
#endif

/// The routines for Number, Scalar or Single.
template <class Number> const auto &RoutinesOf()
{
  if constexpr (sizeof(RealOfScalar<Number>) == sizeof(float))
    return cublas.single;
  else
    return cublas.full;
}

/// The arguments of cuBLAS: its number types have the layout of ours.
template <class To, class From> const To *As(const From *p)
{
  return reinterpret_cast<const To *>(p);
}
template <class To, class From> To *As(From *p)
{
  return reinterpret_cast<To *>(p);
}

template <class Function> bool Find(const char name[], Function *function)
{
  *function = reinterpret_cast<Function>(dlsym(cublas.library, name));
  return *function != nullptr;
}

template <class Number> bool FindRoutines(const char name[], Routines<Number> *routines)
{
  const std::string plain = name;
  return Find((plain + "_v2").c_str(), &routines->product) &&
         Find((plain + "StridedBatched").c_str(), &routines->products);
}

PetscErrorCode Check(cublasStatus_t status)
{
  PetscFunctionBegin;
  PetscCheck(status == CUBLAS_STATUS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuBLAS error %d",
             static_cast<int>(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of each product; full products after short ones, too, which an error may have ended.
PetscErrorCode Begin(Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Check(cublas.set_math(cublas.handle, CUBLAS_DEFAULT_MATH)));
  PetscCall(Check(cublas.set_stream(cublas.handle, static_cast<cudaStream_t>(stream))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSizes(PetscInt m, PetscInt n, PetscInt k, PetscInt lda, PetscInt ldb, PetscInt ldc)
{
  PetscFunctionBegin;
  PetscCheck(m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A product of %" PetscInt_FMT " x %" PetscInt_FMT " entries is too large for cuBLAS", m, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

} // namespace sparsegpu
