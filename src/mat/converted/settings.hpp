/// What was asked of a matrix: its format, and where its products run.
#pragma once

#include <string>
#include "mat/converted/names.hpp"
#include "mat/formats/options.hpp"

namespace sparsegpu::converted
{

enum class Backend {
  Auto,
  Cuda,
  Kokkos
};
extern const char *const BackendNames[3];

struct Settings {
  std::string   format  = "auto";
  Backend       backend = Backend::Auto;
  FormatOptions options;
  bool          decided = false; ///< by the options, a setter or the parent; else the options are read at first use
  bool          strict =
      false; ///< the format was asked for by MatSetFromOptions() or a setter on this very matrix: a refusal
             ///< is an error. Else (sub-matrices, products, coarse operators) what it refuses is stored as csr
  bool bound_to_cpu = false;
  bool off_diagonal = false; ///< an off-diagonal block, never strict
  bool release_csr  = false; ///< -mat_sparsegpu_release_csr: keep nothing beside the format
  bool lazy_host    = true;  ///< -mat_sparsegpu_lazy_host: the host waits for values written on the device
  bool trial        = false; ///< -mat_sparsegpu_auto_trial: choose by timing products
  bool lazy         = true;  ///< -mat_sparsegpu_auto_lazy: convert once it pays, where no bit shows it
};

} // namespace sparsegpu::converted
