#include "html_tag.h"

#include <algorithm>

#include "ascii.h"

namespace weigh::mail {
namespace {

std::string_view between(std::string_view source, std::size_t begin, std::size_t end) {
    return source.substr(begin, end - begin);
}

// Read the value behind an equals sign at `at`, and move behind it.
std::string_view value_at(std::string_view source, std::size_t& at) {
    while (at < source.size() && is_space(source[at])) ++at;
    if (at == source.size()) return {};
    if (source[at] == '"' || source[at] == '\'') {
        const std::size_t begin = at + 1, end = std::min(source.find(source[at], begin), source.size());
        at = std::min(end + 1, source.size());
        return between(source, begin, end);
    }
    const std::size_t begin = at;
    while (at < source.size() && !is_space(source[at]) && source[at] != '>') ++at;
    return between(source, begin, at);
}

}  // namespace

void read_tag(std::string_view source, std::size_t at, Tag& tag) {
    tag.count = 0;
    tag.is_end = source[++at] == '/';
    if (tag.is_end) ++at;
    std::size_t begin = at;
    while (at < source.size() && !is_space(source[at]) && source[at] != '>' && source[at] != '/') ++at;
    tag.name = between(source, begin, at);
    while (at < source.size() && source[at] != '>') {
        if (is_space(source[at]) || source[at] == '/') {
            ++at;
            continue;
        }
        begin = at++;
        const auto ends = [](char c) { return is_space(c) || c == '>' || c == '/' || c == '='; };
        while (at < source.size() && !ends(source[at])) ++at;
        Attribute attribute{between(source, begin, at), {}};
        while (at < source.size() && is_space(source[at])) ++at;
        if (at < source.size() && source[at] == '=') attribute.value = value_at(source, ++at);
        if (tag.count < Tag::kMost) tag.attributes[tag.count++] = attribute;
    }
    tag.behind = std::min(at + 1, source.size());
}

std::size_t Comments::behind_sign(std::size_t at) const {
    return std::min(source_.find('>', at), source_.size() - 1) + 1;
}

std::size_t Comments::behind(std::size_t at) {
    if (source_.substr(at, 4) != "<!--") return behind_sign(at);
    const std::size_t begin = at + 4;
    if (source_.substr(begin, 1) == ">") return begin + 1;
    if (source_.substr(begin, 2) == "->") return begin + 2;
    for (std::size_t dashes = begin; !is_open_; ++dashes) {
        dashes = source_.find("--", dashes);
        is_open_ = dashes == kNowhere;
        if (is_open_) break;
        if (source_.substr(dashes + 2, 1) == ">") return dashes + 3;
        if (source_.substr(dashes + 2, 2) == "!>") return dashes + 4;
    }
    return behind_sign(begin);
}

std::size_t end_of_raw(std::string_view source, std::size_t at, std::string_view name) {
    for (; (at = source.find("</", at)) != kNowhere; at += 2)
        if (starts(source.substr(at + 2), name)) return at;
    return source.size();
}

}  // namespace weigh::mail
