// Transfer encodings: base64 and quoted-printable, as lenient as mail needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

// Append at most `most` bytes, and return whether the text was as it should be.
//
// Of base64 what is no letter of it is passed over, and padding ends it: what follows was put there by a
// mailing list. Of quoted-printable an '=' that encodes nothing stays; blanks behind a soft break vanish.
bool decode_base64(std::string_view text, std::size_t most, std::string& out);
bool decode_quoted_printable(std::string_view text, std::size_t most, std::string& out);

// The form of quoted-printable inside headers, where '_' is a space.
void decode_q(std::string_view text, std::string& out);

}  // namespace weigh::mail
