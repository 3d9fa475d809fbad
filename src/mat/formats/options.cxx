/// The options that formats share, and the loop over those of all formats.
#include "mat/formats/options.hpp"
#include <algorithm>
#include "mat/formats/codec/values.hpp"
#include "mat/formats/registry.hpp"

namespace sparsegpu::formats
{

PetscErrorCode CommonOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  char name[64];

  PetscFunctionBegin;
  PetscCall(PetscOptionsReal("-mat_sparsegpu_max_padding",
                             "dia, ell and bsr refuse more stored entries than this times the nonzeros",
                             "MatSparseGPUSetFormat", max_padding, &max_padding, nullptr));
  PetscCall(PetscStrncpy(name, values.c_str(), sizeof(name)));
  PetscCall(PetscOptionsString(
      "-mat_sparsegpu_values",
      "sell, bsr: storage of values, auto, full, or where nothing is lost single or dictionary; dia: "
      "auto, symmetric ones once, or full",
      "MatSparseGPUSetFormat", name, name, sizeof(name), nullptr));
  PetscCallCXX(values = name);
  PetscCall(PetscOptionsInt("-mat_sparsegpu_device_conversion",
                            "products on a GPU: from so many nonzeros on formats are chosen and built there",
                            "MatSparseGPUSetFormat", device_conversion, &device_conversion, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CommonOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(std::find(std::begin(ValueCodecNames), std::end(ValueCodecNames), values) != std::end(ValueCodecNames),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_values %s must be auto, full, single or dictionary", values.c_str());
  PetscCheck(max_padding >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_max_padding %g must be at least 1", (double)max_padding);
  PetscCheck(device_conversion >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_device_conversion %" PetscInt_FMT " must be non-negative", device_conversion);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The defaults, made once: every FormatOptions begins as a copy.
static const std::vector<std::shared_ptr<Options>> &Defaults()
{
  static const std::vector<std::shared_ptr<Options>> defaults = [] {
    std::vector<std::shared_ptr<Options>> all{std::make_shared<CommonOptions>()};
    for (const FormatEntry &format : Formats())
      if (format.options) all.push_back(format.options());
    return all;
  }();
  return defaults;
}

FormatOptions::FormatOptions() : all_(Defaults()) {}

PetscErrorCode FormatOptions::Read(SparseGPUOptionItems items)
{
  PetscFunctionBegin;
  for (std::shared_ptr<Options> &one : all_) {
    PetscCallCXX(one = one->Clone());
    PetscCall(one->Read(items));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormatOptions::Check() const
{
  PetscFunctionBegin;
  for (const std::shared_ptr<Options> &one : all_) PetscCall(one->Check());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
