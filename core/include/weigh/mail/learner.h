// What the learners of mail have in common: rows of two cells in, log-odds of spam out.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "weigh/mail/print.h"
#include "weigh/mail/slots.h"

namespace weigh::mail {

using Rows = std::span<Row* const>;

// A view's bias and what is summed up with it.
struct Bias {
    double weight = 0, sum = 0;
};

// What a learner knows besides the rows.
struct Totals {
    std::uint64_t hams = 0, spams = 0;
    std::array<Bias, kViews> biases;

    std::uint64_t messages() const { return hams + spams; }
};

// A rule for rows; it has no state of its own.
class Learner {
public:
    virtual ~Learner() = default;

    virtual std::string_view name() const = 0;
    // What every row of a view adds to the log-odds of spam; returns what the view's bias adds.
    virtual double evidence(Rows rows, std::size_t view, const Totals& totals, std::span<double> parts) const = 0;
    // Learn one view of a message; the totals are those before it.
    virtual void learn(Rows rows, std::size_t view, bool spam, Totals& totals) const = 0;
    virtual bool unlearns() const { return false; }
    // Take back all rows of a message, or change nothing and return false.
    virtual bool unlearn(Rows, bool) const { return false; }
};

// Throws std::invalid_argument for a name that no learner has.
const Learner& learner_named(std::string_view name);

// Every feature of a view is worth this, so that long messages weigh no more than short ones.
inline double value_of(Rows rows) { return rows.empty() ? 1.0 : 1.0 / std::sqrt(static_cast<double>(rows.size())); }

// A view's score as log-odds, kMostOdds at most: headers or body alone may say spam, but never for certain.
inline constexpr double kMostOdds = 11;
inline double log_odds(double scaled) { return kMostOdds * std::tanh(scaled); }

// What each unit of a score adds to its log-odds; `scale` is the score's at zero.
inline double per_unit(double score, double scale) {
    return score == 0 ? kMostOdds * scale : log_odds(scale * score) / score;
}

}  // namespace weigh::mail
