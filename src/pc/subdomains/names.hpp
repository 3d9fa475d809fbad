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

namespace subdomains
{
using namespace rows;
using namespace trisolve;
} // namespace subdomains
} // namespace sparsegpu
