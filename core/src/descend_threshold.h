// The least point of ½ (u − w)² + l1 |w|.
#pragma once

namespace weigh {

inline double soft_threshold(double u, double l1) { return u > l1 ? u - l1 : u < -l1 ? u + l1 : 0.0; }

}  // namespace weigh
