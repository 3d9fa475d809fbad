/*
   Public interface of sparsegpu, a PETSc plug-in. Programs that only change options need nothing of this:
   -dll_append libsparsegpu.so -mat_type sparsegpu
*/
#pragma once

#include <petscmat.h>

/*MC
   MATSPARSEGPU - "sparsegpu" - A root matrix type: `MATSEQAIJSPARSEGPU` on one MPI process, `MATMPIAIJSPARSEGPU` on
several

   Options Database Keys:
+  -mat_type sparsegpu         - sets the type during `MatSetFromOptions()` (-dm_mat_type for matrices made by a `DM`)
.  -mat_sparsegpu_format NAME  - the storage format of the products, see `MatSparseGPUSetFormat()`
.  -mat_sparsegpu_lazy_host    - values written on the GPU come to the host when PETSc asks for them, see below
.  -mat_sparsegpu_release_csr  - frees the auxiliary CSR-ordered data beside the converted copy, see below
.  -sparsegpu_backend NAME     - where products are computed, see `MatSparseGPUSetBackend()`
.  -sparsegpu_peer NAME        - whether ghosts travel through memory of other processes: auto, yes or no, see below
-  -sparsegpu_peer_timeout SECONDS - how long a product waits for another process then; default 300

  Level: beginner

  Notes:
  The type is derived from `MATAIJ`, and AIJ's operations work; the matrix-vector products run on a converted copy, made
on first use and refreshed when the matrix changes. A few functions
of PETSc take no type but `MATAIJ` itself, none derived from it: `MatCreateKAIJ()`, `MatSeqAIJKron()` with one of
ours as second factor of an AIJ matrix, and `MatMatTransposeSolve()` of `MATSOLVERMUMPS`. Use `MatConvert()` to `MATAIJ`
before them.

  A change is seen by the matrix's object state, which PETSc's functions move. A program that
writes into arrays of its own behind PETSc's back, those given to `MatCreateSeqAIJWithArrays()` or a pointer kept from
`MatSeqAIJGetArray()`, must tell it after each change and before the next product: by `MatAssemblyBegin()` and
`MatAssemblyEnd()`, by `PetscObjectStateIncrease()` of petsc/private/petscimpl.h, or by writing between
`MatSeqAIJGetArray()` and `MatSeqAIJRestoreArray()`.

  Auxiliary CSR-ordered data lie beside the converted copy: the place of each entry in it once values have changed, the
transpose after transposed products, the values on the GPU once they have been written or changed there, and the
pattern there for operations that need it. With -mat_sparsegpu_release_csr they are freed after each conversion and
change of values, and rebuilt from the host's arrays when they are needed again: nothing is lost, as these hold all
values by then.

  Where products run on a GPU, `MatSetPreallocationCOO()` sorts the coordinates there, wherever they lie, and the matrix
has values zero afterwards; where the GPU of a process lacks memory PETSc sorts them on the host. In parallel the host
first sends those of other processes' rows to their owners. `MatSetValuesCOO()` then sums there, sends values for other
processes from the GPU where PETSc has CUDA and all processes have theirs there, else through the host, and raises an
error once the matrix has another pattern. After a conversion to `MATAIJ` the
same coordinates serve on the host, for that matrix but not for its duplicates.

  Where products run on a GPU, `MatSetValuesCOO()`, `MatZeroEntries()`, `MatScale()`, `MatShift()`, `MatAXPY()` and
`MatAYPX()` of one pattern, `MatCopy()` of one pattern, `MatDiagonalSet()`, `MatDiagonalScale()`, `MatConjugate()`,
`MatRealPart()`, `MatImaginaryPart()`, `MatDuplicate()` and, with `MAT_KEEP_NONZERO_PATTERN`, `MatZeroRows()` write
values there, and `MatGetDiagonal()`, `MatGetRowMaxAbs()`, `MatGetRowSumAbs()` and `MatNorm()` but for `NORM_1` read
them there; on one process `MatAXPY()` of a subset's pattern and `MatZeroRowsColumns()` do, too. `MatEliminateZeros()`
drops entries there, and the host learns which; `MatSparseGPUFilter()` is `MatFilter()` there. In parallel `MatShift()`
does so where no process lacks a diagonal entry. `MatZeroRows()` without that option drops entries on the host. Rows
that lack the diagonal entry to be set are zeroed there, too. The host's array follows when another operation on the
matrix, a factorization of any package, or an accessor such as `MatSeqAIJGetArrayRead()` first asks for the values.
-mat_sparsegpu_lazy_host 0 copies them at once and leaves the operations to the host. That is always so with a PETSc
that has PCML, once a program has called `MatCreateMAIJ()`, and for operands and results of `MatProduct`s that PETSc
computes. A pointer of `MatSeqAIJGetArray()` must be given back before the next operation on the matrix.

  Products of such matrices with each other, `MatMatMult()`, `MatTransposeMatMult()`, `MatMatTransposeMult()`,
`MatPtAP()`, `MatRARt()` and `MatMatMatMult()`, are computed on the GPU, too: the pattern is found there, and the host
gets a copy of it; values, first and again, stay there. They are bitwise reproducible. The rows of the operands stay on
the GPU beside the converted copies, 12 bytes a nonzero in double precision, and those of a transposed operand once
more. In parallel the same holds where PETSc has CUDA; B^T, R^T or, of three factors, B C is a matrix of its own then.
Products with other types, and those that -matmatmult_backend_cpu, -matptap_backend_cpu and the like or
-mat_product_algorithm_backend_cpu leave to the host, are PETSc's.

  In parallel, where all processes share a host and each has a GPU of its own, products write ghosts straight into the
memory of the other GPUs, whatever the MPI. -sparsegpu_peer no leaves them to `PetscSF`, yes asks for shared memory on
the CPU and for processes on one GPU, too. A process that does not come within the time of -sparsegpu_peer_timeout
makes the product, or on a GPU the next one, an error. `PETSC_VIEWER_ASCII_INFO_DETAIL` tells which way ghosts go.

  `MatView()` with `PETSC_VIEWER_ASCII_INFO`, and so `KSPView()`, adds one line: the format and why. It is the same
before and after products, and in every run. `PETSC_VIEWER_ASCII_INFO_DETAIL` adds bytes, conversions and times of each
block of each process. Viewing converts nothing.

  "aijsparsegpu" is an alias. -mat_seqaij_type seqaijsparsegpu reaches codes that hard-wire `MATAIJ`.

.seealso: `Mat`, `MATAIJ`, `MatSparseGPUSetFormat()`, `MatSparseGPUSetBackend()`, `MatSparseGPUGetInfo()`
M*/
#define MATSPARSEGPU       "sparsegpu"
#define MATAIJSPARSEGPU    "aijsparsegpu"
#define MATSEQAIJSPARSEGPU "seqaijsparsegpu"
#define MATMPIAIJSPARSEGPU "mpiaijsparsegpu"

