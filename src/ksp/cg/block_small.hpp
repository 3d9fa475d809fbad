/// The s x s matrices of block conjugate gradients, on the host by one thread, on the device by a thread block: entry
/// (i, j) is at i + width * j; rows and columns from `count` on are zero. See block.hpp.
#pragma once

#include "ksp/cg/recurrence.hpp"

namespace sparsegpu::cg
{

/// Right-hand sides of a block. Of complex ones twice as many bytes would exceed the shared memory of a pass.
constexpr int BLOCK_MOST    = PetscDefined(USE_COMPLEX) ? 8 : 16;
constexpr int BLOCK_ENTRIES = BLOCK_MOST * BLOCK_MOST;
/// Pivots below so much of their diagonal entry are skipped, and those of T below so much of 1, the square of the norm
/// that a column of Q has before it is updated. Rounding errors of the sums are a few epsilon of the one, those of Q'
/// itself epsilon of the other: what is kept has the norm 1 within a hundredth, and is as good as orthogonal to the
/// directions before. With 64 instead, or without the second, blocks that had exhausted the space went on with columns
/// of rounding errors and diverged; with 1e-10, which loses more, restarts became frequent.
constexpr PetscReal BLOCK_LEAST = 4096 * PETSC_MACHINE_EPSILON;

/// The width that kernels are compiled for.
constexpr int BlockWidth(int count)
{
  return count <= 4 ? 4 : count <= 8 ? 8 : 16;
}

/// What an iteration leaves for the next. All matrices are of BlockWidth(slots).
struct BlockState {
  Scalar    rho[BLOCK_ENTRIES];     ///< of R = Q rho
  Scalar    tau[BLOCK_ENTRIES];     ///< upper triangle: Q' = Q tau
  Scalar    inverse[BLOCK_ENTRIES]; ///< of tau
  Scalar    xi[BLOCK_ENTRIES];
  Scalar    step[BLOCK_ENTRIES]; ///< xi rho
  PetscReal sign_t, sign_g;      ///< 1 or -1: of the preconditioner, and of the matrix; 0: not known yet
  int       begun;               ///< columns that were not skipped in the first step; 0: not known yet
  int       stopped_at;          ///< the iteration after which nothing is to change
  int       done[BLOCK_MOST];    ///< the norm of the slot has met a test
  unsigned  arrived;             ///< thread blocks of the pass under way
};

/// Those who work on small matrices: thread `rank` of `size`.
struct Team {
  int rank, size;

