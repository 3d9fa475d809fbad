/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}
namespace aggregate
{
}

namespace smooth
{
using namespace rows;
using namespace aggregate;
} // namespace smooth
} // namespace sparsegpu
