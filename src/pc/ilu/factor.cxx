/// The phases of an incomplete factorization: pattern, analysis, values with shifted diagonals, and the view.
#include "pc/ilu/factor.hpp"
#include <algorithm>
#include <string>
#include "pc/factor/matsolver.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

PetscErrorCode Factor::Symbolic(Mat F, const MatrixRows &A, IS row, IS column, const MatFactorInfo &info, Space space)
{
  PetscFunctionBegin;
  space_           = space;
  rows_            = A.csr.rows;
  matrix_nonzeros_ = A.csr.nonzeros;
  levels_of_fill   = info.levels < MOST_LEVELS ? static_cast<PetscInt>(info.levels) : MOST_LEVELS;
  for (Half &half : halves_) half = Half();
  PetscCall(MakeSubdomains(A, row, column, space));
  PetscCall(SymbolicAndAnalysis(F, A, row, column, info));
  cut_.row = cut_.column = std::vector<PetscInt>();
  device_cut_            = DeviceCut();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SymbolicAndAnalysis(Mat F, const MatrixRows &A, IS row, IS column, const MatFactorInfo &info)
{
  PetscFunctionBegin;
  transposed_solver_.reset();
  if (space_ == Space::Host) {
    PetscCall(SymbolicOnHost(A, row, column, info));
    PetscCall(PetscLogEventBegin(AnalysisEvent, F, nullptr, nullptr, nullptr));
    PetscCallCXX(unknowns_.resize(rows_));
    PetscCall(CountLevels(pattern_, &lower_levels_, &upper_levels_));
    PetscCall(NewSolver(&solver_));
    if (solver_) PetscCall(solver_->Analyse(pattern_.View(), Stream()));
    PetscCall(PetscLogEventEnd(AnalysisEvent, F, nullptr, nullptr, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(SymbolicOnDevice(A, row, column, info));
  PetscCall(PetscLogEventBegin(AnalysisEvent, F, nullptr, nullptr, nullptr));
  PetscCall(NewSolver(&solver_));
  const FactorView view = device_pattern_.View();
  PetscCall(solver_->Analyse(view, stream));
  lower_levels_ = solver_->lower_levels;
  upper_levels_ = solver_->upper_levels;
  PetscCall(numeric_.Build(view, kind, dynamic_cast<Scheduled *>(solver_.get()), stream));
  PetscCall(PetscLogEventEnd(AnalysisEvent, F, nullptr, nullptr, nullptr));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::Attempt(const MatrixRows &A, const Pivots &pivots, PetscInt *zero_row, PetscReal *zero_pivot)
{
  PetscFunctionBegin;
  for (Half &half : halves_) half.current = false;
  if (space_ == Space::Host) {
    const Scalar       *a = A.csr.a;
    std::vector<Scalar> copy;
    if (A.on_device) { // the matrix has moved there since
      Stream stream;
      PetscCall(DeviceStream(&stream));
      PetscCallCXX(copy.resize(A.csr.nonzeros));
      PetscCall(DeviceCopyOut(copy.data(), a, copy.size() * sizeof(Scalar), stream));
      a = copy.data();
    } else {
      PetscCall(ValuesOnHost(A, &a));
    }
    PetscCallCXX(values_.resize(pattern_.j.size()));
    for (size_t f = 0; f < source_.size(); f++) values_[f] = source_[f] >= 0 ? a[source_[f]] : Scalar(0);
    PetscCall(Numeric_Host(pattern_, kind, pivots, values_.data(), zero_row, zero_pivot));
    if (solver_)
      PetscCall(solver_->SetValues(values_.data(), Stream()));
    else if (!options.single)
      PetscCall(stored_.Set(values_.data(), nonzeros_, false, Space::Host, Stream()));
    transposed_current_ = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream        stream;
  const Scalar *matrix;
  PetscCall(DeviceStream(&stream));
  PetscCall(ValuesOnDevice(A, &matrix_, &matrix));
  PetscCall(device_values_.Allocate(nonzeros_, Space::Device));
  PetscCall(numeric_.Factor(matrix, device_pattern_.identical ? nullptr : device_pattern_.source.data(), pivots,
                            options.spins, device_values_.data(), zero_row, zero_pivot, stream));
  PetscCall(solver_->SetValues(device_values_.data(), stream));
  transposed_current_ = false;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::MatrixRow(PetscInt step, PetscInt *row) const
{
  PetscFunctionBegin;
  *row = step;
  if (space_ == Space::Host) {
    *row = pattern_.row[step];
  } else if (device_pattern_.permuted) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(row, device_pattern_.row.data() + step, sizeof(PetscInt), stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::Numeric(Mat F, Mat A, const MatrixRows &rows, const MatFactorInfo &info)
{
  const auto type     = static_cast<MatFactorShiftType>(static_cast<int>(info.shifttype));
  PetscInt   zero_row = -1, tries = 0;
  PetscReal  zero_pivot = 0, low = 0, high = 1, fraction = 0, top = 0;
  Pivots     pivots;

  PetscFunctionBegin;
  pivots.zero     = info.zeropivot;
  pivots.nan      = type == MAT_SHIFT_NONE;
  pivots.relative = type == MAT_SHIFT_NONZERO || type == MAT_SHIFT_POSITIVE_DEFINITE;
  pivots.positive = type == MAT_SHIFT_POSITIVE_DEFINITE;
  pivots.upper    = kind == Incomplete::Cholesky;
  if (type == MAT_SHIFT_INBLOCKS) pivots.replace = info.shiftamount;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  for (;;) {
    PetscCall(Attempt(rows, pivots, &zero_row, &zero_pivot));
    // the sequences of shifts are PETSc's: doubling, or bisection of [0, top] in five steps
    if (type == MAT_SHIFT_NONZERO && zero_row >= 0) {
      pivots.shift = tries == 0 ? info.shiftamount : 2 * pivots.shift;
    } else if (type == MAT_SHIFT_POSITIVE_DEFINITE && zero_row >= 0) {
      if (tries == 0) {
        PetscCall(TopShift(rows, &top));
        top = std::max(static_cast<PetscReal>(info.zeropivot), top);
      }
      if (tries != 5) low = fraction;
      fraction     = tries == 5 ? high : (high + low) / 2;
      pivots.shift = fraction * top;
    } else if (type == MAT_SHIFT_POSITIVE_DEFINITE && fraction > 0 && tries < 5 && kind != Incomplete::Cholesky) {
      // a smaller shift may do; PETSc does not try where the factorization is ICC
      high         = fraction;
      fraction     = (high + low) / 2;
      pivots.shift = fraction * top;
    } else
      break;
    PetscCheck(++tries <= 64, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "No shift of the diagonal up to %g keeps the pivots from zero", (double)pivots.shift);
  }
  if (zero_row >= 0 && type == MAT_SHIFT_NONE) {
    PetscInt row;
    PetscCall(MatrixRow(zero_row, &row));
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "Zero pivot row %" PetscInt_FMT " value %g tolerance %g", row, (double)zero_pivot,
               (double)info.zeropivot);
    F->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_value = zero_pivot;
    F->factorerror_zeropivot_row   = row;
  }
  if (pivots.shift != 0)
    PetscCall(PetscInfo(F, "Shifted the diagonal by %g after %" PetscInt_FMT " tries\n", (double)pivots.shift, tries));
  if (options.single) PetscCall(KeepSingle(F, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rounds the factors to single precision, which is all that is left of them, but for what the solves have rounded.
PetscErrorCode Factor::KeepSingle(Mat F, Mat A)
{
  const bool      device   = space_ == Space::Device;
  const Scalar   *values   = device ? device_values_.data() : values_.data();
  const PetscInt *diagonal = device ? device_pattern_.diagonal.data() : pattern_.diagonal.data();
  bool            loses;
  Stream          stream = nullptr;

  PetscFunctionBegin;
  if (device) PetscCall(DeviceStream(&stream));
  PetscCall(RoundingLoses(values, nonzeros_, diagonal, rows_, space_, &loses));
  if (loses && !F->factorerrortype) {
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "Factors have values outside the range of single precision (-mat_sparsegpu_factor_precision full)");
    PetscCall(PetscInfo(F, "Factors have values outside the range of single precision\n"));
    F->factorerrortype = MAT_FACTOR_OTHER;
  }
  if (!solver_ || !solver_->Kept()) PetscCall(stored_.Set(values, nonzeros_, true, space_, stream));
  device_values_ = Array<Scalar>();
  values_        = std::vector<Scalar>();
#if defined(SPARSEGPU_HAVE_CUDA)
  numeric_.Release();
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *values [nonzeros]: all in full precision, in the space of the factor; in `widened` where there are none else.
PetscErrorCode Factor::ValuesOf(Array<Scalar> *widened, const Scalar **values) const
{
  Stream stream = nullptr;

  PetscFunctionBegin;
  *values = space_ == Space::Device ? device_values_.data() : values_.data();
  if (!options.single) PetscFunctionReturn(PETSC_SUCCESS);
  if (space_ == Space::Device) PetscCall(DeviceStream(&stream));
  PetscCall(Stored().Widened(widened, stream));
  *values = widened->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::CheckStuck()
{
  PetscFunctionBegin;
  if (solver_) PetscCall(solver_->CheckStuck());
  if (transposed_solver_) PetscCall(transposed_solver_->CheckStuck());
  for (const Half &half : halves_)
    if (half.solver) PetscCall(half.solver->CheckStuck());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::Finish()
{
  PetscFunctionBegin;
  if (space_ == Space::Device && solver_) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceSynchronize(stream));
  }
  PetscCall(CheckStuck());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble Factor::Bytes() const
{
  size_t bytes = device_pattern_.Bytes() + device_values_.bytes() + matrix_.bytes() + transposed_.Bytes();
  bytes += (solver_ ? solver_->Bytes() : 0) + (transposed_solver_ ? transposed_solver_->Bytes() : 0);
  for (const Half &half : halves_)
    bytes += half.host.Bytes() + half.device.Bytes() + half.kept.Bytes() + (half.solver ? half.solver->Bytes() : 0);
  bytes += stored_.Bytes() + host_transposed_.Bytes() + pattern_.Bytes() + source_.size() * sizeof(PetscInt) +
           (values_.size() + unknowns_.size()) * sizeof(Scalar);
#if defined(SPARSEGPU_HAVE_CUDA)
  bytes += numeric_.Bytes();
#endif
  return static_cast<PetscLogDouble>(bytes);
}

PetscErrorCode Factor::View(PetscViewer viewer) const
{
  static const char *const names[] = {"ILU", "ICC", "triangles of the matrix"};
  const PetscInt           lower   = solver_ && solver_->lower_levels ? solver_->lower_levels : lower_levels_;
  const PetscInt           upper   = solver_ && solver_->upper_levels ? solver_->upper_levels : upper_levels_;
  PetscViewerFormat        format;

  PetscFunctionBegin;
  // each line in one call, which indents
  std::string fill;
  std::string solves;
  PetscCallCXX(solves = options.EngineText());
  if (kind != Incomplete::None) PetscCallCXX(fill = "(" + std::to_string(levels_of_fill) + ")");
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "sparsegpu: %s%s on %s%s, triangular solves: %s\n", names[static_cast<int>(kind)], fill.c_str(),
      space_ == Space::Device ? "cuda" : "the host", options.single ? ", in single precision" : "", solves.c_str()));
  if (cut_.count > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "%" PetscInt_FMT " subdomains (%s), the largest of %" PetscInt_FMT
                                     " rows, %" PetscInt_FMT " and %" PetscInt_FMT
                                     " levels; %.3g%% of the entries dropped\n",
                                     cut_.count, NameOf(cut_.kind), cut_.largest, lower, upper,
                                     matrix_nonzeros_ ? 100.0 * (matrix_nonzeros_ - kept_) / matrix_nonzeros_ : 0.0));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format != PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(PETSC_SUCCESS);
  if (lower)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "%" PetscInt_FMT " levels of L (%.1f rows each), %" PetscInt_FMT " of U (%.1f rows each)\n", lower,
        (double)rows_ / lower, upper, (double)rows_ / upper));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%.3g MB on the %s\n", Bytes() / 1e6,
                                   space_ == Space::Device ? "device" : "host"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
