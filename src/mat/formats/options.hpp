/// The options of formats. Each format has a struct of its own in its folder: names, help, defaults, the values allowed
/// and what a refusal says. What several formats share is here. FormatOptions holds one of each and knows none:
/// options.Get<SellOptions>().window.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include <petscsys.h>
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// The options of one format, or those that formats share.
class Options
{
public:
  virtual ~Options()                             = default;
  virtual std::shared_ptr<Options> Clone() const = 0;
  /// Offers them with their help and takes those that are given, between PetscOptionsBegin() and its end. No value is
  /// refused here: an error there would lose what PetscOptionsBegin() allocates.
  virtual PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) = 0;
  /// Errors: PETSC_ERR_ARG_OUTOFRANGE naming the value met and those allowed. Comparisons are such that no NaN passes.
  virtual PetscErrorCode Check() const = 0;
};
template <class Own> class OptionsOf : public Options
{
public:
  std::shared_ptr<Options> Clone() const override { return std::make_shared<Own>(static_cast<const Own &>(*this)); }
};

/// Options that several formats share.
struct CommonOptions : OptionsOf<CommonOptions> {
  PetscReal max_padding = 4; ///< -mat_sparsegpu_max_padding: DIA, ELL and BSR refuse more than this times the nonzeros
  std::string values    = "auto"; ///< -mat_sparsegpu_values: a name of ValueCodecNames
  /// -mat_sparsegpu_device_conversion: matrices of at least this many nonzeros are converted on the GPU where products
  /// run there; smaller ones on the host, where their conversion takes less time than the launches
  PetscInt device_conversion = 50000;

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

/// All options of all formats. Copies share them until one is changed.
class FormatOptions
{
public:
  FormatOptions(); ///< the defaults

  template <class T> const T &Get() const
  {
    static const T defaults; // of a format that is not listed
    for (const std::shared_ptr<Options> &one : all_)
      if (const T *own = dynamic_cast<const T *>(one.get())) return *own;
    return defaults;
  }
  template <class T> T &Set()
  {
    for (std::shared_ptr<Options> &one : all_) {
      if (!dynamic_cast<T *>(one.get())) continue;
      if (one.use_count() > 1) one = one->Clone();
      return static_cast<T &>(*one);
    }
    all_.push_back(std::make_shared<T>());
    return static_cast<T &>(*all_.back());
  }
  PetscErrorCode Read(SparseGPUOptionItems items);
  PetscErrorCode Check() const;
  /// Whether both share their structs, being copies that were not changed since. Equal values that were read separately
  /// count as different.
  bool operator==(const FormatOptions &other) const { return all_ == other.all_; }

private:
  std::vector<std::shared_ptr<Options>> all_; ///< the common ones, and those of each format that has some
};

inline bool PowerOfTwo(PetscInt n)
{
  return n > 0 && (n & (n - 1)) == 0;
}

} // namespace sparsegpu::formats
