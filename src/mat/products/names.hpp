/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}
namespace formats
{
}

namespace products
{
using namespace rows;
using namespace formats;
} // namespace products
} // namespace sparsegpu
