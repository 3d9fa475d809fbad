/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace aggregate
{
}
namespace classical
{
}

namespace amg
{
using namespace aggregate;
} // namespace amg
} // namespace sparsegpu
