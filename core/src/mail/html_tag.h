// HTML markup: tags with attributes, comments, raw elements.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace weigh::mail {

struct Attribute {
    std::string_view name, value;  // as written, without quotes
};

struct Tag {
    static constexpr std::size_t kMaxAttributes = 32;

    std::string_view name;
    std::array<Attribute, kMaxAttributes> attributes;
    std::size_t count = 0;
    bool is_end = false;
    std::size_t end = 0;  // position after the tag; the size of the source if it is unterminated
};

// Read the tag whose '<' is at `at`, followed by a letter or by "/" and a letter.
void read_tag(std::string_view source, std::size_t at, Tag& tag);

// Finds the ends of comments and declarations.
class CommentScanner {
public:
    explicit CommentScanner(std::string_view source) : source_(source) {}

    // The position of the end tag of a raw element, from `at` on; the size of the source if there is none.
    std::size_t skip(std::size_t at);

private:
    std::size_t after_angle_bracket(std::size_t at) const;

    std::string_view source_;
    bool is_unterminated_ = false;  // no further comment is terminated
};

// The position of the tag that ends a raw element, from `at` on; the source's size if there is none.
std::size_t find_raw_end(std::string_view source, std::size_t at, std::string_view name);

}  // namespace weigh::mail