  SPARSEGPU_HD void Sync() const
  {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

/// Scratch, in shared memory on the device.
struct BlockRoom {
  Scalar *gram, *norm;                ///< [width * width] what the sums are, all entries of a Hermitian matrix
  Scalar *factor, *inverse, *product; ///< [width * width]
};
constexpr int BLOCK_ROOM = 5; ///< matrices of a BlockRoom

SPARSEGPU_HD BlockRoom RoomIn(Scalar *v, int width)
{
  const int each = width * width;
  return BlockRoom{v, v + each, v + 2 * each, v + 3 * each, v + 4 * each};
}

/// to(i, j) = the sum of left(i, k) right(k, j) over k < count.
template <class Left, class Right>
SPARSEGPU_HD void MultiplySmall(const Team &team, int count, int width, Scalar *to, Left left, Right right)
{
  for (int e = team.rank; e < width * width; e += team.size) {
    const int i = e % width, j = e / width;
    Scalar    sum(0);
    for (int k = 0; k < count; k++) sum += left(i, k) * right(k, j);
    to[e] = sum;
  }
  team.Sync();
}

SPARSEGPU_HD void CopySmall(const Team &team, int width, const Scalar *from, Scalar *to)
{
  for (int e = team.rank; e < width * width; e += team.size) to[e] = from[e];
}

/// The sign of the first diagonal entry that is not zero.
SPARSEGPU_HD PetscReal SignOf(int count, int width, const Scalar *A)
{
  for (int j = 0; j < count; j++) {
    const PetscReal d = RealPart(A[j + width * j]);
    if (d != 0) return d < 0 ? -1 : 1;
  }
  return 1;
}

/// sign A = U^H U without the rows and columns of pivots that are negligible against their diagonal entry or `least`,
/// which are zero in U; the upper triangle of A is overwritten. `indefinite` if a pivot is negative beyond rounding
/// errors. All threads find the same.
SPARSEGPU_HD Outcome FactorSmall(const Team &team, int count, int width, PetscReal sign, PetscReal least,
                                 Outcome indefinite, Scalar *A, Scalar *U)
{
  const PetscReal negative = SquareRoot(PETSC_MACHINE_EPSILON); // of the diagonal entry
  PetscReal       diagonal[BLOCK_MOST];

  for (int j = 0; j < count; j++) diagonal[j] = sign * RealPart(A[j + width * j]);
  for (int e = team.rank; e < width * width; e += team.size) U[e] = Scalar(0);
  for (int j = 0; j < count; j++) {
    team.Sync();
    const PetscReal pivot = sign * RealPart(A[j + width * j]), whole = diagonal[j];
    if (!Finite(pivot)) return CURVATURE_NOT_FINITE;
    if (whole < 0 || pivot < -negative * whole) return indefinite;
    if (!(pivot > BLOCK_LEAST * (whole > least ? whole : least))) continue;
    const PetscReal root = SquareRoot(pivot);
    for (int k = j + team.rank; k < count; k += team.size)
      U[j + width * k] = k == j ? Scalar(root) : Scalar(sign / root) * A[j + width * k];
    team.Sync();
    for (int e = team.rank; e < count * count; e += team.size) {
      const int i = e % count, k = e / count;
      if (i > j && k >= i)
        A[i + width * k] = A[i + width * k] - Scalar(sign) * (Conj(U[j + width * i]) * U[j + width * k]);
    }
  }
  team.Sync();
  return GOES_ON;
}

/// V = U^-1 without the rows and columns that are skipped, which are zero.
SPARSEGPU_HD void InvertSmall(const Team &team, int count, int width, const Scalar *U, Scalar *V)
{
  for (int k = team.rank; k < width; k += team.size) {
    for (int i = 0; i < width; i++) V[i + width * k] = Scalar(0);
    for (int i = k; i >= 0 && k < count && RealPart(U[k + width * k]) != 0; i--) {
      const PetscReal pivot = RealPart(U[i + width * i]);
      if (pivot == 0) continue;
      Scalar sum(i == k ? 1 : 0);
      for (int l = i + 1; l <= k; l++) sum = sum - U[i + width * l] * V[l + width * k];
      V[i + width * k] = Scalar(1 / pivot) * sum;
    }
  }
  team.Sync();
}

/// tau, its inverse and rho of T in room.gram; at the beginning rho is tau.
SPARSEGPU_HD Outcome FactorBlock(const Team &team, int count, bool begins, const BlockRoom &room, BlockState *state)
{
  const int       width = BlockWidth(count);
  const PetscReal sign  = begins ? SignOf(count, width, room.gram) : state->sign_t;

  const Outcome outcome = FactorSmall(team, count, width, sign, begins ? 0 : 1, INDEFINITE_PC, room.gram, room.factor);
  if (outcome != GOES_ON) return outcome;
  InvertSmall(team, count, width, room.factor, room.inverse);
  if (!begins)
    MultiplySmall(
        team, count, width, room.product, [&](int i, int k) { return room.factor[i + width * k]; },
        [&](int k, int j) { return state->rho[k + width * j]; });
  CopySmall(team, width, begins ? room.factor : room.product, state->rho);
  CopySmall(team, width, room.factor, state->tau);
  CopySmall(team, width, room.inverse, state->inverse);
  if (team.rank == 0) state->sign_t = sign;
  if (team.rank == 0 && begins) {
    state->sign_g = 0;
    state->begun  = 0;
  }
  team.Sync();
  return GOES_ON;
}

/// xi and the step of G in room.gram. With signs of T and G that are not 1, Q^H D Q is the one and xi has both.
/// RHO_ZERO where fewer than half of the columns are left that there were: the rest of such a block is one recurrence
/// of few directions for all of its residuals, and takes as many iterations as single solves take from the beginning.
SPARSEGPU_HD Outcome StepBlock(const Team &team, int count, const BlockRoom &room, BlockState *state)
{
  const int       width = BlockWidth(count);
  const PetscReal known = state->sign_g, sign = known != 0 ? known : SignOf(count, width, room.gram);
  const int       begun  = state->begun;
  int             active = 0;

  for (int j = 0; j < count; j++) {
    if (RealPart(state->tau[j + width * j]) == 0) continue;
    active++;
    if (RealPart(room.gram[j + width * j]) == 0) return INDEFINITE_MAT;
  }
  if (active == 0 || 2 * active < begun) return RHO_ZERO;
  const Outcome outcome = FactorSmall(team, count, width, sign, 0, INDEFINITE_MAT, room.gram, room.factor);
  if (outcome != GOES_ON) return outcome;
  InvertSmall(team, count, width, room.factor, room.inverse);
  const Scalar both(sign * state->sign_t);
  MultiplySmall(
      team, count, width, room.product, [&](int i, int k) { return both * room.inverse[i + width * k]; },
      [&](int k, int j) { return Conj(room.inverse[j + width * k]); });
  MultiplySmall(
      team, count, width, room.norm, [&](int i, int k) { return room.product[i + width * k]; },
      [&](int k, int j) { return state->rho[k + width * j]; });
  CopySmall(team, width, room.product, state->xi);
  CopySmall(team, width, room.norm, state->step);
  if (team.rank == 0) {
    state->sign_g = sign;
    state->begun  = begun > 0 ? begun : active;
  }
  team.Sync();
  return GOES_ON;
}

/// norms [count] of the columns of Q' rho, from N in `gram`.
SPARSEGPU_HD void NormsOfBlock(const Team &team, int count, const Scalar *gram, const BlockRoom &room,
                               const BlockState &state, PetscReal *norms)
{
  const int width = BlockWidth(count);

  MultiplySmall(
      team, count, width, room.product, [&](int i, int k) { return gram[i + width * k]; },
      [&](int k, int j) { return state.rho[k + width * j]; });
  for (int j = team.rank; j < count; j += team.size) {
    PetscReal square = 0;
    for (int i = 0; i < count; i++) square += RealPart(Conj(state.rho[i + width * j]) * room.product[i + width * j]);
    norms[j] = SquareRoot(square < 0 ? -square : square);
  }
  team.Sync();
}

} // namespace sparsegpu::cg
