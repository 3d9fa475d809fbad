/// A storage format: planned and built once from CSR, then multiplied with. Formats are listed in formats.def.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include "comm/exchange.hpp"
#include "device/buffer.hpp"
#include "mat/formats/codec/values.hpp"
#include "mat/formats/dense.hpp"
#include "mat/formats/names.hpp"
#include "mat/formats/options.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::formats
{

class Look;           // mat/formats/look.hpp
class Plan;           // mat/formats/plan.hpp
struct ProductDots;   // mat/formats/dots.hpp
struct ProductTarget; // mat/formats/target.hpp
struct SumTarget;     // mat/formats/target.hpp

class Format
{
public:
  Format()                          = default;
  virtual ~Format()                 = default;
  Format(const Format &)            = delete;
  Format &operator=(const Format &) = delete;

  virtual const char *Name() const = 0;
  /// The plan of the format for the rows of `look`.
  virtual std::unique_ptr<Plan> NewPlan(Look *look) const;

  /// Builds pattern and values from a plan of NewPlan(), whose results it may take; O(nonzeros) host time, ends
  /// synchronised. On the device where the rows lie there and the format ConvertsOnDevice(): the same arrays, bit for
  /// bit, and no host time of O(nonzeros).
  /// Errors: PETSC_ERR_ARG_OUTOFRANGE where Plan::Fits() says no; PETSC_ERR_MEM, naming the bytes asked for and free.
  PetscErrorCode Build(Plan *plan);
  /// NewPlan() and Build() in one call.
  PetscErrorCode Build(const CsrView &A, const FormatOptions &options, Space space);
  /// New values, same pattern. `a` [nonzeros] lies in `where`; on the device all work is ordered on the stream. Where
  /// the format cannot hold them, *fits is false: the caller builds it again or takes another format.
  virtual PetscErrorCode Update(const CsrView &A, const Scalar *a, Space where, bool *fits);
  /// z = A x + y; y may be null (zero) or z. All arrays in the space of Build(). Asynchronous on the device.
  virtual PetscErrorCode Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) = 0;
  /// What `to` says of A x, on the device alone; a step or a residual where TakesSteps(). `exchange`, unless null, is
  /// begun with entries of x: here before the product. Asynchronous.
  virtual PetscErrorCode MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                  Stream stream);
  virtual bool           TakesSteps() const { return false; }
  /// What `to` says of A x, on the device, where x are the entries of the exchange, which ends here. What is added is
  /// of no use where no entries are wanted, and NaN where a rank is lost.
  virtual PetscErrorCode AddArriving(const comm::DeviceExchange &exchange, const SumTarget &to, Stream stream);
  /// Whether that may be anything but z += A x.
  virtual bool AddsScaled() const { return false; }
  /// Whether MultInto() and MultDots() also multiply with `off`, the off-diagonal block of this one's rows, where
  /// their exchange, which brings its factor, is to be `complete`. `version`: of off's values and pattern; where it is
  /// another one than before, this may wait for the device, and the answer and Details() may have *changed.
  virtual PetscErrorCode TakesGhosts(const Format &off, std::uint64_t version, bool *takes, bool *changed);
  /// Whether that may be so for some block.
  virtual bool MayTakeGhosts() const { return false; }
  /// Z = A X. All arrays in the space of Build(); on the device `scratch` grows to what the format needs beside them
  /// and may serve all products that follow each other on one stream. Asynchronous there. Here: column by column.
  virtual PetscErrorCode MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream);

  /// Whether that reads less than as many products of one column.
  virtual bool GainsByColumns() const { return true; }

  /// The same and its inner products, on the device alone, where TakesDenseDots(d.count); bitwise reproducible.
  virtual PetscErrorCode MultDenseDots(const DenseColumns &d, const DenseDots &dots, Stream stream);
  virtual bool           TakesDenseDots(PetscInt count) const { return false; }

  /// z = A x and its inner products with x, y and itself, on the device alone; asynchronous, bitwise reproducible.
  /// Here: Mult(), and a pass over the vectors.
  virtual PetscErrorCode MultDots(const ProductDots &dots, Stream stream);
  /// Whether MultDots() takes ProductDots::minus.
  virtual bool TakesDifferences() const { return false; }

  /// Announces `products` further products with the current values. What Update() postponed, putting the values in
  /// place and encoding them, is done once the products save its cost; *encoded says whether it was. The bits of
  /// products do not depend on it, but those of ProductsInSingle, for which it rounds the values where there is memory.
  PetscErrorCode Expect(PetscCount products, bool *encoded);

  /// Bytes of values rounded for ProductsInSingle; 0: there are none.
  PetscLogDouble BytesRounded() const { return encoded_.BytesRounded(); }

  /// Whether the format can be built from rows on the device.
  virtual bool ConvertsOnDevice() const { return false; }

  /// Puts values there that are not in their places. Errors: PETSC_ERR_MEM.
  PetscErrorCode Settle();
  /// Frees what only Update() needs; the next Update() rebuilds it. No work may be pending on the device.
  void Release();
  /// Bytes that it would free: the slot of each entry, or the row pointers.
  PetscLogDouble BytesForUpdates() const { return static_cast<PetscLogDouble>(slot_.bytes() + row_begin_.bytes()); }
  /// Whether Update() reads the pattern: on the device from A.device, if present.
  virtual bool UpdatesReadPattern() const { return false; }
  /// Whether the values lie as those of the rows do. On the device these serve as they are where A.owners keeps them.
  bool InOrderOfRows() const { return CsrOrder(); }
  /// Whether it multiplies with arrays of the CsrView itself, which must then outlive it.
  bool Borrows() const { return CsrOrder() && space_ == Space::Host; }

  /// Whether it multiplies with the rows of the CsrView itself and stores nothing that depends on the columns.
  virtual bool FollowsPattern() const { return false; }

  /// Products are only added to other products, as those of an off-diagonal block are to the diagonal block's: no entry
  /// of z that a product adds to is a negative zero. Before Build().
  virtual void AddsToSums() {}
  /// On the host a format whose values lie as CSR's borrows the matrix's arrays: call before each Mult().
  virtual void Borrow(const CsrView &A) {}

  Space          Where() const { return space_; }
  PetscInt       Stored() const { return stored_; }
  PetscLogDouble BytesStored() const
  {
    return pattern_bytes_ + encoded_.BytesEach() * (static_cast<PetscLogDouble>(stored_) - omitted_);
  }
  /// Those of them that are arrays of the matrix's rows on the device.
  PetscLogDouble BytesShared() const
  {
    return shared_pattern_bytes_ +
           (owner_ && !values_.size() ? sizeof(Scalar) * static_cast<PetscLogDouble>(stored_) : 0);
  }
  /// The stored values as kernels read them, where EncodesValues() or RoundsValues().
  ValueLayout EncodedLayout() const { return encoded_.Layout(values_.data()); }
  /// Details of the storage for MatView(): bytes of columns and values, sorting.
  virtual std::string Details() const { return ""; }
  /// Bytes one Mult() must move: every stored array, x and z once. GB/s = BytesPerMult() / seconds / 1e9.
  PetscLogDouble BytesPerMult() const
  {
    return BytesStored() + sizeof(Scalar) * (static_cast<PetscLogDouble>(rows_) + cols_);
  }

