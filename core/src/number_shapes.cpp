#include "weigh/number_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weigh {
namespace {

constexpr double kSmallestVariance = 1e-200;

// Counts of rows by group and class, [groups, classes] row-major.
struct GroupTable {
    std::size_t classes;
    std::vector<double> counts;

    std::size_t groups() const { return counts.size() / classes; }
    std::span<const double> row(std::size_t g) const { return {counts.data() + g * classes, classes}; }

    std::vector<double> class_totals() const {
        std::vector<double> totals(classes);
        for (std::size_t g = 0; g < groups(); ++g)
            for (std::size_t c = 0; c < classes; ++c) totals[c] += row(g)[c];
        return totals;
    }
};

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Sums the rows of a table by group; the groups of the rows ascend by steps of one.
GroupTable sum_groups(const GroupTable& table, std::span<const std::int64_t> groups) {
    const auto n_groups = static_cast<std::size_t>(groups.back()) + 1;
    GroupTable sums{table.classes, std::vector<double>(n_groups * table.classes)};
    for (std::size_t k = 0; k < groups.size(); ++k)
        for (std::size_t c = 0; c < table.classes; ++c)
            sums.counts[static_cast<std::size_t>(groups[k]) * table.classes + c] += table.row(k)[c];
    return sums;
}

// The scores of a group in each class, and those of a row's own class without that row.
struct Scores {
    std::span<double> with, without;
};

// Sums the losses of all rows; `score(g, scores)` fills the scores of a group.
template <class Score>
double sum_losses(const GroupTable& table, std::span<const double> log_shares, Score score) {
    const std::size_t n = table.classes;
    std::vector<double> with(n), without(n), powers(n);
    double loss = 0.0;
    for (std::size_t g = 0; g < table.groups(); ++g) {
        score(g, Scores{with, without});
        for (std::size_t c = 0; c < n; ++c) with[c] += log_shares[c];
        const double largest = *std::max_element(with.begin(), with.end());
        double total = 0.0;
        for (std::size_t c = 0; c < n; ++c) total += powers[c] = std::exp(with[c] - largest);
        for (std::size_t c = 0; c < n; ++c) {
            const double count = table.row(g)[c];
            if (count == 0.0) continue;
            const double others = std::max(total - powers[c], 0.0);
            if (others == 0.0) continue;  // certain without the row too
            const double odds = std::log(others) + largest - (without[c] + log_shares[c]);
            loss += count * (odds > 700.0 ? odds : std::log1p(std::exp(odds)));
        }
    }
    return loss;
}

// Normal densities of the numbers x of groups, in each class; those of a class without a row follow by a formula.
//
// Without a row, the mean m and variance v of N rows are m − d / (N − 1) and N (v − d² / (N − 1)) / (N − 1) for
// d = x − m. A class without rows has the mean and variance of the column. Constants are left out.
class NormalDensities {
public:
    NormalDensities(std::span<const double> x, const GroupTable& table, bool is_shared, double floor)
        : x_(x), is_shared_(is_shared), known_(table.class_totals()), total_(sum(known_)) {
        const std::size_t n = table.classes;
        means_.assign(n, 0.0);
        variances_.assign(n, 0.0);
        for (std::size_t g = 0; g < x.size(); ++g) {
            const double rows = sum(table.row(g));
            column_mean_ += rows * x[g] / total_;
            for (std::size_t c = 0; c < n; ++c) means_[c] += table.row(g)[c] * x[g];
        }
        for (std::size_t c = 0; c < n; ++c) means_[c] = known_[c] > 0 ? means_[c] / known_[c] : column_mean_;
        for (std::size_t g = 0; g < x.size(); ++g) {
            column_variance_ += sum(table.row(g)) * square(x[g] - column_mean_) / total_;
            for (std::size_t c = 0; c < n; ++c) variances_[c] += table.row(g)[c] * square(x[g] - means_[c]);
        }
        scatter_ = sum(variances_);
        smallest_ = std::max(floor * floor * column_variance_, kSmallestVariance);
        set_variances();
    }

    void fill(std::size_t g, Scores scores) const {
        for (std::size_t c = 0; c < known_.size(); ++c) {
            const double distance = x_[g] - means_[c];
            scores.with[c] = -0.5 * (log_variances_[c] + square(distance) / variances_[c]);
            scores.without[c] = without_row(x_[g], distance, c);
        }
    }

private:
    static double square(double value) { return value * value; }

    static double log_density(double distance, double variance) {
        return -0.5 * (std::log(variance) + square(distance) / variance);
    }

    void set_variances() {
        raw_variances_.resize(known_.size());
        log_variances_.resize(known_.size());
        for (std::size_t c = 0; c < known_.size(); ++c) {
            raw_variances_[c] = known_[c] > 0 ? variances_[c] / known_[c] : 0.0;
            const double variance = is_shared_ ? scatter_ / total_ : raw_variances_[c];
            variances_[c] = std::max(known_[c] > 0 ? variance : column_variance_, smallest_);
            log_variances_[c] = std::log(variances_[c]);
        }
    }

