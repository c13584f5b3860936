#include "weigh/mail/canonical.h"

#include <algorithm>

#include "ascii.h"
#include "weigh/mail/keyed_hash.h"

namespace weigh::mail {
namespace {

// What filters, mail programs and mailboxes write, and rewrite, into messages that are not theirs.
constexpr std::array<std::string_view, 8> kWritten{"x-bogosity", "status",         "x-status",       "x-keywords",
                                                   "x-uid",      "x-gmail-labels", "content-length", "lines"};
constexpr std::array<std::string_view, 3> kWrittenBeginnings{"x-weigh", "x-spam-", "x-mozilla-"};

bool is_written(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return false;
    const std::string_view name = line.substr(0, colon);
    return std::ranges::any_of(kWritten, [&](std::string_view each) { return same(name, each); }) ||
           std::ranges::any_of(kWrittenBeginnings, [&](std::string_view each) { return starts(name, each); });
}

// The headers with the end of their last line: up to the first empty line, or all there is.
std::string_view headers_of(std::string_view text) {
    if (text.starts_with('\n')) return {};
    const std::size_t end = text.find("\n\n");
    return text.substr(0, end == text.npos ? end : end + 1);
}

std::size_t behind_line(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size() - 1) + 1; }

}  // namespace

std::string_view Canonical::of(std::string_view content) {
    std::string_view text = with_feeds(content);
    // A first line without an end is all there is, and stays.
    if (text.starts_with("From ")) text.remove_prefix(text.find('\n') + 1);
    text = without_written(text);
    return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::string_view Canonical::with_feeds(std::string_view content) {
    std::size_t end = content.find("\r\n"), begin = 0;
    if (end == content.npos) return content;
    lines_.clear();
    for (; end != content.npos; end = content.find("\r\n", begin)) {
        lines_.append(content, begin, end - begin);
        begin = end + 1;
    }
    return lines_.append(content, begin);
}

std::string_view Canonical::without_written(std::string_view text) {
    const std::string_view headers = headers_of(text);
    std::size_t begin = 0;  // of what was not looked at, or is kept
    for (std::size_t at = 0; at < headers.size();) {
        std::size_t behind = behind_line(headers, at);
        if (is_written(headers.substr(at, behind - at))) {
            if (begin == 0) kept_.clear();
            kept_.append(headers, begin, at - begin);
            while (behind < headers.size() && is_blank(headers[behind])) behind = behind_line(headers, behind);
            begin = behind;
        }
        at = behind;
    }
    return begin == 0 ? text : kept_.append(text, begin);
}

Identity identity_of(std::string_view canonical, std::uint64_t salt) {
    // The keys of features are made with zero and one.
    return {KeyedHash(salt, mix(salt, 2))(canonical), KeyedHash(salt, mix(salt, 3))(canonical)};
}

}  // namespace weigh::mail