/*MC
  MATSOLVERSPARSEGPU = "sparsegpu" - Incomplete LU and Cholesky factorizations with levels of fill, on the GPU where the
matrix's products run there: numeric factorization and triangular solves without synchronisation between levels; direct
LU and Cholesky factorizations

  Options Database Keys:
+ -pc_factor_mat_solver_type sparsegpu  - uses it, with `PCILU`, `PCICC`, `PCLU`, `PCCHOLESKY` and the preconditioners
                                          built on them
. -pc_factor_levels k                   - levels of fill
. -pc_factor_mat_ordering_type type     - any ordering of PETSc; by default natural for ILU and ICC, leastfill for LU
                                          and Cholesky
. -pc_factor_shift_type type            - none, nonzero, positive_definite or inblocks
. -pc_factor_zeropivot z                - a smaller pivot is zero
. -pc_factor_diagonal_fill              - puts missing diagonal entries in
. -mat_sparsegpu_trisolve engine        - auto; syncfree: a flag for each unknown, no analysis; level: level
                                          scheduling, levels recorded by a first sync-free solve; jacobi: a few Jacobi
                                          sweeps, isai: products with sparse approximate inverses, not exact
. -mat_sparsegpu_trisolve_sweeps n      - of engine jacobi, for each factor (default 5)
. -mat_sparsegpu_trisolve_power 1       - of engine isai: the inverses have the pattern of the factors, or, 2, of their
                                          squares
. -mat_sparsegpu_trisolve_relax n       - of engine isai: relaxation steps with each factor (default 0)
. -mat_sparsegpu_factor_precision full  - of incomplete factors; single: their values are kept in single precision
. -mat_sparsegpu_trisolve_warps n       - warps that a solve on the GPU keeps at work; 0: by the levels
. -mat_sparsegpu_trisolve_tile n        - warps, 1, 4 or 8, that pass values through shared memory; 0: by the levels
. -mat_sparsegpu_trisolve_spins n       - a solve on the GPU in which a thread polls n times while no task of the solve
                                          ends gives up with an error, which the next call on the factor tells; the
                                          solution holds NaN (default 2^24, seconds)
. -mat_sparsegpu_trisolve_check         - waits for the end of each solve on the GPU, and tells at once
. -mat_sparsegpu_subdomains n           - of incomplete factors; a number or auto, as -pc_sparsegpu_subdomains of
                                          `PCSPARSEGPU`
. -mat_sparsegpu_subdomains_cut auto    - auto, ranges or graph, as -pc_sparsegpu_subdomains_cut
. -mat_sparsegpu_lu_refine n            - steps of iterative refinement of a direct solve at most (default 10), before
                                          GMRES; 0: neither, and no copy of the matrix
. -mat_sparsegpu_lu_spins n             - the same of a direct factorization, and of its solves (default 2^28, minutes)
. -mat_sparsegpu_lu_matching auto       - rows are moved and scaled for a strong diagonal, or unknowns paired and scaled
                                          by Cholesky's method: auto, where it is weak, or where pivots turn out poor;
                                          on; off
. -mat_sparsegpu_lu_exchange t          - rows change places within a tile of 32 pivots where a pivot is smaller than
                                          this times its column there (default 0.1; 0: never); of LU
. -mat_sparsegpu_lu_pivoted auto        - partial pivoting, on the host: auto, where nothing else reaches the bound; on,
                                          at once; off
. -mat_sparsegpu_lu_precision full      - of direct factors; single: made and kept in single precision, half the memory,
                                          as long as refined solves reach the same bound with them
. -mat_sparsegpu_lu_spill off           - on a GPU factors of large fronts lie in pinned memory of the host, where
                                          solves read them: auto, as many as the GPU has no memory for; on, all; off
- -mat_sparsegpu_lu_host auto           - a system on a GPU is factored and solved by the host: auto, where that is
                                          predicted to be faster and no backend was asked for; on; off

  Level: beginner

  Notes:
  For sequential matrices of the types `MATAIJ`, `MATSPARSEGPU`, `MATAIJCUSPARSE` and `MATAIJKOKKOS`. The factors are
those of PETSc's own ILU and ICC, up to rounding. Once a `MATSPARSEGPU` matrix runs on a GPU, this is the default of
such matrices, for direct factorizations of those that are on the GPU and have at least 2,000 rows, of more than three
entries on average; -pc_factor_mat_solver_type petsc asks for PETSc's.

  The pattern of the factors, fill included, is found where they are computed; on the host where the device lacks the
memory for it, or where -pc_factor_diagonal_fill has entries to put in. Orderings are found on the host. New values in
the same pattern cost one upload, or none where `MatSetValuesCOO()` had them on the device. Solves are bitwise
reproducible.

  -ksp_pc_side symmetric works with ICC, whose pivots must be real and positive, and has the iterations of PETSc's ICC.
ILU has no symmetric application, as in PETSc.

  On the host auto and syncfree take row after row, the others run in parallel by Kokkos.

  Engine isai inverts on the pattern of each factor: (M L)_ij = I_ij and (U N)_ij = I_ij there, a triangular system for
each row of L and each column of U, as many unknowns as that has entries, of any number. A solve is x = N M b, of two
products without levels; a relaxation step, y <- y + M (b - L y), costs two more. Transposed solves are the transpose,
and with ICC the preconditioner is symmetric. Set-up needs the transposed factors.

  In single precision, with the engines auto, jacobi and isai, factors and approximate inverses are rounded once they
are computed; all arithmetic stays that of the vectors. The memory of their values is halved, and that of the values in
full precision is freed. Values outside the range fail the factorization, as a zero pivot does.

  Direct factorizations are multifrontal, in the order of `MATORDERINGLEASTFILL` if no other is asked for; their numeric
part runs where products do. The order is chosen before the values are known; rows change places only within a tile of
32 pivots, of Cholesky's method with their columns. Pivots smaller than sqrt(eps) times the largest entry of the scaled
matrix are replaced by that, and counted. Solves are refined with a copy of the matrix, by GMRES with the factors where
plain refinement stagnates, until the backward error
||b - A x|| / (||A|| ||x|| + ||b||), in the largest norm, is at most 32 eps, or eps times the longest row.

  `MatGetInertia()` of Cholesky's method (real scalars) knows the signs of indefinite matrices without pivots on the
diagonal, too: what replaced up to 2,048 pivots is taken back by a dense matrix of their order, if need be from a
factorization of its own; eigenvalues that are zero to rounding count as zero.

  `MatFactorSetSchurIS()`, before the symbolic factorization, puts variables last, as one dense front that is assembled
and not factored: `MatFactorGetSchurComplement()` and its relatives have that dense matrix, on the GPU where PETSc has
CUDA and the factor is there; that of Cholesky's method if `MAT_SPD` is set, as PETSc factors no other one there.
`MatSolve()` condenses, solves with the complement, which is then factored, and expands. Only the other variables need
pivots, and rows are not matched; where one of theirs is replaced, the factorization fails. The complement is in full
precision. PETSc has no `MatFactorInvertSchurComplement()` of LU on the GPU.

  `MatForwardSolve()` and `MatBackwardSolve()` take one triangle each, without refinement, the vector between them being
in the order of elimination: L^-1 b and U^-1 b, or D^-1/2 L^-1 b and L^-H D^-1/2 b with Cholesky factors, whose pivots
must be positive (complex matrices Hermitian); so -ksp_pc_side symmetric works with `PCCHOLESKY`.
`MatMatTransposeSolve()` takes the rows of a sequential AIJ matrix as right-hand sides.

  With -mat_sparsegpu_lu_precision single (complex single where scalars are complex) factors, updates and the sweeps
over them take half the memory; residuals, refinement and its bound stay those of full precision, so that a solve takes
about two steps of refinement more. The first factorization of an analysis, and one whose entries grew, tries a solve.
Where refinement is slow or does not reach the bound, as with condition numbers beyond about 1e7, and where a later
solve misses it, factors in full precision take over until the next symbolic factorization; `MatView()` says why. So
does `MatGetInertia()`, since the signs of small pivots are those of rounding errors. With -mat_sparsegpu_lu_refine 0
solves have single precision's accuracy. Rows are matched as full precision does before the first factorization only.

  With -mat_sparsegpu_lu_spill auto a GPU's memory must have room for the updates that fronts leave to each other, for
small fronts, and for two buffers, each of the size of the largest front whose factors go to the host, or one where
there is no room for two. Fronts are factored in a buffer, which is copied while the next is factored in the other. A
sixteenth of what is free is left to blocks of right-hand sides and the rest of the program. Numbers are the same bits.
A Schur complement stays on the GPU. Each solve, and each step of refinement, reads these factors through the bus:
several right-hand sides at a time share that. `MatView()` tells how many bytes they are. The memory is pinned: what the
host lacks is an error.

  A factorization that replaced pivots, or whose entries grew, tries solves at once. Columns of LU whose pivots are poor
then move to the end of the order, once for each order, as long as that makes the factors better. If solves fail, other
thresholds are tried and rows are matched for the values at hand. Cholesky's method keeps to the diagonal at first;
where that has no good pivots it chooses pivots of order 1 and 2 within tiles (Bunch & Parlett 1971), in the same order,
then in one for pairs of unknowns that a matching of the values at hand couples strongly (Duff & Pralet 2005), whose
poor pivots move to the end of the order, too; at once where more than 512 and a fifth of the unknowns have no diagonal
value, as in saddle points, unless -mat_sparsegpu_lu_matching off forbids matchings. Where that fails LU with matched
rows takes over. -info and `MatView()` tell. Where that is not enough, or a later solve misses the bound, the host
factors the matched matrix by columns with partial pivoting, its irreducible diagonal blocks one after the other, and
solves run there; `MatView()` says why, -info tells the errors of each attempt. That is given up after 10^10
multiplications, half a minute (5 10^10 up to 5,000 rows), or where the factors take a quarter of the memory. The next
values try the fronts again. If all fails, the matrix is singular to rounding. That is told as a zero pivot,
`MatFactorGetError()`, by `KSP_DIVERGED_PC_FAILED`, or by an error after `KSPSetErrorIfNotConverged()`; the next values
are tried again.

  A solve that does not reach the bound leaves the best solution there is, and -info tells its backward error;
`KSPPREONLY` with `PCSPARSEGPU` reports `KSP_DIVERGED_PC_FAILED` then, with `PCLU` it cannot. If the backward error is
more than sqrt(eps), the solution is infinite and the factor has failed.

  Cholesky keeps and computes one triangle, of the matrix its upper one: half the operations of LU and about half the
memory of the factors. It is L D L^T, or L D L^H of a matrix that is known to be Hermitian (`MatSetOption()`), and need
not be definite. There is no parallel factorization: use `PCBJACOBI`, `PCASM`, `PCREDUNDANT` or `PCTELESCOPE`. Where a
direct factorization was asked for by name, shift types other than none and inblocks are refused, and a lack of memory
for the factors is an error. Where it is the default, PETSc's own takes its place for all shift types, for
-pc_factor_mat_factor_on_host and where memory lacks, unless Schur variables were named. A `PC` keeps the solver of its
first set-up by name.

.seealso: `MATSPARSEGPU`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCFactorSetMatSolverType()`, `PCFactorSetLevels()`
M*/
#define MATSOLVERSPARSEGPU "sparsegpu"

