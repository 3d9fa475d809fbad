/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}
namespace trisolve
{
}
namespace factor
{
}

namespace lu
{
using namespace rows;
using namespace trisolve;
using namespace factor;
} // namespace lu
} // namespace sparsegpu
