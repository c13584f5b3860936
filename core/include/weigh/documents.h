// Documents: texts to be tokenized, or lists of tokens, in the memory of their owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weigh {

// How the characters of a text are stored: UTF-8, or one fixed-size unit each, as in CPython strings.
enum class Encoding : std::uint8_t { utf8, latin1, ucs2, ucs4 };

struct Text {
    const void* data = nullptr;  // null means missing
    std::size_t size = 0;        // in units
    Encoding encoding = Encoding::utf8;

    bool is_missing() const { return data == nullptr; }
};

// The text as UTF-8; `scratch` holds it if it had to be converted.
std::string_view to_utf8(const Text& text, std::string& scratch);

// One row per text; or, if `indptr` is given, row i has the tokens indptr[i] .. indptr[i + 1], each with the count 1
// or given in `values`.
struct Documents {
    std::span<const Text> texts;
    std::span<const std::int64_t> indptr;
    std::span<const double> values;

    bool is_tokenized() const { return !indptr.empty(); }
    std::size_t rows() const { return is_tokenized() ? indptr.size() - 1 : texts.size(); }
};

}  // namespace weigh