/*MC
  PCSPARSEGPU = "sparsegpu" - Incomplete factorization of each process's diagonal block by `MATSOLVERSPARSEGPU`,
  block Jacobi with small blocks, all of them factored and solved with in one batch, or a polynomial in the matrix

  Options Database Keys:
+ -pc_sparsegpu_factor ilu          - ilu, icc, lu, cholesky, none: the triangles of the matrix, symmetric
                                      Gauss-Seidel, blocks: LU of small blocks, or polynomial
. -pc_sparsegpu_levels k            - levels of fill (default 0); also -pc_factor_levels
. -pc_sparsegpu_ordering type       - any ordering of PETSc; also -pc_factor_mat_ordering_type
. -pc_sparsegpu_solve auto          - the triangular solves: auto, syncfree, level, jacobi or isai
. -pc_sparsegpu_factor_precision full - of incomplete factors, or single, as -mat_sparsegpu_factor_precision
. -pc_sparsegpu_polynomial chebyshev  - or neumann
. -pc_sparsegpu_polynomial_degree n   - products with the matrix in an application (default 4)
. -pc_sparsegpu_polynomial_ratio r    - of chebyshev: the ends of its interval, of which the upper one is estimated
                                      (default 30)
. -pc_sparsegpu_polynomial_eigenvalues low,high - the ends of the interval, not estimated
. -pc_sparsegpu_subdomains n        - parts of each process's rows between which couplings are dropped before an
                                      incomplete factorization (default 1), or auto
. -pc_sparsegpu_subdomains_cut auto - how rows are cut into subdomains: ranges of neighbouring rows with equal numbers
                                      of entries; graph: bisections of the graph; auto: boxes of a regular grid where
                                      the pattern is one's, else graph
. -pc_sparsegpu_check               - waits for the end of each solve on the GPU, and tells at once what went wrong
. -pc_sparsegpu_block_size n        - rows of a small block; by default those of `MatSetVariableBlockSizes()`, or of
                                      `MatSetBlockSize()`
. -pc_sparsegpu_block_pivot partial - partial pivoting within small blocks, or none
. -pc_factor_shift_type type        - and -pc_factor_shift_amount, -pc_factor_zeropivot, -pc_factor_diagonal_fill, as
                                      `PCILU` and `PCICC` take them; -pc_factor_fill and -pc_factor_reuse_fill are not
                                      needed
- -pc_factor_reuse_ordering         - keeps the ordering when the pattern changes

  Level: beginner

  Notes:
  The block of a matrix of type `MATSPARSEGPU` is factored, and its factors are applied, where the matrix's products
run.

  A triangular solve on the GPU that makes no progress (-mat_sparsegpu_trisolve_spins) gives up and leaves NaN. That is
told as an error at the next solve, at the end of `KSPSolve()` or when the preconditioner is destroyed.

  `PCMatApply()` solves with the factors for all columns at a time; the polynomials and small blocks take them one by
one. A direct factor that has no solution for one column has none for the others either.

  If no ordering was requested, it is natural; where the factors lie on a GPU and have fewer than 20,000 entries a
level, it is `MATORDERINGABMC`, whose levels are wider.

  With n subdomains the preconditioner is that of `PCBJACOBI` with n blocks a process and an incomplete factorization of
each, for any n from 1 to the rows of a process; a process without rows has none. Each subdomain's solve on a GPU is one
thread block's, whose shared memory holds the unknowns (up to about 29,000 in double precision on an H100; larger ones
are solved with as without subdomains), so that a level costs a barrier of the block and not the way to other
multiprocessors. Iterations increase, a solve takes a fraction of the time. The order within a subdomain is that of
-pc_sparsegpu_ordering; the rule that chooses `MATORDERINGABMC` is not applied. A shift of the diagonal is one for all
subdomains. `KSPView()` tells the subdomains, the rows of the largest one and the share of entries dropped.

  auto makes subdomains where factors lie on a GPU and -pc_sparsegpu_solve is auto: of rows / 1024 rows, but at least
512 and at most 2048; elsewhere 1.

  -ksp_pc_side symmetric works with icc; the others have no symmetric application.

  The polynomials are in D^-1 A, A the whole matrix, of all processes, and D its diagonal: p(D^-1 A) D^-1. An
application is products and one update of vectors after each, and no process waits for a sum. chebyshev has the least
residual polynomial on the interval, for eigenvalues near the real axis; neumann sums up the first terms of the Neumann
series of w D^-1 A, w = 1, or 2 / high where that is less, and converges also for other matrices with dominant
diagonals. Where A is symmetric and positive definite so are both. The upper end is an estimate by ten steps of Lanczos'
method, or of Arnoldi's, times 1.1, with each new set of values; values that are not finite fail the preconditioner.

  Small blocks are the same preconditioner as `PCPBJACOBI` and `PCVPBJACOBI`. Each is a bitmap tile, on a GPU one thread
block's, in whose shared memory it must fit: on an H100 up to about 160 rows in double precision, 115 in
complex; 1024 on the host. A block size that does not divide the rows of a process leaves a shorter block at its
end. Without pivoting the factorization skips what is zero in the factors' pattern; a pivot of at most
-pc_factor_zeropivot ends the solve with `KSP_DIVERGED_PC_FAILED`, and -info tells its row. With `MATSPARSEGPU`
matrices that multiply on a GPU these two types of PETSc's factor and apply their blocks in the same way there.

.seealso: `MATSOLVERSPARSEGPU`, `MATORDERINGABMC`, `PCILU`, `PCICC`, `PCBJACOBI`, `PCPBJACOBI`, `PCVPBJACOBI`
M*/
#define PCSPARSEGPU "sparsegpu"

