/// What bench/spmv prints: one line of JSON for each measurement.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <sparsegpu.h>

#include "cusparse.hpp"
#include "spmv_set.hpp"

/// The baselines' times on one matrix, in seconds.
struct Baselines {
  double      best = 1e30, csr = 1e30; ///< of all; of cuSPARSE's CSR algorithms
  std::string name;                    ///< of the best

  void Add(const char what[], double seconds, bool is_csr)
  {
    if (seconds < best) name = what;
    best = std::min(best, seconds);
    if (is_csr) csr = std::min(csr, seconds);
  }
};

class Report
{
public:
  explicit Report(std::string device) : device_(std::move(device)) {}

  /// `cache`: bytes of the level-2 cache, 0 if there is no device.
  void Begin(const Case &c, const CaseFacts &facts, double cache);
  void Listed() const;
  void Refused(const char what[], const char why[]) const;
  void Time(const char what[], double seconds, const char more[]) const;
  void Ours(const char what[], double seconds, const Baselines &baselines, const MatSparseGPUInfo &info, double error);
  void End(const Baselines &baselines);
  /// Merrill & Garland's measures (SC'16) over all matrices since the start, of auto and of cuSPARSE's CSR: does time
  /// follow the bytes of the matrix, and is the rate independent of how much row lengths vary?
  void Correlations() const;

private:
  std::string         device_, head_; ///< head_: what every line of this matrix begins with
  CaseFacts           facts_ = {};
  double              auto_  = 0; ///< seconds on this matrix
  std::vector<double> bytes_, variation_, nonzeros_, ours_, cusparse_;
};
