/// Builds a converted copy: brings the rows of op(A) to where the format is made from, has the format named, and builds
/// it, on the host if the device lacks memory.
#include <petsctime.h>
#include "mat/converted/converted.hpp"
#include "mat/converted/operation_view.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::converted
{

namespace
{
class Builder
{
public:
  Builder(Mat A, Rows *rows, const CsrView &csr, const Conversion &conversion, ConvertedMatrix *converted)
      : A_(A),
        rows_(rows),
        csr_(csr),
        c_(conversion),
        converted_(converted),
        of_(conversion.early ? Operation::Normal : conversion.operation)
  {
  }

  PetscErrorCode Build(const PatternKey &key)
  {
    PetscFunctionBegin;
    converted_->format.reset();
    converted_->from    = Array<PetscInt>();
    converted_->values  = DeviceMemory();
    converted_->version = 0;
    converted_->space   = c_.space;
    PetscCall(MakeView());
    if (of_ == Operation::Normal)
      PetscCall(GetPlans(view_, Options(), c_.space, c_.kept, &plans_));
    else
      PetscCallCXX(plans_ = std::make_shared<Plans>(view_, Options(), c_.space));
    PetscCall(c_.pick(plans_.get(), &name_, &converted_->reason));
    if (name_ == Baseline() && of_ == Operation::Normal && c_.space == Space::Device && !OnDevice()) {
      PetscCall(rows_->BringToDevice(A_, &view_)); // which it multiplies with
      PetscCallCXX(plans_ = std::make_shared<Plans>(view_, Options(), c_.space));
    }
    // The baseline is made of the rows there
    if (!view_.a && name_ != Baseline() && !MakeFormat(name_)->ConvertsOnDevice()) {
      const bool away = OnlyThere() && of_ == Operation::Normal;
      PetscCall(HostView());
      if (away) PetscCallCXX(plans_ = std::make_shared<Plans>(view_, Options(), c_.space)); // with columns
    }
    PetscCall(BuildFormat());
    PetscCallCXX(converted_->details = converted_->format->Details());
    converted_->pattern         = key;
    converted_->pattern_version = rows_->pattern_version();
    if (!made_ && (of_ != Operation::Normal || !converted_->format->FollowsPattern()))
      PetscCall(PatternFingerprint(of_ == Operation::Normal ? view_ : csr_, &converted_->fingerprint));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool OnDevice() const { return view_.device.i; }

private:
  /// Does building begin with the rows on the device?
  bool ReadsDeviceRows() const
  {
    const std::string &format = c_.settings->format;
    return c_.space == Space::Device &&
           (format == "auto" || format == Baseline() || MakeFormat(format)->ConvertsOnDevice());
  }
  /// A pattern that is away from the host stays there: small matrices, too, are converted on the device.
  bool OnlyThere() const { return rows_->pattern_away(); }
  bool Large() const { return OnlyThere() || csr_.nonzeros >= Options().Get<CommonOptions>().device_conversion; }
  const FormatOptions &Options() const { return c_.settings->options; }

  /// The rows of op(A) on the host, with values.
  PetscErrorCode HostView()
  {
    const CsrArrays there  = view_.device;
    const CsrOwners owners = view_.owners;
    CsrView         csr    = csr_;

    PetscFunctionBegin;
    if (!csr.a) PetscCall(rows_->GetHost(A_, &csr, nullptr));
    PetscCall(OperationView(csr, of_, converted_, &view_));
    view_.device = there;
    view_.owners = owners;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The rows of op(A), on the device, too, where they are read there.
  PetscErrorCode MakeView()
  {
    PetscFunctionBegin;
    if (of_ != Operation::Normal && ReadsDeviceRows() && !c_.settings->trial && Large())
      PetscCall(TransposeOnDevice(A_, rows_, csr_, of_, converted_, &transposed_, &view_, &made_));
    if (!made_ && of_ != Operation::Normal) {
      if (!csr_.j) PetscCall(rows_->GetPattern(A_, &csr_, nullptr));
      PetscCall(TransposePattern(csr_, &converted_->ti, &converted_->tj, &converted_->tperm));
      PetscCall(HostView());
    }
    if (of_ != Operation::Normal) PetscFunctionReturn(PETSC_SUCCESS);
    view_ = csr_;
    if (ReadsDeviceRows() && Large()) PetscCall(rows_->BringToDevice(A_, &view_));
    const bool tries = c_.settings->trial && !view_.j; // formats of all kinds
    if ((!view_.a && !OnDevice()) || tries) PetscCall(HostView());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Make(std::unique_ptr<Format> *format)
  {
    PetscFunctionBegin;
    if (c_.early && c_.operation != Operation::Normal) {
      PetscCallCXX(*format = MakeBaselineTransposed(c_.operation == Operation::ConjugateTranspose));
      PetscCall((*format)->Build(view_, Options(), c_.space));
    } else {
      PetscCall(plans_->Build(name_, format, c_.settings->off_diagonal && c_.operation == Operation::Normal));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode BuildFormat()
  {
    std::unique_ptr<Format> format;
    bool                    host = !OnDevice();

    PetscFunctionBegin;
    if (!host) PetscCall(TryOnDevice([&] { return Make(&format); }, &host));
    if (host) { // needs no rows on the device
      format.reset();
      rows_->DropFromDevice();
      c_.kept->reset();
      transposed_.reset();
      view_.device = CsrArrays();
      view_.owners = CsrOwners();
      if (!view_.a) PetscCall(HostView());
      if (!plans_->AreOf(view_, Options(), c_.space))
        PetscCallCXX(plans_ = std::make_shared<Plans>(view_, Options(), c_.space));
      PetscCall(Make(&format));
    }
    converted_->format = std::move(format);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const Mat                   A_;
  Rows *const                 rows_;
  CsrView                     csr_;
  const Conversion           &c_;
  ConvertedMatrix            *converted_;
  const Operation             of_; ///< whose rows are stored: what is early reads the rows of A itself
  CsrView                     view_{};
  std::shared_ptr<DeviceRows> transposed_;
  bool                        made_ = false; ///< the transpose, on the device
  std::shared_ptr<Plans>      plans_;
  std::string                 name_;
};
} // namespace

PetscErrorCode GetPlans(const CsrView &view, const FormatOptions &options, Space space, std::shared_ptr<Plans> *kept,
                        std::shared_ptr<Plans> *plans)
{
  PetscFunctionBegin;
  *plans = *kept;
  if (*plans && (*plans)->AreOf(view, options, space)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(*plans = std::make_shared<Plans>(view, options, space));
  if (view.device.i) *kept = *plans;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BuildConverted(Mat A, Rows *rows, const CsrView &csr, const PatternKey &key,
                              const Conversion &conversion, ConvertedMatrix *converted)
{
  Builder        builder(A, rows, csr, conversion, converted);
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(ConvertEvent, A, nullptr, nullptr, nullptr));
  PetscCall(PetscTime(&begin));
  PetscCall(builder.Build(key));
  PetscCall(PetscTime(&end));
  converted->convert_seconds = end - begin;
  converted->update_seconds  = 0;
  if (conversion.space == Space::Device && !builder.OnDevice())
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(converted->format->BytesStored())));
  PetscCall(PetscLogEventEnd(ConvertEvent, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::converted
