/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace formats
{
}
namespace products
{
}

namespace tile
{
using namespace formats;
using namespace products;
} // namespace tile
} // namespace sparsegpu
