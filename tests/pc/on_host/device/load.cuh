/// Loads as any, for kernels on the host.
#pragma once
