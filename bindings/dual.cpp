#include "weigh/dual.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

// The dual of rows that are views of arrays, which live as long as it does.
class HeldDual {
public:
    HeldDual(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
             const std::optional<Vector<double>>& values, std::size_t width, const Vector<double>& y,
             const std::optional<Vector<double>>& weights, const std::optional<Vector<double>>& offset, double spread,
             double bias_spread, std::size_t rounds, std::size_t threads)
        : indptr_(indptr), indices_(indices), values_(values),
          dual_(sparse_of(indptr, indices, values, y.shape(0), width), width, checked(y, y), checked(weights, y),
                checked(offset, y), {spread, bias_spread, std::max<std::size_t>(rounds, 1), std::max<std::size_t>(threads, 1)}) {}

    void begin(const Vector<double>& scores, const Vector<double>& weights, double bias) {
        require(scores.shape(0) == dual_.size(), "there is one score per row");
        require(weights.shape(0) == dual_.width(), "there is one weight per feature");
        dual_.begin(span_of(scores), span_of(weights), bias);
    }

    double pass(const Vector<std::int32_t>& order) {
        require(order.shape(0) <= dual_.size(), "there are more places than rows");
        std::vector<std::uint8_t> taken(dual_.size());  // threads must not meet in a row
        for (const std::int32_t place : span_of(order)) {
            require(place >= 0 && static_cast<std::size_t>(place) < dual_.size(), "the order has a wrong place");
            require(!std::exchange(taken[static_cast<std::size_t>(place)], 1), "the order has a place twice");
        }
        const Unlocked unlocked(indices_.shape(0));
        return dual_.pass(span_of(order));
    }

    void recentre(double times) { dual_.recentre(times); }
    double bias() const { return dual_.bias(); }
    double share() const { return dual_.share(); }
    auto weights() const { return to_numpy(std::vector<double>(dual_.weights().begin(), dual_.weights().end())); }
    auto signed_alphas() const { return filled(&weigh::LogisticDual::signed_alphas); }
    auto logits() const { return filled(&weigh::LogisticDual::logits); }

private:
    static std::span<const double> checked(const std::optional<Vector<double>>& array, const Vector<double>& y) {
        require(!array || array->shape(0) == y.shape(0), "arrays of rows differ in length");
        return span_of(array);
    }

    nb::ndarray<nb::numpy, double, nb::ndim<1>> filled(void (weigh::LogisticDual::*write)(std::span<double>) const) const {
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

void bind_dual(nb::module_& m) {
    nb::class_<HeldDual>(m, "LogisticDual", "Logistic regression with a normal prior, solved by its dual.")
        .def(nb::init<const Vector<std::int64_t>&, const Vector<std::int32_t>&, const std::optional<Vector<double>>&,
                      std::size_t, const Vector<double>&, const std::optional<Vector<double>>&,
                      const std::optional<Vector<double>>&, double, double, std::size_t, std::size_t>(),
             "indptr"_a, "indices"_a, "values"_a.none(), "width"_a, "y"_a, "weights"_a.none(), "offset"_a.none(),
             "prior_variance"_a, "bias_prior_variance"_a, "syncs_per_pass"_a, "threads"_a)
        .def("warm_start", &HeldDual::begin, "scores"_a, "weights"_a, "bias"_a, "Begin at the numbers that suit some scores.")
        .def("run_pass", &HeldDual::pass, "order"_a, "Take a step for every row; return about how far off they were.")
        .def("recentre_bias_prior", &HeldDual::recentre, "factor"_a, "Move the centre of the bias's prior towards the bias.")
        .def_prop_ro("bias", &HeldDual::bias)
        .def_prop_ro("subproblem_scale", &HeldDual::share)
        .def("weights", &HeldDual::weights, "Return the weights.")
        .def("signed_alphas", &HeldDual::signed_alphas, "Return ±α of every row.")
        .def("logits", &HeldDual::logits, "Return log α / (s − α) of every row.");
}
