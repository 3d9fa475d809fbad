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
  static constexpr int      BLOCKS  = PetscDefined(USE_COMPLEX) ? 2 : 4; ///< that a multiprocessor has at a time
  static constexpr PetscInt SENDERS = 16; ///< more of them, which only send, where a product sends few entries

  PetscInt stride, length;
  PetscInt chunks;  ///< blocks for rows 0 .. stride - 1
  PetscInt threads; ///< of a block

  /// Blocks at a time on a device.
  PetscInt AtOnce(PetscInt multiprocessors) const { return multiprocessors * (BLOCKS * THREADS / threads); }
  /// How many blocks send `sends` entries of x beside so many rows: more of them where so few would take longer than
  /// the rows take all others.
  static unsigned Senders(PetscInt rows, std::int64_t sends)
  {
    constexpr std::int64_t ROWS_PER_ENTRY = 16;
    return static_cast<unsigned>(sends <= rows / ROWS_PER_ENTRY ? SENDERS : 4 * SENDERS);
  }
  PetscInt          Slabs(PetscInt rows) const { return (rows - 1) / stride / length + 1; }
  SPARSEGPU_HD bool IsLast(PetscInt slab, PetscInt rows) const
  {
    return rows - slab * length * stride <= length * stride;
  }
};

/// Rows whose other entries come from other ranks, in a product that receives these: of the first plane of all or of
/// the last one, whose points in the plane before or behind lie among what is received as in a plane of x.
struct GhostPlanes {
  const unsigned char *with = nullptr; ///< [2 * stride] on the device: whether a row of the first, of the last plane
                                       ///< is one; null: the product takes none
  bool     any[2] = {};                ///< of the first plane, of the last one
  PetscInt first[2];                   ///< which entry received is the point of place 0; it may be none
};

/// What is the same for all rows that are walked, and where they are.
struct StencilLines {
  static constexpr int      STAGES = 4;                  ///< planes of x that a block has or copies
  static constexpr unsigned SHARED = 54 << 10;           ///< bytes of shared memory of a block, at most
  static constexpr int      POINTS = 9;                  ///< of a plane, at most
  static constexpr unsigned INSIDE = (1u << POINTS) - 1; ///< bits of the points that a row has in its plane
  static constexpr unsigned BEFORE = 1u << POINTS, AFTER = BEFORE * 2;   ///< it has those of the plane before, after
  static constexpr unsigned NOT_FIRST = AFTER * 2, NOT_LAST = AFTER * 4; ///< the first, the last row is left out
  /// The first, the last row of a line is one of GhostPlanes: set beside `bits` where these are read.
  static constexpr unsigned GHOSTS_BEFORE = NOT_LAST * 2, GHOSTS_AFTER = NOT_LAST * 4;

  int                   points = 0;     ///< of a plane; 0: rows are not walked
  bool                  star   = false; ///< the planes before and after have the middle point alone, else the same ones
  PetscInt              offset[POINTS]; ///< ascending
  Scalar                value[3][POINTS];
  LineWalk              walk = {};
  const unsigned short *bits = nullptr; ///< [slabs * stride] on the device: the points that all rows of a line have,
                                        ///< BEFORE of the first of them and AFTER of the last, which of its ends are
                                        ///< left out; 0: all rows are
  const PetscInt *left_out = nullptr;   ///< [others] on the device: the rows that are left out, ascending
  PetscInt        others   = 0;
  GhostPlanes     ghosts;

  SPARSEGPU_HD int Middle() const { return points / 2; }
  /// Of so many rows one may be left out: those with other coefficients, and others of lines that these break. Of 7
  /// points the rest gains less. Measured: docs/performance.md.
  PetscInt MostLeftOut() const { return star ? 32 : 16; }
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
  /// Shared memory of a block.
  SPARSEGPU_HD unsigned BlockBytes() const
  {
    const unsigned sums = static_cast<unsigned>(walk.threads * LineWalk::ROWS * sizeof(Scalar));
    return PlaneBytes() * STAGES + (ghosts.any[0] ? sums : 0);
  }
};

/// The table of the different rows, StencilLayout's, on the host.
struct RowTable {
  const std::vector<PetscInt> &begin, &offset;
  const std::vector<Scalar>   &value;
};
/// The classes that are such stencils.
PetscErrorCode FindStencils(const RowTable &table, std::vector<size_t> *classes);
/// The stencil of the class `inside`, its step from plane to plane in lines->walk.stride, and the bits of the rows of
/// all classes, 0 of those that are no part of it. points = 0 if that class is no such stencil.
PetscErrorCode FindLines(const RowTable &table, size_t inside, StencilLines *lines, std::vector<unsigned short> *kinds);
/// The walk of the least time on a device with so many multiprocessors.
LineWalk FindWalk(PetscInt rows, PetscInt stride, PetscInt multiprocessors);
/// Whether the device has what a walk with so much shared memory needs.
PetscErrorCode CanWalk_CUDA(size_t shared, bool *can);
/// How many rows there are of each class, of StencilLayout::CLASSES. Waits for the device.
PetscErrorCode CountClasses_CUDA(const StencilLayout &A, std::vector<int> *count);
/// The bits of all lines, and the rows that these leave out, no part of the stencil or others than their neighbours in
/// a line; *few is false where they are too many, and then nothing is found. Waits for the device but for *left_out,
/// which what follows in its stream may read.
PetscErrorCode FindLineBits_CUDA(const StencilLayout &A, const StencilLines &lines, const unsigned short *kinds,
                                 unsigned short *bits, Array<PetscInt> *left_out, bool *few);
/// Whether all rows of `off`, the off-diagonal block, are those of *planes, which has with = null else; with
/// [2 * stride]. Waits for the device.
PetscErrorCode FindGhostPlanes_CUDA(const StencilLayout &A, const CsrLayout &off, unsigned char *with,
                                    GhostPlanes *planes);

} // namespace sparsegpu::formats
