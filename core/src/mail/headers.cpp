#include "weigh/mail/headers.h"

#include <cstring>
#include <map>
#include <vector>

#include "ascii.h"
#include "weigh/mail/transfer_encoding.h"

namespace weigh::mail {
namespace {

bool is_header_name(std::string_view name) {
    for (const char c : name)
        if (c <= ' ' || c > '~') return false;
    return true;
}

bool is_envelope_line(std::string_view line) { return line.starts_with("From ") || line.starts_with(">From "); }

// Parts of an encoded word "=?charset?B?text?="; `end` is kNotFound if it is invalid.
struct EncodedWord {
    std::string_view charset, text;
    bool is_base64 = false;
    std::size_t end = kNotFound;
};

EncodedWord parse_encoded_word(std::string_view value, std::size_t begin) {
    const std::size_t delimiter = value.find('?', begin + 2);
    if (delimiter == kNotFound || delimiter + 2 >= value.size() || value[delimiter + 2] != '?') return {};
    const char encoding = to_lower(value[delimiter + 1]);
    if (encoding != 'b' && encoding != 'q') return {};
    // The text may begin with "=", so search after the delimiter.
    const std::size_t close = value.find("?=", delimiter + 3);
    if (close == kNotFound) return {};
    const std::string_view charset = value.substr(begin + 2, delimiter - begin - 2);
    return {charset.substr(0, charset.find('*')), value.substr(delimiter + 3, close - delimiter - 3), encoding == 'b',
            close + 2};
}

bool is_white_space(std::string_view text) { return trim(text).empty(); }

constexpr std::size_t kMaxPieces = 100;

// The position of the next ';' outside quotes.
std::size_t parameter_end(std::string_view value, std::size_t at) {
    for (bool quoted = false; at < value.size(); ++at) {
        if (value[at] == '\\' && quoted) ++at;
        else if (value[at] == '"') quoted = !quoted;
        else if (value[at] == ';' && !quoted) return at;
    }
    return value.size();
}

void append_unquoted(std::string_view text, std::string& out) {
    if (text.empty() || text[0] != '"') {
        out.append(text);
        return;
    }
    for (std::size_t at = 1; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        out.push_back(text[at]);
    }
}

// One piece of a parameter continuation: name*3*=text.
struct ParameterPiece {
    std::string text;
    bool is_escaped = false;
};

// The piece number of a parameter name with optional suffix; -1 if it is a different parameter.
int piece_number(std::string_view key, std::string_view name, bool& is_escaped) {
    if (!starts_with_ignore_case(key, name)) return -1;
    key.remove_prefix(name.size());
    is_escaped = !key.empty() && key.back() == '*';
    if (is_escaped) key.remove_suffix(1);
    if (key.empty()) return 0;
    if (key[0] != '*' || key.size() < 2 || key.size() > 4) return -1;
    int number = 0;
    for (const char c : key.substr(1)) {
        if (!is_digit(c)) return -1;
        number = 10 * number + (c - '0');
    }
    return number;
}

void join_pieces(const std::map<int, ParameterPiece>& pieces, CharsetDecoder& charsets, std::string& out) {
    std::string bytes, charset;
    int expected = 0;
    for (const auto& [number, piece] : pieces) {
        if (number != expected++) break;
        std::string_view text = piece.text;
        if (piece.is_escaped && number == 0) {
            const std::size_t first = text.find('\''), second = first == kNotFound ? first : text.find('\'', first + 1);
            if (second != kNotFound) {
                charset = text.substr(0, first);
                text.remove_prefix(second + 1);
            }
        }
        if (piece.is_escaped) append_percent_decoded(text, bytes);
        else bytes.append(text);
    }
    charsets.append(bytes, charset, out);
}

}  // namespace

std::size_t LineScanner::next_line(std::size_t at) {
    if (!has_searched_ || line_feed_ < at) {
        const void* match = std::memchr(text_.data() + at, '\n', text_.size() - at);
        line_feed_ = match ? static_cast<std::size_t>(static_cast<const char*>(match) - text_.data()) : text_.size();
        has_searched_ = true;
    }
    const void* match = std::memchr(text_.data() + at, '\r', line_feed_ - at);
    const std::size_t carriage_return =
        match ? static_cast<std::size_t>(static_cast<const char*>(match) - text_.data()) : line_feed_;
    if (carriage_return + 1 < line_feed_) return carriage_return + 1;
    return line_feed_ < text_.size() ? line_feed_ + 1 : text_.size();
}

bool HeaderParser::next(HeaderField& field) {
    while (at_ < text_.size()) {
        const std::size_t begin = at_, next_line = lines_.next_line(at_);
        const std::string_view line = text_.substr(begin, next_line - begin);
        if (line[0] == '\n' || line[0] == '\r') {
            at_ = next_line;
            return false;
        }
        if (is_blank(line[0]) || is_envelope_line(line)) {
            is_malformed_ |= begin != 0 || is_blank(line[0]);
            at_ = next_line;
            continue;
        }
        const std::size_t colon = line.find(':');
        const std::string_view name = trim(line.substr(0, std::min(colon, line.size())));
        if (colon == kNotFound || !is_header_name(name)) {
            is_malformed_ = true;
            return false;
        }
        at_ = next_line;
        while (at_ < text_.size() && is_blank(text_[at_])) at_ = lines_.next_line(at_);
        if (name.empty()) {
            is_malformed_ = true;
            continue;
        }
        field = {name, text_.substr(begin + colon + 1, at_ - begin - colon - 1)};
        return true;
    }
    return false;
}

void unfold(std::string_view value, std::string& out) {
    out.clear();
    value = trim(value);
    for (std::size_t at = 0; at < value.size();) {
        std::size_t end = at;
        while (end < value.size() && value[end] != '\n' && value[end] != '\r') ++end;
        out.append(value.substr(at, end - at));
        at = end + 1;
    }
}

void ValueDecoder::flush(std::string& out) {
    if (!bytes_.empty()) charsets_.append(bytes_, charset_, out);
    bytes_.clear();
}

void ValueDecoder::append(std::string_view value, std::string& out) {
    std::size_t plain_begin = 0, search = value.find("=?");
    if (search == kNotFound) return append_guessed(value, out);
    bool follows_word = false;
    // After the last "?=" no encoded word can end.
    const std::size_t last = value.rfind("?=");
    for (std::size_t at; last != kNotFound && (at = value.find("=?", search)) < last;) {
        const EncodedWord word = parse_encoded_word(value, at);
        if (word.end == kNotFound) {
            search = at + 2;
            continue;
        }
        const std::string_view between = value.substr(plain_begin, at - plain_begin);
        const bool is_adjacent = follows_word && is_white_space(between);
        if (!is_adjacent || !equals_ignore_case(word.charset, charset_)) flush(out);
        if (!is_adjacent) append_guessed(between, out);
        charset_ = word.charset;
        if (word.is_base64) decode_base64(word.text, word.text.size(), bytes_);
        else decode_q(word.text, bytes_);
        plain_begin = search = word.end;
        follows_word = true;
    }
    flush(out);
    append_guessed(value.substr(plain_begin), out);
}

void parse_main_value(std::string_view value, std::string& out) {
    out.clear();
    value = trim(value);
    if (value.starts_with('"')) append_unquoted(value, out);
    else out = value.substr(0, value.find_first_of("; \t("));
    lower_in_place(out);
}

bool parse_parameter(std::string_view value, std::string_view name, CharsetDecoder& charsets, std::string& out) {
    std::map<int, ParameterPiece> pieces;
    for (std::size_t at = parameter_end(value, 0); at < value.size();) {
        const std::size_t end = parameter_end(value, at + 1);
        const std::string_view item = value.substr(at + 1, end - at - 1);
        at = end;
        const std::size_t sign = item.find('=');
        if (sign == kNotFound) continue;
        bool is_escaped = false;
        const int number = piece_number(trim(item.substr(0, sign)), name, is_escaped);
        if (number < 0 || pieces.size() == kMaxPieces || pieces.contains(number)) continue;
        ParameterPiece piece{{}, is_escaped};
        append_unquoted(trim(item.substr(sign + 1)), piece.text);
        pieces.emplace(number, std::move(piece));
    }
    out.clear();
    join_pieces(pieces, charsets, out);
    return !pieces.empty();
}

}  // namespace weigh::mail
