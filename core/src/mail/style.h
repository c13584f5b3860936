// Inline CSS, as far as it determines whether text is visible.
#pragma once

#include <cstdint>
#include <string_view>

namespace weigh::mail {

using Colour = std::int32_t;  // 0xRRGGBB
inline constexpr Colour kNoColour = -1;

struct Style {
    Colour text_colour = 0x000000, background = 0xFFFFFF;
    bool is_not_displayed = false, is_invisible = false, is_tiny = false;

    bool is_hidden() const;
};

// Parse "#fff", "#ffffff", "ffffff", "rgb(255, 255, 255)" or a common colour name; else return kNoColour.
Colour parse_colour(std::string_view text);

// Apply the declarations of a style attribute.
void apply_declarations(std::string_view declarations, Style& style);

}  // namespace weigh::mail
