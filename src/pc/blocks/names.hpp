/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace products
{
}
namespace factor
{
}

namespace blocks
{
using namespace products;
using namespace factor;
} // namespace blocks
} // namespace sparsegpu
