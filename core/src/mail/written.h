// The headers that filters, mail programs and mailboxes write, and rewrite, into messages that are not theirs.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "ascii.h"

namespace weigh::mail {

inline constexpr std::array<std::string_view, 8> kWritten{"status", "x-status",       "x-keywords", "x-uid",
                                                          "x-uidl", "content-length", "lines",      "x-gmail-labels"};
inline constexpr std::array<std::string_view, 11> kWrittenBeginnings{
    "x-weigh",    "x-bogosity", "x-spam",      "x-dspam", "x-crm114", "x-rspamd",
    "x-antispam", "x-mozilla-", "x-evolution", "x-gm-",   "x-imap",
};

// Whether a header is of this kind: it tells what was thought and done of a message, and is no part of it.
inline bool is_written(std::string_view name) {
    return std::ranges::any_of(kWritten, [&](std::string_view each) { return same(name, each); }) ||
           std::ranges::any_of(kWrittenBeginnings, [&](std::string_view each) { return starts(name, each); });
}

}  // namespace weigh::mail
