/// A storage format: built once from CSR, then multiplied with. Formats are listed in formats.def.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "device/buffer.hpp"
#include "mat/formats/codec/values.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu
{

/// The papers' parameters, with their options.
struct Parameters {
  PetscReal max_padding = 4; ///< -mat_sparsegpu_max_padding: DIA, ELL and BSR refuse more than this times the nonzeros
  PetscReal hyb_fraction =
      1.0 / 3.0;                 ///< -mat_sparsegpu_hyb_fraction: of the rows must reach the width of HYB's ELL part
  PetscInt    merge_workers = 0; ///< -mat_sparsegpu_merge_workers: shares of the merge path; 0: what fits the backend
  PetscInt    csr_width     = 0; ///< -mat_sparsegpu_csr_width: threads per row, a power of two <= 32; 0: by mean length
  PetscInt    vab_block     = 128; ///< -mat_sparsegpu_vab_block: threads per block, a multiple of 64
  PetscInt    sccsr_blocks  = 8;   ///< -mat_sparsegpu_sccsr_blocks: N_blocks, resident thread blocks per multiprocessor
  PetscInt    multiprocessors = 1; ///< N_SM of the device; 1 on the host
  PetscInt    sell_window  = -1; ///< -mat_sparsegpu_sell_window: rows sorted by length together, 1 none; -1: by padding
  PetscInt    column_bytes = 0;  ///< -mat_sparsegpu_column_bytes: at least so many for a column, 1, 2, 4; 0: what fits
  PetscInt    bsr_block    = 0;  ///< -mat_sparsegpu_bsr_block: rows of a block, 2 to 6; 0: by bytes
  std::string values       = "auto"; ///< -mat_sparsegpu_values: a name of ValueCodecNames
  /// -mat_sparsegpu_device_conversion: a product on the GPU of so many nonzeros or more is prepared there, of fewer on
  /// the host, which is sooner done with them than a GPU with its launches
  PetscInt device_conversion = 50000;
};

class Format
{
public:
  Format()                          = default;
  virtual ~Format()                 = default;
  Format(const Format &)            = delete;
  Format &operator=(const Format &) = delete;

  virtual const char *Name() const = 0;
  /// Would Build() accept `A`? If not, *why names the sizes. O(nonzeros) host time.
  virtual PetscErrorCode Check(const CsrView &A, const Parameters &parameters, bool *ok, std::string *why) const;

  /// Builds pattern and values in `space`; O(nonzeros) host time, ends synchronised. On the device where A.device lies
  /// there and the format ConvertsOnDevice(): the same arrays, bit for bit, and no host time of O(nonzeros).
  /// Errors: PETSC_ERR_ARG_OUTOFRANGE where Check() says no; PETSC_ERR_MEM, naming the bytes asked for and free.
  PetscErrorCode Build(const CsrView &A, const Parameters &parameters, Space space);
  /// New values, same pattern. `a` [nonzeros] lies in `where`; on the device all work is ordered on the stream. Where
  /// the format cannot hold them, *fits is false and it must be built anew or another one taken.
  virtual PetscErrorCode Update(const CsrView &A, const Scalar *a, Space where, bool *fits);
  /// z = A x + y; y may be null (zero) or z. All arrays in the space of Build(). Asynchronous on the device.
  virtual PetscErrorCode Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) = 0;

  /// Can it be built from A.device?
  virtual bool ConvertsOnDevice() const { return false; }

  /// Frees what only a change of values needs; the next Update() makes it anew. No work may be under way.
  void Release();
  /// Bytes of that: the place of each entry and, on the device, the values last given, in CSR's order.
  PetscLogDouble BytesForUpdates() const
  {
    return static_cast<PetscLogDouble>(slot_.bytes()) + static_cast<PetscLogDouble>(staging_.bytes());
  }
  /// Does it multiply with arrays of the CsrView itself, so that these must stay?
  bool Borrows() const { return CsrOrder() && space_ == Space::Host; }

  /// Does it multiply with the rows of the CsrView itself and keep nothing that depends on the columns?
  virtual bool FollowsPattern() const { return false; }

  /// On the host a format whose values lie as CSR's borrows the matrix's arrays: call before each Mult().
  virtual void Borrow(const CsrView &A) {}

  Space          Where() const { return space_; }
  PetscInt       Stored() const { return stored_; }
  PetscLogDouble BytesStored() const
  {
    return pattern_bytes_ + encoded_.BytesEach() * static_cast<PetscLogDouble>(stored_);
  }
  /// The stored values as kernels read them, where EncodesValues().
  ValueLayout EncodedLayout() const { return encoded_.Layout(values_.data()); }
  /// How it is stored beyond its name, for MatView(): widths of columns and values, what was sorted.
  virtual std::string Details() const { return ""; }
  /// Bytes one Mult() must move: every stored array, x and z once. GB/s = BytesPerMult() / seconds / 1e9.
  PetscLogDouble BytesPerMult() const
  {
    return BytesStored() + sizeof(Scalar) * (static_cast<PetscLogDouble>(rows_) + cols_);
  }

protected:
  /// Builds all arrays but the values; sets stored_ and pattern_bytes_.
  virtual PetscErrorCode BuildPattern(const CsrView &A, const Parameters &parameters) = 0;
  /// slot[e] = where the value of CSR entry e is stored. Not called if the order is CSR's own (CsrOrder()).
  virtual void Slots(const CsrView &A, PetscInt *slot) const {}
  /// The values of A where Slots() says, canonical where PadsByValue(), without the array of slots. False: not done.
  virtual bool PlaceValues(const CsrView &A, Scalar *values) const { return false; }
  /// BuildPattern(), Slots() and PlaceValues() from A.device and onto the device, where ConvertsOnDevice(). `values`
  /// [stored_] are padding already. Asynchronous.
  virtual PetscErrorCode BuildPatternOnDevice(const CsrView &A, const Parameters &parameters) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream) { return PETSC_ERR_SUP; }
  virtual bool           CsrOrder() const { return false; }
  /// Padding is marked by PadValue() among the values, not by a column.
  virtual bool PadsByValue() const { return false; }
  /// Values may lie encoded: kernels read them by EncodedLayout(). Padding then holds the value of some entry.
  virtual bool EncodesValues() const { return false; }
  /// Puts the values of A in place after BuildPattern().
  virtual PetscErrorCode BuildValues(const CsrView &A);

  const Scalar *values() const { return borrowed_ ? borrowed_ : values_.data(); }
  ValueCodec    codec() const { return encoded_.codec(); }

  PetscInt       rows_ = 0, cols_ = 0, nonzeros_ = 0, stored_ = 0;
  PetscLogDouble pattern_bytes_ = 0;
  Space          space_         = Space::Host;
  const Scalar  *borrowed_      = nullptr;
  Array<Scalar>  values_; ///< [stored_]

