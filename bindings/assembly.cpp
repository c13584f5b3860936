#include "weigh/assembly.h"

#include <deque>

#include "arrays.h"

using namespace nb::literals;

namespace {

using Numbers = Vector<std::int32_t>;

// Parts of rows that are put together; the arrays live as long as this does.
class Assembly {
public:
    explicit Assembly(std::size_t rows) : rows_(rows) {}
    Assembly(const Assembly&) = delete;  // parts point into it

    void add_codes(const Vector<std::int32_t>& codes, const Numbers& numbers) {
        require(codes.shape(0) == rows_, "codes and rows differ in length");
        require_below(span_of(codes), numbers.shape(0), "a code has no number");
        weigh::Part part{weigh::Part::Form::codes, span_of(numbers)};
        part.codes = span_of(codes);
        keep(part, codes, numbers);
    }

    void add_column(const Column<double>& column, std::int32_t number) {
        require(column.shape(0) == rows_, "the column and the rows differ in length");
        singles_.push_back(number);
        weigh::Part part{weigh::Part::Form::column, {&singles_.back(), 1}};
        part.column = strided_of(column);
        keep(part, column, column);
    }

    void add_entries(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                     const std::optional<Vector<double>>& values, const Numbers& numbers) {
        weigh::Part part{weigh::Part::Form::entries, span_of(numbers)};
        part.entries = sparse_of(indptr, indices, values, rows_, numbers.shape(0));
        keep(part, indptr, indices);
        held_.push_back(nb::cast(numbers));
        if (values) held_.push_back(nb::cast(*values));
    }

    nb::tuple rows() const {
        weigh::FeatureRows found;
        {
            const Unlocked unlocked(rows_ * parts_.size() * 8);
            found = weigh::assembled(rows_, parts_);
        }
        return nb::make_tuple(to_numpy(std::move(found.indptr)), to_numpy(std::move(found.indices)),
                              to_numpy(std::move(found.values)));
    }

private:
    template <class A, class B>
    void keep(const weigh::Part& part, const A& first, const B& second) {
        parts_.push_back(part);
        held_.push_back(nb::cast(first));
        held_.push_back(nb::cast(second));
    }

    std::size_t rows_;
    std::vector<weigh::Part> parts_;
    std::vector<nb::object> held_;
    std::deque<std::int32_t> singles_;  // which stay where they are
};

}  // namespace

void bind_assembly(nb::module_& m) {
    nb::class_<Assembly>(m, "CsrBuilder", "Rows of features put together from blocks.")
        .def(nb::init<std::size_t>(), "rows"_a)
        .def("add_codes", &Assembly::add_codes, "codes"_a, "features"_a, "Add one feature per level, with the value 1.")
        .def("add_column", &Assembly::add_column, "column"_a, "feature"_a, "Add a column of numbers as one feature.")
        .def("add_entries", &Assembly::add_entries, "indptr"_a, "indices"_a, "values"_a.none(), "features"_a,
             "Add sparse rows, whose index k is the feature numbers[k].")
        .def("build", &Assembly::rows, "Return (indptr, indices, values) of all parts together.");
}