/*MC
  PCSPARSEGPUAMG = "sparsegpuamg" - Algebraic multigrid by smoothed aggregation or classical coarsening, set up where
  the matrix's products run

  Options Database Keys:
+ -pc_sparsegpuamg_type type               - aggregation, classical, or auto (default), which looks at its rows
. -pc_sparsegpuamg_cycle_type type         - v, w or k, see below; mg (default): as -pc_mg_cycle_type says
. -pc_sparsegpuamg_visits n,...            - how often each level, from the finest on, visits the next coarser one,
                                             in cycles of type v and mg (default 1; classical: 1,2 unless
                                             -pc_mg_cycle_type or, after a set-up, PCMGSetCycleType() asks for a cycle)
. -pc_sparsegpuamg_levels n                - levels at most, the finest one included; also -pc_mg_levels
. -pc_sparsegpuamg_coarse_eq_limit n       - a level of at most so many unknowns is the coarsest (default 50)
. -pc_sparsegpuamg_process_eq_limit n      - where a coarse level has less unknowns for each process that has some, they
                                             go to fewer processes (default 1000; 0: they stay)
. -pc_sparsegpuamg_threshold t,...         - couplings |a_ij| <= t sqrt(|a_ii| |a_jj|) do not count for aggregates, for
                                             each level from the finest on (default 0.01; -1: all count)
. -pc_sparsegpuamg_threshold_scale s       - of the threshold, from one level to the next coarser one, where the list
                                             ends (default 1)
. -pc_sparsegpuamg_filter                  - nor do they for the smoothing of prolongators, which has them on the
                                             diagonal (default true)
. -pc_sparsegpuamg_aggressive_coarsening n - finest levels whose aggregates reach two couplings from their root; one on
                                             the others (default 1). Classical: finest levels whose next one is
                                             coarsened once more and left out (default 0 or 1, by the complexity)
. -pc_sparsegpuamg_agg_nsmooths n          - steps of damped Jacobi that smooth the prolongator (default 1, at most 100)
. -pc_sparsegpuamg_strong_threshold t      - classical: i depends strongly on j if -a_ij s >= t max_k(-a_ik s), s the
                                             sign of a_ii (default 0.25)
. -pc_sparsegpuamg_max_row_sum s           - classical: rows that sum up to more than this part of their diagonal depend
                                             on nothing (default 0.9; 1: no row is looked at)
. -pc_sparsegpuamg_max_elements n          - classical: entries in a row of interpolation at most (default 4; 0: all)
. -pc_sparsegpuamg_truncation t            - classical: entries below this part of a row's largest are dropped (default
                                             0.2)
. -pc_sparsegpuamg_complexity c            - classical: the level below the finest is left out where the operator
                                             complexity of three levels is above c, or that of all is foreseen to be
                                             above 1.05 c (default 2.5; 0: never)
. -pc_sparsegpuamg_reuse_interpolation     - new values in the old pattern keep the prolongators (default true)
. -pc_sparsegpuamg_fused_cycle             - default smoothers in few passes over vectors, see below (default true)
. -pc_sparsegpuamg_smoother type           - chebyshev (default), l1jacobi, gauss_seidel, symmetric_gauss_seidel or ilu
. -pc_sparsegpuamg_finest_smoother type    - of the finest level: one of these, same for that of the others, or auto
                                             (default), see below
. -pc_sparsegpuamg_precision full          - of values that products of a cycle read, or single, see below
. -pc_sparsegpuamg_tail n                  - on a GPU levels of at most so many unknowns are one launch of one process,
                                             see below (default 4096; 0: none)
. -pc_sparsegpuamg_use_sa_esteig           - smoothers take the eigenvalue estimates of the prolongators (default true)
. -pc_sparsegpuamg_esteig_ksp_type type    - those estimates by a Krylov method of PETSc, with
. -pc_sparsegpuamg_esteig_ksp_max_it n     - so many steps, rather than 10 of Lanczos' method
. -mg_levels_ksp_type, -mg_levels_pc_type  - and so on: the smoothers, which have these options for what they are not
. -mg_coarse_pc_type                       - and so on: the coarsest solve, by default PETSc's LU
. -mg_coarse_sub_pc_type                   - and so on: the same where one of several processes has the coarsest level
- -pc_mg_cycle_type, -pc_mg_type           - and the other options of `PCMG`

  Level: intermediate

  Notes:
  This is a `PCMG` whose levels are made of the matrix: all functions and options of `PCMG` work once it is set up. Its
own options are named as those of `PCGAMG` where they mean the same. The matrix is of type `MATAIJ` or derived from it,
and stays of its type; with `MATSPARSEGPU` matrices on a GPU aggregates, prolongators and coarse operators are made
there.

  `MatSetNearNullSpace()` or, for elasticity, `PCSetCoordinates()` and `MatSetBlockSize()` tell what interpolation has
to reproduce; without them that is a constant for each unknown of a block. The null space of a singular matrix,
`MatSetNullSpace()`, is kept out of the coarsest solve where it is a constant or the near null space.

  Aggregates are the neighbourhoods of nodes that are at least three couplings apart on the first level, which is what
`PCGAMG` calls aggressive coarsening, and two on the others. They do not reach over processes. Unknowns that are coupled
to none, as those of Dirichlet rows, stay on their level, where the smoother solves for them. Where coarsening leaves
more than 20,000 unknowns the coarsest level is smoothed, not solved directly; `KSPView()` tells why coarsening ended.

  In parallel a coarse level with less than -pc_sparsegpuamg_process_eq_limit unknowns a process goes to fewer of them,
at most half, each of which has that many on average; neighbours give theirs to the first of them. On a GPU levels that
may be of the coarse tail, see below, go to one. The coarsest level is on one process, which solves it alone, if it has
at most 20,000 unknowns. Where coarsening ended earlier than expected, or with the limit 0, rows may be left on several
processes, and each solves the whole of it, `PCREDUNDANT`. `KSPView()` tells how many processes have rows of each level.

  New values in the old pattern, a set-up after `KSPSetOperators()` with the same matrix, keep aggregates and
prolongators and compute coarse operators and eigenvalues again; with -pc_sparsegpuamg_reuse_interpolation 0
prolongators, too, and with a threshold of 0 or more, which is the default, aggregates as well. Another pattern or
another near null space makes all anew.

  Smoothers are, by -pc_sparsegpuamg_smoother: chebyshev, two steps of Chebyshev's method with Jacobi; l1jacobi, two
steps of l1-Jacobi (Baker, Falgout, Kolev and Yang, 2011), which converges for any positive definite matrix without an
estimate of eigenvalues; gauss_seidel, a sweep by colours forward before the coarse correction and one backward after
it, which keeps the cycle symmetric; symmetric_gauss_seidel, both before and both after; ilu, one step with
`PCSPARSEGPU`, for M-matrices and convection: it diverges where couplings of the diagonal's sign are strong, unless
-mg_levels_ksp_type is chebyshev. -mg_levels_ksp_max_it gives other numbers of steps. With chebyshev and
-pc_sparsegpuamg_finest_smoother auto the finest level has ilu where it is coarsened classically on a host, convection
dominates (couplings three times as strong downwind as upwind on average), at most 1 % of the rows have strong couplings
of the diagonal's sign, processes have 2500 rows or more and no option under -mg_levels_ names another method. l1jacobi
and the sweeps are `PCSPARSEGPUSMOOTHER`.

  Where smoothers are of these kinds, with any number of steps, and nothing monitors them, the cycle joins their
updates of vectors and leaves out what is known to be zero. It gives what the cycle of `PCMG` gives but for rounding;
`KSPView()` tells which one it is. Vectors need not be where the hierarchy is: others are copied. A program that gives a
smoother other eigenvalues by `KSPChebyshevSetEigenvalues()` after the set-up needs -pc_sparsegpuamg_fused_cycle 0 for
them to be used.

  With -pc_sparsegpuamg_precision single the products of a cycle read operators and prolongators in single precision,
where their formats encode values (sell, bsr) and single precision holds the range of them all: rounded values are kept
beside the full ones, 4 bytes each (8 if complex). Vectors and sums, set-up, a direct coarsest solve and all products
outside stay in double precision, and so does `PCMG` as a solver of its own, `KSPRICHARDSON`. `KSPView()` tells with how
many matrices products were so.

  On a GPU such a cycle runs its coarse tail in one launch, by the process that has all unknowns of these levels, those
of at most -pc_sparsegpuamg_tail unknowns, at most eight of them, and the coarsest solve, by the explicit inverse of the
coarsest matrix, as made by the factors of PETSc's LU, if it has at most 200 unknowns. Smoothers of the tail are all but
ilu. Results are those of the levels one by one but for rounding, and repeat bit for bit. `KSPView()` tells where the
tail begins. On the host the levels run one by one unless the option is given.

  K-cycles, -pc_sparsegpuamg_cycle_type k, solve on each level between the finest and the coarsest by two steps of
flexible conjugate gradients, preconditioned by the cycle below (Notay and Vassilevski, 2008), or of generalized
conjugate residuals where the matrix is neither known to be Hermitian nor found to be so for random vectors. They visit
levels as often as W-cycles. The preconditioner is then not linear: `KSPFCG`, `KSPFGMRES`, or `KSPSPARSEGPUGMRES` with
-ksp_sparsegpugmres_flexible, not `KSPCG`. On a GPU the host does not wait for the sums of a level of which one process
has all rows; where several have, MPI adds them up. Where the cycle has to be that of `PCMG` it is the W-cycle, as are
transposes.

  The type auto is aggregation for blocks of several unknowns and for matrices with a near null space of more than the
constant. Else rows are counted by kinds, a sample of them where there are many, and the type is classical where more
than 1 % have couplings that jump, or more than 2/3 jump, are anisotropic or belong to convection, and at most 25 % have
signs that classical interpolation is not made for. New values in the old pattern keep the type. `KSPView()` and -info
tell which one was chosen and why.

  Classical coarsening, -pc_sparsegpuamg_type classical, is for anisotropy in any direction, coefficients that jump, and
convection. Unknowns are split into coarse and fine ones by PMIS (De Sterck, Yang and Heys, 2006), and fine ones are
interpolated from coarse ones at most two strong couplings away by MM-ext+i (Li, Sjogreen and Yang, 2021). Both reach
over processes: the splitting is that of one process. Ties of PMIS are broken by the reversed bits of row numbers, which
makes regular patterns on grids that are numbered line by line, or, where couplings are not symmetric, by random numbers
that depend on the row alone. Unknowns of a block, `MatSetBlockSize()`, are interpolated each from its like. A near null
space and coordinates are ignored, and the view says so. Unknowns that depend on none stay on their level. Smoothers are
Chebyshev's method on the part of the spectrum above 0.3. With new values and -pc_sparsegpuamg_reuse_interpolation 0
all is made again.

  Where convection is strong with aggregation, Gauss-Seidel sweeps smooth better than Chebyshev's method.

  A matrix on a single level, which has at most -pc_sparsegpuamg_coarse_eq_limit unknowns, is factored; the options of
that solve have the prefix mg_levels_0_, as those of any `PCMG` of one level.

.seealso: `PCMG`, `PCGAMG`, `MATSPARSEGPU`, `MatSetNearNullSpace()`, `PCSetCoordinates()`, `MatSetBlockSize()`
M*/
#define PCSPARSEGPUAMG "sparsegpuamg"

