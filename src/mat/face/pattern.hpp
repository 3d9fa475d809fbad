/// The pattern of a sequential matrix of ours, from arrays that were computed on the device.
///
/// It may stay there alone, with the values (away.hpp), until PETSc asks for it: PETSc's arrays for a pattern of some
/// million rows take longer to make than all else in a set-up of multigrid. While it is away PETSc's matrix has none at
/// all (MAT_SKIP_ALLOCATION), and each way to them first makes them: all operations of AIJ but those in a list of the
/// test pattern_away, MatSeqAIJGetArray() and its family, MatSeqAIJGetCSRAndMemType(), all composed functions, factors
/// and products. No way leads through us where PETSc's code takes a sequential matrix and reads its data at once:
/// MatCreateMPIAIJWithSeqAIJ(), MatCreateMPIAIJSumSeqAIJ(), MatSeqAIJGetMaxRowNonzeros(), and MatCoarsen and
/// MatColoring of that very matrix. Of parallel matrices, whose blocks may have no patterns either, that holds for
/// MatMPIAIJGetLocalMat() and its family. So only who makes matrices that programs rarely meet, as multigrid its coarse
/// operators, lets patterns stay away, by PatternsStayAway.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"

namespace sparsegpu::face
{

struct Away;
struct Context;

/// As long as one of these lives, matrices that TakePattern() makes have patterns and values away where they may.
class PatternsStayAway
{
public:
  PatternsStayAway() { depth_++; }
  ~PatternsStayAway() { depth_--; }
  PatternsStayAway(const PatternsStayAway &)            = delete;
  PatternsStayAway &operator=(const PatternsStayAway &) = delete;

  static bool Any() { return depth_ > 0; }

private:
  static int depth_;
};

/// The pattern of A, of a sequential type of ours and of sizes that are set, is i [rows + 1], j [nonzeros] from now on,
/// columns ascending in each row. The arrays lie in `space`, which is the host's in tests alone; on the device A's Rows
/// keep them, and the host gets a copy, now or later. The values are zero afterwards: on the device alone where they
/// may be newest there, else on the host. A can be read and multiplied with, of options that
/// MatSeqAIJSetPreallocation() leaves; to PETSc no values have been assembled yet, so that MAT_SYMMETRIC and its like
/// hold for the first that are. O(nonzeros) host time for the copy, for what AIJ's assembly reads and for zeros on the
/// host. Errors: PETSC_ERR_MEM; the pattern is undefined then.
PetscErrorCode TakePattern(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, Space space);

/// PETSc has A's pattern again, if that was away; the values stay where they are. Of any matrix.
PetscErrorCode BringPatternHome(Mat A);
/// The same of a matrix whose hooks and operations are as before it went away.
PetscErrorCode PatternComesHome(Mat A, Context *context, const Away &away);

} // namespace sparsegpu::face
