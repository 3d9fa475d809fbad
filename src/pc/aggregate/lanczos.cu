/// Each step is three passes over vectors, one of which scales for the product with A: the others end with sums, which
/// the last block to arrive adds up in the blocks' order.
#include "device/cuda_check.hpp"
#include "pc/aggregate/add_up.cuh"
#include "pc/aggregate/lanczos.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
/// now /= its norm, y = right * now.
__global__ void scale_kernel(PetscInt rows, const LanczosSums *sums, const Scalar *right, Scalar *now, Scalar *y)
{
  const PetscCount k = thread_index();
  if (k >= rows) return;
  const Scalar v = Scalar(1 / static_cast<PetscReal>(sqrt(RealPart(sums->square)))) * now[k];
  now[k]         = v;
  y[k]           = right[k] * v;
}

/// next = left * z; sums->before, ->now: its products with these.
__global__ void __launch_bounds__(THREADS)
    project_kernel(PetscInt rows, const Scalar *left, const Scalar *z, const Scalar *before, const Scalar *now,
                   Scalar *next, Scalar *partial, unsigned *arrived, LanczosSums *sums)
{
  Scalar sum[2] = {Scalar(0), Scalar(0)};
  for (PetscCount k = thread_index(); k < rows; k += static_cast<PetscCount>(gridDim.x) * THREADS) {
    const Scalar v = left[k] * z[k];
    next[k]        = v;
    if (before) sum[0] += Conj(before[k]) * v;
    sum[1] += Conj(now[k]) * v;
  }
  add_up<2>(sum, partial, arrived, {&sums->before, &sums->now});
}

/// next -= its parts in `before` and `now`, where there are these; sums->square = the square of what is left.
__global__ void __launch_bounds__(THREADS)
    subtract_kernel(PetscInt rows, const Scalar *before, const Scalar *now, Scalar *next, Scalar *partial,
                    unsigned *arrived, LanczosSums *sums)
{
  Scalar sum[1] = {Scalar(0)};
  for (PetscCount k = thread_index(); k < rows; k += static_cast<PetscCount>(gridDim.x) * THREADS) {
    Scalar v = next[k];
    if (before) v += Scalar(-1) * sums->before * before[k];
    if (now) v += Scalar(-1) * sums->now * now[k];
    next[k] = v;
    sum[0] += Conj(v) * v;
  }
  add_up<1>(sum, partial, arrived, {&sums->square});
}
} // namespace

PetscErrorCode LanczosVectors::SetUp(MPI_Comm comm, PetscInt rows, PetscInt steps)
{
  PetscMPIInt size;
  Stream      stream;

  PetscFunctionBegin;
  comm_ = comm;
  rows_ = rows;
  for (Array<Scalar> *v : {&left_, &right_, basis_, basis_ + 1, basis_ + 2})
    PetscCall(v->Allocate(static_cast<size_t>(rows), Space::Device));
  PetscCall(partial_.Allocate(2 * MOST_BLOCKS, Space::Device));
  PetscCall(arrived_.Allocate(1, Space::Device));
  PetscCall(sums_.Allocate(static_cast<size_t>(steps) + 1, Space::Device));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(host_.Reserve(sums_.bytes()));
  PetscCall(DeviceStream(&stream));
  SparseGPUCallCUDA(cudaMemsetAsync(arrived_.data(), 0, arrived_.bytes(), static_cast<cudaStream_t>(stream)));
  SparseGPUCallCUDA(cudaMemsetAsync(sums_.data(), 0, sums_.bytes(), static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sums on the device become those of all processes, by the host.
PetscErrorCode LanczosVectors::AddUp(Scalar *sums, PetscMPIInt count)
{
  const size_t bytes = static_cast<size_t>(count) * sizeof(Scalar);
  Stream       stream;

  PetscFunctionBegin;
  if (!host_.data()) PetscFunctionReturn(PETSC_SUCCESS);
  Scalar *const here = static_cast<Scalar *>(host_.data()) + (sums - &sums_.data()->before);
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(here, sums, bytes, stream));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, here, count, MPIU_SCALAR, MPIU_SUM, comm_));
  PetscCall(DeviceCopyIn(sums, here, bytes, stream)); // nobody waits for that
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LanczosVectors::Begin()
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (rows_ > 0) {
    subtract_kernel<<<BlocksOf(rows_), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        rows_, nullptr, nullptr, basis_[0].data(), partial_.data(), arrived_.data(), sums_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(AddUp(&sums_.data()->square, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LanczosVectors::Scale(PetscInt k, Scalar *y)
{
  Stream stream;

  PetscFunctionBegin;
  if (rows_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  scale_kernel<<<Blocks(rows_), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(rows_, sums_.data() + k, right_.data(),
                                                                                 basis_[k % 3].data(), y);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LanczosVectors::Advance(PetscInt k, const Scalar *z)
{
  const Scalar *const before = k ? basis_[(k + 2) % 3].data() : nullptr, *const now = basis_[k % 3].data();
  Scalar *const      next = basis_[(k + 1) % 3].data();
  LanczosSums *const sums = sums_.data() + k + 1;
  Stream             stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if (rows_ > 0) {
    project_kernel<<<BlocksOf(rows_), THREADS, 0, s>>>(rows_, left_.data(), z, before, now, next, partial_.data(),
                                                       arrived_.data(), sums);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(AddUp(&sums->before, 2));
  if (rows_ > 0) {
    subtract_kernel<<<BlocksOf(rows_), THREADS, 0, s>>>(rows_, before, now, next, partial_.data(), arrived_.data(),
                                                        sums);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(AddUp(&sums->square, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LanczosVectors::Get(std::vector<LanczosSums> *sums) const
{
  PetscFunctionBegin;
  PetscCallCXX(sums->resize(sums_.size()));
  PetscCall(sums_.ToHost(sums->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