/*MC
  PCSPARSEGPUSMOOTHER = "sparsegpusmoother" - l1-Jacobi and Gauss-Seidel sweeps by colours, where the matrix's products
  run

  Options Database Keys:
+ -pc_sparsegpusmoother_type type  - gauss_seidel (default) or l1jacobi
- -pc_sparsegpusmoother_sweep type - symmetric (default), forward or backward: the order of colours of Gauss-Seidel

  Level: intermediate

  Notes:
  A sweep relaxes all rows of a colour at once, one colour after the other. Rows that are coupled, in either direction,
have different colours, which depend on the pattern alone: sweeps on a GPU are those on the host but for rounding, and
repeat bit for bit. `PCView()` tells the number of colours.

  In parallel a process sweeps over its own rows with the others' unknowns of before the sweep. Where couplings to other
processes sum up to more than a third of the diagonal, their magnitudes are added to it, so that the method converges
for all positive definite matrices (Baker, Falgout, Kolev and Yang, 2011). l1-Jacobi has the sum of all magnitudes of a
row on the diagonal.

  With `KSPRICHARDSON` sweeps start from what is in the solution, without a product for the residual on one process.
The transpose of Gauss-Seidel is applied for matrices that are known to be symmetric. Values that change without a new
set-up are used in sweeps, but not their diagonal.

.seealso: `PCSPARSEGPUAMG`, `PCSOR`, `PCJACOBI`, `KSPSPARSEGPUJACOBI`
M*/
#define PCSPARSEGPUSMOOTHER "sparsegpusmoother"

/*MC
  MATORDERINGABMC = "abmc" - Algebraic block multi-colouring: an ordering for incomplete factorizations whose triangular
  solves run in parallel, at a small price in iterations

  Options Database Keys:
+ -pc_factor_mat_ordering_type abmc - uses it, with any solver type whose factorization takes orderings
- -mat_ordering_abmc_block n        - rows of a block at most (default 256, 512 where rows have 16 entries or more)

  Level: intermediate

  Notes:
  The order is found where the products of the matrix run; of a matrix of type `MATSPARSEGPU` on a GPU no row leaves it.
Blocks of a regular grid whose unknowns are numbered x first, then y, then z are boxes, and the order is the same one on
the host and on a GPU. Blocks of other graphs are connected sets of rows; those that a GPU finds are not the host's, and
have 256 rows at most by default, whatever the rows' lengths.

.seealso: `MATSOLVERSPARSEGPU`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`
M*/
#define MATORDERINGABMC "abmc"

