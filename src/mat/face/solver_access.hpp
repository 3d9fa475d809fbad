/// What a solver that works on arrays of the device asks of a matrix.
#pragma once

#include <petscmat.h>
#include <memory>
#include "comm/channel.hpp"
#include "device/device.hpp"
#include "mat/face/names.hpp"
#include "mat/converted/settings.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/rows/version.hpp"

namespace sparsegpu::face
{

/// The version of A's values and pattern now; 0 for a matrix that is not of our types.
PetscErrorCode MatVersion(Mat A, Version *version);

/// The format that the many products of a solve on arrays of the device run in, converted or updated if A has changed.
/// Null if A is not a MATSEQAIJSPARSEGPU, or if its products with vectors in `vectors` do not run on the device.
/// *nonzeros, if asked for: of A, where there is a format.
PetscErrorCode FormatForSolve(Mat A, Space vectors, Format **format, PetscInt *nonzeros = nullptr);

/// z = before z + now x + residual d (f - A x), without another pass over the vectors; d null: 1. z is not x, and not
/// read where before = 0. *done is false, and z is as before, where A is not of our types or its product is the
/// program's own, where its product with these vectors does not run on the device or one of them is not there, where
/// the ranks of a parallel A do not reach each other's memory, and where its format has no such product. A parallel
/// product's ghosts are added in a second launch, unless the diagonal block takes them. Asynchronous; collective with
/// MatMult(A, x, z): each rank decides by itself whether it is *done, as both make the same exchange.
struct StepFactors {
  PetscReal before, now, residual;
};
PetscErrorCode MultStep(Mat A, const StepFactors &factors, Vec d, Vec f, Vec x, Vec z, bool *done);

/// Bytes of A's format that a product on the host reads, besides vectors, as the next one runs; A is a
/// MATSEQAIJSPARSEGPU with rows, which is converted if that is due.
PetscErrorCode HostBytesForSolve(Mat A, PetscLogDouble *bytes);

/// Whether A's formats, on any process, keep values in single precision beside the full ones: ProductsInSingle. A is of
/// any type. Collective.
PetscErrorCode KeepsRounded(Mat A, bool *keeps);

/// A parallel matrix whose ranks reach each other's memory.
struct BlocksForSolve {
  Space          space    = Space::Host;             ///< where products run
  comm::Channel *channel  = nullptr;                 ///< of the ghosts; null: there are no such peers
  Format        *diagonal = nullptr, *off = nullptr; ///< on the device
  PetscLogDouble nonzeros = 0;                       ///< of this rank, on the device
  bool           complete = false; ///< products of `diagonal` can be those of `off`, too: Format::TakesGhosts()
};
/// The same for a MATMPIAIJSPARSEGPU and vectors in `vectors`; without a channel for any other matrix. The answer and
/// errors are the same on all ranks. `there`: only where products run where the vectors are. Collective.
PetscErrorCode GetBlocksForSolve(Mat A, Space vectors, BlocksForSolve *blocks, bool there = false);
/// Whether there is a device, and products of A with these vectors run on it, or would, were the vectors there.
PetscErrorCode DeviceServes(const Settings &settings, Space vectors, bool *serves);

/// The format as csr; null if it is another one.
Csr *AsCsr(Format *format);
/// A's own rows in csr on the device, for a MATSEQAIJSPARSEGPU whose products run in another format; O(nonzeros) host
/// time. Of the values that A has now.
PetscErrorCode BuildCsrForSolve(Mat A, std::unique_ptr<Format> *format);

} // namespace sparsegpu::face
