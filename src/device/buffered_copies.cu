#include "device/buffered_copies.hpp"
#include "device/cuda_check.hpp"

namespace sparsegpu
{

static cudaEvent_t Event(void *event)
{
  return static_cast<cudaEvent_t>(event);
}
static cudaStream_t StreamOf(Stream stream)
{
  return static_cast<cudaStream_t>(stream);
}

BufferedCopies::~BufferedCopies()
{
  if (copies_) { // an error may have left copies that nobody waits for
    (void)cudaStreamSynchronize(StreamOf(copies_));
    (void)cudaStreamDestroy(StreamOf(copies_));
  }
  for (const Buffer &buffer : buffer_)
    for (void *event : {buffer.filled, buffer.copied})
      if (event) (void)cudaEventDestroy(Event(event));
}

PetscErrorCode BufferedCopies::Allocate(size_t host, size_t bytes, PetscInt count)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCheck(count <= MOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " buffers", count);
  if (!copies_) {
    SparseGPUCallCUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    copies_ = stream;
  }
  for (PetscInt k = 0; k < count; k++) {
    PetscCall(buffer_[k].memory.Reserve(bytes));
    for (void **event : {&buffer_[k].filled, &buffer_[k].copied}) {
      cudaEvent_t made;
      if (*event) continue;
      SparseGPUCallCUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
      *event = made;
    }
  }
  PetscCall(host_.Reserve(host));
  count_ = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BufferedCopies::Next(Stream stream, void **buffer)
{
  PetscFunctionBegin;
  current_ = current_ + 1 < count_ ? current_ + 1 : 0;
  SparseGPUCallCUDA(cudaStreamWaitEvent(StreamOf(stream), Event(buffer_[current_].copied), 0)); // none yet: no wait
  *buffer = buffer_[current_].memory.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BufferedCopies::Copy(Stream stream, size_t at, size_t bytes)
{
  const Buffer      &buffer = buffer_[current_];
  const cudaStream_t copies = StreamOf(copies_);

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaEventRecord(Event(buffer.filled), StreamOf(stream)));
  SparseGPUCallCUDA(cudaStreamWaitEvent(copies, Event(buffer.filled), 0));
  SparseGPUCallCUDA(cudaMemcpyAsync(host() + at, buffer.memory.data(), bytes, cudaMemcpyDeviceToHost, copies));
  SparseGPUCallCUDA(cudaEventRecord(Event(buffer.copied), copies));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BufferedCopies::Join(Stream stream)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count_; k++)
    SparseGPUCallCUDA(cudaStreamWaitEvent(StreamOf(stream), Event(buffer_[k].copied), 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