/*MC
  MATORDERINGLEASTFILL = "leastfill" - Of several orderings for a direct factorization of this matrix the one that takes
  the fewest operations, or the least time, for each component of its graph: minimum degree, nested dissection by level
  structures, METIS's

  Options Database Keys:
+ -pc_factor_mat_ordering_type leastfill     - uses it, with any solver type whose factorization takes orderings
- -mat_ordering_leastfill_factorizations 100 - factorizations that the ordering is to serve: the more, the slower
                                               candidates are tried; 0: minimum degree alone

  Level: intermediate

  Notes:
  The ordering that LU and Cholesky factorizations by `MATSOLVERSPARSEGPU` prefer; `PCCHOLESKY` leaves it to the solver,
  and is shown with `MATORDERINGEXTERNAL`. `-info` tells the candidates, their operations and what was taken.

  A matrix that multiplies on a GPU gets the order that is predicted to take less time there, where unknowns that wait
  for each other tell more than operations: a tridiagonal matrix is dissected, and not eliminated from its ends.

  Unknowns with the same neighbours are ordered as one, dense rows come last. What is tried depends on predictions,
never on a clock: a matrix has the same order on every run, whatever PETSc was configured with. METIS runs in up to six
  threads, as many as the process has cores, where the C library can load it several times (glibc). From 100,000
  nodes on, if the graph is connected, those of a part of it tell first; where dissection by level structures takes
  less than minimum degree there, as on grids, nothing else is tried. The order does depend on the libraries that this
  one was built with: SuiteSparse's AMD, and METIS, or SCOTCH where METIS is absent. Each is an ordering type, too,
  where PETSc lacks it: amd, metisnd, scotchnd. Without AMD, PETSc's qmd is tried where it is cheap.

  Matrices without a symmetric pattern that lack diagonal entries, and those with one that lack more than 512 and
  a fifth of them, as saddle points do, keep the natural order: an LU factorization by `MATSOLVERSPARSEGPU` moves their
  rows first, and orders them then. Other solvers are better served by another type there; -info tells.

.seealso: `MATSOLVERSPARSEGPU`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`
M*/
#define MATORDERINGLEASTFILL "leastfill"

/*MC
  KSPSPARSEGPUCG = "sparsegpucg" - Preconditioned conjugate gradients in two kernels an iteration

  Options Database Keys:
+ -ksp_cg_type hermitian          - or symmetric, of complex matrices, `KSPCGSetType()`
. -ksp_sparsegpucg_persistent auto - many iterations in one launch: auto, up to 100,000 unknowns and 2,000,000 entries;
                                    on, wherever that is possible; off
. -ksp_sparsegpucg_together auto  - the right-hand sides of `KSPMatSolve()` at a time: auto, where that is faster; on,
                                    wherever that is possible; off
. -ksp_sparsegpucg_block no       - yes: these by block conjugate gradients, in fewer iterations
. -ksp_sparsegpucg_type cg        - or cr, conjugate residuals
- -ksp_sparsegpucg_flexible       - the preconditioner may change from step to step

  Level: beginner

  Notes:
  The iterations, norms, histories, tests and reasons of `KSPCG`: symmetric (Hermitian) definite matrices and
  preconditioners, from the left, with the norms preconditioned (default), unpreconditioned, natural and none.

  With a `MATSPARSEGPU` matrix on one process and `PCJACOBI` or `PCNONE` the solve runs on arrays of the GPU. One kernel
  multiplies and computes (p, A p), (r, D A p) and (A p, D A p), another updates x, r and p and computes (r, D r) and
  the norm; the formats csr, dia, ell, sell, stencil and bsr have such a product, of others the inner products are a
  kernel of their own. The factor of the next direction is predicted from these sums, so that no third pass is needed
  (Chen and Carson, 2020); the residual is updated with the product itself, so that the accuracy that can be attained is
  that of `KSPCG`.

  Without monitors and with the default convergence test the host does not wait for an iteration: it reads residual
  norms a few iterations late, and the device stops by itself at the first one that converged. Iteration numbers and
  solutions are the same as with a monitor. Small systems run up to 4,096 iterations in one launch then, with their rows
  and vectors in shared memory; sums in another order, so that last bits differ. Where vectors lie on the host,
  the solve runs on the GPU if PETSc has no CUDA or -sparsegpu_backend cuda was given, and b and x are copied once a
  solve; -sparsegpu_backend kokkos keeps the solve on the host.

  Host vectors on any number of processes take the same two passes, with one reduction each. Another preconditioner is
  applied by `PCApply()`, as often as in `KSPCG`, between four kernels or passes; on the GPU the next product is
  computed while the host waits for a norm. So do several processes on GPUs that exchange ghosts through peer memory
  (see `MATSPARSEGPU`), with a third (fifth) kernel: it ends the product with the ghosts, and all processes add up the
  sums in it, in the order of their ranks, those of the iteration before included. Nothing waits for MPI or the host
  then. Other vectors, GPU vectors on several processes without peers and matrices with a null space take the classical
  recurrence on PETSc's vectors. The view tells which way was taken.

  `KSPMatSolve()` solves for up to 32 right-hand sides at a time (`KSPSetMatSolveBatchSize()`: fewer). `MatMatMult()`
  reads the matrix once for all of them, `PCMatApply()` applies the preconditioner, and the sums of all are one
  reduction. Each right-hand side has a recurrence, tests and an end of its own, as in `KSPSolve()`, and leaves when
  it is solved. Afterwards the KSP tells the most iterations, the largest residual norm and the first failure, if
  there is one, of all right-hand sides; `-info` tells those of each. Small systems with `PCJACOBI` or `PCNONE` on the
  GPU run up to 1,024 iterations of all right-hand sides in one launch, as -ksp_sparsegpucg_persistent says; auto:
  where they gain nothing by sharing products, or as long as the matrix stays in shared memory. All this needs
  a `MATSPARSEGPU` matrix, and dense matrices on the host of any number of processes, or on the GPU of one process
  with `PCJACOBI`, `PCNONE`, `PCSPARSEGPU`, `PCILU`, `PCICC`, `PCLU`, `PCCHOLESKY` or a preconditioner that PETSc
  applies column by column. On the host of one process -ksp_sparsegpucg_together auto takes right-hand sides one by
  one unless all their vectors fit a core's cache or the matrix has at least 8 times the bytes of a vector: otherwise
  vectors decide the time of a pass, and those of a single solve may stay in a cache. `KSPSolve()` takes right-hand
  sides one by one, too, if there is only one, for a transposed or complex symmetric matrix or one with a null space,
  with `PCKSP`, and for a KSP with monitors, a residual history, a convergence test of the program's own, estimates of
  the spectrum, `KSPSetInitialGuessKnoll()`, a `KSPGuess`, `KSPSetDiagonalScale()` or functions before or after a
  solve.

  With -ksp_sparsegpucg_block yes up to 16 right-hand sides (8 complex ones) that can be solved at a time share one
  Krylov space (block conjugate gradients, O'Leary, 1980; Dubrulle, 2001). That mostly takes fewer iterations, since
  the smallest eigenvalues, one less than there are right-hand sides, no longer count, but two to three times as long
  for the vectors of each: it pays where a few small eigenvalues cost many iterations or the preconditioner takes most
  of the time, not with `PCJACOBI` for diffusion. Right-hand sides may depend on each other.
  Iterations are those of the block; a right-hand side ends with the first one whose norm meets the test, and stays in
  the block until all have. Then b - A x is computed: right-hand sides whose residual norm exceeds 1.5 times the
  tolerance are solved on, in a smaller block, or each with a recurrence of its own where a block gains no more, or
  where matrix or preconditioner are not definite in the block. More right-hand sides are solved in several blocks, one
  after the other. -ksp_sparsegpucg_together auto is on then.

  With -ksp_sparsegpucg_type cr the solver is that of `KSPCR`: each step makes the residual as small as the Krylov space
  allows, in the norm of the preconditioner, so that it does not grow from step to step, and the matrix may be
  indefinite as long as (z, A z) is not zero. With -ksp_sparsegpucg_flexible a direction is made conjugate to the one
  before whatever the preconditioner has been, as `KSPFCG` with one direction does, for preconditioners that are
  iterations themselves; one reduction more. Both run on PETSc's vectors, take right-hand sides of `KSPMatSolve()` one
  by one, exclude each other, and give no estimates of the spectrum.

  `KSPComputeEigenvalues()` and `KSPComputeExtremeSingularValues()` give the estimates of the last solve, without a wait
  for an iteration. There is no trust region (`KSPCGSetRadius()`) and no objective.

.seealso: `KSPCG`, `KSPCR`, `KSPFCG`, `KSPMatSolve()`, `KSPSPARSEGPUGMRES`, `KSPSPARSEGPUJACOBI`, `MATSPARSEGPU`,
          `KSPCGSetType()`
M*/
#define KSPSPARSEGPUCG "sparsegpucg"

