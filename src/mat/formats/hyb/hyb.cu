/// HYB has no kernel of its own: EllMult_CUDA() and then CooMult_CUDA() on what it left.
#include "mat/formats/hyb/hyb.hpp"
