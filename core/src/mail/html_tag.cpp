#include "html_tag.h"

#include <algorithm>

#include "ascii.h"

namespace weigh::mail {
namespace {

std::string_view slice(std::string_view source, std::size_t begin, std::size_t end) {
    return source.substr(begin, end - begin);
}

// Read the attribute value after an '=' at `at`, and advance.
std::string_view read_value(std::string_view source, std::size_t& at) {
    while (at < source.size() && is_space(source[at])) ++at;
    if (at == source.size()) return {};
    if (source[at] == '"' || source[at] == '\'') {
        const std::size_t begin = at + 1, end = std::min(source.find(source[at], begin), source.size());
        at = std::min(end + 1, source.size());
        return slice(source, begin, end);
    }
    const std::size_t begin = at;
    while (at < source.size() && !is_space(source[at]) && source[at] != '>') ++at;
    return slice(source, begin, at);
}

}  // namespace

void read_tag(std::string_view source, std::size_t at, Tag& tag) {
    tag.count = 0;
    tag.is_end = source[++at] == '/';
    if (tag.is_end) ++at;
    std::size_t begin = at;
    while (at < source.size() && !is_space(source[at]) && source[at] != '>' && source[at] != '/') ++at;
    tag.name = slice(source, begin, at);
    while (at < source.size() && source[at] != '>') {
        if (is_space(source[at]) || source[at] == '/') {
            ++at;
            continue;
        }
        begin = at++;
        const auto ends = [](char c) { return is_space(c) || c == '>' || c == '/' || c == '='; };
        while (at < source.size() && !ends(source[at])) ++at;
        Attribute attribute{slice(source, begin, at), {}};
        while (at < source.size() && is_space(source[at])) ++at;
        if (at < source.size() && source[at] == '=') attribute.value = read_value(source, ++at);
        if (tag.count < Tag::kMaxAttributes) tag.attributes[tag.count++] = attribute;
    }
    tag.end = std::min(at + 1, source.size());
}

std::size_t CommentScanner::after_angle_bracket(std::size_t at) const {
    return std::min(source_.find('>', at), source_.size() - 1) + 1;
}

std::size_t CommentScanner::skip(std::size_t at) {
    if (source_.substr(at, 4) != "<!--") return after_angle_bracket(at);
    const std::size_t begin = at + 4;
    if (source_.substr(begin, 1) == ">") return begin + 1;
    if (source_.substr(begin, 2) == "->") return begin + 2;
    for (std::size_t dashes = begin; !is_unterminated_; ++dashes) {
        dashes = source_.find("--", dashes);
        is_unterminated_ = dashes == kNotFound;
        if (is_unterminated_) break;
        if (source_.substr(dashes + 2, 1) == ">") return dashes + 3;
        if (source_.substr(dashes + 2, 2) == "!>") return dashes + 4;
    }
    return after_angle_bracket(begin);
}

std::size_t find_raw_end(std::string_view source, std::size_t at, std::string_view name) {
    for (; (at = source.find("</", at)) != kNotFound; at += 2)
        if (starts_with_ignore_case(source.substr(at + 2), name)) return at;
    return source.size();
}

}  // namespace weigh::mail