/*MC
  KSPSPARSEGPUBCGS = "sparsegpubcgs" - Preconditioned BiCGStab in three or four kernels an iteration

  Options Database Keys:
+ -ksp_sparsegpubcgs_ell 1           - degree of the polynomial that follows as many steps of BiCG, from 1 to 8:
                                       BiCGStab(l)
- -ksp_sparsegpubcgs_persistent auto - many iterations in one launch: auto, up to 100,000 unknowns and 2,000,000
                                       entries; on, wherever that is possible; off

  Level: beginner

  Notes:
  The iterations, norms, histories, tests and reasons of `KSPBCGS`: any matrix and preconditioner, from the left
  (default, preconditioned norm) or the right (unpreconditioned norm). With preconditioning from the right, too, the
  solution vector holds the iterate at any time.

  With a `MATSPARSEGPU` matrix on one process and `PCJACOBI` or `PCNONE` the solve runs on arrays of the GPU, in two
  products that compute inner products along with them and two updates of vectors. The formats csr, dia, ell, sell,
  stencil and bsr have such a product, of others the inner products are a kernel of their own. The host does not wait
  for an iteration without monitors and with the default convergence test: it reads residual norms a few iterations
  late, and the device stops by itself at the first one that converged. Iteration numbers and solutions are the same as
  with a monitor. Small systems run up to 4,096 iterations in one launch then, with their rows and vectors in shared
  memory; sums in another order, so that last bits differ. Where vectors lie on the host, the solve runs on the GPU if
  PETSc has no CUDA or -sparsegpu_backend cuda was given, and b and x are copied once a solve; -sparsegpu_backend kokkos
  keeps the solve on the host.

  So do several processes whose GPUs reach each other's memory (-sparsegpu_peer): each product is followed by a kernel
  that multiplies with entries of other processes and adds sums up over all of them, so that the host calls no MPI.
Where they do not, PETSc's vectors serve.

  Host vectors on any number of processes take the same four passes, with three reductions. Another preconditioner is
  applied by `PCApply()`, as often as in `KSPBCGS`; on the GPU the host then waits once an iteration. Other vectors,
  transposed solves and matrices with a null space take the same recurrence on PETSc's vectors. The view tells which way
  was taken.

  Where `KSPBCGS` breaks down with an inner product that is zero, or goes on with one that consists of rounding errors,
  the solve restarts from its residual, with another shadow residual; -info tells. It ends with
  `KSP_DIVERGED_BREAKDOWN` if the preconditioned operator makes a residual zero, and after eight restarts one after the
  other that have not halved the residual.

  Where convection dominates and eigenvalues come close to the imaginary axis, `KSPBCGS` stagnates or breaks down: its
  residual polynomial is a product of factors of degree one, each of them made small by itself. -ksp_sparsegpubcgs_ell 2
  takes factors of degree two (Sleijpen and Fokkema, 1993), as `KSPBCGSL` does. An iteration then takes four products
  and four applications of the preconditioner, counts as two, and has one norm in histories and for monitors.
  Breakdowns restart as above. It runs on PETSc's vectors.

.seealso: `KSPBCGS`, `KSPBCGSL`, `KSPSPARSEGPUCG`, `KSPSPARSEGPUGMRES`, `MATSPARSEGPU`
M*/
#define KSPSPARSEGPUBCGS "sparsegpubcgs"

/*MC
  KSPSPARSEGPUGMRES = "sparsegpugmres" - Restarted GMRES whose vectors stay on the GPU, with one reduction an iteration

  Options Database Keys:
+ -ksp_gmres_restart m                      - steps between restarts (default 30), `KSPGMRESSetRestart()`
. -ksp_sparsegpugmres_restart_auto          - after one cycle, the restart that its progress suggests, from 5 to 200
. -ksp_sparsegpugmres_deflation k           - vectors that a restart keeps of the cycle before (default 0; at most 16
                                              and half of the restart)
. -ksp_sparsegpugmres_flexible              - the preconditioner may change from step to step; right preconditioning
. -ksp_sparsegpugmres_persistent auto       - whole cycles in one launch: auto, up to 100,000 unknowns and 2,000,000
                                              entries; on, wherever that is possible; off
. -ksp_sparsegpugmres_basis double          - how the basis is stored: double, in full; single, rounded
. -ksp_sparsegpugmres_together auto         - the right-hand sides of `KSPMatSolve()` at a time: auto, where that is
                                              faster; on, wherever that is possible; off
. -ksp_gmres_cgs_refinement_type type       - refine_never, refine_ifneeded or refine_always,
                                              `KSPGMRESSetCGSRefinementType()`
. -ksp_gmres_modifiedgramschmidt            - the same as refine_always
. -ksp_gmres_haptol t                       - happy-breakdown tolerance
- -ksp_gmres_breakdown_tolerance t          - the recurrence's residual norm may be off by this part at a restart

  Level: beginner

  Notes:
  Any matrix and any preconditioner. The inner products of a step and the norm of the new direction are one kernel and,
  in parallel, one reduction. With refine_never, the default, a direction is made orthogonal a second time only where
  less than a tenth of it is left, or where the residual has fallen so far in this cycle that the basis might lose more
  than 1e-3 of its orthogonality (200,000 times in double precision); refine_ifneeded does so where less than
  1/sqrt(2) is left, which bounds the loss by rounding errors. Where a direction cannot be made orthogonal, the cycle
  ends before it, and an invariant space ends the solve only if the true residual agrees.

  With a `MATSPARSEGPU` matrix on one process and `PCJACOBI` or `PCNONE` the solve runs on arrays of the GPU, without
  PETSc's vectors in between. Where these lie on the host, it does so if PETSc has no CUDA or -sparsegpu_backend cuda
  was given, also with an incomplete factorization of `MATSOLVERSPARSEGPU` from the left, and b and x are copied once a
  solve; -sparsegpu_backend kokkos keeps the solve on the host. Small systems, up to 100,000 unknowns and 2,000,000
entries, run whole cycles in one launch, unless a monitor reads each iterate.

  On the GPU of one process, without monitors and with the default convergence test, the host does not wait for an
  iteration: it reads residual norms a few iterations late, and the device stops by itself at the first one that
  converged. Iteration numbers and solutions are the same as with a monitor. Steps that are launched meanwhile apply the
  preconditioner, too; one that may hold a user's code or a solver, as `PCSHELL` and `PCBJACOBI`, is applied exactly as
  often as in `KSPGMRES`, and the host waits for each step (with the basis in single precision once more where a
  direction is made orthogonal twice). A user's operator, as `MATSHELL`, is applied by the steps launched meanwhile.
  All of this but the whole cycles in one launch holds on several processes, too, whose GPUs exchange ghosts through
  peer memory (see `MATSPARSEGPU`): these add up inner products in the order of the ranks, inside the kernels.

  With -ksp_sparsegpugmres_basis single the basis is stored in single precision, half the memory, and computed with in
  double: passes over the basis, most of the time of an iteration, take half as long. A cycle reduces the residual by
  six digits at most, whatever its recurrence says. So convergence is decided by the true residual at the end of a
  cycle, and the solve goes on from there if it is not small enough: the accuracy is that of the full basis. More
  iterations are taken where one cycle would have reduced the residual further, or more than a thousandfold with
  refine_never, which then makes directions orthogonal twice. Cycles of small systems in one launch keep the full basis.
  The same holds on the host and for any preconditioner; Aliaga, Anzt, Gruetzmacher, Quintana-Orti and Tomas, 2023.

  With -ksp_sparsegpugmres_deflation k a restart keeps the space of the k harmonic Ritz vectors of the cycle with the
  smallest values (a conjugate pair is kept whole or not at all). The next cycle begins with them: it has as many
  vectors, and k steps fewer. Where some small eigenvalues are what restarts lose again and again, as in diffusion and
  in convection that does not dominate, 4 to 8 vectors of 30 save half of the iterations or more; where restarts cost
  nothing, or cycles are short beside k, it may take more. k is at most half of the restart, and becomes that where the
  restart is changed later; an automatic restart is at least 3 k. Directions are made orthogonal as by refine_ifneeded
  at least, as what is kept passes its errors on. It takes k vectors of memory more, for each restart about two passes
  over the basis, and some work on a matrix of the size of the cycle, on the host. Norms, monitors, limits and tests are
  as without. It works with any preconditioner, on either side, flexible, and in parallel; with a basis in single
  precision it is an error. Small systems do not run whole cycles in one launch then, and estimates of the spectrum,
  where `KSPSetComputeSingularValues()` asks for them, are those of cycles that keep nothing. Morgan, SIAM J. Sci.
  Comput. 24(1), 2002; in the form of Parks, de Sturler, Mackey, Johnson and Maiti, SIAM J. Sci. Comput. 28(5), 2006.

  `KSPMatSolve()` solves for up to 32 right-hand sides at a time (`KSPSetMatSolveBatchSize()`: fewer), each with a
  basis, tests and an end of its own, as in `KSPSolve()`. `MatMatMult()` reads the matrix once for all of them,
  `PCMatApply()` applies the preconditioner, and the inner products of all are one kernel and, in parallel, one
  reduction. All restart together; one that is solved, or whose cycle ends early, leaves until then. The bases take
  restart + 1 vectors a right-hand side; where there is no memory for all, as many are solved at a time as there is
  memory for, which -info tells. Small systems with `PCJACOBI` or `PCNONE` on the GPU run whole cycles of several
  right-hand sides in one launch, as -ksp_sparsegpugmres_persistent says: as many at a time, two at least, as have
  their bases in the shared memory of the GPU, each with thread blocks of its own. Requirements, the meaning of
  -ksp_sparsegpugmres_together auto and what the KSP tells afterwards are those of `KSPSPARSEGPUCG`. A compressed
  basis, the flexible variant, the automatic restart and restarts that keep vectors take right-hand sides one by one.

  `KSPComputeEigenvalues()` and `KSPComputeExtremeSingularValues()` give the estimates of the last cycle; the host waits
  for every iteration then.

.seealso: `KSPGMRES`, `KSPFGMRES`, `KSPMatSolve()`, `KSPSPARSEGPUCG`, `KSPSPARSEGPUJACOBI`, `MATSPARSEGPU`,
          `KSPGMRESSetRestart()`
M*/
#define KSPSPARSEGPUGMRES "sparsegpugmres"

