#include <algorithm>

#include "ascii.h"
#include "feature_views.h"
#include "weigh/unicode.h"
#include "word_splitter.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMaxTypeBytes = 40;
constexpr std::size_t kMinLetters = 20;  // minimum for the "shouting" flag

// The path, query and fragment of a URL.
std::string_view path_of(std::string_view url) {
    const std::size_t mark = url.find("//");
    const std::size_t begin = mark == kNotFound ? 0 : mark + 2;
    const std::size_t end = url.find_first_of("/\\?#", begin);
    return end == kNotFound ? std::string_view{} : url.substr(end);
}

// Whether a word begins or ends with a dollar, pound or euro sign.
bool is_price(std::string_view word) {
    constexpr std::string_view kPound = "\u00a3", kEuro = "\u20ac";
    if (word.starts_with('$') || word.ends_with('$')) return true;
    return word.starts_with(kPound) || word.ends_with(kPound) || word.starts_with(kEuro) || word.ends_with(kEuro);
}

bool is_shouting(std::string_view text) {
    std::size_t capitals = 0, letters = 0;
    for (const char c : text) {
        letters += is_letter(c);
        capitals += c >= 'A' && c <= 'Z';
    }
    return letters > kMinLetters && 2 * capitals > letters;
}

}  // namespace

void BodyFeatures::read(const Message& message) {
    arena_.clear();
    add_structure(message);
    add_attributes(message);
    add_links(message);
    add_text(message.text);
    for (const Header& header : message.headers)
        if (header.name == "subject") add_text(header.value);
    names_.begin("hidden:");
    names_.add_words(message.hidden);
    if (characters_ == 0) return;
    names_.begin("chars:");
    names_.add_character_ngrams(message.text, characters_);
}

void BodyFeatures::add_structure(const Message& message) {
    names_.begin("part:");
    for (const Part& part : message.parts) {
        scratch_ = part.type;
        truncate_utf8(scratch_, kMaxTypeBytes);
        names_.add(scratch_);
    }
    names_.begin("flag:");
    for (std::size_t i = 0; i < kFlags; ++i) {
        const Flag flag = static_cast<Flag>(i);
        if (!is_header_flag(flag) && message.flags.has(flag)) names_.add(kFlagNames[i]);
    }
    if (is_shouting(message.text)) names_.add("shouting");
    names_.begin("tag:");
    for (const std::string_view tag : message.tags) names_.add(tag);
}

void BodyFeatures::add_attributes(const Message& message) {
    names_.begin("attr:");
    for (const auto& [name, value] : message.attributes) {
        scratch_ = name;
        scratch_ += '=';
        scratch_ += value.substr(0, value.find_first_of(" \t\r\n"));
        names_.add(scratch_);
    }
}

void BodyFeatures::add_links(const Message& message) {
    names_.begin("url:");
    for (const Link& link : message.links) {
        if (link.has(Trait::numeric)) names_.add_ip_address(link.host);
        else names_.add_host(link.host);
    }
    names_.begin("path:");
    for (const Link& link : message.links) names_.add_words(path_of(link.url));
    names_.begin("link:");
    for (const Link& link : message.links)
        for (std::size_t i = 0; i < kTraits; ++i)
            if (link.has(static_cast<Trait>(i))) names_.add(kTraitNames[i]);
}

void BodyFeatures::add_text(std::string_view text) {
    // Lower-casing non-ASCII text may change its length, so it is done word by word.
    lowered_ = text;
    lower_in_place(lowered_);
    pairs_.begin("");
    WordSplitter words(text, arena_);
    for (std::string_view word; !set.is_full() && words.next(word);) {
        set.add(word);
        add_number_flags(word);
        if (words.is_long()) pairs_.add(word, set);
        else if (words.has_non_ascii()) pairs_.add(folded(word), set);
        else {
            const auto begin = static_cast<std::size_t>(word.data() - text.data());
            pairs_.add(std::string_view(lowered_).substr(begin, word.size()), set);
        }
    }
}

void BodyFeatures::add_number_flags(std::string_view word) {
    if (word.ends_with("!!")) set.add("flag:exclaiming");
    const bool is_percent = word.ends_with('%');
    if (!is_percent && !is_price(word)) return;
    if (std::any_of(word.begin(), word.end(), is_digit)) set.add(is_percent ? "flag:percent" : "flag:money");
}

std::string_view BodyFeatures::folded(std::string_view word) {
    unicode::fold(word, {true, false}, scratch_);
    return arena_.keep(scratch_);
}

}  // namespace weigh::mail
