// Extracts the links of a message, their hosts and suspicious properties.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weigh/mail/message.h"

namespace weigh::mail {

// Appends links to a message, up to a limit. Links without an external host (relative ones, cid:) are ignored.
class Links {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    Links(Message& message, std::size_t max_links) : message_(message), max_links_(max_links) {}

    // Add the URL of an attribute, with character references decoded; return its index in the message, or kNone.
    std::size_t add(std::string_view url, Origin origin);

    // Add all URLs in a text.
    void scan(std::string_view text);

    // Set flags if the text of a link shows a different host than its target.
    void check_link_text(std::size_t link, std::string_view visible_text);

private:
    std::size_t add_from_text(std::string_view text, std::size_t begin, std::size_t host);
    std::size_t store(std::string_view url, std::string_view authority, Origin origin);

    Message& message_;
    std::size_t max_links_;
    std::string url_, host_, folded_;
};

}  // namespace weigh::mail
