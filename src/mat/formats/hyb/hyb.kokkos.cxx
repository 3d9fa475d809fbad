/// HYB has no kernel of its own: EllMult_Kokkos() and then CooMult_Kokkos() on the remainder.
#include "mat/formats/hyb/hyb.hpp"
