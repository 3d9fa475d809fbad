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
}

namespace trisolve
{
using namespace rows;
using namespace formats;
using namespace products;
} // namespace trisolve
} // namespace sparsegpu
