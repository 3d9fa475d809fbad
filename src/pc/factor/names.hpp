/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}
namespace face
{
}

namespace factor
{
using namespace rows;
using namespace face;
} // namespace factor
} // namespace sparsegpu
