#include "weigh/shares.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace weigh {
namespace {

// Most counts are small, and the same few come again and again.
class SmallLogs {
public:
    SmallLogs(double pseudo, double total) : pseudo_(pseudo), total_(total), known_(kSmall) {
        for (std::size_t n = 0; n < kSmall; ++n) known_[n] = std::log((static_cast<double>(n) + pseudo) / total);
    }

    template <class Count>
    double of(Count n) const {
        const auto at = static_cast<std::uint64_t>(n);
        return at < kSmall ? known_[at] : std::log((static_cast<double>(n) + pseudo_) / total_);
    }

private:
    static constexpr std::size_t kSmall = 256;

    double pseudo_, total_;
    std::vector<double> known_;
};

}  // namespace

template <class Count>
void log_shares(std::span<const Count> counts, double pseudo, std::span<const double> totals, double* logs) {
    constexpr std::size_t kStep = 64;  // words at a time, so that neither side of the turn leaves the cache
    const std::size_t classes = totals.size(), words = classes == 0 ? 0 : counts.size() / classes;
    std::vector<SmallLogs> of_class;
    for (const double total : totals) of_class.emplace_back(pseudo, total);
    for (std::size_t first = 0; first < words; first += kStep) {
        const std::size_t last = std::min(first + kStep, words);
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t k = first; k < last; ++k) logs[k * classes + c] = of_class[c].of(counts[c * words + k]);
    }
}

template void log_shares(std::span<const std::uint8_t>, double, std::span<const double>, double*);
template void log_shares(std::span<const std::uint16_t>, double, std::span<const double>, double*);
template void log_shares(std::span<const std::uint32_t>, double, std::span<const double>, double*);
template void log_shares(std::span<const std::int64_t>, double, std::span<const double>, double*);

}  // namespace weigh
