// The pieces of HTML that are no text: tags with their names and attributes, comments, raw elements.
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

// The positions behind comments, declarations and the like.
class Comments {
public:
    explicit Comments(std::string_view source) : source_(source) {}

    // Behind the one whose '<' is at `at`. One that is never closed ends with its first '>': programs that
    // hide all that follows and such that show it are both in use.
    std::size_t behind(std::size_t at);

private:
    std::size_t behind_sign(std::size_t at) const;

    std::string_view source_;
    bool is_open_ = false;  // no further comment is closed
};

// The position of the tag that ends a raw element, from `at` on; the source's size if there is none.
std::size_t end_of_raw(std::string_view source, std::size_t at, std::string_view name);

}  // namespace weigh::mail
