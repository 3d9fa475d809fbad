/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace symbolic
{
}

namespace ordering
{
using namespace symbolic;
} // namespace ordering
} // namespace sparsegpu
