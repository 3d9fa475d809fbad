/// cuBLAS opened, by whoever needs it first or ahead of that in a thread; of cublas.cu alone.
#pragma once

#include <exception>
#include "device/cublas_library.cuh"

namespace sparsegpu
{

namespace
{
/// The version that the headers are of; one that is loaded already, PETSc's for instance, is the one found.
std::string LibraryName()
{
  return "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
}

void OpenLibrary()
{
  cublas.tried   = true;
  cublas.library = dlopen(LibraryName().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (cublas.library &&
      !(Find("cublasCreate_v2", &cublas.create) && Find("cublasDestroy_v2", &cublas.destroy) &&
        Find("cublasSetStream_v2", &cublas.set_stream) && Find("cublasSetMathMode", &cublas.set_math) &&
        FindRoutines(FULL, &cublas.full) && FindRoutines(SINGLE, &cublas.single))) {
    dlclose(cublas.library);
    cublas.library = nullptr;
  }
}

/// A product of zeros, with which the code that products have in common is loaded. On a stream that waits for no other.
/// Should it fail, whoever needs a product hears of it.
template <class T> void MultiplyOnce(const Routines<T> &routines)
{
  constexpr int SIZE = 64;
  const Scalar  one(1);
  Scalar       *zeros = nullptr;
  cudaStream_t  stream;

  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  constexpr size_t BYTES = 2 * SIZE * SIZE * sizeof(Scalar);
  if (cudaMallocAsync(reinterpret_cast<void **>(&zeros), BYTES, stream) == cudaSuccess) {
    (void)cudaMemsetAsync(zeros, 0, BYTES, stream);
    (void)cublas.set_stream(cublas.handle, stream);
    (void)routines.product(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, As<T>(&one), As<T>(zeros), SIZE,
                           As<T>(zeros), SIZE, As<T>(&one), As<T>(zeros + SIZE * SIZE), SIZE);
    (void)cudaFreeAsync(zeros, stream); // cudaFree() would wait for all other work of the GPU
    (void)cudaStreamSynchronize(stream);
    (void)cublas.set_stream(cublas.handle, nullptr);
  }
  (void)cudaStreamDestroy(stream);
}

/// The body of the thread: it calls nothing of PETSc, which is one thread's.
void OpenOn(int device)
{
  try {
    if (cudaSetDevice(device) != cudaSuccess) return;
    OpenLibrary();
    if (cublas.library && cublas.create(&cublas.handle) != CUBLAS_STATUS_SUCCESS) cublas.handle = nullptr;
    if (cublas.handle) MultiplyOnce(RoutinesOf<Scalar>());
    (void)cudaGetLastError();
  } catch (const std::exception &) { // no memory for a name
    cublas.library = nullptr;
  }
}
} // namespace

} // namespace sparsegpu