private:
  bool FromDevice(const CsrView &A) const { return space_ == Space::Device && A.device.i && ConvertsOnDevice(); }
  PetscErrorCode FindSlots(const CsrView &A, bool *found);
  PetscErrorCode BuildValuesOnDevice(const CsrView &A);
  PetscErrorCode CopyToSlots(const Scalar *a, Space where);
  PetscErrorCode Encode();

  std::string     wanted_ = "auto"; ///< codec of the values
  EncodedValues   encoded_;
  Array<PetscInt> slot_; ///< [nonzeros_] once values have changed; in space_
  DeviceMemory    staging_;
};

/// The names of formats.def, in its order.
const std::vector<const char *> &FormatNames();
/// Null for an unknown name.
std::unique_ptr<Format> MakeFormat(const std::string &name);
/// Check() of the format of that name; on the host where the device lacks memory to look at A.device.
PetscErrorCode CheckFormat(const std::string &name, const CsrView &A, const Parameters &parameters, bool *ok,
                           std::string *why);

#define FORMAT(name) std::unique_ptr<Format> MakeFormat_##name();
#include "mat/formats/formats.def"
#undef FORMAT

/// What auto decided for a matrix. Unit of the times: a product as csr.
struct Choice {
  std::string    name, reason;
  bool           same_bits  = false;         ///< csr adds the entries of each row in the same order
  PetscReal      gain       = 0;             ///< time that a product saves
  PetscReal      conversion = 0, update = 0; ///< time of a conversion, and of new values in the old pattern
  std::uint64_t  fingerprint = 0;            ///< TakeFingerprint() of its matrix, 0 before
  PetscLogDouble bytes = 0, bytes_csr = 0; ///< that a product reads of the matrix, and that it would as csr; 0: unknown

  static constexpr PetscCount LOOK = 5;                  ///< products before it is worth its own analysis
  PetscCount                  ProductsToConvert() const; ///< as csr, before these have lost what the conversion costs
  PetscCount                  ProductsToUpdate() const;  ///< the same for new values
  /// The same for products of the transpose scattered from csr, where this is the choice for the matrix itself.
  PetscCount ProductsToTranspose() const;
  PetscCount ProductsToUpdateTranspose() const;
};
/// The rule of -mat_sparsegpu_format auto, readable in select.cxx; never a format that refuses.
PetscErrorCode ChooseFormat(const CsrView &A, const Parameters &parameters, Space space, Choice *choice);
/// A few formats for -mat_sparsegpu_auto_trial, those that the model likes best first, then others that accept A.
PetscErrorCode RankFormats(const CsrView &A, const Parameters &parameters, Space space,
                           std::vector<std::string> *names);
/// Times products of A in these formats, and takes the fastest: another run may take another one, with other bits.
PetscErrorCode TryFormats(const CsrView &A, const Parameters &parameters, Space space, Choice *choice);
/// Tells matrices apart that auto may decide differently: by their patterns, on the device also by their values, since
/// there the choice may show in the bits. O(nonzeros) host time, about one product.
std::uint64_t TakeFingerprint(const CsrView &A, Space space);

} // namespace sparsegpu
