/// Rows through MatSeqAIJGetCSRAndMemType() or our own context.
#include "pc/factor/rows.hpp"
#include "mat/face/context.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::factor
{

namespace
{
/// The beginnings of all rows: MATSEQAIJCUSPARSE that has many empty ones gives those of the others. On the device.
PetscErrorCode FindAllRows(Mat A, CsrView *csr)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_CUSPARSE_TELLS_ROWS)
  PetscBool       cusparse;
  const PetscInt *i, *j;

  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &cusparse));
  if (!cusparse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
  csr->i = i;
#else
  (void)A;
  (void)csr;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode GetMatrixRows(Mat A, MatrixRows *m)
{
  PetscBool    seq, mpi;
  PetscScalar *a;
  PetscMemType where;

  PetscFunctionBegin;
  m->matrix = A;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) {
    Context *context;
    Scalar  *values;
    PetscCall(GetContext(A, &context));
    PetscCall(context->rows.GetPattern(A, &m->csr, nullptr));
    if (context->rows.BytesOnDevice().pattern > 0)
      PetscCall(context->rows.BringPattern(A, Space::Device, &m->csr.device.i, &m->csr.device.j));
    PetscCall(context->rows.ValuesOnDevice(A, &values));
    m->device_values   = values;
    context->read_here = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &m->csr.i, &m->csr.j, &a, &where));
  m->csr.a     = reinterpret_cast<const Scalar *>(a);
  m->csr.rows  = A->rmap->n;
  m->csr.cols  = A->cmap->n;
  m->on_device = PetscMemTypeDevice(where);
  if (!m->on_device) {
    m->csr.nonzeros = m->csr.rows ? m->csr.i[m->csr.rows] : 0;
  } else {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(FindAllRows(A, &m->csr));
    m->csr.nonzeros = 0;
    if (m->csr.rows) PetscCall(DeviceCopyOut(&m->csr.nonzeros, m->csr.i + m->csr.rows, sizeof(PetscInt), stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternOnDevice(const MatrixRows &rows, Array<PetscInt> *i, Array<PetscInt> *j,
                               const PetscInt **device_i, const PetscInt **device_j)
{
  const CsrView &csr = rows.csr;
  Stream         stream;

  PetscFunctionBegin;
  *device_i = csr.device.i ? csr.device.i : csr.i;
  *device_j = csr.device.i ? csr.device.j : csr.j;
  if (csr.device.i || rows.on_device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(i->Allocate(static_cast<size_t>(csr.rows) + 1, Space::Device));
  PetscCall(j->Allocate(static_cast<size_t>(csr.nonzeros), Space::Device));
  if (csr.rows > 0) PetscCall(DeviceCopyIn(i->data(), csr.i, i->bytes(), stream));
  PetscCall(DeviceCopyIn(j->data(), csr.j, j->bytes(), stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(i->bytes() + j->bytes())));
  *device_i = i->data();
  *device_j = j->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesOnHost(const MatrixRows &rows, const Scalar **a)
{
  CsrView csr = rows.csr;

  PetscFunctionBegin;
  if (!csr.a) PetscCall(GetHostRows(rows.matrix, &csr));
  *a = csr.a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesOnDevice(const MatrixRows &rows, DeviceMemory *room, const Scalar **a)
{
  const size_t bytes = static_cast<size_t>(rows.csr.nonzeros) * sizeof(Scalar);
  Stream       stream;

  PetscFunctionBegin;
  *a = rows.on_device ? rows.csr.a : rows.device_values;
  if (*a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(room->Reserve(bytes));
  PetscCall(DeviceCopyIn(room->data(), rows.csr.a, bytes, stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  *a = static_cast<const Scalar *>(room->data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorSpace(Mat A, Space *space, bool *asked)
{
  PetscBool seq, mpi, cusparse, kokkos;
  Context  *context;

  PetscFunctionBegin;
  *space = Space::Host;
  if (asked) *asked = false;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, "seqaijcusparse", &cusparse));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, "seqaijkokkos", &kokkos));
  if (seq) {
    PetscCall(GetContext(A, &context));
    PetscCall(Decide(A, context));
    PetscCall(PlannedSpace(context, space));
    if (asked) *asked = context->settings.backend != Backend::Auto;
  } else if (cusparse || kokkos) {
    PetscBool found;
    PetscCall(DeviceFound(&found));
    if (!found) PetscFunctionReturn(PETSC_SUCCESS);
    MatrixRows rows;
    PetscCall(GetMatrixRows(A, &rows));
    if (rows.on_device) *space = Space::Device;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostRows::Take(const MatrixRows &rows, bool values)
{
  Stream stream;

  PetscFunctionBegin;
  csr = rows.csr;
  if (!rows.on_device && values) PetscCall(ValuesOnHost(rows, &csr.a));
  if (!rows.on_device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCallCXX(i_.assign(static_cast<size_t>(csr.rows) + 1, 0));
  PetscCallCXX(j_.resize(csr.nonzeros));
  if (values) PetscCallCXX(a_.resize(csr.nonzeros));
  if (csr.rows > 0) PetscCall(DeviceCopyOut(i_.data(), csr.i, i_.size() * sizeof(PetscInt), stream));
  PetscCall(DeviceCopyOut(j_.data(), csr.j, j_.size() * sizeof(PetscInt), stream));
  if (values) PetscCall(DeviceCopyOut(a_.data(), csr.a, a_.size() * sizeof(Scalar), stream));
  csr = CsrView{csr.rows, csr.cols, csr.nonzeros, i_.data(), j_.data(), values ? a_.data() : nullptr};
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::factor
