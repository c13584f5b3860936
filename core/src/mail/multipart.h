// Finding the parts of a multipart body.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

class Multipart {
public:
    // An empty boundary is never found.
    Multipart(std::string_view body, std::string_view boundary);

    bool is_begun() const { return at_ != std::string_view::npos; }  // whether the boundary is there at all
    bool next(std::string_view& part);
    bool is_closed() const { return is_closed_; }  // when there is no next one

private:
    struct Delimiter {
        std::size_t begin, behind;  // without the line break before it, with the one behind it
        bool is_last;
    };
    bool find(std::size_t from, Delimiter& found) const;

    std::string_view body_;
    std::string mark_;
    std::size_t at_ = std::string_view::npos;  // where the next part begins
    bool is_closed_ = false;
};

// The boundary that a body uses though nobody told it: that of the first line which begins with "--" and has a
// header behind it. Empty if there is none.
std::string guessed_boundary(std::string_view body);

}  // namespace weigh::mail
