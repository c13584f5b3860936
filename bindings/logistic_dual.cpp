#include "weigh/logistic_dual.h"

#include "arrays.h"
#include "orders.h"

using namespace nb::literals;

namespace {

// The solver, with the arrays of its rows kept alive.
class DualBinding {
public:
    DualBinding(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                const std::optional<Vector<double>>& values, std::size_t width, const Vector<double>& y,
                const std::optional<Vector<double>>& weights, const std::optional<Vector<double>>& offset,
                double prior_variance, double bias_prior_variance, std::size_t syncs_per_pass, std::size_t threads)
        : indptr_(indptr),
          indices_(indices),
          values_(values),
          dual_(sparse_of(indptr, indices, values, y.shape(0), width), width, check_length(y, y),
                check_length(weights, y), check_length(offset, y),
                {prior_variance, bias_prior_variance, std::max<std::size_t>(syncs_per_pass, 1),
                 std::max<std::size_t>(threads, 1)}) {}

    void warm_start(const Vector<double>& scores, const Vector<double>& weights, double bias) {
        require(scores.shape(0) == dual_.size(), "there is one score per row");
        require(weights.shape(0) == dual_.width(), "weights must have one value per feature");
        dual_.warm_start(span_of(scores), span_of(weights), bias);
    }

    double run_pass(const Vector<std::int32_t>& order) {
        require_distinct_rows(order, dual_.size());
        const ScopedGilRelease released(indices_.shape(0));
        return dual_.run_pass(span_of(order));
    }

    void recentre_bias_prior(double factor) { dual_.recentre_bias_prior(factor); }
    double bias() const { return dual_.bias(); }
    double subproblem_scale() const { return dual_.subproblem_scale(); }
    auto weights() const { return to_numpy(std::vector<double>(dual_.weights().begin(), dual_.weights().end())); }
    auto signed_alphas() const { return copy_rows(&weigh::LogisticDual::signed_alphas); }
    auto logits() const { return copy_rows(&weigh::LogisticDual::logits); }

private:
    static std::span<const double> check_length(const std::optional<Vector<double>>& array, const Vector<double>& y) {
        require(!array || array->shape(0) == y.shape(0), "arrays of rows differ in length");
        return span_of(array);
    }

    nb::ndarray<nb::numpy, double, nb::ndim<1>> copy_rows(void (weigh::LogisticDual::*write)(std::span<double>)
                                                              const) const {
        std::vector<double> out(dual_.size());
        (dual_.*write)(out);
        return to_numpy(std::move(out));
    }

    Vector<std::int64_t> indptr_;
    Vector<std::int32_t> indices_;
    std::optional<Vector<double>> values_;
    weigh::LogisticDual dual_;
};

}  // namespace

void bind_logistic_dual(nb::module_& m) {
    nb::class_<DualBinding>(m, "LogisticDual", "Logistic regression with a Gaussian prior by dual coordinate ascent.")
        .def(nb::init<const Vector<std::int64_t>&, const Vector<std::int32_t>&, const std::optional<Vector<double>>&,
                      std::size_t, const Vector<double>&, const std::optional<Vector<double>>&,
                      const std::optional<Vector<double>>&, double, double, std::size_t, std::size_t>(),
             "indptr"_a, "indices"_a, "values"_a.none(), "width"_a, "y"_a, "weights"_a.none(), "offset"_a.none(),
             "prior_variance"_a, "bias_prior_variance"_a, "syncs_per_pass"_a, "threads"_a)
        .def("warm_start", &DualBinding::warm_start, "scores"_a, "weights"_a, "bias"_a,
             "Start from the dual variables of given scores.")
        .def("run_pass", &DualBinding::run_pass, "order"_a,
             "Take a step for the given rows; return an estimate of the duality gap before it.")
        .def("recentre_bias_prior", &DualBinding::recentre_bias_prior, "factor"_a,
             "Move the mean of the bias prior towards the bias.")
        .def_prop_ro("bias", &DualBinding::bias)
        .def_prop_ro("subproblem_scale", &DualBinding::subproblem_scale)
        .def("weights", &DualBinding::weights, "Return the weights.")
        .def("signed_alphas", &DualBinding::signed_alphas, "Return ±α of every row.")
        .def("logits", &DualBinding::logits, "Return log α / (s − α) of every row.");
}
