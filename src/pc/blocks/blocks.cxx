/// Blocks of one matrix pattern: their entries found once, their values taken and factored with each set-up.
#include "pc/blocks/blocks.hpp"
#include <algorithm>
#include <limits>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include "device/local_array.hpp"
#include "device/scatter.hpp"
#include "mat/face/context.hpp"
#include "pc/factor/matsolver.hpp"

namespace sparsegpu::blocks
{

PetscErrorCode BlockOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  const char *const names[] = {"none", "partial"};
  PetscInt          pivot   = pivoting ? 1 : 0;
  PetscBool         set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-pc_sparsegpu_block_size", "Rows of a small block; by default as the matrix says",
                            "PCSPARSEGPU", size, &size, &set));
  PetscCheck(!set || size > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpu_block_size %" PetscInt_FMT " must be positive", size);
  PetscCall(PetscOptionsEList("-pc_sparsegpu_block_pivot", "Pivoting within small blocks", "PCSPARSEGPU", names, 2,
                              names[pivot], &pivot, nullptr));
  pivoting = pivot == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockOptions::View(PetscViewer viewer) const
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  LU of small blocks, %s pivoting\n", pivoting ? "partial" : "no"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The block size of the options; else the variable sizes of the matrix; else its block size.
PetscErrorCode BlockJacobi::Sizes(Mat P, std::vector<PetscInt> *sizes) const
{
  const PetscInt  rows  = P->rmap->n;
  PetscInt        count = 0, each = options_.size;
  const PetscInt *variable;
  PetscCount      sum = 0;

  PetscFunctionBegin;
  sizes->clear();
  if (each == 0) PetscCall(MatGetVariableBlockSizes(P, &count, &variable));
  if (each == 0 && count == 0) PetscCall(MatGetBlockSize(P, &each));
  for (PetscInt b = 0; b < count; b++) {
    PetscCheck(variable[b] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Block %" PetscInt_FMT " of MatSetVariableBlockSizes() has %" PetscInt_FMT
               " rows: they must be positive",
               b, variable[b]);
    sum += variable[b];
    PetscCallCXX(sizes->push_back(variable[b]));
  }
  PetscCheck(count == 0 || sum == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The sizes of MatSetVariableBlockSizes() add up to %.0f, the process has %" PetscInt_FMT " rows",
             (double)sum, rows);
  for (PetscInt r = 0; count == 0 && r < rows; r += PetscMin(each, rows - r))
    PetscCallCXX(sizes->push_back(PetscMin(each, rows - r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobi::Symbolic(PC pc, Mat A, const MatrixRows &rows)
{
  std::vector<PetscInt>                      source;
  std::vector<std::pair<PetscInt, PetscInt>> row; // column within the block and entry, by column
  TilePattern                                pattern;
  PetscInt                                   first = 0, most;
  HostRows                                   host;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AnalysisEvent, pc, nullptr, nullptr, nullptr));
  PetscCall(FactorSpace(A, &space_));
  PetscCall(Sizes(pc->pmat, &sizes_));
  const std::vector<PetscInt> &sizes = sizes_;
  rows_                              = rows.csr.rows;
  nonzeros_                          = rows.csr.nonzeros;
  count_                             = static_cast<PetscInt>(sizes.size());
  if (count_) smallest_ = *std::min_element(sizes.begin(), sizes.end());
  if (count_) largest_ = *std::max_element(sizes.begin(), sizes.end());
  PetscCall(tile::TileLargest(space_, &most));
  PetscCheck(largest_ <= most, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A block of %" PetscInt_FMT " rows is too large for -pc_sparsegpu_factor blocks: at most %" PetscInt_FMT
             " rows fit %s (-pc_sparsegpu_block_size)",
             largest_, most, space_ == Space::Device ? "the shared memory of a thread block of this device" : "a tile");
  PetscCall(host.Take(rows, false));
  const CsrView &csr = host.csr;
  for (const PetscInt n : sizes) {
    PetscCall(pattern.Add(n, n));
    for (PetscInt r = 0; r < n; r++) {
      row.clear();
      for (PetscInt e = csr.i[first + r]; e < csr.i[first + r + 1]; e++)
        if (csr.j[e] >= first && csr.j[e] < first + n) PetscCallCXX(row.emplace_back(csr.j[e] - first, e));
      std::sort(row.begin(), row.end());
      for (const auto &entry : row) {
        pattern.Set(pattern.Count() - 1, r, entry.first);
        PetscCallCXX(source.push_back(entry.second));
      }
    }
    first += n;
  }
  PetscCall(blocks_.Build(std::move(pattern), space_));
  PetscCall(source_.Take(std::move(source), space_));
  PetscCall(lu_.Symbolic(blocks_, options_.pivoting));
  built_ = true;
  PetscCall(PetscLogEventEnd(AnalysisEvent, pc, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The entries of A that lie in blocks, in their order there.
PetscErrorCode BlockJacobi::SetValues(const MatrixRows &rows, Stream stream)
{
  PetscFunctionBegin;
  if (space_ == Space::Host) {
    PetscCheck(!rows.on_device, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The matrix has moved to the device");
    const Scalar *host;
    PetscCall(ValuesOnHost(rows, &host));
    for (size_t e = 0; e < blocks_.Entries(); e++) blocks_.values()[e] = host[source_.data()[e]];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  const Scalar *a;
  PetscCall(ValuesOnDevice(rows, &matrix_, &a));
  PetscCall(
      PermuteValues_CUDA(static_cast<PetscInt>(blocks_.Entries()), source_.data(), a, false, blocks_.values(), stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The next set-up finds the blocks anew unless pattern and sizes are those of the last one. PETSc's nonzero state,
/// which PC::flag goes by, does not tell of each other pattern.
PetscErrorCode BlockJacobi::Forget(Mat P, Mat A, const MatrixRows &rows)
{
  std::vector<PetscInt> sizes;
  PetscBool             seq, mpi;
  bool                  changed = false;

  PetscFunctionBegin;
  PetscCall(face::IsOurs(A, &seq, &mpi));
  if (seq) {
    face::Context *context;
    PetscCall(face::GetContext(A, &context));
    PetscCall(watch_.Look(A, &context->rows, rows.csr, &changed));
  }
  PetscCall(Sizes(P, &sizes));
  if (!built_ || (!changed && sizes == sizes_)) PetscFunctionReturn(PETSC_SUCCESS);
  built_  = false;
  blocks_ = TileBatch();
  lu_     = tile::TileLU();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobi::SetUp(PC pc, Mat A, PetscReal zero_pivot)
{
  MatrixRows rows;
  Stream     stream = Stream();
  PetscReal  pivot;
  PetscBool  aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_sparsegpu_factor blocks takes AIJ matrices, not %s",
             ((PetscObject)A)->type_name);
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Block Jacobi needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  PetscCall(GetMatrixRows(A, &rows));
  PetscCall(Forget(pc->pmat, A, rows));
  if (!built_) PetscCall(Symbolic(pc, A, rows));
  PetscCheck(rows.csr.nonzeros == nonzeros_, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has %" PetscInt_FMT " nonzeros, its blocks were found when it had %" PetscInt_FMT,
             rows.csr.nonzeros, nonzeros_);
  if (space_ == Space::Device) PetscCall(DeviceStream(&stream));
  PetscCall(SetValues(rows, stream));
  PetscCall(lu_.Numeric(blocks_, zero_pivot, &failed_, &pivot, stream));
  pc->failedreason = PC_NOERROR;
  if (failed_ < 0) PetscFunctionReturn(PETSC_SUCCESS);
  failed_ += pc->pmat->rmap->rstart;
  PetscCheck(!pc->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
             "Zero pivot row %" PetscInt_FMT " value %g tolerance %g", failed_, (double)pivot, (double)zero_pivot);
  PetscCall(PetscInfo(pc, "Zero pivot row %" PetscInt_FMT " value %g tolerance %g\n", failed_, (double)pivot,
                      (double)zero_pivot));
  pc->failedreason = PC_FACTOR_NUMERIC_ZEROPIVOT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobi::Apply(Vec b, Vec x, bool transpose)
{
  const double flops = 2.0 * static_cast<double>(lu_.Factors().Entries()) - rows_;
  LocalArray   from, to;
  Stream       stream = Stream();

  PetscFunctionBegin;
  if (failed_ >= 0) { // as MatSolve() does with failed factors: KSP then asks for the reason, on all processes
    PetscCall(to.Get(x, Space::Host, Access::Write));
    std::fill_n(to.write(), rows_, Scalar(std::numeric_limits<PetscReal>::infinity()));
    PetscCall(to.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscCall(from.Get(b, space_, Access::Read));
  PetscCall(to.Get(x, space_, Access::Write));
  if (space_ == Space::Host) {
    PetscCall(lu_.Solve(from.read(), to.write(), transpose, stream));
    PetscCall(PetscLogFlops(flops));
  } else {
    PetscCall(DeviceStream(&stream));
    PetscCall(from.Stage(&b_, stream));
    PetscCall(to.Stage(&x_, stream));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(lu_.Solve(from.read(), to.write(), transpose, stream));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops));
    // b may be pinned memory that the caller reuses
    if (to.on_device() && !from.on_device()) PetscCall(DeviceSynchronize(stream));
  }
  PetscCall(from.Restore());
  PetscCall(to.Restore());
  PetscCall(PetscLogEventEnd(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobi::View(PetscViewer viewer) const
{
  PetscFunctionBegin;
  if (!built_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  of the first process: %" PetscInt_FMT " blocks of %" PetscInt_FMT
                                   " to %" PetscInt_FMT " rows on %s, %.3g MB\n",
                                   count_, smallest_, largest_, space_ == Space::Device ? "cuda" : "the host",
                                   (blocks_.Bytes() + lu_.Bytes()) / 1e6));
  if (failed_ >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  zero pivot in row %" PetscInt_FMT "\n", failed_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::blocks
