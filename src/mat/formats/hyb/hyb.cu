/// HYB has no kernel of its own: EllMult_CUDA() and then CooMult_CUDA() on the remainder.
#include "mat/formats/hyb/hyb.hpp"
