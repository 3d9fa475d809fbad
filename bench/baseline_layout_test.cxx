/// The arrays that cuSPARSE gets beyond CSR, multiplied by plain loops.
#include "baseline_layout.hpp"

#include <algorithm>
#include <cstdio>

namespace
{
/// Nodes of `size` unknowns, each coupled to itself and the next one; the last row and column belong to no node.
struct Example {
  std::vector<int>    i{0}, j;
  std::vector<double> a, x, y;

  explicit Example(int size)
  {
    const int n = 50 * size + 1;
    for (int r = 0; r < n; r++) {
      const int first = r / size * size;
      double    sum   = 0;
      x.push_back(1 + 0.25 * (r % 7));
      for (int c = first; c < std::min(n, first + 2 * size); c++) {
        j.push_back(c);
        a.push_back(1 + (r * 31 + c * 17) % 13);
        sum += a.back() * (1 + 0.25 * (c % 7));
      }
      i.push_back(static_cast<int>(j.size()));
      y.push_back(sum);
    }
  }
  HostCsr Csr() const
  {
    const int n = static_cast<int>(y.size());
    return HostCsr{n, n, static_cast<int>(j.size()), i.data(), j.data(), a.data()};
  }
};

bool Same(const std::vector<double> &y, const std::vector<double> &z, const char what[], int size)
{
  for (size_t r = 0; r < y.size(); r++)
    if (y[r] != z[r]) { // small whole numbers and quarters: exact in any order
      fprintf(stderr, "%s, nodes of %d: row %zu is %g, not %g\n", what, size, r, z[r], y[r]);
      return false;
    }
  return true;
}

bool CheckSell(const Example &e, int size)
{
  SellArrays          sell;
  std::vector<double> z(e.y.size(), 0);
  if (!MakeSell(e.Csr(), &sell)) return false;
  for (size_t r = 0; r < z.size(); r++)
    for (int k = sell.begin[r / 32] + static_cast<int>(r % 32); k < sell.begin[r / 32 + 1]; k += 32)
      if (sell.column[k] >= 0) z[r] += sell.value[k] * e.x[sell.column[k]];
  return Same(e.y, z, "sell", size);
}

bool CheckBsr(const Example &e, int size)
{
  BsrArrays           bsr;
  std::vector<double> z(e.y.size(), 0);
  if (!MakeBsr(e.Csr(), &bsr) || bsr.size != size) {
    fprintf(stderr, "bsr, nodes of %d: blocks of %d\n", size, bsr.size);
    return false;
  }
  for (size_t r = 0; r < z.size(); r++)
    for (int k = bsr.begin[r / size]; k < bsr.begin[r / size + 1]; k++)
      for (int q = 0; q < size; q++) {
        const size_t c = static_cast<size_t>(bsr.column[k]) * size + q;
        if (c < e.x.size()) z[r] += bsr.value[(static_cast<size_t>(k) * size + r % size) * size + q] * e.x[c];
      }
  return Same(e.y, z, "bsr", size);
}
} // namespace

int main()
{
  for (int size = 2; size <= 6; size++) {
    const Example e(size);
    if (!CheckSell(e, size) || !CheckBsr(e, size)) return 1;
  }
  // one long row: no slices; a diagonal: no blocks
  const std::vector<int>    i{0, 100, 100, 100, 100}, j(100, 0), diagonal{0, 1, 2, 3, 4}, columns{0, 1, 2, 3};
  const std::vector<double> a(100, 1);
  SellArrays                sell;
  BsrArrays                 bsr;
  if (MakeSell(HostCsr{4, 100, 100, i.data(), j.data(), a.data()}, &sell)) return 2;
  if (MakeBsr(HostCsr{4, 4, 4, diagonal.data(), columns.data(), a.data()}, &bsr)) return 3;
  return 0;
}
