#include "weigh/unicode.h"

#include <string>

#include "arrays.h"

using namespace nb::literals;

namespace {

nb::bytes fold(const nb::bytes& text, bool lower, bool strip_accents) {
    std::string folded;
    weigh::unicode::fold({text.c_str(), text.size()}, {lower, strip_accents}, folded);
    return nb::bytes(folded.data(), folded.size());
}

}  // namespace

void bind_unicode(nb::module_& m) {
    m.attr("UNICODE_VERSION") = weigh::unicode::kVersion;
    m.def("fold", &fold, "text"_a, "lower"_a, "strip_accents"_a,
          "Return UTF-8 text in lower case, without accents; invalid bytes become U+FFFD.");
}
