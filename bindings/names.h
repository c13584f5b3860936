// Concatenated names as NumPy arrays of bytes and offsets.
#pragma once

#include <utility>

#include "arrays.h"
#include "weigh/vocabulary.h"

inline weigh::NamesView names_of(const Vector<std::uint8_t>& text, const Vector<std::int64_t>& offsets) {
    const auto ends = span_of(offsets);
    require(!ends.empty() && ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()) &&
                ends.back() <= static_cast<std::int64_t>(text.shape(0)),
            "offsets must ascend within the text");
    return {{reinterpret_cast<const char*>(text.data()), text.shape(0)}, ends};
}

inline auto to_numpy(weigh::Names&& names) {
    return std::pair(to_numpy(std::move(names.text)), to_numpy(std::move(names.offsets)));
}
