/// Grids whose rows inside are all one stencil of a plane and its two neighbours, of 27 or of 7 points. A thread block
/// walks from plane to plane: what it reads of a plane of x comes through shared memory and serves the rows of three
/// planes, and coefficients are arguments of the kernel. Rows at the sides of the grid that lack points, but have the
/// same coefficients, are walked, too. A row's entries are summed in CSR's order.
#pragma once

#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu::formats
{

/// Which rows a thread has: ROWS lines of `length` of them, a stride apart; a block has neighbouring ones.
struct LineWalk {
  static constexpr PetscInt THREADS = 256, ROWS = 2; ///< of a block, at most; of a thread in a plane

  PetscInt stride, length;
  PetscInt chunks;  ///< blocks for rows 0 .. stride - 1
  PetscInt threads; ///< of a block

  /// That a multiprocessor has at a time.
  static constexpr int Blocks(int points) { return points > 5 ? 3 : 4; }
  PetscInt             Slabs(PetscInt rows) const { return (rows - 1) / stride / length + 1; }
};

/// What is the same for all rows that are walked, and where they are.
struct StencilLines {
  static constexpr int      STAGES = 4;                  ///< planes of x that a block has or copies
  static constexpr unsigned SHARED = 54 << 10;           ///< bytes of shared memory of a block, at most
  static constexpr int      POINTS = 9;                  ///< of a plane, at most
  static constexpr unsigned INSIDE = (1u << POINTS) - 1; ///< bits of the points that a row has in its plane
  static constexpr unsigned BEFORE = 1u << POINTS, AFTER = BEFORE * 2; ///< it has those of the plane before, after

  int                   points = 0;     ///< of a plane; 0: rows are not walked
  bool                  star   = false; ///< the planes before and after have the middle point alone, else the same ones
  PetscInt              offset[POINTS]; ///< ascending
  Scalar                value[3][POINTS];
  LineWalk              walk = {};
  const unsigned short *bits = nullptr; ///< [slabs * stride] on the device: the points that all rows of a line have,
                                        ///< BEFORE of the first of them and AFTER of the last

  int Middle() const { return points / 2; }
  /// Entries of x in a plane that a row reads, but for the first.
  SPARSEGPU_HD PetscInt Reach() const { return offset[points - 1] - offset[0]; }
  /// Shared memory for what a block has of a plane.
  SPARSEGPU_HD unsigned PlaneBytes() const
  {
    constexpr unsigned LINE = 128;
    return (static_cast<unsigned>(walk.threads * LineWalk::ROWS + Reach()) * static_cast<unsigned>(sizeof(Scalar)) +
            2 * LINE - 1) /
           LINE * LINE;
  }
};

/// The stencil of the class `inside` of A, whose table is on the host here, its step from plane to plane in
/// lines->walk.stride, and the bits of the rows of all classes, 0 of those that are no part of it. points = 0 if that
/// class is no such stencil.
PetscErrorCode FindLines(const std::vector<PetscInt> &begin, const std::vector<PetscInt> &offset,
                         const std::vector<Scalar> &value, size_t inside, StencilLines *lines,
                         std::vector<unsigned short> *kinds);
/// The walk of the least time on a device with so many multiprocessors.
LineWalk FindWalk(PetscInt rows, PetscInt stride, int points, PetscInt multiprocessors);
/// Whether the device has what a walk with so much shared memory needs.
PetscErrorCode CanWalk_CUDA(size_t shared, bool *can);
/// The bits of all lines. *broken: how many have rows that are no part of the stencil, or lack other points than their
/// neighbours in the line. Waits for the device.
PetscErrorCode FindLineBits_CUDA(const StencilLayout &A, const LineWalk &walk, const unsigned short *kinds,
                                 unsigned short *bits, PetscInt *broken);

} // namespace sparsegpu::formats
