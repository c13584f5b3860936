#include "weigh/tokenizer.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "documents.h"

using namespace nb::literals;

namespace {

constexpr std::array<const char*, 3> kUnits{"words", "characters", "characters within words"};

weigh::Unit unit_of(const std::string& name) {
    const auto found = std::find(kUnits.begin(), kUnits.end(), name);
    require(found != kUnits.end(), "unknown token unit");
    return static_cast<weigh::Unit>(found - kUnits.begin());
}

void make_settings(weigh::TokenSettings* self, const std::string& unit, bool lower, bool strip_accents,
                   std::size_t min_length, std::size_t min_n, std::size_t max_n,
                   const std::vector<nb::bytes>& stop_words) {
    require(min_n >= 1 && min_n <= max_n, "min_n must be at least 1 and at most max_n");
    new (self) weigh::TokenSettings{unit_of(unit), {lower, strip_accents}, min_length, min_n, max_n, {}};
    for (const auto& word : stop_words) self->stop_words.emplace_back(word.c_str(), word.size());
}

// All tokens of every row, for inspection and tests; learners consume tokens without storing them.
nb::list tokenize(const DocumentsBinding& documents, const weigh::TokenSettings& settings) {
    weigh::Tokenizer tokenizer(settings);
    nb::list rows;
    for (std::size_t row = 0; row < documents.rows(); ++row) {
        nb::list tokens;
        tokenizer.for_each_token(documents.view(), row, [&](std::span<const weigh::Token> found) {
            for (const auto& token : found) tokens.append(nb::bytes(token.text.data(), token.text.size()));
        });
        rows.append(tokens);
    }
    return rows;
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
    nb::class_<weigh::TokenSettings>(m, "TokenSettings", "How texts are folded and tokenized.")
        .def("__init__", &make_settings, "unit"_a, "lower"_a, "strip_accents"_a, "min_length"_a, "min_n"_a, "max_n"_a,
             "stop_words"_a);
    m.def("tokenize", &tokenize, "documents"_a, "settings"_a, "Return the tokens of every row as UTF-8 bytes.");
}
