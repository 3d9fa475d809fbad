/// Facts about the rows of one matrix that several formats plan with, for products in one space. Each is computed when
/// first asked for, on the device if the rows are there. A Look must not outlive the arrays.
#pragma once

#include <optional>
#include <vector>
#include "device/buffer.hpp"
#include "mat/formats/names.hpp"
#include "mat/formats/options.hpp"
#include "mat/rows/csr_view.hpp"
#include "mat/rows/inspect.hpp"

namespace sparsegpu::formats
{

class Look
{
public:
  Look(const CsrView &A, const FormatOptions &options, Space space) : A_(A), options_(options), space_(space) {}
  Look(const Look &)            = delete;
  Look &operator=(const Look &) = delete;

  const CsrView       &rows() const { return A_; }
  const FormatOptions &options() const { return options_; }
  Space                space() const { return space_; }

  /// O(nonzeros) time.
  PetscErrorCode Facts(const PatternFacts **facts);
  /// InspectRows().
  PetscErrorCode Lengths(const RowLengths **lengths);
  /// [rows + 1] on the host, copied there where the device alone has them.
  PetscErrorCode Beginnings(const PetscInt **i);
  /// FindDiagonals().
  PetscErrorCode Diagonals(const std::vector<PetscInt> **offsets);
  /// LooksSymmetric().
  PetscErrorCode Symmetric(bool *symmetric);
  /// Bytes of a value under the codec that would hold all of them. O(nonzeros) time, where none does mostly far less.
  PetscErrorCode ValueBytes(PetscLogDouble *bytes);
  /// ValueBytes() has found that no codec holds the values.
  bool NoCodecHolds() const { return no_codec_holds_; }
  /// Of the device; 1 on the host, and where there is no device to be asked.
  PetscErrorCode Multiprocessors(PetscInt *count) const;

  /// Whether the rows fill the GPU with threads that walk `steps` entries of a row each. Few long rows leave it idle.
  bool Fills(PetscLogDouble steps) const { return A_.rows >= 512 * steps; }
  /// Conversion time in units of baseline products in this space: `on_device` where the rows lie on the device, else
  /// that of a conversion on the host, which takes `on_host` products of the host.
  PetscReal TimeToConvert(PetscReal on_device, PetscReal on_host) const
  {
    return space_ == Space::Device && A_.device.i ? on_device : TimeOnHost(on_host);
  }
  PetscReal TimeOnHost(PetscReal on_host) const { return space_ == Space::Device ? CORE * on_host : on_host; }

private:
  static constexpr PetscReal CORE = 200; ///< products as csr on a GPU (1.5 TB/s) in the time of one on a core (7 GB/s)

  const CsrView       A_;
  const FormatOptions options_;
  const Space         space_;

  std::optional<PatternFacts>          facts_;
  std::optional<RowLengths>            lengths_;
  std::vector<PetscInt>                beginnings_;
  std::optional<std::vector<PetscInt>> diagonals_;
  std::optional<PetscLogDouble>        value_bytes_;
  std::optional<bool>                  symmetric_;
  bool                                 no_codec_holds_ = false;
};

} // namespace sparsegpu::formats
