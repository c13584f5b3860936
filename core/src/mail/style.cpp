#include "style.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "ascii.h"

namespace weigh::mail {
namespace {

constexpr int kAlike = 16;  // colours whose every channel differs by no more cannot be told apart on a page

struct Named {
    std::string_view name;
    Colour colour;
};
constexpr Named kColours[] = {
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

bool are_alike(Colour a, Colour b) {
    if (a == kNoColour || b == kNoColour) return false;
    for (const int shift : {0, 8, 16})
        if (std::abs((a >> shift & 0xFF) - (b >> shift & 0xFF)) > kAlike) return false;
    return true;
}

// A number at the start of the text; negative if there is none.
double number(std::string_view text, std::string_view& unit) {
    std::size_t at = 0;
    double value = 0, place = 1;
    bool has_point = false, has_digit = false;
    for (; at < text.size() && at < 12 && (is_digit(text[at]) || (text[at] == '.' && !has_point)); ++at) {
        has_digit |= text[at] != '.';
        if (text[at] == '.') has_point = true;
        else if (has_point) value += (text[at] - '0') * (place /= 10);
        else value = 10 * value + (text[at] - '0');
    }
    unit = trimmed(text.substr(at));
    return has_digit ? value : -1;
}

bool is_zero(std::string_view text) {
    std::string_view unit;
    return number(text, unit) == 0;
}

// Up to one pixel or point; of relative sizes up to a tenth. Of a unit that is not known, nothing but zero.
bool is_tiny(std::string_view size) {
    std::string_view unit;
    const double value = number(size, unit);
    if (value <= 0) return value == 0;
    if (same(unit, "em") || same(unit, "rem")) return value <= 0.1;
    if (same(unit, "%")) return value <= 10;
    return value <= 1 && (unit.empty() || same(unit, "px") || same(unit, "pt"));
}

Colour from_channels(std::string_view text) {
    Colour colour = 0;
    for (int channel = 0; channel < 3; ++channel) {
        while (!text.empty() && (is_space(text[0]) || text[0] == ',')) text.remove_prefix(1);
        std::string_view rest;
        const double value = number(text, rest);
        if (value < 0) return kNoColour;
        const double share = starts(rest, "%") ? value * 2.55 : value;
        colour = colour << 8 | static_cast<Colour>(std::min(share, 255.0));
        text = starts(rest, "%") ? rest.substr(1) : rest;
    }
    // A fourth number says how much of what is behind shines through.
    while (!text.empty() && (is_space(text[0]) || text[0] == ',' || text[0] == '/')) text.remove_prefix(1);
    std::string_view rest;
    const double opacity = number(text, rest);
    return opacity < 0 || opacity == (starts(rest, "%") ? 100 : 1) ? colour : kNoColour;
}

Colour from_digits(std::string_view text) {
    if (text.size() != 3 && text.size() != 6) return kNoColour;
    Colour colour = 0;
    for (const char c : text) {
        if (hex(c) < 0) return kNoColour;
        colour = colour << 4 | hex(c);
        if (text.size() == 3) colour = colour << 4 | hex(c);
    }
    return colour;
}

constexpr std::string_view kAround[] = {"inherit", "initial", "none", "transparent"};

// The ground behind the text: a transparent one is that of what is around. A picture, or what is not known
// here, may have any colour: nobody can tell that a text cannot be seen on it.
void set_ground(std::string_view value, Style& style) {
    const bool is_around =
        std::any_of(std::begin(kAround), std::end(kAround), [&](std::string_view each) { return same(value, each); });
    if (is_around) return;
    const bool is_picture = value.find("url(") != kNowhere;
    const char end = starts(value, "rgb") ? ')' : ' ';
    style.ground = is_picture ? kNoColour : colour_of(value.substr(0, value.find(end)));
}

// A value without "!important".
std::string_view declared(std::string_view value) { return trimmed(value.substr(0, value.find('!'))); }

}  // namespace

bool Style::hides() const { return is_undisplayed || is_invisible || is_tiny || are_alike(ink, ground); }

Colour colour_of(std::string_view text) {
    text = trimmed(text);
    if (starts(text, "#")) return from_digits(text.substr(1));
    if (starts(text, "rgb")) return from_channels(text.substr(std::min(text.find('('), text.size() - 1) + 1));
    for (const Named& each : kColours)
        if (same(text, each.name)) return each.colour;
    return from_digits(text);
}

void apply(std::string_view declarations, Style& style) {
    bool is_flat = false, is_clipped = false;
    while (!declarations.empty()) {
        const std::string_view each = declarations.substr(0, declarations.find(';'));
        declarations.remove_prefix(std::min(each.size() + 1, declarations.size()));
        const std::size_t colon = each.find(':');
        if (colon == kNowhere) continue;
        const std::string_view name = trimmed(each.substr(0, colon)), value = declared(each.substr(colon + 1));
        if (same(name, "display")) style.is_undisplayed |= starts(value, "none");
        else if (same(name, "visibility")) style.is_invisible = starts(value, "hidden") || starts(value, "collapse");
        else if (same(name, "font-size")) style.is_tiny = is_tiny(value);
        else if (same(name, "opacity")) style.is_undisplayed |= is_zero(value);
        else if (same(name, "color")) style.ink = colour_of(value);
        else if (same(name, "background-color") || same(name, "background")) set_ground(value, style);
        else if (same(name, "background-image")) style.ground = kNoColour;
        else if (same(name, "overflow")) is_clipped = starts(value, "hidden");
        else if (same(name, "max-height") || same(name, "height") || same(name, "width")) is_flat |= is_zero(value);
    }
    style.is_undisplayed |= is_flat && is_clipped;
}

}  // namespace weigh::mail
