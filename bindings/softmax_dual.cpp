#include "weigh/softmax_dual.h"

#include "arrays.h"
#include "orders.h"

using namespace nb::literals;

namespace {

// The solver, with the arrays of its rows kept alive.
class SoftmaxBinding {
public:
    SoftmaxBinding(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                   const std::optional<Vector<double>>& values, std::size_t width, std::size_t classes,
                   const Vector<std::int32_t>& y, const std::optional<Vector<double>>& weights,
                   const std::optional<Table<const double>>& offset, double prior_variance,
                   double bias_prior_variance, std::size_t syncs_per_pass, std::size_t threads)
        : indptr_(indptr),
          indices_(indices),
          values_(values),
          offset_(offset),
          dual_(sparse_of(indptr, indices, values, y.shape(0), width), width, classes, check_labels(y, classes),
                check_weights(weights, y), check_offset(offset, y, classes),
                {prior_variance, bias_prior_variance, std::max<std::size_t>(syncs_per_pass, 1),
                 std::max<std::size_t>(threads, 1)}) {}

    void warm_start(const Table<const double>& probabilities, const Table<const double>& weights,
                    const Vector<double>& bias) {
        require(probabilities.shape(0) == dual_.size() && probabilities.shape(1) == dual_.classes(),
                "there is one probability per row and class");
        require(weights.shape(0) == dual_.width() && weights.shape(1) == dual_.classes() &&
                    bias.shape(0) == dual_.classes(),
                "weights must have one value per feature and class");
        dual_.warm_start(cells_of(probabilities), cells_of(weights), span_of(bias));
    }

    double run_pass(const Vector<std::int32_t>& order) {
        require_distinct_rows(order, dual_.size());
        const ScopedGilRelease released(indices_.shape(0));
        return dual_.run_pass(span_of(order));
    }

    void recentre_bias_prior(double factor) { dual_.recentre_bias_prior(factor); }
    double subproblem_scale() const { return dual_.subproblem_scale(); }
    auto weights() const { return copy_table(&weigh::SoftmaxDual::weights, dual_.width()); }
    auto probabilities() const { return copy_table(&weigh::SoftmaxDual::probabilities, dual_.size()); }
    auto bias() const { return copy_vector(&weigh::SoftmaxDual::bias, dual_.classes()); }
    auto gaps() const { return copy_vector(&weigh::SoftmaxDual::gaps, dual_.size()); }

private:
    static weigh::Codes check_labels(const Vector<std::int32_t>& y, std::size_t classes) {
        for (const std::int32_t label : span_of(y))
            require(label >= 0 && static_cast<std::size_t>(label) < classes, "a label is not one of the classes");
        return span_of(y);
    }

    static std::span<const double> check_weights(const std::optional<Vector<double>>& weights,
                                                 const Vector<std::int32_t>& y) {
        require(!weights || weights->shape(0) == y.shape(0), "arrays of rows differ in length");
        return span_of(weights);
    }

    static std::span<const double> check_offset(const std::optional<Table<const double>>& offset,
                                                const Vector<std::int32_t>& y, std::size_t classes) {
        if (!offset) return {};
        require(offset->shape(0) == y.shape(0) && offset->shape(1) == classes,
                "the offset has one value per row and class");
        return cells_of(*offset);
    }

    nb::ndarray<nb::numpy, double, nb::ndim<1>> copy_vector(void (weigh::SoftmaxDual::*write)(std::span<double>) const,
                                                            std::size_t size) const {
        std::vector<double> out(size);
        (dual_.*write)(out);
        return to_numpy(std::move(out));
    }

    nb::ndarray<nb::numpy, double, nb::ndim<2>> copy_table(void (weigh::SoftmaxDual::*write)(std::span<double>) const,
                                                           std::size_t rows) const {
        std::vector<double> out(rows * dual_.classes());
        (dual_.*write)(out);
        return to_numpy(std::move(out), rows, dual_.classes());
    }

    Vector<std::int64_t> indptr_;
    Vector<std::int32_t> indices_;
    std::optional<Vector<double>> values_;
    std::optional<Table<const double>> offset_;
    weigh::SoftmaxDual dual_;
};

}  // namespace

void bind_softmax_dual(nb::module_& m) {
    nb::class_<SoftmaxBinding>(m, "SoftmaxDual", "Softmax regression with a Gaussian prior by dual coordinate ascent.")
        .def(nb::init<const Vector<std::int64_t>&, const Vector<std::int32_t>&, const std::optional<Vector<double>>&,
                      std::size_t, std::size_t, const Vector<std::int32_t>&, const std::optional<Vector<double>>&,
                      const std::optional<Table<const double>>&, double, double, std::size_t, std::size_t>(),
             "indptr"_a, "indices"_a, "values"_a.none(), "width"_a, "classes"_a, "y"_a, "weights"_a.none(),
             "offset"_a.none(), "prior_variance"_a, "bias_prior_variance"_a, "syncs_per_pass"_a, "threads"_a)
        .def("warm_start", &SoftmaxBinding::warm_start, "probabilities"_a, "weights"_a, "bias"_a,
             "Start from given probabilities.")
        .def("run_pass", &SoftmaxBinding::run_pass, "order"_a,
             "Take a step for the given rows; return an estimate of the duality gap before it.")
        .def("recentre_bias_prior", &SoftmaxBinding::recentre_bias_prior, "factor"_a,
             "Move the mean of the bias prior towards the bias.")
        .def_prop_ro("subproblem_scale", &SoftmaxBinding::subproblem_scale)
        .def("weights", &SoftmaxBinding::weights, "Return the weights of every feature and class.")
        .def("bias", &SoftmaxBinding::bias, "Return the biases of the classes.")
        .def("gaps", &SoftmaxBinding::gaps, "Return the parts of the rows in the gap, before their last steps.")
        .def("probabilities", &SoftmaxBinding::probabilities, "Return the probabilities of every row and class.");
}
