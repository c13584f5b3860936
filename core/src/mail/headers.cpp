#include "weigh/mail/headers.h"

#include <cstring>

#include "ascii.h"

namespace weigh::mail {
namespace {

bool is_name(std::string_view name) {
    for (const char c : name)
        if (c <= ' ' || c > '~') return false;
    return true;
}

bool is_envelope(std::string_view line) { return line.starts_with("From ") || line.starts_with(">From "); }

}  // namespace

std::size_t Lines::behind(std::size_t at) {
    if (!looked_ || feed_ < at) {
        const void* found = std::memchr(text_.data() + at, '\n', text_.size() - at);
        feed_ = found ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : text_.size();
        looked_ = true;
    }
    const void* found = std::memchr(text_.data() + at, '\r', feed_ - at);
    const std::size_t back = found ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : feed_;
    if (back + 1 < feed_) return back + 1;
    return feed_ < text_.size() ? feed_ + 1 : text_.size();
}

bool Fields::next(Field& field) {
    while (at_ < text_.size()) {
        const std::size_t begin = at_, behind = lines_.behind(at_);
        const std::string_view line = text_.substr(begin, behind - begin);
        if (line[0] == '\n' || line[0] == '\r') {
            at_ = behind;
            return false;
        }
        if (is_blank(line[0]) || is_envelope(line)) {
            is_broken_ |= begin != 0 || is_blank(line[0]);
            at_ = behind;
            continue;
        }
        const std::size_t colon = line.find(':');
        const std::string_view name = trimmed(line.substr(0, std::min(colon, line.size())));
        if (colon == kNowhere || !is_name(name)) {
            is_broken_ = true;
            return false;
        }
        at_ = behind;
        while (at_ < text_.size() && is_blank(text_[at_])) at_ = lines_.behind(at_);
        if (name.empty()) {
            is_broken_ = true;
            continue;
        }
        field = {name, text_.substr(begin + colon + 1, at_ - begin - colon - 1)};
        return true;
    }
    return false;
}

void unfold(std::string_view value, std::string& out) {
    out.clear();
    value = trimmed(value);
    for (std::size_t at = 0; at < value.size();) {
        std::size_t end = at;
        while (end < value.size() && value[end] != '\n' && value[end] != '\r') ++end;
        out.append(value.substr(at, end - at));
        at = end + 1;
    }
}

}  // namespace weigh::mail
