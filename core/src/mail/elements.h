// HTML elements and how they affect text extraction.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weigh::mail {

enum Manner : std::uint8_t {
    kInline = 0,
    kBlock = 1,  // on lines of its own
    kVoid = 2,  // no end tag
    kCell = 4,  // table cell, separated from its neighbours
    kRaw = 8,  // content is not HTML
    kScope = 16,  // end tags inside do not close elements outside
    kSimilar = 32  // closes an open element of the same kind
};

struct Element {
    std::string_view name;
    std::uint8_t behaviour;
};

// Sorted by name.
inline constexpr std::array kElements{
    Element{"a", kInline},                 Element{"abbr", kInline},              Element{"acronym", kInline},
    Element{"address", kBlock},            Element{"applet", kInline},            Element{"area", kVoid},
    Element{"article", kBlock},            Element{"aside", kBlock},              Element{"b", kInline},
    Element{"base", kVoid},                Element{"basefont", kVoid},            Element{"bdo", kInline},
    Element{"bgsound", kVoid},             Element{"big", kInline},               Element{"blink", kInline},
    Element{"blockquote", kBlock},         Element{"body", kBlock},               Element{"br", kBlock | kVoid},
    Element{"button", kInline},            Element{"caption", kBlock},            Element{"center", kBlock},
    Element{"cite", kInline},              Element{"code", kInline},              Element{"col", kVoid},
    Element{"colgroup", kInline},          Element{"dd", kBlock | kSimilar},      Element{"del", kInline},
    Element{"details", kBlock},            Element{"dfn", kInline},               Element{"dir", kBlock},
    Element{"div", kBlock},                Element{"dl", kBlock},                 Element{"dt", kBlock | kSimilar},
    Element{"em", kInline},                Element{"embed", kVoid},               Element{"fieldset", kBlock},
    Element{"figcaption", kBlock},         Element{"figure", kBlock},             Element{"font", kInline},
    Element{"footer", kBlock},             Element{"form", kBlock},               Element{"frame", kVoid},
    Element{"frameset", kBlock},           Element{"h1", kBlock},                 Element{"h2", kBlock},
    Element{"h3", kBlock},                 Element{"h4", kBlock},                 Element{"h5", kBlock},
    Element{"h6", kBlock},                 Element{"head", kBlock},               Element{"header", kBlock},
    Element{"hr", kBlock | kVoid},         Element{"html", kBlock},               Element{"i", kInline},
    Element{"iframe", kInline},            Element{"img", kVoid},                 Element{"input", kVoid},
    Element{"ins", kInline},               Element{"kbd", kInline},               Element{"label", kInline},
    Element{"layer", kBlock},              Element{"legend", kBlock},             Element{"li", kBlock | kSimilar},
    Element{"link", kVoid},                Element{"listing", kBlock},            Element{"main", kBlock},
    Element{"map", kInline},               Element{"marquee", kBlock},            Element{"menu", kBlock},
    Element{"meta", kVoid},                Element{"nav", kBlock},                Element{"nobr", kInline},
    Element{"noframes", kBlock},           Element{"noscript", kBlock},           Element{"object", kInline},
    Element{"ol", kBlock},                 Element{"optgroup", kBlock},           Element{"option", kBlock | kSimilar},
    Element{"p", kBlock | kSimilar},       Element{"param", kVoid},               Element{"picture", kInline},
    Element{"pre", kBlock},                Element{"q", kInline},                 Element{"s", kInline},
    Element{"samp", kInline},              Element{"script", kRaw},               Element{"section", kBlock},
    Element{"select", kBlock},             Element{"small", kInline},             Element{"source", kVoid},
    Element{"span", kInline},              Element{"strike", kInline},            Element{"strong", kInline},
    Element{"style", kRaw},                Element{"sub", kInline},               Element{"summary", kBlock},
    Element{"sup", kInline},               Element{"svg", kInline},               Element{"table", kBlock | kScope},
    Element{"tbody", kBlock},              Element{"td", kCell | kScope | kSimilar}, Element{"textarea", kBlock},
    Element{"tfoot", kBlock},              Element{"th", kCell | kScope | kSimilar}, Element{"thead", kBlock},
    Element{"title", kRaw},                Element{"tr", kBlock | kSimilar},      Element{"tt", kInline},
    Element{"u", kInline},                 Element{"ul", kBlock},                 Element{"var", kInline},
    Element{"video", kInline},             Element{"wbr", kVoid},                 Element{"xml", kRaw},
    Element{"xmp", kBlock},

};

// The index of an element by its lower case name; the size of the list if it is unknown.
std::size_t find_element(std::string_view name);

}  // namespace weigh::mail
