// Reads raw messages: headers, the tree of MIME parts, their text, what HTML shows and hides, links.
//
// Never fails: whatever the bytes are, the message that comes out is valid UTF-8 and of bounded size, and
// the time is linear in the bytes. Parts that are no text are not decoded.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "weigh/mail/message.h"

namespace weigh::mail {

// No text is longer, whatever is asked for.
inline constexpr std::size_t kMostText = std::size_t{1} << 30;

// What is beyond is left out, and told by a flag.
struct Limits {
    std::size_t text_bytes = std::size_t{1} << 18;    // decoded, HTML before its tags are dropped
    std::size_t header_bytes = std::size_t{1} << 18;  // of all headers of the message, decoded
    std::size_t headers = 1000;
    std::size_t parts = 500;
    std::size_t links = 1000;
    std::size_t depth = 32;
};

// Holds memory that is used again from message to message; one for each thread.
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
