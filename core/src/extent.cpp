#include "weigh/extent.h"

#include <algorithm>
#include <array>

namespace weigh {

Extent extent_of(std::span<const double> values) {
    constexpr std::size_t kLanes = 8;  // side by side, for one chain of comparisons would wait for itself
    std::array<Extent, kLanes> lanes;
    const std::size_t whole = values.size() / kLanes * kLanes;
    const auto look = [](Extent& lane, double value) {
        lane.least = value < lane.least ? value : lane.least;
        lane.most = value > lane.most ? value : lane.most;
        lane.zero |= value == 0;
        lane.nan |= value != value;
    };
    for (std::size_t k = 0; k < whole; k += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) look(lanes[lane], values[k + lane]);
    for (std::size_t k = whole; k < values.size(); ++k) look(lanes[0], values[k]);
    Extent all;
    for (const Extent& lane : lanes) {
        all.least = std::min(all.least, lane.least);
        all.most = std::max(all.most, lane.most);
        all.zero |= lane.zero;
        all.nan |= lane.nan;
    }
    return all;
}

}  // namespace weigh
