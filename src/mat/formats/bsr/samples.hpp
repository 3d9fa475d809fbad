/// The block rows that are looked at to tell which block sizes may pay.
#pragma once

#include <memory>
#include <vector>
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::formats
{

class BsrSamples
{
public:
  static constexpr PetscInt COUNT = 32, LONG = 1024; ///< block rows of each size, entries of a row that are looked at

  /// *view: A where the host has its pattern; else, as long as this lives, with arrays of which those of the samples
  /// alone are set. A is that of the first call. Errors: PETSC_ERR_MEM.
  PetscErrorCode Bring(const rows::CsrView &A, rows::CsrView *view);

private:
  /// Entries of an array that lie side by side.
  struct Range {
    PetscInt begin, count;
  };
  using Room = std::unique_ptr<PetscInt[]>;

  static PetscErrorCode Gather(const std::vector<Range> &ranges, const PetscInt *from, size_t size, Room *to);

  Room i_, j_;
};

} // namespace sparsegpu::formats
