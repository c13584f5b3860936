#include "weigh/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "penalty.h"

namespace weigh {
namespace {

// The share of a sum that must remain: below it, the difference would lose too many digits.
constexpr double kMinShare = 0.1;
constexpr double kMinWeightShare = 0.01;
const double kLogSqrtTwoPi = 0.5 * std::log(2.0 * std::numbers::pi);

// A value relative to the moments of a group of values that contains it: its distance from their mean, and the weight
// of its row divided by that of the others.
struct Deviation {
    double distance, ratio;
    bool is_regular;

    // The distance from the mean of the other values.
    double left_out_distance() const { return distance * (1.0 + ratio); }
};

// The moments of a group of values, with quotients that most rows need.
struct Group {
    double known, mean, mean_residual, variance, inverse_variance, unit_ratio;

    double distance(double x) const { return (x - mean) - mean_residual; }

    Deviation deviation(double x, double weight) const {
        const double ratio = weight == 1.0 ? unit_ratio : weight / (known - weight);
        return {distance(x), ratio, known - weight > kMinWeightShare * known};
    }

    // The variance without a value: v (1 + r) (1 − r d² / v). NaN if it loses precision.
    double left_out_variance(const Deviation& d) const {
        if (variance == 0.0) return d.distance == 0.0 ? 0.0 : NAN;
        const double share = 1.0 - d.ratio * d.distance * d.distance * inverse_variance;
        return share > kMinShare ? variance * (1.0 + d.ratio) * share : NAN;
    }
};

// The groups of all classes; the last is that of all values.
std::vector<Group> groups_of(const ClassMoments& m) {
    std::vector<Group> groups;
    for (std::size_t g = 0; g < m.mean.size(); ++g)
        groups.push_back({m.known[g], m.mean[g], m.mean_residual[g], m.variance[g], 1.0 / m.variance[g],
                          1.0 / (m.known[g] - 1.0)});
    return groups;
}

// A normal distribution around zero.
struct Normal {
    explicit Normal(double variance)
        : constant(-0.5 * std::log(variance) - kLogSqrtTwoPi), inverse_std(1.0 / std::sqrt(variance)) {}

    double log_density(double distance) const { return constant - penalty(distance * inverse_std); }

    double constant, inverse_std;
};

// The normal densities of a column with a variance per class.
class OwnSpread {
public:
    OwnSpread(const ClassMoments& moments, double min_ratio) : groups_(groups_of(moments)), min_ratio_(min_ratio) {
        for (const Group& group : groups_) {
            normals_.emplace_back(group.variance);
            has_zero_ = has_zero_ || group.variance == 0.0;
        }
    }

    std::size_t classes() const { return groups_.size() - 1; }

    // Return whether the row is regular; only then its scores change.
    bool add(double x, std::size_t own, double weight, double* score) const {
        const Deviation overall = groups_.back().deviation(x, weight), d = groups_[own].deviation(x, weight);
        const double all = groups_.back().left_out_variance(overall);
        const double variance = groups_[own].left_out_variance(d), floor = min_ratio_ * all;
        if (!d.is_regular || !overall.is_regular || !(all > 0.0) || std::isnan(variance)) return false;
        if (floor == 0.0 && (has_zero_ || variance == 0.0)) return false;
        const double own_variance = std::max(variance, floor), distance = d.left_out_distance();
        const double own_score =
            -0.5 * std::log(own_variance) - kLogSqrtTwoPi - 0.5 * distance * distance / own_variance;
        std::optional<Normal> at_floor;
        for (std::size_t c = 0; c < classes(); ++c) {
            if (c == own) {
                score[c] += own_score;
            } else if (groups_[c].variance >= floor) {
                score[c] += normals_[c].log_density(groups_[c].distance(x));
            } else if (std::isnan(groups_[c].variance)) {
                // A class without values has the moments of all values.
                score[c] += Normal(all).log_density(overall.left_out_distance());
            } else {
                if (!at_floor) at_floor.emplace(floor);
                score[c] += at_floor->log_density(groups_[c].distance(x));
            }
        }
        return true;
    }

private:
    std::vector<Group> groups_;
    std::vector<Normal> normals_;
    double min_ratio_;
    bool has_zero_ = false;
};

// The normal densities of a column with one variance for all classes.
class SharedSpread {
public:
    SharedSpread(const ClassMoments& moments, double min_ratio, double variance, bool is_given)
        : groups_(groups_of(moments)), min_ratio_(min_ratio), variance_(variance), is_given_(is_given) {}

