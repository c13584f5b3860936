// Logarithms of smoothed shares: what scoring makes of counts.
#pragma once

#include <cstddef>
#include <span>

namespace weigh {

// logs[k][c] = log((counts[c][k] + pseudo) / totals[c]): counts are class-major, logs are word-major.
// Instantiated for unsigned integers of 8, 16 and 32 bits and for signed ones of 64.
template <class Count>
void log_shares(std::span<const Count> counts, double pseudo, std::span<const double> totals, double* logs);

}  // namespace weigh
