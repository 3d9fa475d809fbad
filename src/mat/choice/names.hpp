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
namespace converted
{
}

namespace choice
{
using namespace rows;
using namespace formats;
using namespace converted;
} // namespace choice
} // namespace sparsegpu
