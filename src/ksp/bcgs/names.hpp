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

namespace bcgs
{
using namespace formats;
using namespace ksp;
} // namespace bcgs
} // namespace sparsegpu
