// One tag of HTML: its name and attributes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace weigh::mail {

struct Attribute {
    std::string_view name, value;  // as they stand there, without quotes
};

struct Tag {
    static constexpr std::size_t kMost = 32;

    std::string_view name;
    std::array<Attribute, kMost> attributes;
    std::size_t count = 0;
    bool is_end = false;
    std::size_t behind = 0;  // where the text goes on; the source's size if the tag is never closed
};

// Read the tag whose '<' is at `at`, and behind which a letter or "/" and a letter stand.
void read_tag(std::string_view source, std::size_t at, Tag& tag);

}  // namespace weigh::mail
