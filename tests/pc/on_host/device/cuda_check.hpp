/// Nothing of CUDA's interface to the host, for kernels on the host.
#pragma once
