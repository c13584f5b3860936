// Converts charsets to UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weigh::mail {

// Whether the bytes were valid in their charset.
enum class DecodeResult { good, invalid_bytes, unknown_charset };

// Append UTF-8, replacing invalid bytes by U+FFFD; return whether nothing was replaced.
bool append_utf8(std::string_view bytes, std::string& out);

// Append bytes of unspecified charset: UTF-8 if valid, else windows-1252.
void append_guessed(std::string_view bytes, std::string& out);

// Decodes charsets by the names that are used in mail. East Asian ones are decoded by iconv, with cached converters.
class CharsetDecoder {
public:
    CharsetDecoder() = default;
    CharsetDecoder(const CharsetDecoder&) = delete;
    CharsetDecoder& operator=(const CharsetDecoder&) = delete;
    ~CharsetDecoder();

    // Append the decoded bytes. For ASCII and the empty name the charset is guessed; ISO-8859-1 and -9 are read as
    // windows-1252 and -1254.
    DecodeResult append(std::string_view bytes, std::string_view charset, std::string& out);

private:
    void* open_converter(std::string_view name);

    std::vector<std::pair<std::string_view, void*>> converters_;
    std::string name_;
};

}  // namespace weigh::mail
