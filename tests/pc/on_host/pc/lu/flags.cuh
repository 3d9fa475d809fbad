/// Values that are never waited for, for kernels on the host.
#pragma once

#include "device/scalar.hpp"

#define asm(...) // of a GPU

namespace sparsegpu::lu
{

struct Patience {
  bool Ends(unsigned, const void *, const void *) { return true; }
};
template <class Number> bool IsMissing(const Number &)
{
  return false;
}
template <class Number> Number poll(const Number *from)
{
  return *from;
}
template <class Number> Number Abandoned()
{
  return Number(0);
}

} // namespace sparsegpu::lu