    std::size_t classes() const { return groups_.size() - 1; }

    // Return whether the row is regular; only then its scores change.
    bool add(double x, std::size_t own, double weight, double* score) const {
        const Deviation overall = groups_.back().deviation(x, weight), d = groups_[own].deviation(x, weight);
        if (!d.is_regular || !overall.is_regular) return false;
        const double variance = is_given_ ? variance_ : left_out_variance(d, weight, overall);
        if (!(variance > 0.0)) return false;
        const Normal normal(variance);
        for (std::size_t c = 0; c < classes(); ++c) {
            if (c == own) score[c] += normal.log_density(d.left_out_distance());
            else if (groups_[c].known == 0.0) score[c] += normal.log_density(overall.left_out_distance());
            else score[c] += normal.log_density(groups_[c].distance(x));
        }
        return true;
    }

private:
    // The pooled variance without the row, at least the floor; NaN if it loses precision.
    double left_out_variance(const Deviation& d, double weight, const Deviation& overall) const {
        const double floor = min_ratio_ * groups_.back().left_out_variance(overall);
        if (std::isnan(floor)) return NAN;
        if (variance_ == 0.0) return d.distance == 0.0 ? floor : NAN;
        const double scatter = weight * d.distance * d.left_out_distance();
        const double share = 1.0 - scatter / (groups_.back().known * variance_);
        return share > kMinShare ? std::max(variance_ * (1.0 + overall.ratio) * share, floor) : NAN;
    }

    std::vector<Group> groups_;
    double min_ratio_, variance_;
    bool is_given_;
};

template <class Spread>
void add_rows(Strided<double> values, const LeftOut& rows, const Spread& spread, std::span<double> scores) {
    for (std::size_t i = 0; i < values.size; ++i) {
        if (std::isnan(values[i])) continue;
        const auto own = static_cast<std::size_t>(rows.classes[i]);
        rows.irregular[i] = !spread.add(values[i], own, rows.weights[i], scores.data() + i * spread.classes());
    }
}

// Σ value · log x. Factors with value 1 are multiplied first, because a logarithm takes as long as many products.
class LogSum {
public:
    void add(double x, double value) {
        if (value != 1.0 || !(x > 1e-100 && x < 1e100)) {
            sum_ += value * std::log(x);
            return;
        }
        product_ *= x;
        if (product_ < 1e-150 || product_ > 1e150) {
            sum_ += std::log(product_);
            product_ = 1.0;
        }
    }

    double total() const { return sum_ + std::log(product_); }

private:
    double sum_ = 0.0, product_ = 1.0;
};

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
        own_ = {};
        length_ = 0.0;
        drops_ = false;
        const auto end = static_cast<std::size_t>(entries.indptr[row + 1]);
        for (auto e = static_cast<std::size_t>(entries.indptr[row]); e < end; ++e)
            if (entries.value(e) != 0.0)
                add_entry(static_cast<std::size_t>(entries.indices[e]), entries.value(e), own, weight);
        dropped_[own] += weight * length_;
        for (std::size_t c = 0; c < classes_; ++c)
            if (!(w_.class_totals[c] - dropped_[c] > 1e-9 * w_.class_totals[c])) return false;
        for (std::size_t c = 0; c < classes_; ++c) {
            const double left = w_.class_totals[c] - dropped_[c];
            if (c == own) score[c] += length_ == 0.0 ? 0.0 : own_.total() - length_ * std::log(left);
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
        own_.add(count(own, word) - weight * value + w_.pseudo[word], value);
        const double* logs = w_.logs.data() + word * classes_;
        for (std::size_t c = 0; c < classes_; ++c) added_[c] += value * logs[c];
    }

    double count(std::size_t c, std::size_t word) const { return static_cast<double>(w_.counts[c * width_ + word]); }

    const SmoothedCounts<Count>& w_;
    std::size_t classes_, width_;
    std::vector<double> added_, dropped_;
    LogSum own_;
    double length_ = 0.0;
    bool drops_ = false;
};

}  // namespace

void leave_out_gaussian(Strided<double> values, const LeftOut& rows, const ClassMoments& moments, double min_ratio,
                        std::span<double> scores) {
    add_rows(values, rows, OwnSpread(moments, min_ratio), scores);
}

void leave_out_shared_gaussian(Strided<double> values, const LeftOut& rows, const ClassMoments& moments,
                               double min_ratio, double variance, bool is_given, std::span<double> scores) {
    add_rows(values, rows, SharedSpread(moments, min_ratio, variance, is_given), scores);
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
