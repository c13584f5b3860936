#include "weigh/mail/canonical.h"

#include <algorithm>

#include "ascii.h"
#include "weigh/mail/keyed_hash.h"
#include "annotation_headers.h"

namespace weigh::mail {
namespace {

bool starts_annotation(std::string_view line) {
    const std::size_t colon = line.find(':');
    return colon != line.npos && is_annotation_header(line.substr(0, colon));
}

// The headers including their last line end: up to the first empty line, or the whole text.
std::string_view header_section(std::string_view text) {
    if (text.starts_with('\n')) return {};
    const std::size_t end = text.find("\n\n");
    return text.substr(0, end == text.npos ? end : end + 1);
}

std::size_t next_line(std::string_view text, std::size_t at) {
    return std::min(text.find('\n', at), text.size() - 1) + 1;
}

}  // namespace

std::string_view Canonicalizer::canonicalize(std::string_view content) {
    std::string_view text = normalize_line_ends(content);
    // A separator without a line end is the whole text; keep it.
    if (text.starts_with("From ")) text.remove_prefix(text.find('\n') + 1);
    text = unquote_from_lines(remove_annotations(text));
    return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::string_view Canonicalizer::normalize_line_ends(std::string_view content) {
    std::size_t end = content.find("\r\n"), begin = 0;
    if (end == content.npos) return content;
    lines_.clear();
    for (; end != content.npos; end = content.find("\r\n", begin)) {
        lines_.append(content, begin, end - begin);
        begin = end + 1;
    }
    return lines_.append(content, begin);
}

std::string_view Canonicalizer::remove_annotations(std::string_view text) {
    const std::string_view headers = header_section(text);
    std::size_t begin = 0;  // start of the text that is not copied yet
    for (std::size_t at = 0; at < headers.size();) {
        std::size_t next = next_line(headers, at);
        if (starts_annotation(headers.substr(at, next - at))) {
            if (begin == 0) without_annotations_.clear();
            without_annotations_.append(headers, begin, at - begin);
            while (next < headers.size() && is_blank(headers[next])) next = next_line(headers, next);
            begin = next;
        }
        at = next;
    }
    return begin == 0 ? text : without_annotations_.append(text, begin);
}

// Remove mbox quoting: a '>' before "From " at the start of a body line, or several of them. Not all readers undo it.
std::string_view Canonicalizer::unquote_from_lines(std::string_view text) {
    constexpr std::string_view kFrom = "From ";
    std::size_t begin = 0;  // start of the text that is not copied yet
    std::size_t at = text.find(kFrom, header_section(text).size());
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

Identity compute_identity(std::string_view canonical, std::uint64_t salt) {
    // 0 and 1 are used for the keys of features.
    return {KeyedHash(salt, mix(salt, 2))(canonical), KeyedHash(salt, mix(salt, 3))(canonical)};
}

}  // namespace weigh::mail
