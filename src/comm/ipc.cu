/// Memory of each rank's GPU that the other ranks of the host map (CUDA IPC). It comes from cudaMalloc(): memory of
/// pools cannot be exported. An allocation is exported once, and freed once all that opened it have closed it.
#include "comm/segment.hpp"
#include "device/cuda_check.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
{
class DeviceSegment : public Segment
{
public:
  /// Ends with the same *why on all ranks.
  PetscErrorCode Allocate(MPI_Comm comm, size_t bytes, std::string *why)
  {
    cudaIpcMemHandle_t              handle = {};
    std::vector<cudaIpcMemHandle_t> handles;
    PetscMPIInt                     size;
    void                           *mine = nullptr;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(comm, &rank_));
    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCallCXX(handles.resize(static_cast<size_t>(size)));
    PetscCallCXX(at_.resize(static_cast<size_t>(size)));
    PetscCall(Try("cudaMalloc", cudaMalloc(&mine, bytes), why));
    at_[static_cast<size_t>(rank_)] = static_cast<char *>(mine);
    if (why->empty()) PetscCall(Try("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&handle, mine), why));
    PetscCall(AgreeOnReason(comm, why));
    if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallMPI(MPI_Allgather(&handle, sizeof(handle), MPI_BYTE, handles.data(), sizeof(handle), MPI_BYTE, comm));
    for (int r = 0; r < size && why->empty(); r++) {
      void *theirs = nullptr;
      if (r == rank_) continue;
      PetscCall(Try("cudaIpcOpenMemHandle",
                    cudaIpcOpenMemHandle(&theirs, handles[static_cast<size_t>(r)], cudaIpcMemLazyEnablePeerAccess),
                    why));
      at_[static_cast<size_t>(r)] = why->empty() ? static_cast<char *>(theirs) : nullptr;
    }
    PetscCall(AgreeOnReason(comm, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Close() override
  {
    PetscFunctionBegin;
    for (size_t r = 0; r < at_.size(); r++) {
      if (static_cast<int>(r) == rank_ || !at_[r]) continue;
      SparseGPUCallCUDA(cudaIpcCloseMemHandle(at_[r]));
      at_[r] = nullptr;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Free() override
  {
    PetscFunctionBegin;
    char *const mine = std::exchange(at_[static_cast<size_t>(rank_)], nullptr);
    if (mine) SparseGPUCallCUDA(cudaFree(mine));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static PetscErrorCode Try(const char call[], cudaError_t error, std::string *why)
  {
    PetscFunctionBegin;
    if (error != cudaSuccess) PetscCallCXX(*why = std::string(call) + ": " + cudaGetErrorString(error));
    (void)cudaGetLastError(); // clear it: the ranks take another way
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscMPIInt rank_ = 0;
};
} // namespace

PetscErrorCode NewDeviceSegment(MPI_Comm comm, size_t bytes, std::unique_ptr<Segment> *segment, std::string *why)
{
  std::unique_ptr<DeviceSegment> fresh;

  PetscFunctionBegin;
  PetscCallCXX(fresh = std::make_unique<DeviceSegment>());
  PetscCall(fresh->Allocate(comm, bytes, why));
  if (why->empty()) {
    *segment = std::move(fresh);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(fresh->Close());
  PetscCallMPI(MPI_Barrier(comm)); // none has it open
  PetscCall(fresh->Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceIdentity(char identity[16])
{
  cudaDeviceProp properties;
  int            device;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaGetDevice(&device));
  SparseGPUCallCUDA(cudaGetDeviceProperties(&properties, device));
  static_assert(sizeof(properties.uuid) == 16, "a UUID has 16 bytes");
  PetscCall(PetscMemcpy(identity, &properties.uuid, 16));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SettleDevice()
{
  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaDeviceSynchronize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClearDevice(void *p, size_t bytes)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  SparseGPUCallCUDA(cudaMemsetAsync(p, 0, bytes, static_cast<cudaStream_t>(stream)));
  SparseGPUCallCUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
