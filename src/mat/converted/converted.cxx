/// The life of a converted copy after it is built: new values, the question whether its pattern still is the matrix's,
/// and the auxiliary data that only a change of values needs.
#include "mat/converted/converted.hpp"
#include <petsctime.h>
#include "mat/converted/operation_view.hpp"
#include "mat/rows/fingerprint.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscLogDouble ConvertedMatrix::BytesForUpdates() const
{
  const bool borrowed = format && format->Borrows();
  return (format ? format->BytesForUpdates() : 0) + tperm.size() * sizeof(PetscInt) +
         (borrowed ? 0 : (ti.size() + tj.size()) * sizeof(PetscInt) + ta.size() * sizeof(Scalar));
}

void ConvertedMatrix::Release()
{
  released += BytesForUpdates();
  tperm = std::vector<PetscInt>();
  if (!format) return;
  format->Release();
  if (format->Borrows()) return;
  ti = tj = std::vector<PetscInt>();
  ta      = std::vector<Scalar>();
}

PetscErrorCode UpdateConverted(Mat A, const CsrView &csr, Operation operation, Space space, ConvertedMatrix *converted,
                               bool *fits)
{
  CsrView        view;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  PetscCall(OperationView(csr, operation, converted, &view));
  PetscCall(converted->format->Update(view, view.a, Space::Host, fits));
  PetscCallCXX(converted->details = converted->format->Details());
  PetscCall(PetscTime(&end));
  converted->update_seconds = end - begin;
  if (space == Space::Device) PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(csr.nonzeros) * sizeof(Scalar)));
  PetscCall(PetscLogEventEnd(UpdateEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SamePattern(const CsrView &csr, const PatternKey &key, Operation of, const ConvertedMatrix &converted,
                           bool *same)
{
  std::uint64_t fingerprint;

  PetscFunctionBegin;
  *same = converted.format && converted.pattern == key;
  if (!*same || (of == Operation::Normal && converted.format->FollowsPattern())) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PatternFingerprint(csr, &fingerprint));
  *same = converted.fingerprint == fingerprint;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
