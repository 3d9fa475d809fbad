#include "pc/lu/early_matching.hpp"
#include <algorithm>
#include <system_error>

namespace sparsegpu::lu
{

void EarlyMatching::Begin(const CsrView &A)
{
  Drop();
  i_.assign(A.i, A.i + A.rows + 1);
  j_.assign(A.j, A.j + A.nonzeros);
  a_.assign(A.a, A.a + A.nonzeros);
  const CsrView own{A.rows, A.cols, A.nonzeros, i_.data(), j_.data(), a_.data()};
  stop_ = false;
  try {
    found_ = std::async(std::launch::async, [this, own] { return FindMaximumProduct(own, &stop_); });
  } catch (const std::system_error &) { // no thread can be had
  }
}

bool EarlyMatching::Take(const CsrView &A, Matching *matching)
{
  const auto bits = [](const Scalar *p) { return reinterpret_cast<const unsigned char *>(p); };
  if (!found_.valid()) return false;
  const bool same = i_.size() == static_cast<size_t>(A.rows) + 1 && j_.size() == static_cast<size_t>(A.nonzeros) &&
                    std::equal(i_.begin(), i_.end(), A.i) && std::equal(j_.begin(), j_.end(), A.j) &&
                    std::equal(bits(a_.data()), bits(a_.data() + a_.size()), bits(A.a));
  if (!same) {
    Drop();
    return false;
  }
  try {
    *matching = found_.get();
  } catch (const std::exception &) { // the caller finds it, and tells what is lacking
    return false;
  }
  return true;
}

void EarlyMatching::Drop()
{
  stop_ = true;
  if (found_.valid()) found_.wait();
  found_ = std::future<Matching>();
}

} // namespace sparsegpu::lu
