// Parses raw messages: headers, MIME tree, text, visible and hidden text of HTML, links.
//
// Never fails: for any input, the result is valid UTF-8 of bounded size, and the time is linear in the size. Non-text
// parts are not decoded.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "weigh/mail/message.h"

namespace weigh::mail {

// Upper limit of Limits::text_bytes.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

// Limits; whatever exceeds them is dropped and reported by a flag.
struct Limits {
    std::size_t text_bytes = std::size_t{1} << 18;    // decoded; for HTML before tags are removed
    std::size_t header_bytes = std::size_t{1} << 18;  // of all headers, decoded
    std::size_t headers = 1000;
    std::size_t parts = 500;
    std::size_t links = 1000;
    std::size_t depth = 32;
};

// Holds scratch memory for reuse; use one instance per thread.
class Reader {
public:
    explicit Reader(const Limits& limits = {});
    ~Reader();
    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;

    void read(std::string_view raw, Message& out);

private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

}  // namespace weigh::mail
