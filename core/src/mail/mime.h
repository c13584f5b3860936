// MIME entities and multipart bodies.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weigh/mail/headers.h"

namespace weigh::mail {

struct MimeEntity {
    // `default_type` is the type of a body without Content-Type.
    explicit MimeEntity(std::string_view default_type) : type(default_type) {}

    void add_header(const HeaderField& field);  // store a relevant header; the first one of a name counts
    void finish(CharsetDecoder& charsets);      // call after all headers

    std::string type, charset, encoding, disposition, file, boundary;

private:
    std::string_view type_value, encoding_value, disposition_value;
};

class Multipart {
public:
    // An empty boundary is never found.
    Multipart(std::string_view body, std::string_view boundary);

    bool has_boundary() const { return at_ != std::string_view::npos; }  // whether the boundary occurs in the body
    bool next(std::string_view& part);
    bool is_closed() const { return is_closed_; }  // valid after the last part

private:
    struct Delimiter {
        std::size_t begin, end;  // excluding the line end before it, including the one after it
        bool is_last;
    };
    bool find(std::size_t from, Delimiter& found) const;

    std::string_view body_;
    std::string delimiter_;
    std::size_t at_ = std::string_view::npos;  // start of the next part
    bool is_closed_ = false;
};

// Guess an undeclared boundary: the first line that begins with "--" and is followed by a header. Empty if there is
// none.
std::string guess_boundary(std::string_view body);

}  // namespace weigh::mail
