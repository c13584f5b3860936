#include "weigh/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "penalty.h"

namespace weigh {
namespace {

// The share of a sum that must remain: below it, the difference would lose too many digits.
constexpr double kMinShare = 0.1;
constexpr double kMinWeightShare = 0.01;
const double kLogSqrtTwoPi = 0.5 * std::log(2.0 * std::numbers::pi);

// A value relative to the moments of a group of values that contains it: distance from the mean, and the weight of its
// row divided by the weight of the others.
struct Deviation {
    double distance, ratio;
    bool is_regular;

    // The distance from the mean of the other values.
    double left_out_distance() const { return distance * (1.0 + ratio); }
};

Deviation deviation(double x, double weight, const ClassMoments& m, std::size_t group) {
    const double known = m.known[group], others = known - weight;
    return {(x - m.mean[group]) - m.mean_residual[group], weight / others, others > kMinWeightShare * known};
}

// The variance of a group without a value: v (1 + r) (1 − r d² / v). NaN if it loses precision.
double left_out_variance(const Deviation& d, double variance) {
    if (variance == 0.0) return d.distance == 0.0 ? 0.0 : NAN;
    const double share = 1.0 - d.ratio * d.distance * d.distance / variance;
    return share > kMinShare ? variance * (1.0 + d.ratio) * share : NAN;
}

// The normal densities of a column with a variance per class.
class OwnSpread {
public:
    OwnSpread(const ClassMoments& moments, double min_ratio)
        : m_(moments), min_ratio_(min_ratio), classes_(moments.mean.size() - 1), inverse_std_(classes_),
          constant_(classes_) {
        for (std::size_t c = 0; c < classes_; ++c) {
            inverse_std_[c] = 1.0 / std::sqrt(m_.variance[c]);
            constant_[c] = -0.5 * std::log(m_.variance[c]) - kLogSqrtTwoPi;
            has_zero_ = has_zero_ || m_.variance[c] == 0.0;
        }
    }

    // Return whether the row is regular; only then its scores change.
    bool add(double x, std::size_t own, double weight, double* score) const {
        const Deviation overall = deviation(x, weight, m_, classes_), d = deviation(x, weight, m_, own);
        const double all = left_out_variance(overall, m_.variance[classes_]);
        const double variance = left_out_variance(d, m_.variance[own]);
        const double floor = min_ratio_ * all;
        if (!d.is_regular || !overall.is_regular || !(all > 0.0) || std::isnan(variance)) return false;
        if (floor == 0.0 && (has_zero_ || variance == 0.0)) return false;
        const double own_variance = std::max(variance, floor), distance = d.left_out_distance();
        const double own_score =
            -0.5 * std::log(own_variance) - kLogSqrtTwoPi - 0.5 * distance * distance / own_variance;
        for (std::size_t c = 0; c < classes_; ++c) {
            if (c == own) score[c] += own_score;
            else if (m_.variance[c] >= floor)
                score[c] += constant_[c] - penalty(((x - m_.mean[c]) - m_.mean_residual[c]) * inverse_std_[c]);
            else score[c] += other_score(x, c, overall, all, floor);
        }
        return true;
    }

private:
    // A class whose variance is below the floor, or that has no values: it has the moments of all other values.
    double other_score(double x, std::size_t c, const Deviation& overall, double all, double floor) const {
        const bool is_empty = std::isnan(m_.variance[c]);
        const double variance = is_empty ? all : floor;
        const double distance = is_empty ? overall.left_out_distance() : (x - m_.mean[c]) - m_.mean_residual[c];
        return -0.5 * std::log(variance) - kLogSqrtTwoPi - penalty(distance / std::sqrt(variance));
    }

    const ClassMoments& m_;
    double min_ratio_;
    std::size_t classes_;
    std::vector<double> inverse_std_, constant_;
    bool has_zero_ = false;
};

// The normal densities of a column with one variance for all classes.
struct SharedSpread {
    const ClassMoments& m;
    double min_ratio, variance;
    bool is_given;
    std::size_t classes = m.mean.size() - 1;

    bool add(double x, std::size_t own, double weight, double* score) const {
        const Deviation overall = deviation(x, weight, m, classes), d = deviation(x, weight, m, own);
        if (!d.is_regular || !overall.is_regular) return false;
        const double left = is_given ? variance : left_out(d, weight, overall);
        if (!(left > 0.0)) return false;
        const double inverse_std = 1.0 / std::sqrt(left), constant = -0.5 * std::log(left) - kLogSqrtTwoPi;
        for (std::size_t c = 0; c < classes; ++c) {
            const double distance = c == own                  ? d.left_out_distance()
                                    : std::isnan(m.variance[c]) ? overall.left_out_distance()
                                                                : (x - m.mean[c]) - m.mean_residual[c];
            score[c] += constant - penalty(distance * inverse_std);
        }
        return true;
    }

