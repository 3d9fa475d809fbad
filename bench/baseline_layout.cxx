#include "baseline_layout.hpp"

#include <algorithm>
#include <cstdint>

bool MakeSell(const HostCsr &A, SellArrays *sell)
{
  constexpr int HEIGHT = SellArrays::HEIGHT;
  const int     slices = (A.rows + HEIGHT - 1) / HEIGHT;
  std::int64_t  stored = 0;

  sell->begin.assign(1, 0);
  for (int s = 0; s < slices; s++) {
    int width = 0;
    for (int r = s * HEIGHT; r < std::min(A.rows, (s + 1) * HEIGHT); r++) width = std::max(width, A.i[r + 1] - A.i[r]);
    stored += static_cast<std::int64_t>(width) * HEIGHT;
    if (stored > 4 * static_cast<std::int64_t>(A.nonzeros) || stored > INT32_MAX) return false;
    sell->begin.push_back(static_cast<int>(stored));
  }
  sell->column.assign(stored, -1);
  sell->value.assign(stored, 0);
  for (int r = 0; r < A.rows; r++)
    for (int e = A.i[r]; e < A.i[r + 1]; e++) {
      const int to     = sell->begin[r / HEIGHT] + (e - A.i[r]) * HEIGHT + r % HEIGHT;
      sell->column[to] = A.j[e];
      sell->value[to]  = A.a[e];
    }
  return true;
}

/// The block columns of block row I, ascending.
static void BlockRow(const HostCsr &A, int size, int I, std::vector<int> *columns)
{
  columns->clear();
  for (int r = I * size; r < std::min(A.rows, (I + 1) * size); r++)
    for (int e = A.i[r]; e < A.i[r + 1]; e++)
      if (columns->empty() || columns->back() != A.j[e] / size) columns->push_back(A.j[e] / size);
  std::sort(columns->begin(), columns->end());
  columns->erase(std::unique(columns->begin(), columns->end()), columns->end());
}

static std::int64_t CountBlocks(const HostCsr &A, int size)
{
  std::vector<int> columns;
  std::int64_t     blocks = 0;
  for (int I = 0; I < (A.rows + size - 1) / size; I++) {
    BlockRow(A, size, I, &columns);
    blocks += static_cast<std::int64_t>(columns.size());
    if (2 * blocks * size * size > 3 * static_cast<std::int64_t>(A.nonzeros)) return INT64_MAX;
  }
  return blocks;
}

bool MakeBsr(const HostCsr &A, BsrArrays *bsr)
{
  std::int64_t     least = INT64_MAX, stored = INT64_MAX; // bytes, entries
  std::vector<int> columns;

  for (int size = 2; size <= 6; size++) {
    const std::int64_t blocks = CountBlocks(A, size);
    if (blocks == INT64_MAX || blocks * (8 * size * size + 4) >= least) continue;
    least     = blocks * (8 * size * size + 4);
    stored    = blocks * size * size;
    bsr->size = size;
  }
  if (stored > INT32_MAX) return false;
  const int size = bsr->size, block_rows = (A.rows + size - 1) / size;
  bsr->begin.assign(1, 0);
  bsr->column.clear();
  for (int I = 0; I < block_rows; I++) {
    BlockRow(A, size, I, &columns);
    bsr->column.insert(bsr->column.end(), columns.begin(), columns.end());
    bsr->begin.push_back(static_cast<int>(bsr->column.size()));
  }
  bsr->value.assign(stored, 0);
  for (int r = 0; r < A.rows; r++) {
    const auto first = bsr->column.begin() + bsr->begin[r / size],
               last  = bsr->column.begin() + bsr->begin[r / size + 1];
    for (int e = A.i[r]; e < A.i[r + 1]; e++) {
      const std::int64_t k = std::lower_bound(first, last, A.j[e] / size) - bsr->column.begin();
      bsr->value[(k * size + r % size) * size + A.j[e] % size] = A.a[e];
    }
  }
  return true;
}
