/// The median of measurements.
#pragma once

#include <algorithm>
#include <vector>

/// -1 of none.
inline double Median(std::vector<double> v)
{
  std::sort(v.begin(), v.end());
  return v.empty() ? -1 : v[v.size() / 2];
}
