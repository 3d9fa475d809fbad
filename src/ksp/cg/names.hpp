/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace formats
{
}
namespace face
{
}
namespace ksp
{
}

namespace cg
{
using namespace formats;
using namespace face;
using namespace ksp;
} // namespace cg
} // namespace sparsegpu
