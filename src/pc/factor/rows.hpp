/// A matrix to factor: where its factorization runs, and its rows and values in that space, whatever its type.
#pragma once

#include <petscmat.h>
#include <vector>
#include "device/buffer.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/factor/names.hpp"

namespace sparsegpu::factor
{

/// The rows of a matrix, on the host or on the device, and its values on the device if they are there.
struct MatrixRows {
  Mat matrix = nullptr; ///< whose they are
  /// csr.a: on the host, unless on_device; null: newer in device_values. csr.device: the pattern, if it is there, too.
  CsrView       csr;
  bool          on_device     = false;   ///< all of csr
  const Scalar *device_values = nullptr; ///< [nonzeros] in the order of csr; null: on the host only
};

/// Where the factorization of A runs: in the space of its products. Unless it is null, *asked: whether a backend was
/// asked for by name.
PetscErrorCode FactorSpace(Mat A, Space *space, bool *asked = nullptr);
/// A's rows where they lie: MATSEQAIJCUSPARSE and MATSEQAIJKOKKOS may keep them on the device.
PetscErrorCode GetMatrixRows(Mat A, MatrixRows *m);
/// The pattern on the device, *device_i [rows + 1] and *device_j [nonzeros]: the matrix's own arrays, or copies in i
/// and j where it has them on the host alone. Asynchronous.
PetscErrorCode PatternOnDevice(const MatrixRows &rows, Array<PetscInt> *i, Array<PetscInt> *j,
                               const PetscInt **device_i, const PetscInt **device_j);
/// The matrix's values on the host, of rows that are there.
PetscErrorCode ValuesOnHost(const MatrixRows &rows, const Scalar **a);
/// The matrix's values on the device, in `room` if they lie on the host.
PetscErrorCode ValuesOnDevice(const MatrixRows &rows, DeviceMemory *room, const Scalar **a);

/// A's rows on the host, copied where the matrix keeps them on the device.
struct HostRows {
  CsrView csr{};

  /// The pattern, and the values if `values`; without them csr.a may be null.
  PetscErrorCode Take(const MatrixRows &rows, bool values = true);

private:
  std::vector<PetscInt> i_, j_;
  std::vector<Scalar>   a_;
};

} // namespace sparsegpu::factor
