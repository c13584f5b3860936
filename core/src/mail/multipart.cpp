#include "multipart.h"

#include <algorithm>
#include <cstring>

#include "ascii.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kLongestGuess = 200, kSearched = 65536;

bool ends_line(char c) { return c == '\n' || c == '\r'; }

// A memmem that is as fast as memchr on long parts.
const char* find_bytes(std::string_view text, std::size_t from, std::string_view wanted) {
    return static_cast<const char*>(memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size()));
}

std::size_t behind_line_end(std::string_view text, std::size_t at) {
    if (at < text.size() && text[at] == '\r') ++at;
    if (at < text.size() && text[at] == '\n') ++at;
    return at;
}

}  // namespace

Multipart::Multipart(std::string_view body, std::string_view boundary) : body_(body), mark_("--") {
    while (!boundary.empty() && is_space(boundary.back())) boundary.remove_suffix(1);
    mark_.append(boundary);
    Delimiter first{};
    if (boundary.empty() || !find(0, first)) return;
    at_ = first.behind;
    is_closed_ = first.is_last;
}

bool Multipart::find(std::size_t from, Delimiter& found) const {
    while (from < body_.size()) {
        const char* place = find_bytes(body_, from, mark_);
        if (!place) return false;
        const auto at = static_cast<std::size_t>(place - body_.data());
        // The next one can only stand in a line of its own: each line is searched once, whatever it repeats.
        from = static_cast<std::size_t>(std::find_if(place, body_.data() + body_.size(), ends_line) - body_.data());
        if (at > 0 && !ends_line(body_[at - 1])) continue;
        std::size_t behind = at + mark_.size();
        const bool is_last = body_.substr(behind, 2) == "--";
        if (is_last) behind += 2;
        while (behind < body_.size() && is_blank(body_[behind])) ++behind;
        if (behind < body_.size() && !ends_line(body_[behind])) continue;
        std::size_t begin = at;
        if (begin > 0 && body_[begin - 1] == '\n') --begin;
        if (begin > 0 && body_[begin - 1] == '\r') --begin;
        found = {begin, behind_line_end(body_, behind), is_last};
        return true;
    }
    return false;
}

bool Multipart::next(std::string_view& part) {
    if (is_closed_ || at_ >= body_.size()) return false;
    Delimiter end{body_.size(), body_.size(), false};
    find(at_, end);
    part = body_.substr(at_, std::max(end.begin, at_) - at_);
    at_ = end.behind;
    is_closed_ = end.is_last;
    return true;
}

std::string guessed_boundary(std::string_view body) {
    body = body.substr(0, kSearched);
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.find_first_of("\r\n", at), body.size());
        const std::size_t next = behind_line_end(body, end);
        const std::string_view line = body.substr(at, end - at);
        const bool is_mark = line.size() > 2 && line.size() < kLongestGuess && line.starts_with("--");
        if (is_mark && starts(body.substr(next), "content-")) return std::string(trimmed(line.substr(2)));
        at = next;
    }
    return {};
}

}  // namespace weigh::mail
