/// What MatView() adds in its info formats. ::ascii_info, which KSPView() uses, has one line a matrix: the format of
/// the products and why, the same before the first product, after it and in every run. ::ascii_info_detail adds sizes,
/// conversions and times, for each block of each process. Looking converts nothing: what is not known yet is worked out
/// and forgotten again.
#include <algorithm>
#include "mat/face/context.hpp"
#include "mat/face/device_bytes.hpp"
#include "mat/face/view_away.hpp"
#include "mat/rows/fingerprint.hpp"

namespace sparsegpu::face
{

namespace
{
/// The format of one block, be it converted already or not.
struct Told {
  std::string    format, reason;
  Space          space   = Space::Host;
  bool           refused = false;          ///< the format asked for does not take the block
  PetscLogDouble bytes = 0, bytes_csr = 0; ///< as in Choice
};

/// `settings`: of the matrix that A is a block of.
PetscErrorCode TellBlock(Mat A, const Settings &settings, bool off_diagonal, Told *told, Choice *choice)
{
  Context               *context = nullptr;
  const ConvertedMatrix *built   = nullptr;
  CsrView                csr;
  PatternKey             key;
  PetscBool              seq, mpi;
  bool                   ok = true;
  std::string            why;

  const Waiting *waiting = nullptr;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(ShapeToView(A, &csr, &key));
  if (seq) {
    PetscCall(GetContext(A, &context));
    PetscCall(PlannedSpace(context, &told->space));
    if (context->last && context->last->format) told->space = context->last->space;
    built = &context->converted[static_cast<int>(told->space)][static_cast<int>(Operation::Normal)];
    if (!built->format || !(built->pattern == key)) built = nullptr;
    waiting = &context->waiting[static_cast<int>(told->space)][static_cast<int>(Operation::Normal)];
  }
  if (!csr.j && csr.nonzeros > 0 && !KnownToView(settings, built, waiting, key)) PetscCall(GetCsr(A, &csr, &key));
  Plans plans(csr, settings.options, told->space);
  if (settings.format != "auto") {
    PetscCallCXX(told->format = settings.format);
    PetscCallCXX(told->reason = "asked for");
    if (built) {
      PetscCallCXX(told->format = built->format->Name());
      PetscCallCXX(told->reason = built->reason);
      told->refused = told->format != settings.format;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(plans.Check(settings.format, &ok, &why, off_diagonal));
    if (ok) PetscFunctionReturn(PETSC_SUCCESS);
    told->refused = true;
    PetscCallCXX(told->reason =
                     settings.format + " refuses this " + (off_diagonal ? "off-diagonal block: " : "matrix: ") + why);
    if (!settings.strict || off_diagonal) PetscCallCXX(told->format = Baseline());
  } else if (settings.trial) {
    PetscCallCXX(told->format = "auto");
    PetscCallCXX(told->reason = "the fastest of a few that are timed, maybe another one in another run");
  } else {
    PetscCall(PeekChoice(A, &plans, key, waiting, choice));
    PetscCallCXX(told->format = choice->name);
    PetscCallCXX(told->reason = choice->reason);
    told->bytes     = choice->bytes;
    told->bytes_csr = choice->bytes_csr;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How many blocks have which format; auto comes last.
using Counts = std::vector<PetscInt>;

std::string Names(const Counts &counts, const std::vector<const char *> &names)
{
  std::vector<size_t> order;
  PetscInt            all = 0;
  std::string         text;

  for (size_t f = 0; f < counts.size(); f++) {
    all += counts[f];
    if (counts[f]) order.push_back(f);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  for (const size_t f : order) {
    text += text.empty() ? "" : ", ";
    text += names[f];
    if (order.size() > 1) text += " on " + std::to_string(counts[f]);
    if (order.size() > 1 && f == order[0]) text += " of " + std::to_string(all) + " ranks";
  }
  return text;
}

/// Blocks without entries do not count, unless there are no others.
PetscErrorCode ViewLine(Mat A, const Settings &settings, const Told told[2], const PetscInt nonzeros[2],
                        PetscViewer viewer)
{
  std::vector<const char *> names = FormatNames(), backends(BackendNames + 1, BackendNames + 3);
  const size_t              f     = names.size() + 1; // the formats, and auto
  Counts                    mine(2 * f + 4, 0), all(2 * f + 4, 0);
  PetscLogDouble            bytes[2] = {0, 0}, sums[2];
  std::string               reason, off;

  PetscFunctionBegin;
  PetscCallCXX(names.push_back("auto"));
  for (int b = 0; b < 2; b++) {
    bytes[0] += told[b].bytes;
    bytes[1] += told[b].bytes_csr;
    if (!nonzeros[b]) continue;
    for (size_t k = 0; k < f; k++) mine[b * f + k] += told[b].format == names[k];
    mine[2 * f] += told[b].refused;
    mine[2 * f + 1] += told[b].bytes_csr <= 0; // by another reason
    if (b == 0 || !nonzeros[0]) mine[2 * f + (told[b].space == Space::Device ? 2 : 3)]++;
  }
  PetscCallMPI(MPI_Allreduce(mine.data(), all.data(), static_cast<PetscMPIInt>(mine.size()), MPIU_INT, MPI_SUM,
                             PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(bytes, sums, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCallCXX(reason = told[0].reason);
  if (settings.format == "auto" && !settings.trial && all[2 * f + 1] == 0) {
    char text[64];
    PetscCall(PetscSNPrintf(text, sizeof(text), "auto: %.2f of csr's bytes", sums[1] > 0 ? sums[0] / sums[1] : 1.));
    PetscCallCXX(reason = text);
  } else if (settings.format != "auto") {
    PetscMPIInt size;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
    if (size > 1) PetscCallCXX(reason = "asked for");
    if (size > 1 && all[2 * f])
      PetscCallCXX(reason = settings.format + ", which was asked for, refuses " + std::to_string(all[2 * f]) +
                            (all[2 * f] == 1 ? " block" : " blocks"));
  }
  Counts diagonal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(f)),
      beside(all.begin() + static_cast<std::ptrdiff_t>(f), all.begin() + static_cast<std::ptrdiff_t>(2 * f)),
      where(all.begin() + static_cast<std::ptrdiff_t>(2 * f + 2), all.end());
  PetscCallCXX(off = Names(beside, names));
  if (!off.empty()) PetscCallCXX(off = ", off-diagonal blocks " + off);
  std::string text = Names(diagonal, names), backend = Names(where, backends);
  if (text.empty()) text = told[0].format;
  if (backend.empty()) backend = backends[told[0].space == Space::Device ? 0 : 1];
  PetscCall(PetscViewerASCIIPrintf(viewer, "sparsegpu: format %s%s, backend %s (%s)\n", text.c_str(), off.c_str(),
                                   backend.c_str(), reason.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Auxiliary CSR-ordered data: kept, and released.
void BytesBeside(const Context &context, MatSparseGPUInfo *info)
{
  info->bytes_kept     = context.rows.BytesOfValues();
  info->bytes_released = 0;
  for (const auto &space : context.converted)
    for (const ConvertedMatrix &converted : space) {
      info->bytes_kept += converted.BytesForUpdates();
      info->bytes_released += converted.released;
    }
}

/// All facts of a block: of the copy that its last product used, or what the next one will use.
PetscErrorCode ViewBlock(Mat A, const Told &told, const Choice &choice, const char *what, PetscViewer viewer,
                         PetscErrorCode (*print)(PetscViewer, const char[], ...))
{
  MatSparseGPUInfo info;
  Context         *context;
  std::string      transposed, reason, memory;
  PetscBool        seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) PetscCall(GetContext(A, &context));
  if (seq) {
    const bool by_choice = told.space == Space::Host && !choice.name.empty();
    PetscCall(TellTransposed(*context, by_choice ? &choice : nullptr, &transposed));
  }
  if (!seq || !context->last || !context->last->format) {
    PetscCall((*print)(viewer, "%sformat: %s on %s (%s), not converted yet\n", what, told.format.c_str(),
                       BackendNames[static_cast<int>(told.space == Space::Device ? Backend::Cuda : Backend::Kokkos)],
                       told.reason.c_str()));
    if (!transposed.empty()) PetscCall((*print)(viewer, "%stransposed products: %s\n", what, transposed.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const int space = static_cast<int>(context->last->space), normal = static_cast<int>(Operation::Normal);
  PetscCall(FillInfo(A, *context->last, &info));
  if (context->last == &context->early[space][normal]) {
    Waiting waiting;
    PetscCallCXX(waiting = context->waiting[space][normal]);
    PetscCallCXX(waiting.choice = std::make_shared<Choice>(choice));
    PetscCall(TellEarly(waiting, &reason));
    info.reason = reason.c_str();
  }
  PetscCall((*print)(viewer, "%sformat: %s on %s (%s)\n", what, info.format, info.backend, info.reason));
  PetscCall((*print)(viewer,
                     "%sstored: %.0f entries for %.0f nonzeros (padding %.2f), %.0f bytes against %.0f as csr (%.2f)\n",
                     what, info.stored, info.nonzeros, info.nonzeros > 0 ? info.stored / info.nonzeros : 1.0,
                     info.bytes_stored, info.bytes_csr, info.bytes_stored / info.bytes_csr));
  PetscCall((*print)(viewer, "%skept for changes of values: %.0f bytes, released: %.0f bytes\n", what, info.bytes_kept,
                     info.bytes_released));
  PetscCallCXX(memory = TellBytesOnDevice(*context, info.nonzeros));
  if (!memory.empty()) PetscCall((*print)(viewer, "%smemory on the device: %s\n", what, memory.c_str()));
  if (*info.details) PetscCall((*print)(viewer, "%sdetails: %s\n", what, info.details));
  if (!transposed.empty()) PetscCall((*print)(viewer, "%stransposed products: %s\n", what, transposed.c_str()));
  PetscCall((*print)(viewer, "%sconversion: %g s, last update of values: %g s\n", what, info.convert_seconds,
                     info.update_seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FillInfo(Mat A, const ConvertedMatrix &converted, MatSparseGPUInfo *info)
{
  Context *context;
  CsrView  csr;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(GetCsr(A, &csr, nullptr));
  info->format   = converted.format->Name();
  info->backend  = BackendNames[static_cast<int>(converted.space == Space::Device ? Backend::Cuda : Backend::Kokkos)];
  info->reason   = converted.reason.c_str();
  info->details  = converted.details.c_str();
  info->nonzeros = csr.nonzeros;
  info->stored   = converted.format->Stored();
  info->bytes_stored = converted.format->BytesStored();
  info->bytes_csr    = static_cast<PetscLogDouble>(csr.nonzeros) * (sizeof(Scalar) + sizeof(PetscInt)) +
                    (csr.rows + 1.0) * sizeof(PetscInt);
  BytesBeside(*context, info);
  info->bytes_device    = BytesOnDevice(*context).all();
  info->bytes_mult      = converted.format->BytesPerMult();
  info->convert_seconds = converted.convert_seconds;
  info->update_seconds  = converted.update_seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewInfo(Mat A, PetscViewer viewer, bool detail)
{
  PetscBool   seq, mpi;
  PetscMPIInt rank;
  Context    *context;
  Mat         blocks[2]   = {A, nullptr};
  PetscInt    nonzeros[2] = {0, 0};
  Told        told[2];
  Choice      choice[2];
  char        what[64];

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (int b = 0; b < (mpi ? 2 : 1); b++) {
    CsrView csr;
    PetscCall(ShapeToView(blocks[b], &csr, nullptr));
    nonzeros[b] = csr.nonzeros;
    PetscCall(TellBlock(blocks[b], context->settings, b == 1 || context->settings.off_diagonal, &told[b], &choice[b]));
  }
  PetscCall(ViewLine(A, context->settings, told, nonzeros, viewer));
  if (!detail) PetscFunctionReturn(PETSC_SUCCESS);
  if (!mpi) {
    PetscCall(ViewBlock(A, told[0], choice[0], "sparsegpu ", viewer, PetscViewerASCIIPrintf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::string &ghosts = context->halo.told(told[0].space);
  PetscCall(PetscViewerASCIIPrintf(viewer, "sparsegpu ghosts: %s\n",
                                   ghosts.empty() ? "not exchanged yet" : ("by " + ghosts).c_str()));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  for (int b = 0; b < 2; b++) {
    PetscCall(
        PetscSNPrintf(what, sizeof(what), "sparsegpu [%d] %s block: ", (int)rank, b ? "off-diagonal" : "diagonal"));
    PetscCall(ViewBlock(blocks[b], told[b], choice[b], what, viewer, PetscViewerASCIISynchronizedPrintf));
  }
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
