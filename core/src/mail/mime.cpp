#include "mime.h"

#include <algorithm>
#include <cstring>

#include "ascii.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMaxGuessBytes = 200, kMaxSearchedBytes = 65536;

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// memmem, which is as fast as memchr on long parts.
const char* find_bytes(std::string_view text, std::size_t from, std::string_view pattern) {
    return static_cast<const char*>(memmem(text.data() + from, text.size() - from, pattern.data(), pattern.size()));
}

std::size_t skip_line_end(std::string_view text, std::size_t at) {
    if (at < text.size() && text[at] == '\r') ++at;
    if (at < text.size() && text[at] == '\n') ++at;
    return at;
}

constexpr std::size_t kMaxHeaderBytes = 16384, kMaxNameBytes = 256;

void store_first(std::string_view& stored, std::string_view value) {
    if (stored.data() == nullptr) stored = value.substr(0, kMaxHeaderBytes);
}

}  // namespace

Multipart::Multipart(std::string_view body, std::string_view boundary) : body_(body), delimiter_("--") {
    while (!boundary.empty() && is_space(boundary.back())) boundary.remove_suffix(1);
    delimiter_.append(boundary);
    Delimiter first{};
    if (boundary.empty() || !find(0, first)) return;
    at_ = first.end;
    is_closed_ = first.is_last;
}

bool Multipart::find(std::size_t from, Delimiter& found) const {
    while (from < body_.size()) {
        const char* match = find_bytes(body_, from, delimiter_);
        if (!match) return false;
        const auto at = static_cast<std::size_t>(match - body_.data());
        // Delimiters are at line starts only, so that each line is searched once.
        from = static_cast<std::size_t>(std::find_if(match, body_.data() + body_.size(), is_line_end) - body_.data());
        if (at > 0 && !is_line_end(body_[at - 1])) continue;
        std::size_t end_of_line = at + delimiter_.size();
        const bool is_last = body_.substr(end_of_line, 2) == "--";
        if (is_last) end_of_line += 2;
        while (end_of_line < body_.size() && is_blank(body_[end_of_line])) ++end_of_line;
        if (end_of_line < body_.size() && !is_line_end(body_[end_of_line])) continue;
        std::size_t begin = at;
        if (begin > 0 && body_[begin - 1] == '\n') --begin;
        if (begin > 0 && body_[begin - 1] == '\r') --begin;
        found = {begin, skip_line_end(body_, end_of_line), is_last};
        return true;
    }
    return false;
}

bool Multipart::next(std::string_view& part) {
    if (is_closed_ || at_ >= body_.size()) return false;
    Delimiter end{body_.size(), body_.size(), false};
    find(at_, end);
    part = body_.substr(at_, std::max(end.begin, at_) - at_);
    at_ = end.end;
    is_closed_ = end.is_last;
    return true;
}

std::string guess_boundary(std::string_view body) {
    body = body.substr(0, kMaxSearchedBytes);
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.find_first_of("\r\n", at), body.size());
        const std::size_t next = skip_line_end(body, end);
        const std::string_view line = body.substr(at, end - at);
        const bool is_delimiter = line.size() > 2 && line.size() < kMaxGuessBytes && line.starts_with("--");
        if (is_delimiter && starts_with_ignore_case(body.substr(next), "content-"))
            return std::string(trim(line.substr(2)));
        at = next;
    }
    return {};
}

void MimeEntity::add_header(const HeaderField& field) {
    if (equals_ignore_case(field.name, "content-type")) store_first(type_value, field.value);
    else if (equals_ignore_case(field.name, "content-transfer-encoding")) store_first(encoding_value, field.value);
    else if (equals_ignore_case(field.name, "content-disposition")) store_first(disposition_value, field.value);
}

void MimeEntity::finish(CharsetDecoder& charsets) {
    std::string value, main;
    const auto parse_name = [&](std::string_view header, std::string& name) {
        unfold(header, value);
        parse_main_value(value, main);
        name.clear();
        append_utf8(main.substr(0, kMaxNameBytes), name);
    };
    const auto read_parameter = [&](std::string_view parameter_name, std::string& to) {
        parse_parameter(value, parameter_name, charsets, to);
        truncate_utf8(to, kMaxNameBytes);
    };
    if (encoding_value.data()) parse_name(encoding_value, encoding);
    if (disposition_value.data()) {
        parse_name(disposition_value, disposition);
        read_parameter("filename", file);
    }
    if (!type_value.data()) return;
    parse_name(type_value, type);
    if (std::count(type.begin(), type.end(), '/') != 1) type = "text/plain";
    read_parameter("charset", charset);
    lower_in_place(charset);
    read_parameter("boundary", boundary);
    if (file.empty()) read_parameter("name", file);
}

}  // namespace weigh::mail
