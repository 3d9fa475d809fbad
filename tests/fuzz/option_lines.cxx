#include "option_lines.hpp"

#include <algorithm>
#include <sstream>

namespace fuzz
{

const std::vector<KnownOption> &KnownOptions()
{
  static const char *const              orderings = "natural rcm nd 1wd qmd abmc leastfill amd metisnd scotchnd";
  static const char *const              mode      = "auto on off";
  static const char *const              flag      = "true false yes no 0 1";
  static const std::vector<KnownOption> options   = {
        {"-system", "laplacian convective indefinite singular zero_diagonal empty_row no_diagonal nonfinite", true},
        {"-mat_type", "sparsegpu seqaijsparsegpu mpiaijsparsegpu aijsparsegpu nosuchtype", true},
        {"-pc_type", "none jacobi ilu icc lu cholesky sparsegpu sparsegpuamg sparsegpusmoother bjacobi", true},
        {"-ksp_type", "preonly sparsegpucg sparsegpubcgs sparsegpugmres sparsegpujacobi", true},
        {"-mg_levels_ksp_type", "chebyshev richardson sparsegpujacobi sparsegpucg", true},
        {"-mg_levels_pc_type", "jacobi sparsegpu none", true},
        {"-mat_sparsegpu_format", "auto csr merge dia ell coo hyb sccsr vab sell stencil bsr bitmap", false},
        {"-sparsegpu_backend", "auto kokkos cuda", false},
        {"-mat_sparsegpu_max_padding", "1 4 1e9", false},
        {"-mat_sparsegpu_values", "auto full single dictionary", false},
        {"-mat_sparsegpu_device_conversion", "0 50000", false},
        {"-mat_sparsegpu_csr_width", "0 1 2 4 8 16 32", false},
        {"-mat_sparsegpu_merge_workers", "0 1 7", false},
        {"-mat_sparsegpu_hyb_fraction", "0.3 1", false},
        {"-mat_sparsegpu_sccsr_blocks", "0 8", false},
        {"-mat_sparsegpu_vab_block", "64 128 1024", false},
        {"-mat_sparsegpu_sell_window", "-1 1 32 65536", false},
        {"-mat_sparsegpu_column_bytes", "0 1 2 4", false},
        {"-mat_sparsegpu_bsr_block", "0 2 5 6", false},
        {"-mat_sparsegpu_release_csr", flag, false},
        {"-mat_sparsegpu_lazy_host", flag, false},
        {"-mat_sparsegpu_auto_lazy", flag, false},
        {"-mat_sparsegpu_auto_trial", flag, false},
        {"-sparsegpu_test_away", flag, false},
        {"-sparsegpu_peer", "auto yes no", false},
        {"-sparsegpu_peer_timeout", "1 300", false},
        {"-mat_sparsegpu_trisolve", "auto syncfree level jacobi isai", false},
        {"-mat_sparsegpu_trisolve_sweeps", "0 1 5", false},
        {"-mat_sparsegpu_trisolve_power", "1 2", false},
        {"-mat_sparsegpu_trisolve_relax", "0 2", false},
        {"-mat_sparsegpu_trisolve_warps", "0 4", false},
        {"-mat_sparsegpu_trisolve_tile", "0 1 4 8", false},
        {"-mat_sparsegpu_trisolve_spins", "1 16777216", false},
        {"-mat_sparsegpu_trisolve_check", flag, false},
        {"-mat_sparsegpu_subdomains", "1 3 auto", false},
        {"-mat_sparsegpu_subdomains_cut", "auto ranges graph", false},
        {"-mat_sparsegpu_factor_precision", "full single", false},
        {"-pc_sparsegpu_factor", "ilu icc none blocks lu cholesky polynomial", false},
        {"-pc_sparsegpu_factor_precision", "full single", false},
        {"-pc_sparsegpu_polynomial", "chebyshev neumann", false},
        {"-pc_sparsegpu_polynomial_degree", "0 1 4 7", false},
        {"-pc_sparsegpu_polynomial_ratio", "1.5 30 1e30", false},
        {"-pc_sparsegpu_polynomial_eigenvalues", "0.1,2 1e-300,1e300", false},
        {"-pc_sparsegpu_block_size", "1 5 2", false},
        {"-pc_sparsegpu_block_pivot", "none partial", false},
        {"-pc_sparsegpu_solve", "auto syncfree level jacobi isai", false},
        {"-pc_sparsegpu_ordering", orderings, false},
        {"-pc_sparsegpu_levels", "0 1 4", false},
        {"-pc_sparsegpu_check", flag, false},
        {"-pc_sparsegpu_subdomains", "1 2 5 auto", false},
        {"-pc_sparsegpu_subdomains_cut", "auto ranges graph", false},
        {"-pc_factor_mat_ordering_type", orderings, false},
        {"-pc_factor_levels", "0 1 4", false},
        {"-pc_factor_fill", "1 2", false},
        {"-pc_factor_shift_type", "none nonzero positive_definite inblocks", false},
        {"-pc_factor_shift_amount", "0 1e-9 1", false},
        {"-pc_factor_zeropivot", "0 1e-12 1", false},
        {"-pc_factor_diagonal_fill", flag, false},
        {"-pc_factor_reuse_ordering", flag, false},
        {"-pc_factor_reuse_fill", flag, false},
        {"-mat_ordering_abmc_block", "1 2 256", false},
        {"-mat_ordering_leastfill_factorizations", "0 1 100 1e30", false},
        {"-mat_sparsegpu_lu_refine", "0 10", false},
        {"-mat_sparsegpu_lu_matching", mode, false},
        {"-mat_sparsegpu_lu_pivoted", mode, false},
        {"-mat_sparsegpu_lu_host", mode, false},
        {"-mat_sparsegpu_lu_precision", "full single", false},
        {"-mat_sparsegpu_lu_exchange", "0 0.1 1", false},
        {"-mat_sparsegpu_lu_spins", "1 268435456", false},
        {"-pc_mg_levels", "1 2 10", false},
        {"-pc_sparsegpuamg_cycle_type", "mg v w k", false},
        {"-pc_sparsegpuamg_visits", "1 1,2 2,1,3", false},
        {"-pc_sparsegpuamg_levels", "1 2 10", false},
        {"-pc_sparsegpuamg_coarse_eq_limit", "0 1 2 50", false},
        {"-pc_sparsegpuamg_process_eq_limit", "0 1 50", false},
        {"-pc_sparsegpuamg_agg_nsmooths", "0 1 2", false},
        {"-pc_sparsegpuamg_aggressive_coarsening", "0 1 2", false},
        {"-pc_sparsegpuamg_reuse_interpolation", flag, false},
        {"-pc_sparsegpuamg_filter", flag, false},
        {"-pc_sparsegpuamg_type", "auto aggregation classical", false},
        {"-pc_sparsegpuamg_strong_threshold", "0 0.25 0.99", false},
        {"-pc_sparsegpuamg_max_row_sum", "0.1 0.9 1", false},
        {"-pc_sparsegpuamg_max_elements", "0 1 4 32", false},
        {"-pc_sparsegpuamg_truncation", "0 0.2 0.99", false},
        {"-pc_sparsegpuamg_complexity", "0 1 2.5", false},
        {"-pc_sparsegpuamg_fused_cycle", flag, false},
        {"-pc_sparsegpuamg_use_sa_esteig", flag, false},
        {"-pc_sparsegpuamg_smoother", "chebyshev l1jacobi gauss_seidel symmetric_gauss_seidel ilu", false},
        {"-pc_sparsegpuamg_precision", "full single", false},
        {"-pc_sparsegpuamg_finest_smoother", "auto same chebyshev l1jacobi gauss_seidel symmetric_gauss_seidel ilu",
         false},
        {"-pc_sparsegpuamg_tail", "0 1 5 4096", false},
        {"-pc_sparsegpusmoother_type", "l1jacobi gauss_seidel", false},
        {"-pc_sparsegpusmoother_sweep", "forward backward symmetric", false},
        {"-pc_sparsegpuamg_threshold_scale", "0.5 1", false},
        {"-pc_sparsegpuamg_threshold", "-1 0 0.01 0.1,0.2", false},
        {"-ksp_sparsegpucg_persistent", mode, false},
        {"-ksp_sparsegpucg_together", mode, false},
        {"-ksp_sparsegpucg_block", flag, false},
        {"-ksp_sparsegpucg_type", "cg cr", false},
        {"-ksp_sparsegpucg_flexible", flag, false},
        {"-ksp_sparsegpubcgs_ell", "1 2 8", false},
        {"-ksp_sparsegpubcgs_persistent", mode, false},
        {"-ksp_cg_type", "hermitian symmetric", false},
        {"-ksp_sparsegpugmres_restart_auto", flag, false},
        {"-ksp_sparsegpugmres_deflation", "0 1 8 20", false},
        {"-ksp_sparsegpugmres_flexible", flag, false},
        {"-ksp_sparsegpugmres_persistent", mode, false},
        {"-ksp_sparsegpugmres_basis", "double single", false},
        {"-ksp_sparsegpugmres_together", mode, false},
        {"-ksp_gmres_restart", "1 2 30", false},
        {"-ksp_gmres_haptol", "0 1e-30", false},
        {"-ksp_gmres_breakdown_tolerance", "0 0.1", false},
        {"-ksp_gmres_preallocate", flag, false},
        {"-ksp_gmres_modifiedgramschmidt", flag, false},
        {"-ksp_gmres_classicalgramschmidt", flag, false},
        {"-ksp_gmres_cgs_refinement_type", "refine_never refine_ifneeded refine_always", false},
        {"-ksp_sparsegpujacobi_test", "residual difference", false},
        {"-ksp_sparsegpujacobi_damping", "1 0.5 -1", false},
        {"-ksp_sparsegpujacobi_persistent", mode, false},
        {"-ksp_rtol", "1e-5 0 0.9", false},
        {"-ksp_atol", "0 1", false},
        {"-ksp_divtol", "1e4 1.1", false},
        {"-ksp_norm_type", "none preconditioned unpreconditioned natural", false},
        {"-ksp_pc_side", "left right symmetric", false},
        {"-ksp_initial_guess_nonzero", flag, false}};

  return options;
}

const KnownOption *FindOption(const std::string &name)
{
  for (const KnownOption &option : KnownOptions())
    if (name == option.name) return &option;
  return nullptr;
}

std::vector<std::string> Words(const std::string &text)
{
  std::istringstream       stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

OptionLines ParseOptionLines(const std::string &text)
{
  std::istringstream stream(text);
  OptionLines        lines;
  for (std::string line; std::getline(stream, line);) {
    const size_t       blank  = line.find(' ');
    const std::string  name   = line.substr(0, blank);
    const std::string  value  = blank == std::string::npos ? "" : line.substr(blank + 1);
    const KnownOption *option = FindOption(name);
    if (!option) continue;
    const std::vector<std::string> values = Words(option->values);
    if (option->closed && std::find(values.begin(), values.end(), value) == values.end()) continue;
    lines.emplace_back(name, value);
  }
  return lines;
}

std::string PrintOptionLines(const OptionLines &lines)
{
  std::string text;
  for (const auto &[name, value] : lines) text += name + (value.empty() ? "" : " ") + value + "\n";
  return text;
}

} // namespace fuzz
