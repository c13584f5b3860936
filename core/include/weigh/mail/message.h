// What was found in one raw message; everything in UTF-8.
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
    std::string_view value;  // unfolded and decoded, without spaces around it
};

// A leaf of the tree of MIME parts; names are in lower case, but for the file's.
struct Part {
    std::string_view type;           // "text/html"
    std::string_view charset;        // as declared; may be empty, as the next ones
    std::string_view encoding;       // of the transfer
    std::string_view disposition;    // "attachment"
    std::string_view file;           // the file's name
    std::size_t size = 0;            // of the undecoded body
    std::size_t depth = 0;           // how many parts are around it
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
    std::string_view url;   // cut if it is very long
    std::string_view host;  // in lower case, percent signs decoded; of mailto: the address's domain
    Origin origin = Origin::text;
    std::uint8_t traits = 0;

    bool has(Trait trait) const { return (traits >> static_cast<int>(trait) & 1) != 0; }
    void set(Trait trait) { traits |= static_cast<std::uint8_t>(1 << static_cast<int>(trait)); }
};

struct Message {
    Message() = default;
    Message(const Message&) = delete;  // the texts of a copy would be the original's
    Message& operator=(const Message&) = delete;

    std::vector<Header> headers;           // in their order
    std::vector<Part> parts;               // in their order
    std::vector<Link> links;               // in their order, not told apart
    std::vector<std::string_view> tags;    // the names of known HTML tags, each once
    std::vector<TagAttribute> attributes;  // in their order, not told apart
    std::string text;                      // visible text of all parts, lines end in \n
    std::string hidden;                    // text that HTML does not show, and titles
    Flags flags;
    Arena arena;  // what the views above look at

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
