// Naive Bayes over presence: how many hams and spams have a feature.
//
// p = (spam / S) / (spam / S + ham / H), f = (s x + m p) / (s + m) with m = ham + spam: the mean of a
// Beta(s x, s (1 − x)) prior after m messages. A feature adds kIndependent · logit(f) / n: the n features of
// a view together weigh as much as that many independent ones.
#pragma once

#include <algorithm>
#include <limits>

#include "weigh/mail/learner.h"

namespace weigh::mail {

class Bayes final : public Learner {
public:
    static constexpr double kStrength = 0.03, kCentre = 0.5, kIndependent = 10;

    std::string_view name() const override { return "naive-bayes"; }

    double evidence(Rows rows, std::size_t, const Totals& totals, std::span<double> parts) const override {
        const bool knows_both = totals.hams > 0 && totals.spams > 0;
        const double share = kIndependent / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
        for (std::size_t at = 0; at < rows.size(); ++at)
            parts[at] = knows_both && !rows[at]->is_empty() ? share * logit(*rows[at], totals) : 0.0;
        return 0;
    }

    void learn(Rows rows, std::size_t, bool spam, Totals&) const override {
        // No honest count gets there; one of a damaged file must not begin again at zero.
        for (Row* row : rows) {
            std::uint32_t& count = cell(*row, spam);
            count += count < std::numeric_limits<std::uint32_t>::max();
        }
    }

    bool unlearns() const override { return true; }

    bool unlearn(Rows rows, bool spam) const override {
        for (std::size_t at = 0; at < rows.size(); ++at) {
            if (cell(*rows[at], spam) == 0) {
                while (at-- > 0) ++cell(*rows[at], spam);
                return false;
            }
            --cell(*rows[at], spam);
        }
        return true;
    }

private:
    static std::uint32_t& cell(Row& row, bool spam) { return spam ? row.second : row.first; }

    // The odds f / (1 − f), both sides times spam · H + ham · S: one division instead of four.
    static double logit(const Row& row, const Totals& totals) {
        const double spam = static_cast<double>(row.second) * static_cast<double>(totals.hams);
        const double ham = static_cast<double>(row.first) * static_cast<double>(totals.spams);
        const double seen = static_cast<double>(row.first) + row.second, prior = kStrength * (spam + ham);
        return std::log((prior * kCentre + seen * spam) / (prior * (1 - kCentre) + seen * ham));
    }
};

}  // namespace weigh::mail
