// Lenient decoders for base64 and quoted-printable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

// Append at most `max_bytes` decoded bytes; return whether the input was valid.
//
// In base64, invalid characters are skipped, and padding ends the data: mailing lists append text after it. In
// quoted-printable, an invalid '=' is kept, and white space after a soft line break is removed.
bool decode_base64(std::string_view text, std::size_t max_bytes, std::string& out);
bool decode_quoted_printable(std::string_view text, std::size_t max_bytes, std::string& out);

// The Q encoding of headers (RFC 2047), in which '_' is a space.
void decode_q(std::string_view text, std::string& out);

}  // namespace weigh::mail
