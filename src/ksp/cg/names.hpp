/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace formats
{
}
namespace ksp
{
}

namespace cg
{
using namespace formats;
using namespace ksp;
} // namespace cg
} // namespace sparsegpu