    double without_row(double x, double distance, std::size_t c) const {
        const bool is_single = known_[c] <= 1;
        const double rest = is_single ? 1.0 : known_[c] - 1.0;
        const double shift = square(distance) / rest;
        double variance = known_[c] * (raw_variances_[c] - shift) / rest;
        if (is_shared_) variance = std::max(scatter_ - known_[c] * shift, 0.0) / (total_ > 1 ? total_ - 1.0 : 1.0);
        else if (is_single) variance = column_variance_;
        return log_density(is_single ? x - column_mean_ : distance + distance / rest, std::max(variance, smallest_));
    }

    std::span<const double> x_;
    bool is_shared_;
    std::vector<double> known_;
    double total_, column_mean_ = 0.0, column_variance_ = 0.0, scatter_ = 0.0, smallest_ = 0.0;
    std::vector<double> means_, variances_, raw_variances_, log_variances_;
};

// Log shares of the rows of a class in bins. The prior is the shares of the whole column, worth `strength` rows, so that
// few rows of a class say little about it.
class BinShares {
public:
    BinShares(const GroupTable& bins, double strength)
        : bins_(&bins), known_(bins.class_totals()), total_(sum(known_)), strength_(strength) {}

    // Replace, or add to, the scores of a bin.
    void fill(std::size_t bin, Scores scores, bool adds) const {
        const double pseudo = strength_ * (sum(bins_->row(bin)) / total_);
        for (std::size_t c = 0; c < known_.size(); ++c) {
            const double count = bins_->row(bin)[c], total = known_[c] + strength_;
            const double with = std::log((count + pseudo) / total);
            const double rest = total - std::min(known_[c], 1.0);
            const double without = std::log((std::max(count - 1.0, 0.0) + pseudo) / rest);
            scores.with[c] = (adds ? scores.with[c] : 0.0) + with;
            scores.without[c] = (adds ? scores.without[c] : 0.0) + without;
        }
    }

private:
    const GroupTable* bins_;
    std::vector<double> known_;
    double total_, strength_;
};

class Comparison {
public:
    Comparison(std::span<const double> centres, std::span<const double> counts, std::size_t n_classes,
               const ShapeSettings& settings)
        : settings_(settings), cells_(transpose_known(counts, n_classes)) {
        totals_.resize(centres.size());
        for (std::size_t k = 0; k < centres.size(); ++k) totals_[k] = sum(cells_.row(k));
        const double all = sum(totals_);
        for (const double known : cells_.class_totals()) log_shares_.push_back(std::log(known / all));
        group(centres);
    }

    std::vector<ShapeCandidate> run() {
        const std::vector<bool> everywhere(x_.size(), true);
        add_normals(NumberShape::normal, everywhere, false);
        if (!settings_.has_nonpositive && x_.front() > 0 && log_deviation() > settings_.min_log_deviation)
            add_normals(NumberShape::log_normal, everywhere, true);
        std::vector<bool> inside(x_.size());
        for (std::size_t g = 0; g < x_.size(); ++g) inside[g] = x_[g] != 0;
        const auto n_inside = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), true));
        if (settings_.is_zero_inflated || (n_inside < x_.size() && n_inside > 1)) {
            add_normals(NumberShape::zero_inflated, inside, false);
            if (!settings_.has_negative) add_normals(NumberShape::zero_inflated, inside, true);
        }
        add_histograms();
        return std::move(candidates_);
    }

