// Headers that filters, mail programs and mailboxes add to messages.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "ascii.h"

namespace weigh::mail {

inline constexpr std::array<std::string_view, 8> kAnnotationHeaders{
    "status", "x-status", "x-keywords", "x-uid", "x-uidl", "content-length", "lines", "x-gmail-labels"};
inline constexpr std::array<std::string_view, 11> kAnnotationPrefixes{
    "x-weigh",    "x-bogosity", "x-spam",      "x-dspam", "x-crm114", "x-rspamd",
    "x-antispam", "x-mozilla-", "x-evolution", "x-gm-",   "x-imap",
};

// Whether a header is an annotation, and not part of the message as it was sent.
inline bool is_annotation_header(std::string_view name) {
    return std::ranges::any_of(kAnnotationHeaders,
                               [&](std::string_view each) { return equals_ignore_case(name, each); }) ||
           std::ranges::any_of(kAnnotationPrefixes,
                               [&](std::string_view each) { return starts_with_ignore_case(name, each); });
}

}  // namespace weigh::mail
