// Charsets into UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weigh::mail {

// How well the bytes and their charset went together.
enum class Reading { good, wrong_bytes, unknown_charset };

// Append UTF-8 as it is; what is none becomes U+FFFD. Returns whether nothing was replaced.
bool append_utf8(std::string_view bytes, std::string& out);

// Append bytes that told no charset: UTF-8 if they are such, else windows-1252.
void append_guessed(std::string_view bytes, std::string& out);

// Knows charsets by the names that mail gives them. East Asian ones are the C library's, and kept open.
class Charsets {
public:
    Charsets() = default;
    Charsets(const Charsets&) = delete;
    Charsets& operator=(const Charsets&) = delete;
    ~Charsets();

    // Append the bytes. ASCII and the empty name are guessed; ISO-8859-1 and -9 are windows-1252 and -1254.
    Reading append(std::string_view bytes, std::string_view charset, std::string& out);

private:
    void* opened(std::string_view name);

    std::vector<std::pair<std::string_view, void*>> open_;
    std::string name_;
};

}  // namespace weigh::mail