/*MC
  KSPSPARSEGPUJACOBI = "sparsegpujacobi" - The Jacobi method, x' = x + damping D^-1 (b - A x), on the GPU where the
  vectors lie there

  Options Database Keys:
+ -ksp_sparsegpujacobi_test test        - residual (default): its norm, of the type of -ksp_norm_type; difference: the
                                          largest change of an unknown in a sweep, compared with that of the first one
. -ksp_sparsegpujacobi_damping omega    - part of the correction that is taken, not 0 (default 1),
                                          `KSPRichardsonSetScale()`
- -ksp_sparsegpujacobi_persistent auto  - many sweeps in one launch: auto, up to 100,000 unknowns and 524,288 entries;
                                          on, wherever that is possible; off

  Level: beginner

  Notes:
  The method is its own preconditioner: where no other is set it is used with `PCNONE`; `PCJACOBI` is accepted, and not
  applied twice; any other is an error. ILU and block Jacobi without -pc_type count as not set: PETSc sets them by
  itself when options are read. D is the diagonal of the matrix that preconditioners are built from; a zero or missing
  entry is an error.

  The iterates are those of `KSPRICHARDSON` with `PCJACOBI`, up to rounding, and so are the numbers of iterations. A
  null space attached to the matrix is not removed.

  Up to 1,024 sweeps are one launch, with the same bits, where a `MATSPARSEGPU` matrix on one process has the format csr
  and is small, no monitor is set, and the test is `KSPConvergedDefault()` or none; `KSPView()` says so. On several
  processes whose GPUs exchange ghosts through peer memory (see `MATSPARSEGPU`) a sweep is one kernel for the rows
  without ghosts and one for the others, which also joins the norms, and the host does not wait for a sweep either.

  With a `MATSPARSEGPU` matrix on one process and vectors on the host, the sweeps run on the GPU if PETSc has no CUDA or
  -sparsegpu_backend cuda was given, and b and x are copied once a solve.

.seealso: `KSPRICHARDSON`, `PCJACOBI`, `KSPSPARSEGPUGMRES`, `MATSPARSEGPU`
M*/
#define KSPSPARSEGPUJACOBI "sparsegpujacobi"

/*S
   MatSparseGPUInfo - What the last product of a `MATSPARSEGPU` matrix ran on

   Level: intermediate

   Notes:
   For a parallel matrix the sizes and times are those of the diagonal block of the calling process.

.seealso: `MATSPARSEGPU`, `MatSparseGPUGetInfo()`
S*/
typedef struct {
  const char    *format;          /* name of the format in use, e.g. "dia"; never "auto" */
  const char    *backend;         /* "cuda" or "kokkos" */
  const char    *reason;          /* why this format, one line */
  const char    *details;         /* how it is stored beyond its name, one line; may be empty */
  PetscLogDouble nonzeros;        /* entries of the matrix */
  PetscLogDouble stored;          /* entries stored, padding included; symmetric values stored once count as two */
  PetscLogDouble bytes_stored;    /* bytes of all arrays of the format */
  PetscLogDouble bytes_csr;       /* bytes of the same matrix in CSR */
  PetscLogDouble bytes_kept;      /* bytes beside them that a change of values needs, transposes' included */
  PetscLogDouble bytes_released;  /* bytes of these that -mat_sparsegpu_release_csr has freed */
  PetscLogDouble bytes_device;    /* bytes of all that the matrix has on the GPU: formats, rows, coordinates */
  PetscLogDouble bytes_mult;      /* bytes one product must move: the format, x and y once */
  PetscLogDouble convert_seconds; /* wall time of the last conversion, analysis and upload included */
  PetscLogDouble update_seconds;  /* wall time of the last refresh of values alone, 0 if none */
} MatSparseGPUInfo;

PETSC_EXTERN PetscErrorCode SparseGPUInitializePackage(void);
PETSC_EXTERN PetscErrorCode SparseGPUHasDevice(PetscBool *);
PETSC_EXTERN PetscErrorCode SparseGPUGetVersion(int *, int *, int *, char[], size_t);

PETSC_EXTERN PetscErrorCode MatSparseGPUGetFormats(PetscInt *, const char *const *[]);
PETSC_EXTERN PetscErrorCode MatSparseGPUSetFormat(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatSparseGPUGetFormat(Mat, const char *[]);
PETSC_EXTERN PetscErrorCode MatSparseGPUSetBackend(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatSparseGPUGetBackend(Mat, const char *[]);
PETSC_EXTERN PetscErrorCode MatSparseGPUCheckFormat(Mat, const char[], PetscBool *, const char *[]);
PETSC_EXTERN PetscErrorCode MatSparseGPUGetInfo(Mat, MatSparseGPUInfo *);
PETSC_EXTERN PetscErrorCode MatSparseGPUFilter(Mat, PetscReal, PetscBool, PetscBool);
