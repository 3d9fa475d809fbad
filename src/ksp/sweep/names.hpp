/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace formats
{
}

namespace sweep
{
using namespace formats;
} // namespace sweep
} // namespace sparsegpu
