/// A converted copy of one matrix: a format of one version of its rows, built and brought up to date.
#pragma once

#include <functional>
#include "mat/converted/settings.hpp"
#include "mat/formats/plan.hpp"
#include "mat/rows/rows.hpp"

namespace sparsegpu::converted
{

/// The operator that a converted copy holds. ConjugateTranspose differs from Transpose only when scalars are complex.
enum class Operation {
  Normal,
  Transpose,
  ConjugateTranspose
};

/// Current when `version` is the matrix's.
struct ConvertedMatrix {
  std::unique_ptr<Format> format;
  Space                   space = Space::Host;
  std::string             reason, details;
  PatternKey              pattern;
  std::uint64_t           fingerprint     = 0; ///< of the pattern, where the format has a copy of it
  Version                 version         = 0;
  Version                 pattern_version = 0; ///< Rows::pattern_version() that the pattern is known to be
  PetscLogDouble          convert_seconds = 0, update_seconds = 0;
  // The transpose of the pattern, where the copy is of a transpose
  std::vector<PetscInt> ti, tj;       ///< [cols + 1], [nonzeros] of one that was made on the host
  std::vector<PetscInt> tperm;        ///< [nonzeros] entry of A
  std::vector<Scalar>   ta;           ///< [nonzeros] value, conjugated in a conjugate transpose
  Array<PetscInt>       from;         ///< tperm on the device, once new values have been put in place there
  DeviceMemory          values;       ///< ta there
  PetscLogDouble        released = 0; ///< bytes that Release() has freed since the last conversion or update

  /// Bytes of the auxiliary data in CSR's order that a change of values needs: values, permutation, cached transpose.
  PetscLogDouble BytesForUpdates() const;
  /// Frees them; what the format itself multiplies with stays.
  void Release();
};

/// What to build, and of what.
struct Conversion {
  Operation               operation = Operation::Normal;
  Space                   space     = Space::Host;
  bool                    early     = false; ///< the baseline for now, or sums scattered from the rows for a transpose
  const Settings         *settings  = nullptr;
  std::shared_ptr<Plans> *kept      = nullptr; ///< plans of A's rows on the device, from the choice to the build
  /// Names the format for the rows that the plans are of, op(A), and says why.
  std::function<PetscErrorCode(Plans *plans, std::string *name, std::string *reason)> pick = {};
};

/// The plans for products of `view`: those in *kept if they are of it; new ones are kept there where its rows lie on
/// the device.
PetscErrorCode GetPlans(const CsrView &view, const FormatOptions &options, Space space, std::shared_ptr<Plans> *kept,
                        std::shared_ptr<Plans> *plans);
/// Builds *converted from A's rows `csr` of key `key`.
PetscErrorCode BuildConverted(Mat A, Rows *rows, const CsrView &csr, const PatternKey &key,
                              const Conversion &conversion, ConvertedMatrix *converted);
/// New values in the old pattern `csr`, from where they are newest; *fits is false where the format cannot hold them.
PetscErrorCode UpdateConverted(Mat A, Rows *rows, const CsrView &csr, Operation operation, ConvertedMatrix *converted,
                               bool *fits);
/// Is the copy's pattern, of A itself or of its transpose, A's? The key alone cannot tell.
PetscErrorCode SamePattern(const Rows &rows, const CsrView &csr, const PatternKey &key, Operation of,
                           ConvertedMatrix *converted, bool *same);

extern PetscLogEvent ConvertEvent, UpdateEvent;

} // namespace sparsegpu::converted
