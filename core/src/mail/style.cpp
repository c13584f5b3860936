#include "style.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "ascii.h"

namespace weigh::mail {
namespace {

constexpr int kMaxChannelDifference = 16;  // colours within this difference in every channel are indistinguishable

struct NamedColour {
    std::string_view name;
    Colour colour;
};
constexpr NamedColour kColours[] = {
    {"aqua", 0x00FFFF},        {"azure", 0xF0FFFF},     {"beige", 0xF5F5DC},      {"black", 0x000000},
    {"blue", 0x0000FF},        {"brown", 0xA52A2A},     {"cyan", 0x00FFFF},       {"darkblue", 0x00008B},
    {"darkgray", 0xA9A9A9},    {"darkgreen", 0x006400}, {"darkred", 0x8B0000},    {"fuchsia", 0xFF00FF},
    {"gold", 0xFFD700},        {"gray", 0x808080},      {"green", 0x008000},      {"grey", 0x808080},
    {"ivory", 0xFFFFF0},       {"lightblue", 0xADD8E6}, {"lightgray", 0xD3D3D3},  {"lightgrey", 0xD3D3D3},
    {"lightyellow", 0xFFFFE0}, {"lime", 0x00FF00},      {"magenta", 0xFF00FF},    {"maroon", 0x800000},
    {"navy", 0x000080},        {"olive", 0x808000},     {"orange", 0xFFA500},     {"pink", 0xFFC0CB},
    {"purple", 0x800080},      {"red", 0xFF0000},       {"silver", 0xC0C0C0},     {"snow", 0xFFFAFA},
    {"teal", 0x008080},        {"white", 0xFFFFFF},     {"whitesmoke", 0xF5F5F5}, {"yellow", 0xFFFF00},
};

bool look_alike(Colour a, Colour b) {
    if (a == kNoColour || b == kNoColour) return false;
    for (const int shift : {0, 8, 16})
        if (std::abs((a >> shift & 0xFF) - (b >> shift & 0xFF)) > kMaxChannelDifference) return false;
    return true;
}

// Parse a number at the start of the text; negative if there is none.
double parse_number(std::string_view text, std::string_view& unit) {
    std::size_t at = 0;
    double value = 0, digit_value = 1;
    bool has_point = false, has_digit = false;
    for (; at < text.size() && at < 12 && (is_digit(text[at]) || (text[at] == '.' && !has_point)); ++at) {
        has_digit |= text[at] != '.';
        if (text[at] == '.') has_point = true;
        else if (has_point) value += (text[at] - '0') * (digit_value /= 10);
        else value = 10 * value + (text[at] - '0');
    }
    unit = trim(text.substr(at));
    return has_digit ? value : -1;
}

bool is_zero(std::string_view text) {
    std::string_view unit;
    return parse_number(text, unit) == 0;
}

// At most one pixel or point, or a tenth for relative sizes. For unknown units, only zero.
bool is_tiny(std::string_view size) {
    std::string_view unit;
    const double value = parse_number(size, unit);
    if (value <= 0) return value == 0;
    if (equals_ignore_case(unit, "em") || equals_ignore_case(unit, "rem")) return value <= 0.1;
    if (equals_ignore_case(unit, "%")) return value <= 10;
    return value <= 1 && (unit.empty() || equals_ignore_case(unit, "px") || equals_ignore_case(unit, "pt"));
}

Colour parse_rgb(std::string_view text) {
    Colour colour = 0;
    for (int channel = 0; channel < 3; ++channel) {
        while (!text.empty() && (is_space(text[0]) || text[0] == ',')) text.remove_prefix(1);
        std::string_view rest;
        const double value = parse_number(text, rest);
        if (value < 0) return kNoColour;
        const double scaled = starts_with_ignore_case(rest, "%") ? value * 2.55 : value;
        colour = colour << 8 | static_cast<Colour>(std::min(scaled, 255.0));
        text = starts_with_ignore_case(rest, "%") ? rest.substr(1) : rest;
    }
    // A fourth number is the opacity.
    while (!text.empty() && (is_space(text[0]) || text[0] == ',' || text[0] == '/')) text.remove_prefix(1);
    std::string_view rest;
    const double opacity = parse_number(text, rest);
    return opacity < 0 || opacity == (starts_with_ignore_case(rest, "%") ? 100 : 1) ? colour : kNoColour;
}

Colour parse_hex(std::string_view text) {
    if (text.size() != 3 && text.size() != 6) return kNoColour;
    Colour colour = 0;
    for (const char c : text) {
        if (hex(c) < 0) return kNoColour;
        colour = colour << 4 | hex(c);
        if (text.size() == 3) colour = colour << 4 | hex(c);
    }
    return colour;
}

constexpr std::string_view kInheritedBackgrounds[] = {"inherit", "initial", "none", "transparent"};

// Set the background. A transparent one is inherited. An image or unknown value may have any colour, so that no text
// is considered hidden on it.
void set_background(std::string_view value, Style& style) {
    const bool is_inherited = std::any_of(std::begin(kInheritedBackgrounds), std::end(kInheritedBackgrounds),
                                          [&](std::string_view each) { return equals_ignore_case(value, each); });
    if (is_inherited) return;
    const bool is_image = value.find("url(") != kNotFound;
    const char end = starts_with_ignore_case(value, "rgb") ? ')' : ' ';
    style.background = is_image ? kNoColour : parse_colour(value.substr(0, value.find(end)));
}

// Remove "!important".
std::string_view strip_important(std::string_view value) { return trim(value.substr(0, value.find('!'))); }

}  // namespace

bool Style::is_hidden() const {
    return is_not_displayed || is_invisible || is_tiny || look_alike(text_colour, background);
}

Colour parse_colour(std::string_view text) {
    text = trim(text);
    if (starts_with_ignore_case(text, "#")) return parse_hex(text.substr(1));
    if (starts_with_ignore_case(text, "rgb"))
        return parse_rgb(text.substr(std::min(text.find('('), text.size() - 1) + 1));
    for (const NamedColour& each : kColours)
        if (equals_ignore_case(text, each.name)) return each.colour;
    return parse_hex(text);
}

void apply_declarations(std::string_view declarations, Style& style) {
    bool has_zero_size = false, is_clipped = false;
    while (!declarations.empty()) {
        const std::string_view each = declarations.substr(0, declarations.find(';'));
        declarations.remove_prefix(std::min(each.size() + 1, declarations.size()));
        const std::size_t colon = each.find(':');
        if (colon == kNotFound) continue;
        const std::string_view name = trim(each.substr(0, colon)), value = strip_important(each.substr(colon + 1));
        if (equals_ignore_case(name, "display")) style.is_not_displayed |= starts_with_ignore_case(value, "none");
        else if (equals_ignore_case(name, "visibility"))
            style.is_invisible = starts_with_ignore_case(value, "hidden") || starts_with_ignore_case(value, "collapse");
        else if (equals_ignore_case(name, "font-size")) style.is_tiny = is_tiny(value);
        else if (equals_ignore_case(name, "opacity")) style.is_not_displayed |= is_zero(value);
        else if (equals_ignore_case(name, "color")) style.text_colour = parse_colour(value);
        else if (equals_ignore_case(name, "background-color") || equals_ignore_case(name, "background"))
            set_background(value, style);
        else if (equals_ignore_case(name, "background-image")) style.background = kNoColour;
        else if (equals_ignore_case(name, "overflow")) is_clipped = starts_with_ignore_case(value, "hidden");
        else if (equals_ignore_case(name, "max-height") || equals_ignore_case(name, "height") ||
                 equals_ignore_case(name, "width"))
            has_zero_size |= is_zero(value);
    }
    style.is_not_displayed |= has_zero_size && is_clipped;
}

}  // namespace weigh::mail
