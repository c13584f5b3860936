// Canonical form and identity of a message, independent of where it is stored and of annotations that were added to
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weigh::mail {

// Removes what changes when a message is delivered, filed, marked as read or filtered. Line ends become LF, without
// empty lines at the end. Removed are the mbox separator line ("From "), the headers that filters and mailboxes add,
// and the '>' that mailboxes put before "From " in the body. Holds scratch memory for reuse; use one instance per
// thread.
class Canonicalizer {
public:
    // The canonical bytes, valid until the next call and as long as `content`.
    std::string_view canonicalize(std::string_view content);

private:
    std::string_view normalize_line_ends(std::string_view content);
    std::string_view remove_annotations(std::string_view text);
    std::string_view unquote_from_lines(std::string_view text);

    std::string lines_, without_annotations_, unquoted_;
};

using Identity = std::array<std::uint64_t, 2>;

// The identity of canonical bytes: two hashes with different keys derived from the salt.
Identity compute_identity(std::string_view canonical, std::uint64_t salt);

}  // namespace weigh::mail
