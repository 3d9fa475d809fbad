/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace trisolve
{
}
namespace subdomains
{
}
namespace factor
{
}
namespace ilu
{
}
namespace blocks
{
}

namespace strategy
{
using namespace trisolve;
using namespace subdomains;
using namespace factor;
using namespace ilu;
using namespace blocks;
} // namespace strategy
} // namespace sparsegpu
