/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace face
{
}
namespace factor
{
}
namespace ilu
{
}
namespace strategy
{
}

namespace pc
{
using namespace face;
using namespace factor;
using namespace ilu;
using namespace strategy;
} // namespace pc
} // namespace sparsegpu
