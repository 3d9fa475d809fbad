#include "pc/ilu/factor.hpp"
#include <algorithm>
#include "device/scatter.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscErrorCode Factor::Symbolic(const CsrView &A, IS row, IS column, const MatFactorInfo &info, Space space)
{
  const PetscInt *r, *c;

  PetscFunctionBegin;
  space_        = space;
  pattern_.rows = A.rows;
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(column, &c));
  PetscCallCXX(pattern_.row.assign(r, r + A.rows));
  PetscCallCXX(pattern_.column.assign(c, c + A.rows));
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(column, &c));
  levels_of_fill = static_cast<PetscInt>(info.levels);
  PetscCall(IluSymbolic(A, levels_of_fill, info.diagonal_fill != 0, &pattern_, &slot_));
  PetscCallCXX(values_.resize(pattern_.j.size()));
  PetscCallCXX(unknowns_.resize(A.rows));
  std::vector<PetscInt> order, lower, upper, copy;
  PetscCall(FactorLevels(pattern_, &lower, &upper, &sweep_.lower_levels, &sweep_.upper_levels));
  if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sweep_.Build(pattern_, lower, upper));
  PetscCall(SortByLevel(lower, sweep_.lower_levels, 0, &order));
  PetscCallCXX(copy = pattern_.i);
  PetscCall(i_.Take(std::move(copy), space));
  PetscCallCXX(copy = pattern_.j);
  PetscCall(j_.Take(std::move(copy), space));
  PetscCallCXX(copy = pattern_.diagonal);
  PetscCall(diagonal_.Take(std::move(copy), space));
  PetscCallCXX(copy = slot_);
  PetscCall(slot_device_.Take(std::move(copy), space));
  PetscCall(order_.Take(std::move(order), space));
  PetscCall(values_device_.Allocate(pattern_.j.size(), space));
  PetscCall(matrix_.Allocate(slot_.size(), space));
  PetscCall(done_.Allocate(A.rows, space));
  PetscCall(ticket_.Allocate(1, space));
  PetscCall(pivot_.Allocate(A.rows, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::AttemptOnDevice(const CsrView &csr, const IluPivots &pivots, PetscInt *zero_row,
                                       PetscReal *zero_pivot)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream                 stream;
  std::vector<PetscReal> pivot;
  const size_t           rows = static_cast<size_t>(pattern_.rows);

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyIn(matrix_.data(), csr.a, matrix_.bytes(), stream));
  PetscCall(FillValues_CUDA(Nonzeros(), Scalar(0), values_device_.data(), stream));
  PetscCall(
      ScatterValues_CUDA(csr.nonzeros, slot_device_.data(), matrix_.data(), false, values_device_.data(), stream));
  const IluLayout layout{pattern_.rows, i_.data(), j_.data(), diagonal_.data(), order_.data()};
  PetscCall(IluNumeric_CUDA(layout, pivots, values_device_.data(),
                            IluWork{done_.data(), ticket_.data(), pivot_.data(), sweep_.stuck(), sweep_.spins},
                            stream));
  PetscCallCXX(pivot.resize(rows));
  PetscCall(DeviceCopyOut(pivot.data(), pivot_.data(), rows * sizeof(PetscReal), stream));
  PetscCall(sweep_.CheckStuck());
  *zero_row = -1;
  for (PetscInt r = 0; r < pattern_.rows && *zero_row < 0; r++) {
    if (!(pivot[r] < 0)) continue;
    *zero_row   = r;
    *zero_pivot = -pivot[r] - 1;
  }
  values_on_host_ = false;
  PetscCall(sweep_.SetValues(values_device_.data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_GPU; // no factor is built for a device
#endif
}

PetscErrorCode Factor::Attempt(const CsrView &csr, const IluPivots &pivots, PetscInt *zero_row, PetscReal *zero_pivot)
{
  PetscFunctionBegin;
  if (space_ == Space::Device) {
    PetscCall(AttemptOnDevice(csr, pivots, zero_row, zero_pivot));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::fill(values_.begin(), values_.end(), Scalar(0));
  for (size_t e = 0; e < slot_.size(); e++) values_[slot_[e]] = csr.a[e];
  PetscCall(IluNumeric_Host(pattern_, pivots, values_.data(), zero_row, zero_pivot));
  values_on_host_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The largest shift that a positive definite matrix can need: the worst lack of diagonal dominance, and a tenth.
static PetscReal TopShift(const CsrView &csr)
{
  PetscReal top = 0;
  for (PetscInt r = 0; r < csr.rows; r++) {
    PetscReal lack = 0;
    for (PetscInt e = csr.i[r]; e < csr.i[r + 1]; e++)
      lack += csr.j[e] == r ? -RealPart(csr.a[e]) : Magnitude(csr.a[e]);
    top = std::max(top, lack);
  }
  return static_cast<PetscReal>(1.1) * top;
}

PetscErrorCode Factor::Numeric(Mat F, Mat A, const CsrView &csr, const MatFactorInfo &info)
{
  const auto type     = static_cast<MatFactorShiftType>(static_cast<int>(info.shifttype));
  PetscInt   zero_row = -1, tries = 0;
  PetscReal  zero_pivot = 0, low = 0, high = 1, fraction = 0, top = 0;
  IluPivots  pivots;

  PetscFunctionBegin;
  pivots.zero     = info.zeropivot;
  pivots.relative = type == MAT_SHIFT_NONZERO || type == MAT_SHIFT_POSITIVE_DEFINITE;
  pivots.positive = type == MAT_SHIFT_POSITIVE_DEFINITE;
  if (type == MAT_SHIFT_INBLOCKS) pivots.replace = info.shiftamount;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  for (;;) {
    PetscCall(Attempt(csr, pivots, &zero_row, &zero_pivot));
    // the sequences of shifts are PETSc's: doubling, or bisection of [0, top] in five steps
    if (type == MAT_SHIFT_NONZERO && zero_row >= 0) {
      pivots.shift = tries == 0 ? info.shiftamount : 2 * pivots.shift;
    } else if (type == MAT_SHIFT_POSITIVE_DEFINITE && zero_row >= 0) {
      if (tries == 0) top = std::max(info.zeropivot, TopShift(csr));
      if (tries != 5) low = fraction;
      fraction     = tries == 5 ? high : (high + low) / 2;
      pivots.shift = fraction * top;
    } else if (type == MAT_SHIFT_POSITIVE_DEFINITE && fraction > 0 && tries < 5) { // it may do with less
      high         = fraction;
      fraction     = (high + low) / 2;
      pivots.shift = fraction * top;
    } else
      break;
    PetscCheck(++tries <= 64, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "No shift of the diagonal up to %g keeps the pivots from zero", (double)pivots.shift);
  }
  if (zero_row >= 0 && type == MAT_SHIFT_NONE) {
    const PetscInt row = pattern_.row[zero_row];
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "Zero pivot row %" PetscInt_FMT " value %g tolerance %g", row, (double)zero_pivot,
               (double)info.zeropivot);
    F->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_value = zero_pivot;
    F->factorerror_zeropivot_row   = row;
  }
  if (pivots.shift != 0)
    PetscCall(PetscInfo(F, "Shifted the diagonal by %g after %" PetscInt_FMT " tries\n", (double)pivots.shift, tries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveOnHost(Vec b, Vec x, bool transpose)
{
  const PetscScalar *pb;
  PetscScalar       *px;

  PetscFunctionBegin;
  if (!values_on_host_) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(values_.data(), values_device_.data(), values_device_.bytes(), stream));
    values_on_host_ = true;
  }
  PetscCall(VecGetArrayRead(b, &pb));
  PetscCall(VecGetArrayWrite(x, &px));
  PetscCall(Sweep_Host(pattern_, values_.data(), reinterpret_cast<const Scalar *>(pb), reinterpret_cast<Scalar *>(px),
                       unknowns_.data(), transpose));
  PetscCall(VecRestoreArrayRead(b, &pb));
  PetscCall(VecRestoreArrayWrite(x, &px));
  PetscCall(PetscLogFlops(2.0 * Nonzeros() - pattern_.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveOnDevice(Vec b, Vec x)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  const PetscScalar *pb;
  PetscScalar       *px;
  PetscMemType       where_b, where_x;
  Stream             stream;
  const size_t       bytes = static_cast<size_t>(pattern_.rows) * sizeof(Scalar);

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(VecGetArrayReadAndMemType(b, &pb, &where_b));
  PetscCall(VecGetArrayWriteAndMemType(x, &px, &where_x));
  const Scalar *device_b = reinterpret_cast<const Scalar *>(pb);
  Scalar       *device_x = reinterpret_cast<Scalar *>(px);
  if (!PetscMemTypeDevice(where_b)) {
    PetscCall(b_.Reserve(bytes));
    PetscCall(DeviceCopyIn(b_.data(), pb, bytes, stream));
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
    device_b = static_cast<const Scalar *>(b_.data());
  }
  if (!PetscMemTypeDevice(where_x)) {
    PetscCall(x_.Reserve(bytes));
    device_x = static_cast<Scalar *>(x_.data());
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(sweep_.Solve(device_b, device_x, stream));
  PetscCall(PetscLogGpuTimeEnd());
  if (!PetscMemTypeDevice(where_x)) {
    PetscCall(DeviceCopyOut(px, device_x, bytes, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  }
  PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
  PetscCall(VecRestoreArrayWriteAndMemType(x, &px));
  PetscCall(PetscLogGpuFlops(2.0 * Nonzeros() - pattern_.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_GPU; // no factor is built for a device
#endif
}

PetscErrorCode Factor::Solve(Vec b, Vec x, bool transpose)
{
  PetscFunctionBegin;
  if (space_ == Space::Device && !transpose)
    PetscCall(SolveOnDevice(b, x));
  else
    PetscCall(SolveOnHost(b, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble Factor::Bytes() const
{
  return static_cast<PetscLogDouble>(sweep_.bytes()) + i_.bytes() + j_.bytes() + diagonal_.bytes() + order_.bytes() +
         slot_device_.bytes() + values_device_.bytes() + matrix_.bytes() + done_.bytes() + pivot_.bytes();
}

PetscErrorCode Factor::View(PetscViewer viewer) const
{
  const PetscInt n = pattern_.rows;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "sparsegpu ILU(%" PetscInt_FMT ") on %s\n", levels_of_fill,
                                   space_ == Space::Device ? "cuda" : "the host"));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%" PetscInt_FMT " levels of L (%.1f rows each), %" PetscInt_FMT " of U (%.1f rows each)\n",
      sweep_.lower_levels, sweep_.lower_levels ? (double)n / sweep_.lower_levels : 0., sweep_.upper_levels,
      sweep_.upper_levels ? (double)n / sweep_.upper_levels : 0.));
  if (space_ == Space::Device)
    PetscCall(PetscViewerASCIIPrintf(viewer, "synchronisation-free solves, %.3g MB on the device\n", Bytes() / 1e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
