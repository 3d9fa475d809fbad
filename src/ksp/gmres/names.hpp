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
namespace face
{
}
namespace ksp
{
}

namespace gmres
{
using namespace rows;
using namespace formats;
using namespace face;
using namespace ksp;
} // namespace gmres
} // namespace sparsegpu
