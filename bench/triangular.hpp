/// What the benchmarks of factorizations and triangular solves share: matrices, and cuSPARSE as the baseline.
#pragma once

#include <string>
#include <vector>
#include "median.hpp"

/// Compressed sparse rows on the host, square, columns ascending, every diagonal entry there.
struct HostRows {
  std::string         name;
  int                 rows = 0;
  std::vector<int>    i, j;
  std::vector<double> a;
};
/// The generated matrix "name@nonzeros", or "chain", made diagonally dominant so that its factors are tame, with about
/// that many entries, `nonzeros` where the name does not say; it may end in ":abmc" or ":abmcN" for rows in that order
/// with blocks of N rows. PETSc's errors abort.
HostRows MakeRows(const std::string &name, int nonzeros);
/// The same of a file that LoadMatrix() reads: its pattern, the diagonal put in, and its values off the diagonal. No
/// rows if it is not square or cannot be read, as complex values cannot where scalars are real.
HostRows ReadRows(const std::string &file);
/// All matrices that -gen, -gen_size and -f name, one at a time; without -gen and -f the stencils, random
/// matrices and the chain that solves are known to differ on, from the small
/// ones to those that take the host longest. After -seconds n no other one is begun; a JSON line names those left.
void EachRows(void (*call)(const HostRows &, void *), void *argument);

/// A JSON object, printed in one piece when it is complete.
class JsonLine
{
public:
  /// As printf(), after a comma; the first adds none.
  void Add(const char *format, ...) __attribute__((format(printf, 2, 3)));
  void Print();

private:
  std::string text_;
};

/// Device arrays, freed with it.
template <class T> struct OnDevice {
  T     *p   = nullptr;
  size_t n   = 0;
  OnDevice() = default;
  explicit OnDevice(const std::vector<T> &host);
  explicit OnDevice(size_t count);
  OnDevice(const OnDevice &)            = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  ~OnDevice();
  /// The first `count`.
  std::vector<T> Host(size_t count) const;
  std::vector<T> Host() const { return Host(n); }
};

/// Seconds, medians of several runs; negative: cuSPARSE failed.
struct BaselineFactor {
  double symbolic = -1, numeric = -1;
};
/// csrilu02; values [nonzeros] on the device receive the factors, U's diagonal not inverted.
BaselineFactor CusparseIlu(int rows, int nonzeros, const int *i, const int *j, const double *a, double *values,
                           int runs);

struct BaselineSolve {
  double analysis = -1, lower = -1, upper = -1, both = -1, update = -1;
  double bytes = 0; ///< of buffers, and what the library took itself
};
/// SpSV with factors in one CSR, or SpSM for count > 1 right-hand sides (column major); `transpose`: of the transposed
/// factors. x, b [rows * count]. The factors apart only for one right-hand side, not transposed.
BaselineSolve CusparseSolve(int rows, int nonzeros, const int *i, const int *j, double *values, int count,
                            bool transpose, const double *b, double *x, int batches, int solves);

/// What a solve cannot be faster than: bytes per second of a device-to-device copy, read and write; seconds that a
/// value takes from one multiprocessor to another and back, halved. Both measured; negative: CUDA failed.
double CopyBandwidth();
double HopSeconds();

/// Seconds of wall time until the device is done.
double WallSeconds(void (*call)(void *), void *argument);
