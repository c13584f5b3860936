// How text looks, as far as it tells whether anybody can see it.
#pragma once

#include <cstdint>
#include <string_view>

namespace weigh::mail {

using Colour = std::int32_t;  // 0xRRGGBB
inline constexpr Colour kNoColour = -1;

struct Style {
    Colour ink = 0x000000, ground = 0xFFFFFF;
    bool is_undisplayed = false, is_invisible = false, is_tiny = false;

    bool hides() const;
};

// "#fff", "#ffffff", "ffffff", "rgb(255, 255, 255)" and the common names; else kNoColour.
Colour colour_of(std::string_view text);

// Apply the declarations of a style attribute.
void apply(std::string_view declarations, Style& style);

}  // namespace weigh::mail
