#include "weigh/csr_builder.h"

#include <deque>

#include "arrays.h"

using namespace nb::literals;

namespace {

using Indices = Vector<std::int32_t>;

// Blocks of rows, whose arrays are kept alive with them.
class CsrBuilder {
public:
    explicit CsrBuilder(std::size_t rows) : rows_(rows) {}
    CsrBuilder(const CsrBuilder&) = delete;  // blocks point into it

    void add_codes(const Vector<std::int32_t>& codes, const Indices& features) {
        require(codes.shape(0) == rows_, "codes and rows differ in length");
        require_below(span_of(codes), features.shape(0), "a code is out of range");
        weigh::FeatureBlock block{weigh::FeatureBlock::Form::codes, span_of(features)};
        block.codes = span_of(codes);
        add_block(block, codes, features);
    }

    void add_column(const Column<double>& column, std::int32_t feature) {
        require(column.shape(0) == rows_, "the column and the rows differ in length");
        single_features_.push_back(feature);
        weigh::FeatureBlock block{weigh::FeatureBlock::Form::column, {&single_features_.back(), 1}};
        block.column = strided_of(column);
        add_block(block, column, column);
    }

    void add_entries(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                     const std::optional<Vector<double>>& values, const Indices& features) {
        weigh::FeatureBlock block{weigh::FeatureBlock::Form::entries, span_of(features)};
        block.entries = sparse_of(indptr, indices, values, rows_, features.shape(0));
        add_block(block, indptr, indices);
        arrays_.push_back(nb::cast(features));
        if (values) arrays_.push_back(nb::cast(*values));
    }

    nb::tuple build() const {
        weigh::CsrRows rows;
        {
            const ScopedGilRelease released(rows_ * blocks_.size() * 8);
            rows = weigh::build_csr(rows_, blocks_);
        }
        return nb::make_tuple(to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)),
                              to_numpy(std::move(rows.values)));
    }

private:
    template <class A, class B>
    void add_block(const weigh::FeatureBlock& block, const A& first, const B& second) {
        blocks_.push_back(block);
        arrays_.push_back(nb::cast(first));
        arrays_.push_back(nb::cast(second));
    }

    std::size_t rows_;
    std::vector<weigh::FeatureBlock> blocks_;
    std::vector<nb::object> arrays_;
    std::deque<std::int32_t> single_features_;  // a deque keeps the addresses stable
};

}  // namespace

void bind_csr_builder(nb::module_& m) {
    nb::class_<CsrBuilder>(m, "CsrBuilder", "Builder of sparse feature rows from blocks.")
        .def(nb::init<std::size_t>(), "rows"_a)
        .def("add_codes", &CsrBuilder::add_codes, "codes"_a, "features"_a,
             "Add one feature per level, with the value 1.")
        .def("add_column", &CsrBuilder::add_column, "column"_a, "feature"_a, "Add a numeric column as one feature.")
        .def("add_entries", &CsrBuilder::add_entries, "indptr"_a, "indices"_a, "values"_a.none(), "features"_a,
             "Add sparse rows whose index k is the feature features[k].")
        .def("build", &CsrBuilder::build, "Return (indptr, indices, values) of all blocks.");
}
