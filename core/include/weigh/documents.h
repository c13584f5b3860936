// Documents: texts to be split into tokens, or lists of ready-made ones, wherever they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weigh {

// How a text's characters are stored: as UTF-8, or as Python stores them, one unit each.
enum class Encoding : std::uint8_t { utf8, latin1, ucs2, ucs4 };

struct Text {
    const void* data = nullptr;  // null: there is no text
    std::size_t size = 0;        // in units
    Encoding encoding = Encoding::utf8;

    bool is_missing() const { return data == nullptr; }
};

// The text as UTF-8; `scratch` holds it if it had to be written anew.
std::string_view to_utf8(const Text& text, std::string& scratch);

// One row per text; or, where `indptr` is given, row i owns the tokens indptr[i] .. indptr[i + 1],
// each of which counts once or `values` times.
struct Documents {
    std::span<const Text> texts;
    std::span<const std::int64_t> indptr;
    std::span<const double> values;

    bool are_split() const { return !indptr.empty(); }
    std::size_t rows() const { return are_split() ? indptr.size() - 1 : texts.size(); }
};

}  // namespace weigh
