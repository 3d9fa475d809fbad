/// A format's plan for one matrix: whether it takes the matrix, the cost of a product and of a conversion, and what was
/// computed from the rows on the way, which the build reuses. Each format has its own class; the choice compares only
/// costs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include "mat/formats/look.hpp"
#include "mat/formats/registry.hpp"

namespace sparsegpu::formats
{

/// What a product in a format would cost, and what it takes to convert.
struct Cost {
  PetscLogDouble bytes = 0;             ///< of the matrix that a product reads
  PetscLogDouble reach = 1;             ///< part of the bandwidth that its kernel reaches
  PetscReal conversion = 0, update = 0; ///< time of a conversion, and of new values. Unit: a product in the baseline
  bool      in_order = true;            ///< a row's entries are added one after the other, as CSR has them

  PetscLogDouble Time() const { return bytes / reach; } ///< of the matrix, in bytes at full bandwidth
};

/// Results are kept between calls. A build may take them; they are then computed again if asked for.
class Plan
{
public:
  explicit Plan(Look *look) : look_(*look) {}
  virtual ~Plan()               = default;
  Plan(const Plan &)            = delete;
  Plan &operator=(const Plan &) = delete;

  Look                       &look() { return look_; }
  const CsrView              &rows() const { return look_.rows(); }
  Space                       space() const { return look_.space(); }
  template <class T> const T &options() const { return look_.options().Get<T>(); }

  /// Whether the format takes the matrix. If not, *why names the sizes. O(nonzeros) time.
  virtual PetscErrorCode Fits(bool *fits, std::string *why);
  /// *candidate: whether the choice may take the format, at *cost; a candidate fits. `beat`: Cost::Time() below which
  /// it would be chosen; expensive inspections are skipped if a cheap one shows that the time is above it.
  virtual PetscErrorCode Estimate(PetscLogDouble beat, bool *candidate, Cost *cost);
  /// Place among the formats that a trial adds to the candidates, the least first; 0: none.
  virtual int TrialPlace() const { return 0; }

private:
  Look &look_;
};

/// The plans of all formats for one matrix: created on demand, sharing one Look.
class Plans
{
public:
  Plans(const CsrView &A, const FormatOptions &options, Space space) : look_(A, options, space) {}

  Look &look() { return look_; }
  /// Whether these are the plans of the same arrays, with the same options.
  bool           AreOf(const CsrView &A, const FormatOptions &options, Space space) const;
  PetscErrorCode Get(const std::string &name, Plan **plan);
  /// Whether the format of that name takes the matrix, or is to be that of an `off_diagonal` block on a device.
  /// Inspects it on the host if the device lacks memory.
  PetscErrorCode Check(const std::string &name, bool *fits, std::string *why, bool off_diagonal = false);
  /// Errors: as Format::Build().
  PetscErrorCode Build(const std::string &name, std::unique_ptr<Format> *format, bool adds = false);

private:
  Look                                         look_;
  std::map<std::string, std::unique_ptr<Plan>> plans_;
};

/// Whether the baseline adds the entries of every row one after the other.
PetscErrorCode BaselineInOrder(Plans *plans, bool *in_order);

} // namespace sparsegpu::formats
