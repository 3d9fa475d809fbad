/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}

namespace symbolic
{
using namespace rows;
} // namespace symbolic
} // namespace sparsegpu
