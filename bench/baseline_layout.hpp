/// The arrays of cuSPARSE's formats beyond CSR, made on the host.
#pragma once

#include <vector>
#include "cusparse.hpp"

/// Slices of `HEIGHT` rows, as wide as their longest; entry k of row r at begin[r / HEIGHT] + k * HEIGHT + r % HEIGHT.
struct SellArrays {
  static constexpr int HEIGHT = 32;

  std::vector<int>    begin, column; ///< [slices + 1], [begin[slices]]: -1 for padding
  std::vector<double> value;         ///< [begin[slices]]
};
/// False: the padding would be more than four times the entries.
bool MakeSell(const HostCsr &A, SellArrays *sell);

/// Full blocks of size x size, those at the edge too: entry (p, q) of block k at (k * size + p) * size + q.
struct BsrArrays {
  int                 size = 0;
  std::vector<int>    begin, column; ///< [block rows + 1], [blocks]
  std::vector<double> value;         ///< [blocks * size * size]
};
/// False: the fullest blocks would store more than 1.5 times the entries.
bool MakeBsr(const HostCsr &A, BsrArrays *bsr);
