/// A matrix's pattern without the entries that couple two subdomains, and where its entries lie in the matrix: so new
/// values take the way that they take without subdomains, from the matrix's to the factors' entries.
#pragma once

#include "device/buffer.hpp"
#include "pc/subdomains/cut.hpp"

namespace sparsegpu::subdomains
{

struct Uncoupled {
  std::vector<PetscInt> i;     ///< [rows + 1]
  std::vector<PetscInt> j;     ///< [i[rows]] column
  std::vector<PetscInt> entry; ///< [i[rows]] of the matrix

  PetscErrorCode Drop(const CsrView &A, const Cut &cut);
  CsrView        View(const CsrView &A) const
  {
    return CsrView{A.rows, A.cols, static_cast<PetscInt>(j.size()), i.data(), j.data(), nullptr};
  }
};

/// The same on the device.
struct UncoupledOnDevice {
  PetscInt        nonzeros = 0;
  Array<PetscInt> i, j, entry;

  /// i [rows + 1] and j of A, on the device. of_row: the cut's there, of columns, too; null: they are copied. Waits.
  PetscErrorCode Drop(PetscInt rows, const PetscInt *i, const PetscInt *j, const Cut &cut, const PetscInt *of_row,
                      Stream stream);
  /// source [count]: from entries of this pattern to those of the matrix; -1 stays. Asynchronous.
  PetscErrorCode Compose(PetscInt count, PetscInt *source, Stream stream) const;
};

} // namespace sparsegpu::subdomains
