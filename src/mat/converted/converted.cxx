/// The life of a converted copy after it is built: new values, the question whether its pattern still is the matrix's,
/// and the auxiliary data that only a change of values needs.
#include "mat/converted/converted.hpp"
#include <petsctime.h>
#include "mat/converted/operation_view.hpp"
#include "mat/rows/fingerprint.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::converted
{

const char *const BackendNames[3] = {"auto", "cuda", "kokkos"};

PetscLogDouble ConvertedMatrix::BytesForUpdates() const
{
  const bool borrowed = format && format->Borrows();
  return (format ? format->BytesForUpdates() : 0) + static_cast<PetscLogDouble>(from.bytes()) +
         static_cast<PetscLogDouble>(values.bytes()) + tperm.size() * sizeof(PetscInt) +
         (borrowed ? 0 : (ti.size() + tj.size()) * sizeof(PetscInt) + ta.size() * sizeof(Scalar));
}

void ConvertedMatrix::Release()
{
  released += BytesForUpdates();
  tperm  = std::vector<PetscInt>();
  from   = Array<PetscInt>();
  values = DeviceMemory();
  if (!format) return;
  format->Release();
  if (format->Borrows()) return;
  ti = tj = std::vector<PetscInt>();
  ta      = std::vector<Scalar>();
}

/// From values on the host, as csr.a or, where these are elsewhere, brought there.
static PetscErrorCode UpdateFromHost(Mat A, Rows *rows, CsrView csr, Operation operation, ConvertedMatrix *converted,
                                     bool *fits)
{
  CsrView view;

  PetscFunctionBegin;
  if (!csr.a) PetscCall(rows->GetHost(A, &csr, nullptr));
  PetscCall(OperationView(csr, operation, converted, &view));
  PetscCall(converted->format->Update(view, view.a, Space::Host, fits));
  if (converted->space == Space::Device)
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(csr.nonzeros) * sizeof(Scalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From values on the device, copied there first unless the format takes them from the host as they are. *lacks: there
/// is no memory for that.
static PetscErrorCode UpdateOnDevice(Mat A, Rows *rows, const CsrView &csr, Operation operation,
                                     ConvertedMatrix *converted, bool *fits, bool *lacks)
{
  const Format &format = *converted->format;
  const bool    plain  = operation == Operation::Normal;
  Scalar       *a;

  PetscFunctionBegin;
  PetscCall(rows->ValuesOnDevice(A, &a));
  const auto update = [&]() -> PetscErrorCode {
    CsrView       view = csr;
    DeviceRows    transposed; // its values go to their places before it ends
    const Scalar *values = a;

    PetscFunctionBegin;
    if (!plain) {
      view.device = CsrArrays();
      view.owners = CsrOwners();
      PetscCall(TransposedValues(A, rows, csr, operation, converted, &transposed, &view, &values));
    } else {
      if (!a) PetscCall(rows->BringValues(A, Space::Device, &a));
      values             = a;
      view.owners.values = rows->ValuesOwner();
    }
    if (plain && (format.UpdatesReadPattern() || !csr.j)) // which is there alone
      PetscCall(rows->BringPattern(A, Space::Device, &view.device.i, &view.device.j));
    PetscCall(converted->format->Update(view, values, Space::Device, fits));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  // What is not made on the device finds the places of a transpose's entries on the host.
  if (!plain && !format.ConvertsOnDevice() && !format.InOrderOfRows())
    PetscCall(UpdateFromHost(A, rows, csr, operation, converted, fits));
  else
    PetscCall(MayLackMemory(update, lacks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateConverted(Mat A, Rows *rows, const CsrView &csr, Operation operation, ConvertedMatrix *converted,
                               bool *fits)
{
  bool           lacks = false;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  if (converted->space == Space::Device) PetscCall(UpdateOnDevice(A, rows, csr, operation, converted, fits, &lacks));
  if (converted->space == Space::Host || lacks) PetscCall(UpdateFromHost(A, rows, csr, operation, converted, fits));
  PetscCallCXX(converted->details = converted->format->Details());
  PetscCall(PetscTime(&end));
  converted->update_seconds = end - begin;
  PetscCall(PetscLogEventEnd(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SamePattern(const Rows &rows, const CsrView &csr, const PatternKey &key, Operation of,
                           ConvertedMatrix *converted, bool *same)
{
  std::uint64_t fingerprint;

  PetscFunctionBegin;
  *same = converted->format && converted->pattern == key;
  if (!*same || converted->pattern_version == rows.pattern_version()) PetscFunctionReturn(PETSC_SUCCESS);
  if (of != Operation::Normal || !converted->format->FollowsPattern()) {
    CsrView whole = csr;
    if (rows.pattern_away()) whole.device = rows.pattern_there();
    PetscCall(PatternFingerprint(whole, &fingerprint));
    *same = converted->fingerprint == fingerprint;
  }
  if (*same) converted->pattern_version = rows.pattern_version();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::converted
