/// Blocks of every size, full and partial; the size that is found; conversions on the host and on the device compared
/// array by array.
#include <cmath>
#include <cstring>
#include <limits>
#include <algorithm>
#include "mat/rows/device_rows.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

/// Blocks of 2 x 2: | 1 .  2 | has a partial block of entries (0, 0), (1, 1) and one of (0, 0), at the edge, above
///                  | . 3  . | partial ones of row 2.
///                  | 4 5  6 |
static PetscErrorCode Places()
{
  FormatOptions options;

  PetscFunctionBeginUser;
  for (PetscInt size : {0, 2, 3, 4, 5, 6}) {
    options.Set<BsrOptions>().block = size;
    for (const char *codec : ValueCodecNames) {
      Bsr bsr;
      options.Set<CommonOptions>().values = codec;
      PetscCall(example::BuildAndMultiply(bsr, options));
      PetscCheck(size == 0 || bsr.Layout().size == size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Blocks of %d",
                 bsr.Layout().size);
    }
  }
  Bsr bsr;
  options.Set<BsrOptions>().block     = 2;
  options.Set<CommonOptions>().values = "full";
  PetscCall(bsr.Build(example::Matrix(), options, Space::Host));
  const BsrLayout &layout = bsr.Layout();
  PetscCall(example::CheckInts("begin", layout.begin, {0, 2, 4}));
  PetscCall(example::CheckInts("j", layout.j, {-2, -3, -4, -5}));
  PetscCall(example::CheckInts("partial_column", layout.partial_column, {0, 1, 0, 1}));
  const unsigned long long mask[] = {1 | 8, 1, 1 | 2, 1};
  for (int k = 0; k < 4; k++)
    PetscCheck(layout.partial_mask[k] == mask[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mask %d is %llu", k,
               layout.partial_mask[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// | 1 2 . . 9 |     blocks of 2 x 2: two full ones, then, at the right edge, a partial one of one entry
/// | 3 4 . . . |     An Inf in x beside the 9 and under the fill must not be seen.
/// | . . 5 6 . |
/// | . . 7 8 . |
static PetscErrorCode FullAndPartial()
{
  static const PetscInt i[] = {0, 3, 5, 7, 9}, j[] = {0, 1, 4, 0, 1, 2, 3, 2, 3};
  static const Scalar   a[] = {1, 2, 9, 3, 4, 5, 6, 7, 8};
  const PetscReal       inf = std::numeric_limits<PetscReal>::infinity();
  const Scalar          x[] = {1, 1, 1, 1, 1}, poisoned[] = {1, 1, 1, 1, inf};
  Scalar                z[4];
  FormatOptions         options;
  Bsr                   bsr;

  PetscFunctionBeginUser;
  options.Set<BsrOptions>().block = 2;
  PetscCall(bsr.Build(CsrView{4, 5, 9, i, j, a}, options, Space::Host));
  PetscCall(example::CheckInts("j", bsr.Layout().j, {0, -2, 1}));
  PetscCheck(bsr.Stored() == 12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries", bsr.Stored());
  PetscCall(bsr.Mult(x, nullptr, z, nullptr));
  PetscCall(example::CheckValues("A x", z, {12, 7, 11, 15}));
  PetscCall(bsr.Mult(poisoned, nullptr, z, nullptr));
  PetscCheck(std::isinf(RealPart(z[0])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Inf is lost");
  PetscCall(example::CheckValues("A x with Inf", z + 1, {7, 11, 15}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Nodes of `size` unknowns, each coupled to itself and its neighbours: that size is found, without partial blocks; and
/// the matrix's own size is taken where it costs little more.
static PetscErrorCode Detects(PetscInt size, PetscInt own, PetscInt expected)
{
  constexpr PetscInt    NODES = 120;
  const PetscInt        n     = NODES * size;
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;
  BsrSamples            samples;
  BsrBlocks             blocks;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt node = std::max<PetscInt>(0, r / size - 1); node < std::min(NODES, r / size + 2); node++)
      for (PetscInt q = 0; q < size; q++) j.push_back(node * size + q);
    i.push_back(static_cast<PetscInt>(j.size()));
  }
  a.assign(j.size(), Scalar(1));
  PetscCall(FindBsrBlocks(CsrView{n, n, static_cast<PetscInt>(j.size()), i.data(), j.data(), a.data(), own}, 0,
                          CommonOptions().max_padding, &samples, &blocks));
  PetscCheck(blocks.size == expected && blocks.partial == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Nodes of %" PetscInt_FMT " unknowns: blocks of %d, %lld of them partial", size, blocks.size,
             (long long)blocks.partial);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix in arrays of its own.
struct Rows {
  PetscInt              cols;
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;

  CsrView View() const
  {
    return CsrView{static_cast<PetscInt>(i.size()) - 1, cols, i.back(), i.data(), j.data(), a.data()};
  }
};

/// Nodes of three unknowns along the diagonal and far from it, a few entries lacking; or scattered entries alone. The
/// columns of a row descend where not `ascending`.
static PetscErrorCode Make(PetscInt rows, PetscInt cols, bool nodes, bool ascending, Rows *A)
{
  PetscFunctionBeginUser;
  A->cols = cols;
  for (PetscInt r = 0; r < rows; r++) {
    std::vector<PetscInt> row;
    for (PetscInt k = 0; k < 1 + r / 3 % 5 + (r / 3 % 13 == 7 ? 20 : 0); k++) // rows of one to 75 entries
      for (PetscInt q = 0; q < 3; q++) {
        const PetscInt j = nodes ? (r / 3 * 3 + 30 * k + q) % cols : (r * (k + 3) + 17 * q * q) % cols;
        if ((r + k + q) % 7) PetscCallCXX(row.push_back(j));
      }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    if (!ascending) std::reverse(row.begin(), row.end());
    for (PetscInt j : row) {
      PetscCallCXX(A->j.push_back(j));
      PetscCallCXX(A->a.push_back(Scalar(static_cast<PetscReal>(A->j.size()) / 3)));
    }
    PetscCallCXX(A->i.push_back(static_cast<PetscInt>(A->j.size())));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every other row empty, so that each block of 2 x 2 has two entries at most: to be seen by a sample as by a count.
static PetscErrorCode EveryOtherRow()
{
  constexpr PetscInt    n = 600;
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;
  BsrSamples            samples;
  PetscLogDouble        bytes;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt q = 0; r % 2 && q < 6; q++) j.push_back((r + q * q * 20) % n);
    std::sort(j.begin() + i.back(), j.end());
    i.push_back(static_cast<PetscInt>(j.size()));
  }
  a.assign(j.size(), Scalar(1));
  PetscCall(SampleBsr(CsrView{n, n, static_cast<PetscInt>(j.size()), i.data(), j.data(), a.data()}, sizeof(Scalar),
                      &samples, &bytes));
  PetscCheck(bytes >= sizeof(Scalar) + sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A sample says %g bytes for each nonzero", bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same bytes in two arrays on the device?
template <class T> static PetscErrorCode Same(const char what[], const T *one, const T *other, size_t size)
{
  std::vector<T> a(size), b(size);
  Stream         stream;

  PetscFunctionBeginUser;
  if (size == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(a.data(), one, size * sizeof(T), stream));
  PetscCall(DeviceCopyOut(b.data(), other, size * sizeof(T), stream));
  PetscCheck(memcmp(a.data(), b.data(), size * sizeof(T)) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s differ between the host's conversion and the device's", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A x + y of both, on the device.
static PetscErrorCode SameProducts(Bsr *one, Bsr *other, const CsrView &A)
{
  Array<Scalar>       x, y, z, w;
  std::vector<Scalar> u(static_cast<size_t>(A.cols)), v(static_cast<size_t>(A.rows));
  Stream              stream;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < u.size(); k++) u[k] = Scalar(1 / static_cast<PetscReal>(k + 3));
  for (size_t k = 0; k < v.size(); k++) v[k] = Scalar(static_cast<PetscReal>(k) / 7);
  PetscCall(DeviceStream(&stream));
  PetscCall(x.Take(std::move(u), Space::Device));
  PetscCall(y.Take(std::move(v), Space::Device));
  PetscCall(z.Allocate(y.size(), Space::Device));
  PetscCall(w.Allocate(y.size(), Space::Device));
  PetscCall(one->Mult(x.data(), y.data(), z.data(), stream));
  PetscCall(other->Mult(x.data(), y.data(), w.data(), stream));
  PetscCall(Same("products", z.data(), w.data(), z.size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Built from A.device and from the host's arrays: one array after the other must be the same, and new values, too.
static PetscErrorCode Compare(const Rows &rows, PetscInt size, bool ascending)
{
  CsrView             A = rows.View(), B = A;
  DeviceRows          there;
  FormatOptions       options;
  Bsr                 host, device;
  bool                fits;
  std::vector<Scalar> twice;
  PetscInt            steps = 0;
  Stream              stream;

  PetscFunctionBeginUser;
  options.Set<BsrOptions>().block          = size;
  options.Set<CommonOptions>().max_padding = 1000;
  PetscCall(DeviceStream(&stream));
  PetscCall(there.Upload(A, true));
  B.device = there.View();
  PetscCall(host.Build(A, options, Space::Device));
  PetscCall(device.Build(B, options, Space::Device));
  PetscCheck(device.ConvertsOnDevice() == ascending, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Rows whose columns %s are converted there", ascending ? "ascend are not" : "descend");
  const BsrLayout &h = host.Layout(), &d = device.Layout();
  PetscCheck(host.Details() == device.Details() && host.Stored() == device.Stored() && h.slices == d.slices &&
                 h.size == d.size && host.BytesStored() == device.BytesStored(),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s in %" PetscInt_FMT " places on the host, %s in %" PetscInt_FMT,
             host.Details().c_str(), host.Stored(), device.Details().c_str(), device.Stored());
  PetscCall(DeviceCopyOut(&steps, h.begin + h.slices, sizeof(steps), stream));
  const size_t          places = static_cast<size_t>(steps) * BsrLayout::HEIGHT;
  std::vector<PetscInt> j(places);
  if (places) PetscCall(DeviceCopyOut(j.data(), h.j, places * sizeof(PetscInt), stream));
  const size_t partial = static_cast<size_t>(std::count_if(j.begin(), j.end(), [](PetscInt c) { return c < -1; }));
  PetscCall(Same("begin", h.begin, d.begin, static_cast<size_t>(h.slices) + 1));
  PetscCall(Same("j", h.j, d.j, places));
  PetscCall(Same("partial_column", h.partial_column, d.partial_column, partial));
  PetscCall(Same("partial_mask", h.partial_mask, d.partial_mask, partial));
  PetscCall(SameProducts(&host, &device, A));
  for (const Scalar &v : rows.a) PetscCallCXX(twice.push_back(v + v));
  PetscCall(host.Update(A, twice.data(), Space::Host, &fits));
  PetscCall(device.Update(B, twice.data(), Space::Host, &fits));
  PetscCall(SameProducts(&host, &device, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnDevice()
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(DeviceFound(&found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  for (const bool ascending : {true, false})
    for (const bool nodes : {true, false})
      for (PetscInt rows : {1, 3, 95, 96, 97, 1000})
        for (PetscInt size = 0; size <= BsrLayout::LARGEST; size++) {
          Rows A;
          if (size == 1) continue;
          PetscCall(Make(rows, rows + 40, nodes, ascending, &A));
          PetscCall(Compare(A, size, ascending));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  PetscFunctionBeginUser;
  PetscCall(Places());
  PetscCall(FullAndPartial());
  PetscCall(EveryOtherRow());
  PetscCall(OnDevice());
  for (PetscInt size = 2; size <= 6; size++) PetscCall(Detects(size, 1, size));
  // blocks of 6 have a quarter of the columns: of all bytes 4 % less with values of 8 bytes, 7 % with values of 4
  PetscCall(Detects(6, 3, sizeof(Scalar) > 4 ? 3 : 6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
