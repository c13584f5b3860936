// An averaged perceptron per view: a weight w and u = Σ t⁴ · change, t the messages before the change.
//
// The mean of the weights over T messages, the t-th counting t³, is w − u / T⁴ in the limit: early weights are
// soon forgotten. Weights change, by ± x, when a message is right by no more than the margin.
#pragma once

#include "weigh/mail/cells.h"
#include "weigh/mail/learner.h"

namespace weigh::mail {

class Perceptron final : public Learner {
public:
    static constexpr double kMargin = 0.15, kScale = 0.85, kBiasRate = 0.02;

    std::string_view name() const override { return "perceptron"; }

    double evidence(Rows rows, std::size_t view, const Totals& totals, std::span<double> parts) const override {
        const double x = value_of(rows), ticks = ticks_of(totals), share = ticks > 0 ? 1 / ticks : 0;
        const double bias = totals.biases[view].weight - totals.biases[view].sum * share;
        double score = bias;
        for (std::size_t at = 0; at < rows.size(); ++at) {
            parts[at] = (number_in(rows[at]->first) - number_in(rows[at]->second) * share) * x;
            score += parts[at];
        }
        const double unit = per_unit(score, kScale);
        for (double& part : parts) part *= unit;
        return unit * bias;
    }

    void learn(Rows rows, std::size_t view, bool spam, Totals& totals) const override {
        const double x = value_of(rows), truth = spam ? 1.0 : -1.0, ticks = ticks_of(totals);
        Bias& bias = totals.biases[view];
        double sum = 0;
        for (const Row* row : rows) sum += number_in(row->first);
        if (truth * (bias.weight + sum * x) > kMargin) return;
        for (Row* row : rows) {
            row->first = cell_of(number_in(row->first) + truth * x);
            row->second = cell_of(number_in(row->second) + ticks * truth * x);
        }
        bias.weight += kBiasRate * truth;
        bias.sum += ticks * kBiasRate * truth;
    }

private:
    static double ticks_of(const Totals& totals) {
        const double squared = static_cast<double>(totals.messages()) * static_cast<double>(totals.messages());
        return squared * squared;
    }
};

}  // namespace weigh::mail
