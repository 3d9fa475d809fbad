/// What the device engine does whatever its factors are: the report, residuals and the vectors of GMRES.
#include <algorithm>
#include "device/cuda_check.hpp"
#include "mat/rows/transpose.hpp"
#include "pc/lu/engine_device.hpp"
#include "pc/lu/krylov.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

FrontsView DeviceEngine::Fronts() const
{
  return FrontsView{analysis_->plan.shape, first_.data(),    parent_.data(),       row_begin_.data(),
                    row_.data(),           relative_.data(), owner_.data(),        lower_.data(),
                    upper_.data(),         update_.data(),   source_begin_.data(), source_.data()};
}

/// Does not wait: a solve that gave up is reported by its own call or by the next one.
PetscErrorCode DeviceEngine::CheckStuck()
{
  PetscFunctionBegin;
  if (!*static_cast<volatile int *>(stuck_)) PetscFunctionReturn(PETSC_SUCCESS);
  *stuck_ = 0;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU,
          "A direct factorization or solve made no progress in %lld polls (-mat_sparsegpu_lu_spins) and gave up",
          analysis_->spins);
}

/// Waits for the report.
PetscErrorCode DeviceEngine::Hear(Stream stream)
{
  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaMemcpyAsync(heard_, report_.data(), sizeof(DeviceReport), cudaMemcpyDeviceToHost,
                                    static_cast<cudaStream_t>(stream)));
  PetscCall(DeviceSynchronize(stream));
  if (heard_->stuck) *stuck_ = 1;
  PetscCall(CheckStuck());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Apply(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose)
{
  PetscFunctionBegin;
  PetscCall(CheckStuck());
  PetscCall(ApplyTo(columns, b, ldb, true, nullptr, x, ldx, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of the matrix, for residuals of the transposed system.
PetscErrorCode DeviceEngine::TakeTransposed()
{
  const LuAnalysis     &A = *analysis_;
  const CsrView         pattern{A.rows, A.rows, static_cast<PetscInt>(A.j.size()), A.i.data(), A.j.data(), nullptr};
  std::vector<PetscInt> i, j, source;

  PetscFunctionBegin;
  PetscCall(TransposePattern(pattern, &i, &j, &source));
  PetscCall(transposed_i_.Take(std::move(i), Space::Device));
  PetscCall(transposed_j_.Take(std::move(j), Space::Device));
  PetscCall(transposed_source_.Take(std::move(source), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix as it was factored, or its transpose, which is found when it is first asked for.
PetscErrorCode DeviceEngine::SystemOf(bool transpose, SystemView *system)
{
  PetscFunctionBegin;
  if (transpose && !transposed_i_.size()) PetscCall(TakeTransposed());
  *system = transpose ? SystemView{analysis_->rows, transposed_i_.data(), transposed_j_.data(),
                                   transposed_source_.data(), a_.data()}
                      : SystemView{analysis_->rows, i_.data(), j_.data(), nullptr, a_.data()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Residual(const LuColumns &columns, const Scalar *b, PetscInt ldb, const Scalar *x,
                                      PetscInt ldx, bool transpose, ResidualSize *size)
{
  SystemView system;
  Stream     stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(SystemOf(transpose, &system));
  if (transpose && !columns_measured_) PetscCall(MeasureColumns_CUDA(system, report_.data(), stream));
  columns_measured_ = columns_measured_ || transpose;
  PetscCall(Residual_CUDA(system, columns, b, ldb, x, ldx, residual_.data(), report_.data(), stream));
  PetscCall(Hear(stream));
  const PetscReal matrix = RealOf(transpose ? heard_->column_norm : heard_->row_norm);
  for (PetscInt k = 0; k < columns.count; k++) {
    const ColumnReport &r = heard_->column[k];
    size[k]               = ResidualSize();
    if (!r.residual_not_finite) size[k] = SizeOf(RealOf(r.residual), matrix, RealOf(r.x), RealOf(r.b));
    if (r.b_not_finite) size[k].error = RealOf(~RealBits(0) >> 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Basis(PetscInt count, Scalar **v)
{
  const size_t entries = static_cast<size_t>(count) * static_cast<size_t>(analysis_->rows);

  PetscFunctionBegin;
  if (basis_.size() < entries) PetscCall(basis_.Allocate(entries, Space::Device));
  if (dots_.size() == 0) PetscCall(dots_.Allocate(LU_BASIS, Space::Device));
  *v = basis_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::KeptResidual(Scalar *v, bool scaled, bool transpose)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Scale_CUDA(analysis_->rows, scaled ? (transpose ? column_scale_ : row_scale_).data() : nullptr,
                       residual_.data(), v, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Precondition(const Scalar *v, Scalar *z, bool scaled, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(ApplyTo(FirstColumns(1), v, analysis_->rows, !scaled, nullptr, z, analysis_->rows, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose)
{
  SystemView system;
  Stream     stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(SystemOf(transpose, &system));
  PetscCall(
      ScaledProduct_CUDA(system, scaled ? (transpose ? column_scale_ : row_scale_).data() : nullptr, z, v, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Dots_CUDA(analysis_->rows, count, v, w, dots_.data(), stream));
  PetscCall(DeviceCopyOut(result, dots_.data(), static_cast<size_t>(count) * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y)
{
  LuCoefficients coefficients;
  Stream         stream;

  PetscFunctionBegin;
  std::copy_n(c, count, coefficients.c);
  PetscCall(DeviceStream(&stream));
  PetscCall(Combine_CUDA(analysis_->rows, count, coefficients, v, beta, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::AddTo(Scalar *x, const Scalar *d)
{
  const Scalar one(1);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyWithin(before_.data(), x, Kept() * sizeof(Scalar), stream));
  PetscCall(Combine(1, &one, d, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Correct(const LuColumns &columns, Scalar *x, PetscInt ldx, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(ApplyTo(columns, residual_.data(), analysis_->rows, true, before_.data(), x, ldx, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Undo(PetscInt column, Scalar *x)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(
      DeviceCopyWithin(x, before_.data() + static_cast<size_t>(column) * Kept(), Kept() * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Values(std::vector<Scalar> *a)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCallCXX(a->resize(a_.size()));
  if (!a->empty())
    SparseGPUCallCUDA(
        cudaMemcpyAsync(a->data(), a_.data(), a_.bytes(), cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream)));
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Scales(std::vector<PetscReal> *row, std::vector<PetscReal> *column)
{
  PetscFunctionBegin;
  PetscCallCXX(row->resize(row_scale_.size()));
  PetscCallCXX(column->resize(column_scale_.size()));
  if (row->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(row_scale_.ToHost(row->data()));
  PetscCall(column_scale_.ToHost(column->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Sample(const Scalar **b, Scalar **product, Scalar **x)
{
  const size_t n = static_cast<size_t>(analysis_->rows);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (sample_.size() != 3 * n) PetscCall(sample_.Allocate(3 * n, Space::Device));
  PetscCall(Sample_CUDA(analysis_->rows, sample_.data(), stream));
  *b       = sample_.data();
  *product = sample_.data() + n;
  *x       = *product + n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
