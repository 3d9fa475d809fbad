#include "spmv_report.hpp"

#include <cstdio>
#include <cstring>

/// Text inside JSON's quotation marks.
static std::string Quoted(const std::string &text)
{
  std::string quoted;
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted;
}

static const char *SizeClass(double bytes, double cache)
{
  if (cache <= 0) return "unknown";
  return bytes < cache ? "below_l2" : bytes <= 4 * cache ? "1_to_4_l2" : "above_4_l2";
}

void Report::Begin(const Case &c, const CaseFacts &facts, double cache)
{
  char text[512];
  snprintf(text, sizeof(text),
           "\",\"class\":\"%s\",\"values\":\"%s\",\"seed\":%d,\"rows\":%d,\"nnz\":%d,\"row_mean\":%.3f,"
           "\"row_deviation\":%.3f,\"csr_bytes\":%.0f,\"size_class\":\"%s\"",
           c.kind.c_str(), c.natural ? "natural" : "full", static_cast<int>(c.seed), static_cast<int>(facts.rows),
           static_cast<int>(facts.nonzeros), facts.mean, facts.deviation, facts.csr_bytes,
           SizeClass(facts.csr_bytes, cache));
  head_  = "{\"matrix\":\"" + Quoted(c.Name()) + text + ",\"device\":\"" + Quoted(device_) + "\"";
  facts_ = facts;
  auto_  = 0;
}

void Report::Listed() const
{
  printf("%s}\n", head_.c_str());
  fflush(stdout);
}

void Report::Refused(const char what[], const char why[]) const
{
  printf("%s,\"what\":\"%s\",\"refused\":\"%s\"}\n", head_.c_str(), what, Quoted(why).c_str());
}

void Report::Time(const char what[], double seconds, const char more[]) const
{
  printf("%s,\"what\":\"%s\",\"ms\":%.5f,\"gflops\":%.2f%s}\n", head_.c_str(), what, seconds * 1e3,
         2.0 * facts_.nonzeros / seconds / 1e9, more);
  fflush(stdout); // what was measured survives a crash
}

void Report::Ours(const char what[], double seconds, const Baselines &baselines, const MatSparseGPUInfo &info,
                  double error)
{
  char more[1024];
  snprintf(more, sizeof(more),
           ",\"format\":\"%s\",\"gbs\":%.0f,\"bytes_per_nonzero\":%.3f,\"ratio\":%.3f,\"best_baseline\":\"%s\","
           "\"vs_cusparse\":%.3f,\"convert_ms\":%.2f,\"padding\":%.3f,\"error\":%.1e,\"details\":\"%s\"",
           info.format, info.bytes_mult / seconds / 1e9, facts_.nonzeros ? info.bytes_mult / facts_.nonzeros : 0.0,
           baselines.best / seconds, baselines.name.c_str(), baselines.csr / seconds, info.convert_seconds * 1e3,
           facts_.nonzeros ? info.stored / facts_.nonzeros : 1.0, error, Quoted(info.details).c_str());
  Time(what, seconds, more);
  if (!strcmp(what, "auto")) auto_ = seconds;
}

void Report::End(const Baselines &baselines)
{
  if (auto_ <= 0 || facts_.nonzeros == 0) return;
  bytes_.push_back(facts_.csr_bytes);
  variation_.push_back(facts_.deviation / facts_.mean);
  nonzeros_.push_back(facts_.nonzeros);
  ours_.push_back(auto_);
  cusparse_.push_back(baselines.csr);
}

void Report::Correlations() const
{
  if (bytes_.size() < 2) return;
  for (bool ours : {true, false}) {
    const std::vector<double> &seconds = ours ? ours_ : cusparse_;
    std::vector<double>        gflops;
    for (size_t k = 0; k < seconds.size(); k++) gflops.push_back(2 * nonzeros_[k] / seconds[k] / 1e9);
    printf("{\"what\":\"correlations\",\"of\":\"%s\",\"matrices\":%zu,\"time_with_csr_bytes\":%.4f,"
           "\"gflops_with_row_variation\":%.4f,\"device\":\"%s\"}\n",
           ours ? "auto" : "cusparse_csr", seconds.size(), Correlation(bytes_, seconds),
           Correlation(variation_, gflops), Quoted(device_).c_str());
  }
}
