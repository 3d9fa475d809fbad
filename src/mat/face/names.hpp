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
namespace converted
{
}
namespace choice
{
}

namespace face
{
using namespace rows;
using namespace formats;
using namespace converted;
using namespace choice;
} // namespace face
} // namespace sparsegpu
