// Links of a message: the hosts they lead to, and what is odd about them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weigh/mail/message.h"

namespace weigh::mail {

// Adds links to a message, up to a number. Those that lead nowhere outside (relative ones, cid:) are left out.
class Links {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    Links(Message& message, std::size_t most) : message_(message), most_(most) {}

    // Add the address of an attribute, its entities decoded, and return its place in the message or kNone.
    std::size_t add(std::string_view url, Origin origin);

    // Add all addresses in a text.
    void scan(std::string_view text);

    // Look whether the text of a link shows the host that it leads to.
    void compare(std::size_t link, std::string_view shown);

private:
    std::size_t add_text(std::string_view text, std::size_t begin, std::size_t host);
    std::size_t store(std::string_view url, std::string_view authority, Origin origin);

    Message& message_;
    std::size_t most_;
    std::string url_, host_, folded_;
};

}  // namespace weigh::mail
