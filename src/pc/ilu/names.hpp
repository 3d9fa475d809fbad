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
namespace subdomains
{
}

namespace ilu
{
using namespace rows;
using namespace trisolve;
using namespace factor;
using namespace subdomains;
} // namespace ilu
} // namespace sparsegpu
