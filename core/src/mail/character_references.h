// Decodes HTML character references: &amp; &#38; &#x26;
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

// Decode the reference at the '&' at `at`; return the position after it. In an attribute, a name without semicolon
// that is followed by '=' or a letter is not decoded: "?a=1&copy=2" is a URL.
std::size_t append_reference(std::string_view source, std::size_t at, bool in_attribute, std::string& out);

// Append a text with all references decoded.
void append_decoded(std::string_view text, std::string& out);

}  // namespace weigh::mail
