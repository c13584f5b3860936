#include "weigh/spelling/contexts.h"

#include <algorithm>

#include "weigh/unicode.h"

namespace weigh::spelling {
namespace {

constexpr std::size_t kEndingCharacters = 3;

// The last three characters of a longer name; else empty.
std::string_view ending(std::string_view name) {
    std::size_t begin = name.size();
    for (std::size_t characters = 0; characters < kEndingCharacters && begin > 0; ++characters) do
            --begin;
        while (begin > 0 && unicode::non_ascii::is_continuation(name[begin]));
    return begin == 0 ? std::string_view{} : name.substr(begin);
}

}  // namespace

void Contexts::add(std::span<const Token> paragraph, std::size_t i, std::vector<std::int32_t>& features) {
    text_.clear();
    names_.clear();
    add_neighbours(paragraph, i);
    if (i > 0) add_form(paragraph[i - 1], "before");
    if (i + 1 < paragraph.size()) add_form(paragraph[i + 1], "after");
    const std::string_view word = paragraph[i].raw;
    if (begins_with_capital(word)) add_name({is_in_capitals(word) ? "CAPITALS" : "capital"});
    const std::size_t others = names_.size();
    add_window(paragraph, i);
    for (std::size_t k = 0; k < others; ++k) features.push_back(index(names_[k]));
    const auto first = static_cast<std::ptrdiff_t>(features.size());
    for (std::size_t k = others; k < names_.size(); ++k) {
        const std::int32_t near = index(names_[k]);
        if (std::find(features.begin() + first, features.end(), near) == features.end()) features.push_back(near);
    }
}

void Contexts::add_neighbours(std::span<const Token> paragraph, std::size_t i) {
    // Indices before 0 wrap around, so that one check covers both ends.
    const auto name = [&](std::size_t at, std::string& scratch) {
        return at < paragraph.size() ? name_of(paragraph[at], scratch) : kParagraph;
    };
    const std::string_view l2 = name(i - 2, scratch_[0]), l1 = name(i - 1, scratch_[1]);
    const std::string_view r1 = name(i + 1, scratch_[2]), r2 = name(i + 2, scratch_[3]);
    add_name({"before:", l1});
    add_name({"after:", r1});
    add_name({"before:", l2, " ", l1});
    add_name({"after:", r1, " ", r2});
    add_name({"around:", l1, " _ ", r1});
    add_name({"before2:", l2});
    add_name({"after2:", r2});
}

void Contexts::add_form(const Token& word, std::string_view side) {
    if (word.kind != Kind::word) return;
    const std::string_view name = name_of(word, scratch_[0]), last = ending(name);
    if (!last.empty() && name != kLong) add_name({"ending-", side, ":", last});
    if (begins_with_capital(word.raw)) add_name({"capital-", side});
}

void Contexts::add_window(std::span<const Token> paragraph, std::size_t i) {
    for (const std::size_t step : {std::size_t{0} - 1, std::size_t{1}}) {
        std::size_t seen = 0;
        for (std::size_t at = i + step; seen < window_ && at < paragraph.size(); at += step) {
            if (paragraph[at].kind != Kind::word) continue;
            add_name({"near:", name_of(paragraph[at], scratch_[0])});
            ++seen;
        }
    }
}

// Indices are looked up later, when the prefetched memory has arrived.
void Contexts::add_name(std::initializer_list<std::string_view> parts) {
    const std::size_t begin = text_.size();
    for (const std::string_view part : parts) text_ += part;
    const std::string_view name = std::string_view(text_).substr(begin);
    names_.push_back({key_of(name, false), begin, name.size()});
    vocabulary_.prefetch(names_.back().key);
}

std::int32_t Contexts::index(const Name& name) {
    const std::string_view text = std::string_view(text_).substr(name.begin, name.size);
    return static_cast<std::int32_t>(vocabulary_.find_or_add({name.key, text}));
}

}  // namespace weigh::spelling
