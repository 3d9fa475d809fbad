/// Shared memory of the host through MPI_Win_allocate_shared(), and reasons that all ranks agree on.
#include "comm/segment.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
{
class Window : public Segment
{
public:
  PetscErrorCode Allocate(MPI_Comm comm, size_t bytes, std::string *why)
  {
    PetscMPIInt rank, size;
    void       *mine = nullptr;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    PetscCallMPI(MPI_Comm_size(comm, &size));
    // OpenMPI has the windows of all ranks in one file, which fails on all of them or on none.
    PetscCallMPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    const int failed = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &mine, &window_);
    if (failed) {
      PetscCallCXX(*why = "MPI has no shared memory of " + std::to_string(bytes) + " bytes a rank");
      window_ = MPI_WIN_NULL;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallCXX(at_.resize(static_cast<size_t>(size)));
    for (int r = 0; r < size; r++) {
      MPI_Aint length;
      int      unit;
      void    *base;
      PetscCallMPI(MPI_Win_shared_query(window_, r, &length, &unit, &base));
      at_[static_cast<size_t>(r)] = static_cast<char *>(base);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Close() override
  {
    PetscFunctionBegin;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Free() override
  {
    PetscFunctionBegin;
    if (window_ != MPI_WIN_NULL) PetscCallMPI(MPI_Win_free(&window_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  MPI_Win window_ = MPI_WIN_NULL;
};
} // namespace

PetscErrorCode NewWindow(MPI_Comm comm, size_t bytes, std::unique_ptr<Segment> *segment, std::string *why)
{
  std::unique_ptr<Window> window;

  PetscFunctionBegin;
  PetscCallCXX(window = std::make_unique<Window>());
  PetscCall(window->Allocate(comm, bytes, why));
  PetscCall(AgreeOnReason(comm, why));
  if (why->empty()) *segment = std::move(window);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AgreeOnReason(MPI_Comm comm, std::string *why)
{
  char        text[256] = "";
  PetscMPIInt rank, size, mine, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  mine = why->empty() ? size : rank;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  if (rank == first) PetscCall(PetscStrncpy(text, why->c_str(), sizeof(text)));
  PetscCallMPI(MPI_Bcast(text, sizeof(text), MPI_CHAR, first, comm));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode NewDeviceSegment(MPI_Comm, size_t, std::unique_ptr<Segment> *, std::string *why)
{
  PetscFunctionBegin;
  PetscCallCXX(*why = "this libsparsegpu was built without CUDA");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceIdentity(char identity[16])
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(identity, 16));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SettleDevice()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClearDevice(void *, size_t)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP_SYS, "This libsparsegpu was built without CUDA");
}
#endif

} // namespace sparsegpu::comm
