#include "character_references.h"

#include <algorithm>
#include <iterator>

#include "ascii.h"
#include "charset_tables.h"
#include "character_reference_table.h"
#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMaxNameBytes = 8;

const tables::CharacterReference* find_reference(std::string_view name) {
    const auto found =
        std::ranges::lower_bound(tables::kCharacterReferences, name, {}, &tables::CharacterReference::name);
    return found != std::end(tables::kCharacterReferences) && found->name == name ? &*found : nullptr;
}

// The code point of a numeric reference; like browsers, read C1 controls as windows-1252.
char32_t code_point_of(char32_t number) {
    if (number >= 0x80 && number < 0xA0) return tables::cp1252[number - 0x80];
    const bool is_invalid = number == 0 || number > 0x10FFFF || number - 0xD800 < 0x800;
    return is_invalid ? unicode::kReplacement : number;
}

std::size_t append_numeric(std::string_view source, std::size_t at, std::string& out) {
    std::size_t end = at + 2;
    const bool is_hex = end < source.size() && to_lower(source[end]) == 'x';
    if (is_hex) ++end;
    const std::size_t digits = end;
    char32_t number = 0;
    for (; end < source.size() && (is_hex ? hex(source[end]) >= 0 : is_digit(source[end])); ++end)
        number = std::min<char32_t>(number * (is_hex ? 16 : 10) + static_cast<char32_t>(hex(source[end])), 0x110000);
    if (end == digits) {
        out.push_back('&');
        return at + 1;
    }
    unicode::append(out, code_point_of(number));
    return end < source.size() && source[end] == ';' ? end + 1 : end;
}

}  // namespace

std::size_t append_reference(std::string_view source, std::size_t at, bool in_attribute, std::string& out) {
    const std::size_t begin = at + 1;
    if (begin < source.size() && source[begin] == '#') return append_numeric(source, at, out);
    std::size_t end = begin;
    while (end < source.size() && end - begin <= kMaxNameBytes && is_alphanumeric(source[end])) ++end;
    const bool continues = end < source.size() && (source[end] == '=' || is_alphanumeric(source[end]));
    if (end < source.size() && source[end] == ';') {
        if (const auto* reference = find_reference(source.substr(begin, end - begin))) {
            unicode::append(out, reference->point);
            return end + 1;
        }
    }
    for (std::size_t stop = end; stop > begin + 1; --stop) {
        const auto* reference = find_reference(source.substr(begin, stop - begin));
        if (!reference || !reference->semicolon_optional) continue;
        if (in_attribute && (continues || stop != end)) break;
        unicode::append(out, reference->point);
        return stop;
    }
    out.push_back('&');
    return begin;
}

void append_decoded(std::string_view text, std::string& out) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t sign = std::min(text.find('&', at), text.size());
        out.append(text.substr(at, sign - at));
        at = sign < text.size() ? append_reference(text, sign, true, out) : sign;
    }
}

}  // namespace weigh::mail
