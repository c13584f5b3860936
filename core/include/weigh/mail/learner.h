// Interface of the mail learners: rows of two cells as input, log-odds of spam as output.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "weigh/mail/hashed_features.h"
#include "weigh/mail/row_table.h"

namespace weigh::mail {

using Rows = std::span<Row* const>;

// The bias of a view and its sum for averaging.
struct Bias {
    double weight = 0, sum = 0;
};

// Learned state besides the rows.
struct Totals {
    std::uint64_t hams = 0, spams = 0;
    std::array<Bias, kViews> biases;

    std::uint64_t messages() const { return hams + spams; }
};

// A stateless learning rule.
class Learner {
public:
    virtual ~Learner() = default;

    virtual std::string_view name() const = 0;
    // Write the contribution of every row of a view to the log-odds of spam; return the contribution of the bias.
    virtual double evidence(Rows rows, std::size_t view, const Totals& totals,
                            std::span<double> contributions) const = 0;
    // Learn one view of a message; the totals are those before it.
    virtual void learn(Rows rows, std::size_t view, bool spam, Totals& totals) const = 0;
    virtual bool can_unlearn() const { return false; }
    // Unlearn all rows of a message, or change nothing and return false.
    virtual bool unlearn(Rows, bool) const { return false; }
};

// Throws std::invalid_argument if there is no such learner.
const Learner& learner_by_name(std::string_view name);

// Value of every feature of a view, which normalises for the length of the message.
inline double feature_value(Rows rows) {
    return rows.empty() ? 1.0 : 1.0 / std::sqrt(static_cast<double>(rows.size()));
}

// A score as log-odds, limited to ±kMaxLogOdds, so that a single view never decides with certainty.
inline constexpr double kMaxLogOdds = 11;
inline double log_odds(double scaled) { return kMaxLogOdds * std::tanh(scaled); }

// Log-odds per unit of score; `scale` is the derivative at zero.
inline double log_odds_per_unit(double score, double scale) {
    return score == 0 ? kMaxLogOdds * scale : log_odds(scale * score) / score;
}

}  // namespace weigh::mail
