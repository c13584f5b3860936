// A parsed message, with all texts in UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/mail/arena.h"
#include "weigh/mail/flags.h"

namespace weigh::mail {

struct Header {
    std::string_view name;   // in lower case
    std::string_view value;  // unfolded, decoded and trimmed
};

// A leaf of the MIME tree; names are in lower case, except the file name.
struct Part {
    std::string_view type;           // "text/html"
    std::string_view charset;        // as declared; may be empty, like the following ones
    std::string_view encoding;       // transfer encoding
    std::string_view disposition;    // "attachment"
    std::string_view file;           // file name
    std::size_t size = 0;            // bytes of the undecoded body
    std::size_t depth = 0;           // nesting depth
    std::size_t begin = 0, end = 0;  // its visible text in Message::text
};

// An attribute of a known HTML tag, in lower case; name and value have at most 40 bytes each.
struct TagAttribute {
    std::string_view name, value;
};

enum class Origin : std::uint8_t { text, href, src, action, background };
inline constexpr std::array<std::string_view, 5> kOrigins{"text", "href", "src", "action", "background"};

enum class Trait : std::uint8_t { numeric, userinfo, port, punycode, escaped, unicode, disguised, count_ };
inline constexpr std::size_t kTraits = static_cast<std::size_t>(Trait::count_);
inline constexpr std::array<std::string_view, kTraits> kTraitNames{
    "numeric-host", "userinfo", "port", "punycode", "escaped-host", "unicode-host", "disguised",
};

struct Link {
    std::string_view url;   // truncated if very long
    std::string_view host;  // in lower case, percent-decoded; the domain of the address for mailto:
    Origin origin = Origin::text;
    std::uint8_t traits = 0;

    bool has(Trait trait) const { return (traits >> static_cast<int>(trait) & 1) != 0; }
    void set(Trait trait) { traits |= static_cast<std::uint8_t>(1 << static_cast<int>(trait)); }
};

struct Message {
    Message() = default;
    Message(const Message&) = delete;  // a copy would refer to the texts of the original
    Message& operator=(const Message&) = delete;

    std::vector<Header> headers;           // in order
    std::vector<Part> parts;               // in order
    std::vector<Link> links;               // in order, with repetitions
    std::vector<std::string_view> tags;    // names of known HTML tags, without repetitions
    std::vector<TagAttribute> attributes;  // in order, with repetitions
    std::string text;                      // visible text of all parts, lines end in \n
    std::string hidden;                    // text hidden by HTML, and titles
    Flags flags;
    Arena arena;  // storage of the views above

    void clear() {
        headers.clear();
        parts.clear();
        links.clear();
        tags.clear();
        attributes.clear();
        text.clear();
        hidden.clear();
        flags = {};
        arena.clear();
    }
};

}  // namespace weigh::mail
