/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}

namespace formats
{
using namespace rows;
} // namespace formats
} // namespace sparsegpu
