/// Names of lower folders that this one uses without their namespaces.
#pragma once

namespace sparsegpu
{
namespace rows
{
}
namespace products
{
}
namespace face
{
}
namespace aggregate
{
}

namespace classical
{
using namespace rows;
using namespace products;
using namespace face;
} // namespace classical
} // namespace sparsegpu