protected:
  /// Builds all arrays but the values; sets stored_ and pattern_bytes_.
  virtual PetscErrorCode BuildPattern(Plan *plan) = 0;
  /// slot[e] = where the value of CSR entry e is stored. Not called if the order is CSR's own (CsrOrder()).
  virtual void Slots(const CsrView &A, PetscInt *slot) const {}
  /// The values of A where Slots() says, canonical where PadsByValue(), without the array of slots. False: not done.
  virtual bool PlaceValues(const CsrView &A, Scalar *values) const { return false; }
  /// BuildPattern(), Slots() and PlaceValues() from A.device and onto the device, where ConvertsOnDevice(). `values`
  /// [stored_] are padding already. Asynchronous.
  virtual PetscErrorCode BuildPatternOnDevice(Plan *plan) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream) { return PETSC_ERR_SUP; }
  /// Mult() can read values on the device that still lie in the order of the rows: Unplaced(). Of PlacesByRows().
  virtual bool MultipliesUnplaced() const { return false; }
  /// PlaceOnDevice() reads no columns, and writes padding, too: new values then need no slots on the device.
  virtual bool PlacesByRows() const { return false; }
  virtual bool CsrOrder() const { return false; }
  /// Padding is marked by PadValue() among the values, not by a column.
  virtual bool PadsByValue() const { return false; }
  /// Values may lie encoded: kernels read them by EncodedLayout(). Padding then holds the value of some entry.
  virtual bool EncodesValues() const { return false; }
  /// Values may be kept beside these in single precision, for ProductsInSingle.
  virtual bool RoundsValues() const { return EncodesValues(); }
  /// Values that are in their places may go into fewer bytes, by Shrink(), after each change. Here: by their codec.
  virtual bool           MayShrink() const { return EncodesValues(); }
  virtual PetscErrorCode Shrink();
  /// Puts the values of the rows in place after BuildPattern().
  virtual PetscErrorCode BuildValues(const Look &look);

  /// The matrix's own values on the device, in the order of its rows, and where each row begins.
  struct UnplacedValues {
    const PetscInt *row_begin;
    const Scalar   *a; ///< null where the values are in their places
  };
  UnplacedValues Unplaced() const
  {
    return UnplacedValues{row_begin_.data(), MultipliesUnplaced() ? borrowed_ : nullptr};
  }
  const Scalar *values() const { return borrowed_ ? borrowed_ : values_.data(); }
  /// Multiplies with A's own values on the device, where these may be kept: *shared. Else with values_ again.
  void       ShareValues(const CsrView &A, bool *shared);
  ValueCodec codec() const { return encoded_.codec(); }

  PetscInt       rows_ = 0, cols_ = 0, nonzeros_ = 0, stored_ = 0;
  PetscInt       omitted_       = 0; ///< of stored_: they are the same as others, which are read in their place
  PetscLogDouble pattern_bytes_ = 0, shared_pattern_bytes_ = 0;
  Space          space_    = Space::Host;
  const Scalar  *borrowed_ = nullptr; ///< the matrix's values where the format multiplies with these
  Array<Scalar>  values_;             ///< [stored_ - omitted_]
  std::string    wanted_ = "auto";    ///< codec of the values

private:
  bool FromDevice(const CsrView &A) const { return space_ == Space::Device && A.device.i && ConvertsOnDevice(); }
  PetscErrorCode FindSlots(const CsrView &A, bool *found);
  bool           NeedsRowsAlone() const { return space_ == Space::Device && PlacesByRows(); }
  PetscErrorCode BuildValuesOnDevice(const CsrView &A);
  PetscErrorCode BuildValuesOnHost(CsrView A);
  PetscErrorCode CopyToSlots(const CsrView &A, const Scalar *a, Space where);
  PetscErrorCode Encode();
  PetscErrorCode Round(bool *encoded);

  static constexpr PetscCount ENCODING_PAYS = 20; ///< products that save the cost of encoding new values

  std::shared_ptr<const void> owner_; ///< of borrowed_ on the device

  bool            waits_    = false; ///< the encoding of new values is postponed
  PetscCount      expected_ = 0;     ///< products since then
  EncodedValues   encoded_;
  Array<PetscInt> slot_;      ///< [nonzeros_] once values have changed; in space_
  Array<PetscInt> row_begin_; ///< [rows_ + 1] instead, where NeedsRowsAlone()
};

} // namespace sparsegpu::formats
