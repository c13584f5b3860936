// Labelled examples from Python.
#pragma once

#include "arrays.h"
#include "weigh/examples.h"

// Views of NumPy arrays, which are kept alive with them.
class ExamplesBinding {
public:
    void add(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
             const std::optional<Vector<double>>& values, const Vector<std::int32_t>& labels,
             const std::optional<Vector<double>>& weights, std::size_t width) {
        const auto rows = sparse_of(indptr, indices, values, labels.shape(0), width);
        require(!weights || weights->shape(0) == labels.shape(0), "weights and labels differ in length");
        for (const std::int32_t label : span_of(labels)) {
            require(label >= 0, "a label is negative");
            labels_ = std::max(labels_, static_cast<std::size_t>(label) + 1);
        }
        append(examples_, rows, span_of(labels), span_of(weights));
        arrays_.push_back({indices, values, weights});
        width_ = std::max(width_, width);
    }

    std::span<const weigh::Example> view() const { return examples_; }
    std::size_t size() const { return examples_.size(); }
    std::size_t width() const { return width_; }
    std::size_t labels() const { return labels_; }

    // The rows of selected examples, in the given order.
    nb::tuple select(const Vector<std::int64_t>& positions) const {
        std::vector<std::int64_t> indptr{0};
        std::vector<std::int32_t> indices;
        std::vector<double> values;
        for (const std::int64_t position : span_of(positions)) {
            require(position >= 0 && static_cast<std::size_t>(position) < size(), "an example index is out of range");
            const weigh::Example& example = examples_[static_cast<std::size_t>(position)];
            indices.insert(indices.end(), example.indices, example.indices + example.size);
            for (std::uint32_t j = 0; j < example.size; ++j) values.push_back(example.values ? example.values[j] : 1.0);
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
        return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(indices)), to_numpy(std::move(values)));
    }

private:
    struct Arrays {
        Vector<std::int32_t> indices;
        std::optional<Vector<double>> values, weights;
    };
    std::vector<weigh::Example> examples_;
    std::vector<Arrays> arrays_;
    std::size_t width_ = 0, labels_ = 0;
};

// Check the order of a pass; empty if there is none.
inline std::span<const std::int64_t> check_order(const std::optional<Vector<std::int64_t>>& order, std::size_t size) {
    if (!order) return {};
    const auto positions = span_of(*order);
    require(positions.size() == size, "order must have one entry per example");
    for (const std::int64_t position : positions)
        require(position >= 0 && static_cast<std::size_t>(position) < size, "the order has a wrong place");
    return positions;
}
