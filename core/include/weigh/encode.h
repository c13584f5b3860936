// Integer codes for values in order of first appearance.
#pragma once

#include <string_view>
#include <vector>

#include "weigh/views.h"

namespace weigh {

struct EncodedKeys {
    std::vector<std::int32_t> codes;     // one per key
    std::vector<std::int64_t> distinct;  // in order of first appearance
};

EncodedKeys encode_keys(Strided<std::int64_t> keys);

// Concatenated strings, the i-th from offsets[i] to offsets[i + 1], as in Arrow. `validity` is a bitmap whose first
// bit is at position `bit_offset`; null means that no string is missing. Missing ones get the code -1.
template <class Offset>
struct Strings {
    std::span<const Offset> offsets;
    std::string_view text;
    const std::uint8_t* validity = nullptr;
    std::size_t bit_offset = 0;
};

struct EncodedStrings {
    std::vector<std::int32_t> codes;
    std::vector<std::string_view> distinct;  // views of the input text
};

EncodedStrings encode_strings(const Strings<std::int32_t>& strings);
EncodedStrings encode_strings(const Strings<std::int64_t>& strings);

}  // namespace weigh
