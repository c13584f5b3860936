#include "weigh/mail/learner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace weigh::mail {

// Cells hold single-precision floats; arithmetic is in double precision. A non-finite cell in a damaged file counts
// as zero.
inline double load_float(std::uint32_t cell) {
    const double number = std::bit_cast<float>(cell);
    return std::isfinite(number) ? number : 0.0;
}

inline std::uint32_t store_float(double number) { return std::bit_cast<std::uint32_t>(static_cast<float>(number)); }

// Naive Bayes on feature presence: the cells count the hams and spams that have a feature.
//
// p = (spam / S) / (spam / S + ham / H), f = (s x + m p) / (s + m) with m = ham + spam: the posterior mean under a
// Beta(s x, s (1 − x)) prior. A feature contributes kEffectiveFeatures · logit(f) / n, so that the n features of a
// view weigh as much as kEffectiveFeatures independent ones.
class NaiveBayes final : public Learner {
public:
    static constexpr double kPriorStrength = 0.03, kPriorMean = 0.5, kEffectiveFeatures = 10;

    std::string_view name() const override { return "naive-bayes"; }

    double evidence(Rows rows, std::size_t, const Totals& totals, std::span<double> contributions) const override {
        const bool has_both_classes = totals.hams > 0 && totals.spams > 0;
        const double scale = kEffectiveFeatures / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
        for (std::size_t at = 0; at < rows.size(); ++at)
            contributions[at] = has_both_classes && !rows[at]->is_empty() ? scale * logit(*rows[at], totals) : 0.0;
        return 0;
    }

    void learn(Rows rows, std::size_t, bool spam, Totals&) const override {
        // Saturate: a count from a damaged file must not wrap around to zero.
        for (Row* row : rows) {
            std::uint32_t& count = cell(*row, spam);
            count += count < std::numeric_limits<std::uint32_t>::max();
        }
    }

    bool can_unlearn() const override { return true; }

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

    // The odds f / (1 − f), with both sides multiplied by spam · H + ham · S to save divisions.
    static double logit(const Row& row, const Totals& totals) {
        const double spam = static_cast<double>(row.second) * static_cast<double>(totals.hams);
        const double ham = static_cast<double>(row.first) * static_cast<double>(totals.spams);
        const double seen = static_cast<double>(row.first) + row.second, prior = kPriorStrength * (spam + ham);
        return std::log((prior * kPriorMean + seen * spam) / (prior * (1 - kPriorMean) + seen * ham));
    }
};

// Online logistic regression with AdaGrad, one per view: the cells are the weight w and the sum G of squared
// gradients.
//
// z = b + Σ w x, e = y − 1 / (1 + exp(−z)), g = e x, G += g², w += g / √(G + 1e-8), b += 0.02 e.
class Logistic final : public Learner {
public:
    static constexpr double kBiasRate = 0.02, kFloor = 1e-8, kScale = 1.0 / 12;

    std::string_view name() const override { return "logistic"; }

    double evidence(Rows rows, std::size_t view, const Totals& totals, std::span<double> contributions) const override {
        const double x = feature_value(rows), bias = totals.biases[view].weight;
        const double unit = log_odds_per_unit(score(rows, bias, x), kScale);
        for (std::size_t at = 0; at < rows.size(); ++at) contributions[at] = unit * (load_float(rows[at]->first) * x);
        return unit * bias;
    }

    void learn(Rows rows, std::size_t view, bool spam, Totals& totals) const override {
        const double x = feature_value(rows);
        double& bias = totals.biases[view].weight;
        const double e = (spam ? 1.0 : 0.0) - 1 / (1 + std::exp(-score(rows, bias, x)));
        const double g = e * x;
        for (Row* row : rows) {
            const double squares = load_float(row->second) + g * g;
            row->first = store_float(load_float(row->first) + g / std::sqrt(squares + kFloor));
            row->second = store_float(squares);
        }
        bias += kBiasRate * e;
    }

private:
    static double score(Rows rows, double bias, double x) {
        double sum = 0;
        for (const Row* row : rows) sum += load_float(row->first);
        return bias + sum * x;
    }
};

// Averaged perceptron, one per view: the cells are the weight w and u = Σ t⁴ · change, where t is the number of
// messages before the change.
//
// The average of the weights over T messages, with weights t³, is w − u / T⁴ in the limit, which forgets early
// weights quickly. An update of ± x happens when the margin of a message is at most kMargin.
class Perceptron final : public Learner {
public:
    static constexpr double kMargin = 0.15, kScale = 0.85, kBiasRate = 0.02;

    std::string_view name() const override { return "perceptron"; }

    double evidence(Rows rows, std::size_t view, const Totals& totals, std::span<double> contributions) const override {
        const double x = feature_value(rows), steps = step_weight(totals), scale = steps > 0 ? 1 / steps : 0;
        const double bias = totals.biases[view].weight - totals.biases[view].sum * scale;
        double score = bias;
        for (std::size_t at = 0; at < rows.size(); ++at) {
            contributions[at] = (load_float(rows[at]->first) - load_float(rows[at]->second) * scale) * x;
            score += contributions[at];
        }
        const double unit = log_odds_per_unit(score, kScale);
        for (double& contribution : contributions) contribution *= unit;
        return unit * bias;
    }

    void learn(Rows rows, std::size_t view, bool spam, Totals& totals) const override {
        const double x = feature_value(rows), truth = spam ? 1.0 : -1.0, steps = step_weight(totals);
        Bias& bias = totals.biases[view];
        double sum = 0;
        for (const Row* row : rows) sum += load_float(row->first);
        if (truth * (bias.weight + sum * x) > kMargin) return;
        for (Row* row : rows) {
            row->first = store_float(load_float(row->first) + truth * x);
            row->second = store_float(load_float(row->second) + steps * truth * x);
        }
        bias.weight += kBiasRate * truth;
        bias.sum += steps * kBiasRate * truth;
    }

private:
    static double step_weight(const Totals& totals) {
        const double squared = static_cast<double>(totals.messages()) * static_cast<double>(totals.messages());
        return squared * squared;
    }
};

const Learner& learner_by_name(std::string_view name) {
    static const NaiveBayes bayes;
    static const Logistic logistic;
    static const Perceptron perceptron;
    static const std::array<const Learner*, 3> all{&bayes, &logistic, &perceptron};
    for (const Learner* learner : all)
        if (learner->name() == name) return *learner;
    // With a full stop like the other messages about damaged files, where such a name comes from.
    throw std::invalid_argument("there is no learner of this name.");
}

}  // namespace weigh::mail
