// Tests of Unicode functions: known characters, round trips of all code points, random bytes.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "weigh/unicode.h"

namespace {

namespace unicode = weigh::unicode;
using unicode::Folding;
using namespace std::string_view_literals;

constexpr Folding kNothing{false, false}, kLower{true, false}, kBare{false, true}, kBoth{true, true};
constexpr std::array kFoldings{kNothing, kLower, kBare, kBoth};

std::string encoded(std::u32string_view text) {
    std::string result;
    for (const char32_t c : text) unicode::append(result, c);
    return result;
}

// Fold a copy in exactly sized memory, so that the sanitizer detects out-of-bounds reads.
std::u32string decoded(std::string_view text) {
    const std::vector<char> exact(text.begin(), text.end());
    std::u32string result;
    const char* at = exact.data();
    while (at != exact.data() + exact.size()) result += unicode::decode(at, exact.data() + exact.size());
    return result;
}

std::u32string folded(std::string_view text, Folding folding) {
    const std::vector<char> exact(text.begin(), text.end());
    std::string out = "what was there before";
    unicode::fold({exact.data(), exact.size()}, folding, out);
    return decoded(out);
}

std::u32string folded(std::u32string_view text, Folding folding) { return folded(encoded(text), folding); }

void characters_are_classified() {
    EXPECT(unicode::kVersion == "14.0.0"sv);
    for (const char32_t c : U"azAZ09_\u00aa\u00b2\u00bd\u00e9\u0416\u0663\u4e2d\uac00\U0001d7ce\U0002a6d6"sv)
        EXPECT(unicode::is_word(c) && !unicode::is_space(c));
    for (const char32_t c : U"\t\n\v\f\r\x1c\x1f \u0085\u00a0\u1680\u2000\u2028\u205f\u3000"sv)
        EXPECT(unicode::is_space(c) && !unicode::is_word(c));
    for (const char32_t c : U"\0\b\x0e\x1b!@[`{/:-\x7f\u0301\u200b\ufeff\ufffd\U0001f600\U000e0001"sv)
        EXPECT(!unicode::is_space(c) && !unicode::is_word(c));
    for (const char32_t c : {0xD800u, 0x10FFFFu, 0x110000u, 0xFFFFFFFFu})
        EXPECT(!unicode::is_space(c) && !unicode::is_word(c));
}

void every_code_point_round_trips() {
    bool same = true;
    for (char32_t c = 0; c < 0x110000; ++c) {
        std::string bytes;
        unicode::append(bytes, c);
        const char* at = bytes.data();
        same &= unicode::decode(at, bytes.data() + bytes.size()) == c &&
                at == bytes.data() + bytes.size();
    }
    EXPECT(same);
    EXPECT(encoded(U"a\u00e9\u4e2d\U0001f600") == "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80");
    EXPECT(encoded(std::u32string{0x110000}) == "\xEF\xBF\xBD");
}

void each_maximal_subpart_is_replaced_once() {
    EXPECT(decoded("\x80\xBF") == U"\ufffd\ufffd");
    EXPECT(decoded("\xC0\x80\xC1\xBF") == U"\ufffd\ufffd\ufffd\ufffd");
    EXPECT(decoded("\xC3") == U"\ufffd" && decoded("\xC3(") == U"\ufffd(");
    EXPECT(decoded("\xE2\x82") == U"\ufffd" && decoded("\xE2\x82z") == U"\ufffdz");
    EXPECT(decoded("\xE0\x9F\xBF") == U"\ufffd\ufffd\ufffd");
    EXPECT(decoded("\xF0\x9F\x98") == U"\ufffd" && decoded("\xF0\x9F\x98\xC3\xA9") == U"\ufffd\u00e9");
    EXPECT(decoded("\xF0\x8F\xBF\xBF") == U"\ufffd\ufffd\ufffd\ufffd");
    EXPECT(decoded("\xF4\x90\x80\x80") == U"\ufffd\ufffd\ufffd\ufffd");
    EXPECT(decoded("\xF5\x80\x80\x80\xFF") == U"\ufffd\ufffd\ufffd\ufffd\ufffd");
}

void complete_surrogates_are_kept() {
    EXPECT(decoded("\xED\xA0\xBD\xED\xB8\x80") == (std::u32string{0xD83D, 0xDE00}));
    EXPECT(decoded("\xED\xA0") == U"\ufffd\ufffd" && decoded("\xED\xBFz") == U"\ufffd\ufffdz");
    EXPECT(folded("\xED\xA0\xBD"sv, kBoth) == std::u32string{0xD83D});
}

void lower_case_uses_full_mappings() {
    EXPECT(folded(U"ABC xyz \u00c0\u0416\u1e9e\u212a\u023a\U00010400", kLower) ==
           U"abc xyz \u00e0\u0436\u00dfk\u2c65\U00010428");
    EXPECT(folded(U"\u0130I", kLower) == U"i\u0307i" && folded(U"\u0130I", kBoth) == U"ii");
    EXPECT(folded(U"AB\u00c0", kNothing) == U"AB\u00c0");
    EXPECT(folded(U"@AZ[`az{ and so on, past SIXTEEN @AZ[`az{", kLower) ==
           U"@az[`az{ and so on, past sixteen @az[`az{");
}

void a_final_sigma_follows_a_letter_and_precedes_none() {
    EXPECT(folded(U"\u03a3", kLower) == U"\u03c3" && folded(U"A\u03a3", kLower) == U"a\u03c2");
    EXPECT(folded(U"\u039f\u03a3\u03a3\u039f\u03a3 \u03a3", kBoth) == U"\u03bf\u03c3\u03c3\u03bf\u03c2 \u03c3");
    EXPECT(folded(U"A'\u0301\u03a3.\u0301", kLower) == U"a'\u0301\u03c2.\u0301");
    EXPECT(folded(U"A\u03a3.\u0301b", kLower) == U"a\u03c3.\u0301b");
    EXPECT(folded(U"\U00010400\u03a3\U00010400", kLower) == U"\U00010428\u03c3\U00010428");
    EXPECT(folded(U"4\u03a3", kLower) == U"4\u03c3" && folded(U"'\u03a3", kLower) == U"'\u03c3");
    EXPECT(folded("A\x80\xCE\xA3"sv, kLower) == U"a\ufffd\u03c3");
    EXPECT(folded("A\xCE\xA3\xCC"sv, kLower) == U"a\u03c2\ufffd");
}

void accents_are_stripped() {
    EXPECT(folded(U"\u00c9t\u00e9 e\u0301 \u00f8\u00df", kBare) == U"Ete e \u00f8\u00df");
    EXPECT(folded(U"\u00c9t\u00e9", kBoth) == U"ete" && folded(U"\u0344\u0f73", kBare).empty());
    EXPECT(folded(U"\ufb01\u2460\uff21\U0001d400\u3392", kBare) == U"fi1AAMHz");
    EXPECT(folded(U"\ufb01\u2460\uff21\U0001d400\u3392", kBoth) == U"fi1aAMHz");
    EXPECT(folded(U"\uac00\uac01\ud7a3", kBare) == U"\u1100\u1161\u1100\u1161\u11a8\u1112\u1175\u11c2");
    EXPECT(folded(U"\uac00\ud7a3", kLower) == U"\uac00\ud7a3");
}

void folded_text_may_be_longer() {
    for (const std::size_t n : {std::size_t{1}, std::size_t{1000}}) {
        EXPECT(folded(std::u32string(n, U'\ufdfa'), kBare).size() == 18 * n);
        EXPECT(folded(std::u32string(n, U'\ud7a3') + U"!", kBoth).size() == 3 * n + 1);
        EXPECT(folded(std::u32string(n, U'\u023a'), kLower) == std::u32string(n, U'\u2c65'));
        EXPECT(folded(std::string(n, '\xFF'), kNothing) == std::u32string(n, U'\ufffd'));
    }
}

void all_encodings_give_the_same_utf8(Random& random, std::size_t n) {
    std::vector<unsigned char> narrow(n);
    for (auto& c : narrow) c = static_cast<unsigned char>(random() % 8 ? random() % 128 : random() % 256);
    const std::vector<std::uint16_t> two(narrow.begin(), narrow.end());
    const std::vector<std::uint32_t> four(narrow.begin(), narrow.end());
    std::string from_one = "x", from_two = "x", from_four = "x", expected = "x";
    for (const unsigned char c : narrow) unicode::append(expected, c);
    unicode::append_latin1(from_one, narrow.data(), n);
    unicode::append_ucs2(from_two, two.data(), n);
    unicode::append_ucs4(from_four, four.data(), n);
    EXPECT(from_one == expected && from_two == expected && from_four == expected);
}

void ucs2_and_ucs4_cover_all_code_points() {
    std::vector<std::uint16_t> two;
    std::vector<std::uint32_t> four;
    for (std::uint32_t c = 0; c < 0x110000; ++c) {
        if (c < 0x10000) two.push_back(static_cast<std::uint16_t>(c));
        four.push_back(c);
    }
    std::string from_two, from_four;
    unicode::append_ucs2(from_two, two.data(), two.size());
    unicode::append_ucs4(from_four, four.data(), four.size());
    EXPECT(from_two == encoded(std::u32string(two.begin(), two.end())));
    EXPECT(from_four == encoded(std::u32string(four.begin(), four.end())));
}

std::string random_bytes(Random& random, std::size_t n) {
    constexpr std::string_view kLikely = "A'.\x80\x9F\xA0\xA3\xBF\xC2\xCC\xCE\xD0\xE0\xE1\xED\xEF\xF0\xF4";
    std::string result(n, ' ');
    for (char& byte : result) byte = random() % 2 ? static_cast<char>(random()) : kLikely[random() % kLikely.size()];
    return result;
}

void folding_without_options_only_decodes(Random& random, std::size_t n) {
    const std::string text = random_bytes(random, n);
    EXPECT(folded(text, kNothing) == decoded(text));
}

void invalid_bytes_fold_like_their_replacements(Random& random, std::size_t n) {
    const std::string text = random_bytes(random, n);
    const std::string whole = encoded(decoded(text));
    for (const Folding folding : kFoldings) EXPECT(folded(text, folding) == folded(whole, folding));
}

void text_without_sigma_folds_character_by_character(Random& random, std::size_t n) {
    std::u32string text;
    for (std::size_t i = 0; i < n; ++i) {
        const auto c = static_cast<char32_t>(random() % (random() % 2 ? 0x800 : 0x30000));
        text += c == U'\u03a3' ? U' ' : c;
    }
    for (const Folding folding : kFoldings) {
        std::u32string expected;
        for (const char32_t c : text) expected += folded(std::u32string(1, c), folding);
        EXPECT(folded(text, folding) == expected);
    }
}

}  // namespace

int main() {
    Random random(1);
    characters_are_classified();
    every_code_point_round_trips();
    each_maximal_subpart_is_replaced_once();
    complete_surrogates_are_kept();
    lower_case_uses_full_mappings();
    a_final_sigma_follows_a_letter_and_precedes_none();
    accents_are_stripped();
    folded_text_may_be_longer();
    ucs2_and_ucs4_cover_all_code_points();
    for (std::size_t n = 0; n < 200; ++n) {
        all_encodings_give_the_same_utf8(random, n);
        folding_without_options_only_decodes(random, n);
        invalid_bytes_fold_like_their_replacements(random, n);
        text_without_sigma_folds_character_by_character(random, n);
    }
    return report();
}