    // The pooled variance without the row, at least the floor; NaN if it loses precision.
    double left_out(const Deviation& d, double weight, const Deviation& overall) const {
        const double floor = min_ratio * left_out_variance(overall, m.variance[classes]);
        if (std::isnan(floor)) return NAN;
        if (variance == 0.0) return d.distance == 0.0 ? floor : NAN;
        const double scatter = weight * d.distance * d.left_out_distance();
        const double share = 1.0 - scatter / (m.known[classes] * variance);
        return share > kMinShare ? std::max(variance * (1.0 + overall.ratio) * share, floor) : NAN;
    }
};

template <class Spread>
void add_rows(Strided<double> values, const LeftOut& rows, const Spread& spread, std::size_t classes,
              std::span<double> scores) {
    for (std::size_t i = 0; i < values.size; ++i) {
        if (std::isnan(values[i])) continue;
        const auto own = static_cast<std::size_t>(rows.classes[i]);
        rows.irregular[i] = !spread.add(values[i], own, rows.weights[i], scores.data() + i * classes);
    }
}

// The words of one row: what they add to the scores, and what the row and the words that leave the vocabulary take from
// the class totals.
template <class Count>
class RowOfWords {
public:
    explicit RowOfWords(const SmoothedCounts<Count>& words)
        : w_(words), classes_(words.class_totals.size()), width_(words.word_totals.size()), added_(classes_),
          dropped_(classes_) {}

    // Return whether the row is regular; only then its scores change.
    bool add(const SparseRows& entries, std::size_t row, std::size_t own, double weight, double* score) {
        std::fill(added_.begin(), added_.end(), 0.0);
        std::fill(dropped_.begin(), dropped_.end(), 0.0);
        own_ = length_ = 0.0;
        drops_ = false;
        const auto end = static_cast<std::size_t>(entries.indptr[row + 1]);
        for (auto e = static_cast<std::size_t>(entries.indptr[row]); e < end; ++e)
            if (entries.value(e) != 0.0)
                add_entry(static_cast<std::size_t>(entries.indices[e]), entries.value(e), own, weight);
        dropped_[own] += weight * length_;
        for (std::size_t c = 0; c < classes_; ++c)
            if (!(w_.class_totals[c] - dropped_[c] > 1e-9 * w_.class_totals[c])) return false;
        for (std::size_t c = 0; c < classes_; ++c) {
            if (c == own) score[c] += length_ == 0.0 ? 0.0 : own_ - length_ * std::log(w_.class_totals[c] - dropped_[c]);
            else score[c] += drops_ ? added_[c] - length_ * std::log1p(-dropped_[c] / w_.class_totals[c]) : added_[c];
        }
        return true;
    }

private:
    void add_entry(std::size_t word, double value, std::size_t own, double weight) {
        const double left = w_.word_totals[word] - weight * value;
        if (w_.min_count > 0.0 && left < w_.min_count) {
            drops_ = true;
            for (std::size_t c = 0; c < classes_; ++c) dropped_[c] += count(c, word) + w_.pseudo[word];
            return;
        }
        length_ += value;
        own_ += value * std::log(count(own, word) - weight * value + w_.pseudo[word]);
        const double* logs = w_.logs.data() + word * classes_;
        for (std::size_t c = 0; c < classes_; ++c) added_[c] += value * logs[c];
    }

    double count(std::size_t c, std::size_t word) const { return static_cast<double>(w_.counts[c * width_ + word]); }

    const SmoothedCounts<Count>& w_;
    std::size_t classes_, width_;
    std::vector<double> added_, dropped_;
    double own_ = 0.0, length_ = 0.0;
    bool drops_ = false;
};

}  // namespace

void leave_out_gaussian(Strided<double> values, const LeftOut& rows, const ClassMoments& moments, double min_ratio,
                        std::span<double> scores) {
    add_rows(values, rows, OwnSpread(moments, min_ratio), moments.mean.size() - 1, scores);
}

void leave_out_shared_gaussian(Strided<double> values, const LeftOut& rows, const ClassMoments& moments,
                               double min_ratio, double variance, bool is_given, std::span<double> scores) {
    add_rows(values, rows, SharedSpread{moments, min_ratio, variance, is_given}, moments.mean.size() - 1, scores);
}

template <class Count>
void leave_out_words(const SparseRows& entries, const LeftOut& rows, const SmoothedCounts<Count>& words,
                     std::span<double> scores) {
    const std::size_t classes = words.class_totals.size();
    RowOfWords<Count> row(words);
    for (std::size_t i = 0; i < entries.rows(); ++i) {
        const auto own = static_cast<std::size_t>(rows.classes[i]);
        rows.irregular[i] = !row.add(entries, i, own, rows.weights[i], scores.data() + i * classes);
    }
}

template void leave_out_words(const SparseRows&, const LeftOut&, const SmoothedCounts<std::uint8_t>&,
                              std::span<double>);
template void leave_out_words(const SparseRows&, const LeftOut&, const SmoothedCounts<std::uint16_t>&,
                              std::span<double>);
template void leave_out_words(const SparseRows&, const LeftOut&, const SmoothedCounts<std::uint32_t>&,
                              std::span<double>);
template void leave_out_words(const SparseRows&, const LeftOut&, const SmoothedCounts<std::int64_t>&,
                              std::span<double>);

void score_own_class(const SparseRows& entries, Codes classes, std::span<const double> table,
                     std::span<const double> own_table, std::size_t n_classes, std::span<double> scores) {
    for (std::size_t i = 0; i < entries.rows(); ++i) {
        double* score = scores.data() + i * n_classes;
        const auto own = static_cast<std::size_t>(classes[i]);
        double own_score = score[own];
        const auto end = static_cast<std::size_t>(entries.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(entries.indptr[i]); e < end; ++e) {
            const std::size_t first = static_cast<std::size_t>(entries.indices[e]) * n_classes;
            for (std::size_t c = 0; c < n_classes; ++c) score[c] += table[first + c];
            own_score += own_table[first + own];
        }
        score[own] = own_score;
    }
}

}  // namespace weigh
