#include <map>
#include <vector>

#include "ascii.h"
#include "weigh/mail/headers.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMostPieces = 100;

// The position of the next ';' outside quotes.
std::size_t end_of(std::string_view value, std::size_t at) {
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

// One of the pieces of a parameter: name*3*=text.
struct Piece {
    std::string text;
    bool is_escaped = false;
};

// Which piece of the parameter `key` is, by what follows its name: -1 if it is another one.
int number_of(std::string_view key, std::string_view name, bool& is_escaped) {
    if (!starts(key, name)) return -1;
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

void join(const std::map<int, Piece>& pieces, Charsets& charsets, std::string& out) {
    std::string bytes, charset;
    int expected = 0;
    for (const auto& [number, piece] : pieces) {
        if (number != expected++) break;
        std::string_view text = piece.text;
        if (piece.is_escaped && number == 0) {
            const std::size_t first = text.find('\''), second = first == kNowhere ? first : text.find('\'', first + 1);
            if (second != kNowhere) {
                charset = text.substr(0, first);
                text.remove_prefix(second + 1);
            }
        }
        if (piece.is_escaped) append_unpercent(text, bytes);
        else bytes.append(text);
    }
    charsets.append(bytes, charset, out);
}

}  // namespace

void main_value(std::string_view value, std::string& out) {
    out.clear();
    value = trimmed(value);
    if (value.starts_with('"')) append_unquoted(value, out);
    else out = value.substr(0, value.find_first_of("; \t("));
    make_lower(out);
}

bool parameter(std::string_view value, std::string_view name, Charsets& charsets, std::string& out) {
    std::map<int, Piece> pieces;
    for (std::size_t at = end_of(value, 0); at < value.size();) {
        const std::size_t end = end_of(value, at + 1);
        const std::string_view item = value.substr(at + 1, end - at - 1);
        at = end;
        const std::size_t sign = item.find('=');
        if (sign == kNowhere) continue;
        bool is_escaped = false;
        const int number = number_of(trimmed(item.substr(0, sign)), name, is_escaped);
        if (number < 0 || pieces.size() == kMostPieces || pieces.contains(number)) continue;
        Piece piece{{}, is_escaped};
        append_unquoted(trimmed(item.substr(sign + 1)), piece.text);
        pieces.emplace(number, std::move(piece));
    }
    out.clear();
    join(pieces, charsets, out);
    return !pieces.empty();
}

}  // namespace weigh::mail
