/// A pattern from the device becomes that of a sequential AIJ matrix through PETSc's public functions: row lengths and
/// columns alone are copied to the host. The host's values, whose memory is fresh, are not touched where they are
/// behind those of the device anyway.
#include "mat/face/pattern.hpp"
#include <cstring>
#include "device/host_memory.hpp"
#include "mat/face/value_place.hpp"

namespace sparsegpu::face
{

namespace
{
PetscErrorCode CopyToHost(PetscInt *host, const PetscInt *from, size_t count, Space space)
{
  Stream stream;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Host) {
    memcpy(host, from, count * sizeof(PetscInt));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(host, from, count * sizeof(PetscInt), stream));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(count * sizeof(PetscInt))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSeqAIJSetPreallocation() of rows that begin at i [rows + 1].
PetscErrorCode SetLengths(Mat A, const Array<PetscInt> &i, Space space)
{
  std::vector<PetscInt> lengths;

  PetscFunctionBegin;
  PetscCallCXX(lengths.resize(i.size()));
  PetscCall(CopyToHost(lengths.data(), i.data(), i.size(), space));
  for (size_t r = 0; r + 1 < i.size(); r++) lengths[r] = lengths[r + 1] - lengths[r];
  PetscCall(MatSeqAIJSetPreallocation(A, 0, lengths.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSeqAIJSetColumnIndices() of j. They are copied to their place in AIJ's array at once, which saves the fresh
/// memory of another one: PETSc's function, which ends the rows, too, then copies them onto themselves.
PetscErrorCode SetColumns(Mat A, const Array<PetscInt> &j, Space space)
{
  CsrView csr;

  PetscFunctionBegin;
  if (j.size() == 0) PetscFunctionReturn(PETSC_SUCCESS); // all rows are as they were preallocated: empty
  PetscCall(GetHostPattern(A, &csr));
  PetscCheck(static_cast<size_t>(csr.nonzeros) == j.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%zu columns for %" PetscInt_FMT " nonzeros", j.size(), csr.nonzeros);
  PetscInt *const columns = const_cast<PetscInt *>(csr.j);
  PetscCall(CopyToHost(columns, j.data(), j.size(), space));
  PetscCall(MatSeqAIJSetColumnIndices(A, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ZeroOnHost(Mat A)
{
  CsrView      csr;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(GetHostPattern(A, &csr));
  if (csr.nonzeros == 0 || A->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayWrite(A, &a));
  AdviseHugePages(a, static_cast<size_t>(csr.nonzeros) * sizeof(PetscScalar));
  memset(static_cast<void *>(a), 0, static_cast<size_t>(csr.nonzeros) * sizeof(PetscScalar));
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatAssemblyEnd() as far as the pattern goes. The program has not assembled its values yet: nothing is viewed or
/// tested, and what MatSetOption() has said of their symmetry goes on to hold.
PetscErrorCode AssemblePattern(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*A->ops->assemblyend)(A, MAT_FINAL_ASSEMBLY));
  A->assembled        = PETSC_TRUE;
  A->ass_nonzerostate = A->nonzerostate;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values zero of A, assembled.
PetscErrorCode ZeroValues(Mat A)
{
  there::There t;

  PetscFunctionBegin;
  PetscCall(there::Find(A, there::Need::Anew, &t));
  if (t.is)
    PetscCall(there::Write(A, t, t.pattern.nonzeros, values::Zero{t.a}, 0));
  else
    PetscCall(ZeroOnHost(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TakePattern(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, Space space)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCheck(seq, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A pattern of the device for type %s, not %s",
             ((PetscObject)A)->type_name, MATSEQAIJSPARSEGPU);
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCheck(i.size() == static_cast<size_t>(A->rmap->n) + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%zu beginnings of rows for %" PetscInt_FMT " rows", i.size(), A->rmap->n);
  {
    const AtHomeScope scope; // the host's values are not defined yet
    PetscCall(SetLengths(A, i, space));
    PetscCall(SetColumns(A, j, space));
    // Products run on the device; to look for inodes would read the fresh columns of every row.
    PetscCall(MatSetOption(A, MAT_USE_INODES, PETSC_FALSE));
    PetscCall(AssemblePattern(A));
  }
  PetscCall(ZeroValues(A)); // before Rows take the pattern: on the host that moves its version
  PetscCall(GetContext(A, &context));
  if (space == Space::Device)
    PetscCall(context->rows.TakePattern(A, std::move(i), std::move(j), !context->settings.release_csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
