#include "weigh/spelling/contexts.h"

#include <algorithm>

#include "weigh/unicode.h"

namespace weigh::spelling {
namespace {

constexpr std::size_t kEnding = 3;

// The last characters of a name that has more; else nothing.
std::string_view ending(std::string_view name) {
    std::size_t begin = name.size();
    for (std::size_t characters = 0; characters < kEnding && begin > 0; ++characters)
        do --begin;
        while (begin > 0 && unicode::wide::continues(name[begin]));
    return begin == 0 ? std::string_view{} : name.substr(begin);
}

}  // namespace

void Contexts::add(std::span<const Token> paragraph, std::size_t i, Numbers& features) {
    add_neighbours(paragraph, i, features);
    if (i > 0) add_form(paragraph[i - 1], "before", features);
    if (i + 1 < paragraph.size()) add_form(paragraph[i + 1], "after", features);
    const std::string_view word = paragraph[i].raw;
    if (begins_with_capital(word)) features.push_back(number({is_in_capitals(word) ? "CAPITALS" : "capital"}));
    add_near(paragraph, i, features);
}

void Contexts::add_neighbours(std::span<const Token> paragraph, std::size_t i, Numbers& features) {
    // What lies before the beginning is beyond the end, too: the numbers wrap around.
    const auto name = [&](std::size_t at, std::string& scratch) {
        return at < paragraph.size() ? name_of(paragraph[at], scratch) : kParagraph;
    };
    const std::string_view l2 = name(i - 2, scratch_[0]), l1 = name(i - 1, scratch_[1]);
    const std::string_view r1 = name(i + 1, scratch_[2]), r2 = name(i + 2, scratch_[3]);
    features.insert(features.end(), {
        number({"before:", l1}),
        number({"after:", r1}),
        number({"before:", l2, " ", l1}),
        number({"after:", r1, " ", r2}),
        number({"around:", l1, " _ ", r1}),
        number({"before2:", l2}),
        number({"after2:", r2}),
    });
}

void Contexts::add_form(const Token& word, std::string_view side, Numbers& features) {
    if (word.kind != Kind::word) return;
    const std::string_view name = name_of(word, scratch_[0]), last = ending(name);
    if (!last.empty() && name != kLong) features.push_back(number({"ending-", side, ":", last}));
    if (begins_with_capital(word.raw)) features.push_back(number({"capital-", side}));
}

void Contexts::add_near(std::span<const Token> paragraph, std::size_t i, Numbers& features) {
    const auto first = static_cast<std::ptrdiff_t>(features.size());
    for (const std::size_t step : {std::size_t{0} - 1, std::size_t{1}}) {
        std::size_t seen = 0;
        for (std::size_t at = i + step; seen < window_ && at < paragraph.size(); at += step) {
            if (paragraph[at].kind != Kind::word) continue;
            ++seen;
            const std::int32_t near = number({"near:", name_of(paragraph[at], scratch_[0])});
            if (std::find(features.begin() + first, features.end(), near) == features.end()) features.push_back(near);
        }
    }
}

std::int32_t Contexts::number(std::initializer_list<std::string_view> parts) {
    joined_.clear();
    for (const std::string_view part : parts) joined_ += part;
    return static_cast<std::int32_t>(vocabulary_.number({key_of(joined_, false), joined_}));
}

}  // namespace weigh::spelling