private:
    // Classes without rows are left out.
    static GroupTable transpose_known(std::span<const double> counts, std::size_t n_classes) {
        const std::size_t cells = counts.size() / n_classes;
        std::vector<std::size_t> known;
        for (std::size_t c = 0; c < n_classes; ++c) {
            const auto row = counts.subspan(c * cells, cells);
            if (std::any_of(row.begin(), row.end(), [](double n) { return n != 0; })) known.push_back(c);
        }
        GroupTable table{known.size(), std::vector<double>(cells * known.size())};
        for (std::size_t k = 0; k < cells; ++k)
            for (std::size_t c = 0; c < known.size(); ++c)
                table.counts[k * known.size() + c] = counts[known[c] * cells + k];
        return table;
    }

    // Set the means `x_` and the counts of groups of cells: single cells if there are few.
    void group(std::span<const double> centres) {
        if (centres.size() <= settings_.max_groups) {
            x_.assign(centres.begin(), centres.end());
            groups_ = cells_;
            return;
        }
        const auto groups = equal_mass_bins(totals_, settings_.max_groups);
        groups_ = sum_groups(cells_, groups);
        x_.assign(groups_.groups(), 0.0);
        for (std::size_t k = 0; k < centres.size(); ++k)
            x_[static_cast<std::size_t>(groups[k])] += centres[k] * totals_[k];
        for (std::size_t g = 0; g < x_.size(); ++g) x_[g] /= sum(groups_.row(g));
    }

    double log_deviation() const {
        const auto n = static_cast<double>(x_.size());
        double mean = 0.0, squares = 0.0;
        for (const double x : x_) mean += std::log(x) / n;
        for (const double x : x_) squares += (std::log(x) - mean) * (std::log(x) - mean) / n;
        return std::sqrt(squares);
    }

    // Add candidates with normal densities of the numbers `inside`; the others are zeros.
    void add_normals(NumberShape shape, const std::vector<bool>& inside, bool is_log) {
        const std::size_t n = groups_.classes;
        std::vector<double> x;
        std::vector<std::size_t> places(x_.size());
        GroupTable table{n, {}}, zeros{n, std::vector<double>(2 * n)};
        for (std::size_t g = 0; g < x_.size(); ++g) {
            const auto row = groups_.row(g);
            for (std::size_t c = 0; c < n; ++c) zeros.counts[(inside[g] ? 0 : n) + c] += row[c];
            if (!inside[g]) continue;
            places[g] = x.size();
            x.push_back(is_log ? std::log(x_[g]) : x_[g]);
            table.counts.insert(table.counts.end(), row.begin(), row.end());
        }
        const BinShares shares(zeros, settings_.zero_strength);
        for (const bool is_shared : {false, true}) {
            if (!(is_shared ? settings_.has_shared_spread : settings_.has_own_spread)) continue;
            const NormalDensities densities(x, table, is_shared, settings_.floor);
            const double loss = sum_losses(groups_, log_shares_, [&](std::size_t g, Scores scores) {
                std::fill(scores.with.begin(), scores.with.end(), 0.0);
                std::fill(scores.without.begin(), scores.without.end(), 0.0);
                if (inside[g]) densities.fill(places[g], scores);
                if (shape == NumberShape::zero_inflated) shares.fill(inside[g] ? 0 : 1, scores, true);
            });
            candidates_.push_back({shape, is_log, is_shared, 0, 0, loss});
        }
    }

    void add_histograms() {
        std::vector<std::size_t> seen;
        for (const std::int32_t n_bins : settings_.bin_numbers) {
            const auto bins = equal_mass_bins(totals_, static_cast<std::size_t>(n_bins));
            const GroupTable table = sum_groups(cells_, bins);
            if (table.groups() < 2 || std::find(seen.begin(), seen.end(), table.groups()) != seen.end()) continue;
            seen.push_back(table.groups());
            for (const std::int32_t strength : settings_.strengths) {
                const BinShares shares(table, strength);
                const double loss = sum_losses(table, log_shares_, [&](std::size_t bin, Scores scores) {
                    shares.fill(bin, scores, false);
                });
                candidates_.push_back({NumberShape::histogram, false, false, n_bins, strength, loss});
            }
        }
    }

    const ShapeSettings& settings_;
    GroupTable cells_, groups_{0, {}};
    std::vector<double> totals_, x_, log_shares_;
    std::vector<ShapeCandidate> candidates_;
};

}  // namespace

std::vector<ShapeCandidate> compare_shapes(std::span<const double> centres, std::span<const double> counts,
                                           std::size_t n_classes, const ShapeSettings& settings) {
    return Comparison(centres, counts, n_classes, settings).run();
}

std::vector<std::int64_t> equal_mass_bins(std::span<const double> totals, std::size_t n_bins) {
    std::vector<bool> is_heavy(totals.size());
    std::size_t n_heavy = 0;
    double mass = 0.0;
    while (true) {
        const std::size_t n_left = n_bins > n_heavy ? n_bins - n_heavy : 1;
        double rest = 0.0;
        for (std::size_t k = 0; k < totals.size(); ++k) rest += is_heavy[k] ? 0.0 : totals[k];
        mass = rest / static_cast<double>(n_left);
        const std::size_t before = n_heavy;
        if (n_left == 1) break;
        for (std::size_t k = 0; k < totals.size(); ++k)
            if (!is_heavy[k] && totals[k] >= mass) is_heavy[k] = true, ++n_heavy;
        if (n_heavy == before) break;
    }
    std::vector<std::int64_t> bins(totals.size());
    double below = 0.0, last = 0.0;
    for (std::size_t k = 0; k < totals.size(); ++k) {
        const double light = is_heavy[k] ? 0.0 : totals[k];
        below += light;
        const double quantile = std::floor((below - light / 2) / (mass == 0.0 ? 1.0 : mass));
        if (k > 0) bins[k] = bins[k - 1] + (quantile != last || is_heavy[k] || is_heavy[k - 1] ? 1 : 0);
        last = quantile;
    }
    return bins;
}

}  // namespace weigh
