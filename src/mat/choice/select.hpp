/// auto: the choice of a format among the plans of all, and what it decided.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "mat/choice/names.hpp"
#include "mat/formats/plan.hpp"

namespace sparsegpu::choice
{

/// What auto decided for a matrix. Unit of the times: a product as the baseline, csr.
struct Choice {
  std::string name, reason;
  bool        same_bits  = false;         ///< csr adds the entries of each row in the same order
  PetscReal   gain       = 0;             ///< time that a product saves
  PetscReal   conversion = 0, update = 0; ///< time of a conversion, and of new values in the old pattern
  /// HostFingerprint() of its matrix, of a choice on the host; 0 before. On the device, where the choice may show in
  /// the bits, only a copy that nothing has been written to has the same.
  std::uint64_t  fingerprint = 0;
  PetscLogDouble bytes = 0, bytes_csr = 0; ///< that a product reads of the matrix, and that it would as csr; 0: unknown

  static constexpr PetscCount LOOK = 5;                  ///< products before it is worth its own analysis
  PetscCount                  ProductsToConvert() const; ///< as csr, before these have lost what the conversion costs
  PetscCount                  ProductsToUpdate() const;  ///< the same for new values
  /// The same for products of the transpose scattered from csr, where this is the choice for the matrix itself.
  PetscCount ProductsToTranspose() const;
  PetscCount ProductsToUpdateTranspose() const;
};
/// The rule of -mat_sparsegpu_format auto, readable in select.cxx; never a format that refuses.
PetscErrorCode ChooseFormat(Plans *plans, Choice *choice);
/// A few formats for -mat_sparsegpu_auto_trial, those that the model likes best first, then others that accept A.
PetscErrorCode RankFormats(Plans *plans, std::vector<std::string> *names);
/// Times products of A in these formats, and takes the fastest: another run may take another one, with other bits.
PetscErrorCode TryFormats(Plans *plans, Choice *choice);

} // namespace sparsegpu::choice
