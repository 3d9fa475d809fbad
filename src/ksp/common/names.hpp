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
namespace ilu
{
}
namespace pc
{
}

namespace ksp
{
using namespace formats;
using namespace face;
using namespace ilu;
using namespace pc;
} // namespace ksp
} // namespace sparsegpu
