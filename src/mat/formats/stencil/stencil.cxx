/// stencil's arrays: the table of the different rows, and the class of each row.
#include "mat/formats/stencil/stencil.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include "device/backend_call.hpp"
#include "mat/formats/stencil/lines.hpp"
#include "mat/rows/device_rows.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_stencil()
{
  FormatEntry entry  = EntryOf<Stencil>();
  entry.off_diagonal = false; // TakesGhosts() of csr's
  return entry;
}

Stencil::Stencil()  = default;
Stencil::~Stencil() = default;

/// The entries of the first row of each class. *offset: the offsets once more, on the host.
PetscErrorCode Stencil::TakeEntries(const CsrView &A, const RowClasses &classes, std::vector<PetscInt> *offset)
{
  const size_t        entries = static_cast<size_t>(classes.begin.back());
  std::vector<Scalar> value;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(value_.Allocate(entries, space_));
    PetscCall(offset_.Allocate(entries, space_));
    PetscCall(RowClassEntries_CUDA(A, classes, offset_.data(), value_.data()));
    PetscCallCXX(offset->resize(entries));
    PetscCall(offset_.ToHost(offset->data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCallCXX(offset->reserve(entries));
  for (PetscInt r : classes.first) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) offset->push_back(A.j[e] - r);
    PetscCallCXX(value.insert(value.end(), A.a + A.i[r], A.a + A.i[r + 1]));
  }
  PetscCall(offset_.Copy(offset->data(), entries, space_));
  PetscCall(value_.Take(std::move(value), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The longest class of rows, and among those of one length the class closest to the diagonal: an interior row, where
/// others reach around a periodic grid.
static size_t ClassInside(const std::vector<PetscInt> &begin, const std::vector<PetscInt> &offset)
{
  size_t inside  = 0;
  double nearest = 0;

  for (size_t c = 0; c + 1 < begin.size(); c++) {
    const auto     first = offset.begin() + begin[c], last = offset.begin() + begin[c + 1];
    const PetscInt length = begin[c + 1] - begin[c], longest = begin[inside + 1] - begin[inside];
    const double   away = std::accumulate(first, last, 0.0,
                                          [](double sum, PetscInt o) { return sum + std::abs(static_cast<double>(o)); });
    if (c > 0 && (length < longest || (length == longest && away >= nearest))) continue;
    inside  = c;
    nearest = away;
  }
  return inside;
}

/// The offset by which a row must be shifted so that most of its columns are columns of the shifted row, too: the step
/// from a line or a plane of a grid to the next. 0 if no offset beyond the rows of a thread block shares two columns.
static PetscInt FindStride(std::vector<PetscInt> offsets)
{
  constexpr PetscInt LEAST = 256, LONGEST = 256; // all pairs of offsets are looked at
  std::ptrdiff_t     most   = 1;                 // columns
  PetscInt           stride = 0;

  if (offsets.size() > LONGEST) return 0;
  std::sort(offsets.begin(), offsets.end());
  for (const PetscInt way : offsets) {
    if (way < LEAST) continue;
    const std::ptrdiff_t again = std::count_if(offsets.begin(), offsets.end(), [&](PetscInt offset) {
      return std::binary_search(offsets.begin(), offsets.end(), static_cast<PetscCount>(offset) - way);
    });
    if (again <= most) continue; // the shortest of the best
    most   = again;
    stride = way;
  }
  return stride;
}

#if defined(SPARSEGPU_HAVE_CUDA)
/// layout_.lines with the most frequent one of the classes `stencils`, where most rows can be walked.
PetscErrorCode Stencil::FindLinesOf(const RowTable &table, const std::vector<size_t> &stencils,
                                    PetscInt multiprocessors)
{
  constexpr PetscInt          PLANES = 6; // at least
  size_t                      inside = stencils[0];
  std::vector<int>            count;
  std::vector<unsigned short> kinds;
  Array<unsigned short>       there;
  bool                        can, few;

  PetscFunctionBegin;
  if (stencils.size() > 1) PetscCall(CountClasses_CUDA(layout_, &count));
  for (const size_t c : stencils)
    if (!count.empty() && count[c] > count[inside]) inside = c;
  PetscCall(FindLines(table, inside, lines_.get(), &kinds));
  const PetscInt stride = lines_->walk.stride;
  if (layout_.rows / PLANES < stride) PetscFunctionReturn(PETSC_SUCCESS);
  lines_->walk = FindWalk(layout_.rows, stride, multiprocessors);
  PetscCall(CanWalk_CUDA(static_cast<size_t>(lines_->PlaneBytes()) * StencilLines::STAGES, &can));
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt lines = lines_->walk.Slabs(layout_.rows) * stride;
  PetscCall(there.Take(std::move(kinds), space_));
  PetscCall(line_bits_.Allocate(static_cast<size_t>(lines), space_));
  PetscCall(FindLineBits_CUDA(layout_, *lines_, there.data(), line_bits_.data(), &left_out_, &few));
  if (few) layout_.lines = lines_.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// How the rows are walked from plane to plane, on a device. begin, offset: of the table, whose values are there.
PetscErrorCode Stencil::TakeLines(const std::vector<PetscInt> &begin, const std::vector<PetscInt> &offset)
{
  PetscFunctionBegin;
  layout_.lines = nullptr;
  with_ghosts_  = Array<unsigned char>();
  ghosts_of_    = 0;
  PetscCallCXX(line_bits_ = Array<unsigned short>());
  PetscCallCXX(left_out_ = Array<PetscInt>());
  if (space_ != Space::Device) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  std::vector<Scalar> value;
  std::vector<size_t> stencils;
  PetscInt            multiprocessors;
  bool                lacks;
  const RowTable      table{begin, offset, value};
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  if (layout_.rows < StencilRowsToWalk(multiprocessors) || layout_.rows > std::numeric_limits<int>::max() / 2)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!lines_) PetscCallCXX(lines_ = std::make_unique<StencilLines>());
  PetscCallCXX(value.resize(value_.size()));
  PetscCall(value_.ToHost(value.data()));
  PetscCall(FindStencils(table, &stencils));
  if (stencils.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const auto find = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(FindLinesOf(table, stencils, multiprocessors));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(MayLackMemory(find, &lacks)); // then without
  if (layout_.lines) {
    lines_->bits     = line_bits_.data();
    lines_->left_out = left_out_.data();
    lines_->others   = static_cast<PetscInt>(left_out_.size());
  } else {
    PetscCallCXX(line_bits_ = Array<unsigned short>());
    PetscCallCXX(left_out_ = Array<PetscInt>());
  }
#else
  (void)begin;
  (void)offset;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::BuildPattern(Plan *plan)
{
  const CsrView        &A = plan->rows();
  RowClasses            classes;
  std::vector<PetscInt> offset;

  PetscFunctionBegin;
  PetscCall(static_cast<StencilPlan *>(plan)->Take(&classes));
  PetscCall(TakeEntries(A, classes, &offset));
  const std::vector<PetscInt> &begin  = classes.begin;
  const size_t                 inside = ClassInside(begin, offset);
  classes_                            = static_cast<PetscInt>(classes.first.size());
  stored_                             = begin.back();
  if (classes.on_device.size())
    row_class_ = std::move(classes.on_device);
  else
    PetscCall(row_class_.Take(std::move(classes.row_class), space_));
  PetscCall(begin_.Copy(begin.data(), begin.size(), space_));
  layout_.rows      = A.rows;
  layout_.cols      = A.cols;
  layout_.row_class = row_class_.data();
  layout_.begin     = begin_.data();
  layout_.offset    = offset_.data();
  layout_.value     = value_.data();
  layout_.longest   = classes_ ? begin[inside + 1] - begin[inside] : 0;
  layout_.stride    = FindStride({offset.begin() + begin[inside], offset.begin() + begin[inside] + layout_.longest});
  PetscCall(TakeLines(begin, offset));
  pattern_bytes_ = static_cast<PetscLogDouble>(row_class_.bytes()) + begin_.bytes() + offset_.bytes() +
                   line_bits_.bytes() + left_out_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::BuildValues(const Look &)
{
  PetscFunctionBegin; // the table has them
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values may change the classes.
PetscErrorCode Stencil::Update(const CsrView &A, const Scalar *a, Space where, bool *fits)
{
  DeviceRows  rows;
  CsrView     B = A;
  std::string why;
  bool        lacks = false;

  const auto renew = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (space_ == Space::Device) {
      if (!B.device.i || where == Space::Host) {
        PetscCall(rows.Upload(B, where == Space::Host));
        B.device = rows.View();
      }
      if (where == Space::Device) B.device.a = a;
    }
    Look        look(B, FormatOptions(), space_);
    StencilPlan plan(&look);
    PetscCall(plan.Fits(fits, &why));
    if (*fits) PetscCall(BuildPattern(&plan));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionBegin;
  B.a = where == Space::Host ? a : nullptr;
  PetscCall(MayLackMemory(renew, &lacks));
  if (lacks) *fits = false; // the caller rebuilds, on the host if necessary
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(
      SPARSEGPU_LAUNCH(space_, StencilMult_CUDA(layout_, x, {y, z}, stream), StencilMult_Kokkos(layout_, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, StencilMult_CUDA(layout_, x, to, stream, exchange),
                             Format::MultInto(x, to, exchange, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, StencilMultDots_CUDA(layout_, dots, stream), Format::MultDots(dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::MultDense(const DenseColumns &d, DeviceMemory *, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, StencilMultDense_CUDA(layout_, d, stream), StencilMultDense_Kokkos(layout_, d)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Stencil::Details() const
{
  std::string text = std::to_string(classes_) + " different rows of " + std::to_string(stored_) + " entries";

  if (layout_.lines) text += ", walked from plane to plane";
  if (layout_.lines && layout_.lines->others) text += " but for " + std::to_string(layout_.lines->others) + " rows";
  if (layout_.lines && layout_.lines->ghosts.with) text += ", with planes of ghosts";
  return text;
}

} // namespace sparsegpu::formats
