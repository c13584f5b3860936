// Characters that HTML spells out: &amp; &#38; &#x26;
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

// Append what the '&' at `at` begins, and return the position behind it. In an attribute a name without
// semicolon stays if it goes on: "?a=1&copy=2" is an address.
std::size_t append_entity(std::string_view source, std::size_t at, bool in_attribute, std::string& out);

// Append a text with all of them decoded.
void append_unescaped(std::string_view text, std::string& out);

}  // namespace weigh::mail
