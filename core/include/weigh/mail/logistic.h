// Online logistic regression with AdaGrad, one per view: a weight w and G, the sum of its squared gradients.
//
// z = b + Σ w x, e = y − 1 / (1 + exp(−z)), g = e x, G += g², w += g / √(G + 1e-8), b += 0.02 e.
#pragma once

#include "weigh/mail/cells.h"
#include "weigh/mail/learner.h"

namespace weigh::mail {

class Logistic final : public Learner {
public:
    static constexpr double kBiasRate = 0.02, kFloor = 1e-8, kScale = 1.0 / 12;

    std::string_view name() const override { return "logistic"; }

    double evidence(Rows rows, std::size_t view, const Totals& totals, std::span<double> parts) const override {
        const double x = value_of(rows), bias = totals.biases[view].weight;
        const double unit = per_unit(score(rows, bias, x), kScale);
        for (std::size_t at = 0; at < rows.size(); ++at) parts[at] = unit * (number_in(rows[at]->first) * x);
        return unit * bias;
    }

    void learn(Rows rows, std::size_t view, bool spam, Totals& totals) const override {
        const double x = value_of(rows);
        double& bias = totals.biases[view].weight;
        const double e = (spam ? 1.0 : 0.0) - 1 / (1 + std::exp(-score(rows, bias, x)));
        const double g = e * x;
        for (Row* row : rows) {
            const double squares = number_in(row->second) + g * g;
            row->first = cell_of(number_in(row->first) + g / std::sqrt(squares + kFloor));
            row->second = cell_of(squares);
        }
        bias += kBiasRate * e;
    }

private:
    static double score(Rows rows, double bias, double x) {
        double sum = 0;
        for (const Row* row : rows) sum += number_in(row->first);
        return bias + sum * x;
    }
};

}  // namespace weigh::mail
