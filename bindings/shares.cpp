#include "weigh/shares.h"

#include "tables.h"

using namespace nb::literals;

namespace {

template <class Count>
auto log_shares(const nb::ndarray<const Count, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>& counts,
                double pseudo, const Vector<double>& totals) {
    const std::size_t classes = counts.shape(0), words = counts.shape(1);
    require(totals.shape(0) == classes, "counts and totals differ in classes");
    weigh::Zeroed<double> logs(classes * words);
    {
        const Unlocked unlocked(classes * words);
        weigh::log_shares<Count>({counts.data(), classes * words}, pseudo, span_of(totals), logs.data());
    }
    return to_table(std::move(logs), words, classes);
}

template <class Count>
void bind(nb::module_& m) {
    m.def("smoothed_log_probabilities", &log_shares<Count>, "counts"_a.noconvert(), "pseudocount"_a, "totals"_a,
          "Return log((count + pseudo) / total) of counts [classes, words] as [words, classes].");
}

}  // namespace

void bind_shares(nb::module_& m) {
    bind<std::uint8_t>(m);
    bind<std::uint16_t>(m);
    bind<std::uint32_t>(m);
    bind<std::int64_t>(m);
}
