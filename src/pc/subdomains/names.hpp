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
namespace formats
{
}

namespace subdomains
{
using namespace rows;
using namespace trisolve;
using namespace formats;
} // namespace subdomains
} // namespace sparsegpu
