// A message as it is known again: the same wherever it lies, and whatever programs have written into it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weigh::mail {

// Leaves out what changes when a message is delivered, filed, marked as read or filtered: lines end in LF,
// without empty ones at the end; the mailbox's own first line ("From "), the headers that filters and
// mailboxes write, and the '>' that mailboxes put before "From " in the body are gone. Holds memory that is
// used again from message to message; one for each thread.
class Canonical {
public:
    // The bytes that are left, which live until the next call and as long as `content`.
    std::string_view of(std::string_view content);

private:
    std::string_view with_feeds(std::string_view content);
    std::string_view without_written(std::string_view text);
    std::string_view without_quotes(std::string_view text);

    std::string lines_, kept_, unquoted_;
};

using Identity = std::array<std::uint64_t, 2>;

// What canonical bytes are known by: two hashes with keys of their own, made of the salt.
Identity identity_of(std::string_view canonical, std::uint64_t salt);

}  // namespace weigh::mail
