// Numbers for values: the first distinct value gets code 0, the next new one 1, and so on.
#pragma once

#include <string_view>
#include <vector>

#include "weigh/views.h"

namespace weigh {

struct Encoded {
    std::vector<std::int32_t> codes;     // one per key
    std::vector<std::int64_t> distinct;  // in order of first appearance
};

Encoded encode_keys(Strided<std::int64_t> keys);

// Strings that lie end to end, the i-th from offsets[i] to offsets[i + 1]. `valid` is a bitmap, the
// first bit at position `bit`; null means that every string is there. Absent ones get code -1.
template <class Offset>
struct Strings {
    std::span<const Offset> offsets;
    std::string_view text;
    const std::uint8_t* valid = nullptr;
    std::size_t bit = 0;
};

struct EncodedStrings {
    std::vector<std::int32_t> codes;
    std::vector<std::string_view> distinct;  // views of the text that was given
};

EncodedStrings encode_strings(const Strings<std::int32_t>& strings);
EncodedStrings encode_strings(const Strings<std::int64_t>& strings);

}  // namespace weigh
