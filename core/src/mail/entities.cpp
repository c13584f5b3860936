#include "entities.h"

#include <algorithm>
#include <iterator>

#include "ascii.h"
#include "charset_tables.h"
#include "entity_table.h"
#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kLongestName = 8;

const tables::Entity* named(std::string_view name) {
    const auto found = std::ranges::lower_bound(tables::kEntities, name, {}, &tables::Entity::name);
    return found != std::end(tables::kEntities) && found->name == name ? &*found : nullptr;
}

// What a number means: browsers read those of the upper controls as windows-1252.
char32_t meant(char32_t number) {
    if (number >= 0x80 && number < 0xA0) return tables::cp1252[number - 0x80];
    const bool is_none = number == 0 || number > 0x10FFFF || number - 0xD800 < 0x800;
    return is_none ? unicode::kReplacement : number;
}

std::size_t append_numeric(std::string_view source, std::size_t at, std::string& out) {
    std::size_t end = at + 2;
    const bool is_hex = end < source.size() && lower(source[end]) == 'x';
    if (is_hex) ++end;
    const std::size_t digits = end;
    char32_t number = 0;
    for (; end < source.size() && (is_hex ? hex(source[end]) >= 0 : is_digit(source[end])); ++end)
        number = std::min<char32_t>(number * (is_hex ? 16 : 10) + static_cast<char32_t>(hex(source[end])), 0x110000);
    if (end == digits) {
        out.push_back('&');
        return at + 1;
    }
    unicode::append(out, meant(number));
    return end < source.size() && source[end] == ';' ? end + 1 : end;
}

}  // namespace

std::size_t append_entity(std::string_view source, std::size_t at, bool in_attribute, std::string& out) {
    const std::size_t begin = at + 1;
    if (begin < source.size() && source[begin] == '#') return append_numeric(source, at, out);
    std::size_t end = begin;
    while (end < source.size() && end - begin <= kLongestName && is_alphanumeric(source[end])) ++end;
    const bool goes_on = end < source.size() && (source[end] == '=' || is_alphanumeric(source[end]));
    if (end < source.size() && source[end] == ';') {
        if (const auto* entity = named(source.substr(begin, end - begin))) {
            unicode::append(out, entity->point);
            return end + 1;
        }
    }
    for (std::size_t stop = end; stop > begin + 1; --stop) {
        const auto* entity = named(source.substr(begin, stop - begin));
        if (!entity || !entity->is_bare) continue;
        if (in_attribute && (goes_on || stop != end)) break;
        unicode::append(out, entity->point);
        return stop;
    }
    out.push_back('&');
    return begin;
}

void append_unescaped(std::string_view text, std::string& out) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t sign = std::min(text.find('&', at), text.size());
        out.append(text.substr(at, sign - at));
        at = sign < text.size() ? append_entity(text, sign, true, out) : sign;
    }
}

}  // namespace weigh::mail
