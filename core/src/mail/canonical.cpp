#include "weigh/mail/canonical.h"

#include <algorithm>

#include "ascii.h"
#include "weigh/mail/keyed_hash.h"
#include "written.h"

namespace weigh::mail {
namespace {

bool begins_written(std::string_view line) {
    const std::size_t colon = line.find(':');
    return colon != line.npos && is_written(line.substr(0, colon));
}

// The headers with the end of their last line: up to the first empty line, or all there is.
std::string_view headers_of(std::string_view text) {
    if (text.starts_with('\n')) return {};
    const std::size_t end = text.find("\n\n");
    return text.substr(0, end == text.npos ? end : end + 1);
}

std::size_t behind_line(std::string_view text, std::size_t at) {
    return std::min(text.find('\n', at), text.size() - 1) + 1;
}

}  // namespace

std::string_view Canonical::of(std::string_view content) {
    std::string_view text = with_feeds(content);
    // A first line without an end is all there is, and stays.
    if (text.starts_with("From ")) text.remove_prefix(text.find('\n') + 1);
    text = without_quotes(without_written(text));
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
        if (begins_written(headers.substr(at, behind - at))) {
            if (begin == 0) kept_.clear();
            kept_.append(headers, begin, at - begin);
            while (behind < headers.size() && is_blank(headers[behind])) behind = behind_line(headers, behind);
            begin = behind;
        }
        at = behind;
    }
    return begin == 0 ? text : kept_.append(text, begin);
}

// Mailboxes put a '>' before lines of the body that begin with "From ", and some before those that have one
// already; not all who read them take it away again.
std::string_view Canonical::without_quotes(std::string_view text) {
    constexpr std::string_view kFrom = "From ";
    std::size_t begin = 0;  // of what was not looked at, or is kept
    std::size_t at = text.find(kFrom, headers_of(text).size());
    for (; at != text.npos; at = text.find(kFrom, at + kFrom.size())) {
        std::size_t quotes = at;
        while (quotes > 0 && text[quotes - 1] == '>') --quotes;
        if (quotes == at || quotes == 0 || text[quotes - 1] != '\n') continue;
        if (begin == 0) unquoted_.clear();
        unquoted_.append(text, begin, quotes - begin);
        begin = at;
    }
    return begin == 0 ? text : unquoted_.append(text, begin);
}

Identity identity_of(std::string_view canonical, std::uint64_t salt) {
    // The keys of features are made with zero and one.
    return {KeyedHash(salt, mix(salt, 2))(canonical), KeyedHash(salt, mix(salt, 3))(canonical)};
}

}  // namespace weigh::mail
