// Tests of mail features: names, hashed features, limits, and reuse of memory.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "weigh/mail/features.h"
#include "weigh/mail/keyed_hash.h"
#include "weigh/mail/reader.h"

namespace {

namespace mail = weigh::mail;
using mail::View;

std::vector<mail::Feature> features_of(std::string_view raw, const mail::FeatureSettings& settings = {}) {
    mail::Message message;
    mail::Reader().read(raw, message);
    std::vector<mail::Feature> found;
    std::string hashed;
    mail::FeatureExtractor(settings).hash(message, hashed, &found);
    return found;
}

bool has(const std::vector<mail::Feature>& features, View view, std::string_view name) {
    return std::any_of(features.begin(), features.end(),
                       [&](const auto& each) { return each.view == view && each.name == name; });
}

std::uint64_t load_number(std::string_view hashed, std::size_t at, std::size_t size) {
    std::uint64_t found = 0;
    for (std::size_t byte = 0; byte < size; ++byte)
        found |= std::uint64_t{static_cast<unsigned char>(hashed[at + byte])} << (8 * byte);
    return found;
}

std::vector<std::uint64_t> keys_of(std::string_view bytes, View view) {
    const std::size_t headers = load_number(bytes, 0, 4), body = load_number(bytes, 4, 4);
    EXPECT(bytes.size() == 8 + 8 * (headers + body));
    std::vector<std::uint64_t> keys;
    const bool is_first = view == View::headers;
    const std::size_t begin = is_first ? 0 : headers, end = is_first ? headers : headers + body;
    for (std::size_t i = begin; i < end; ++i) keys.push_back(load_number(bytes, 8 + 8 * i, 8));
    return keys;
}

// Published values of SipHash-1-3 for the key 00 01 02 .. 0f and the texts 00 01 02 .., as in CPython and Rust.
void siphash_has_its_published_values() {
    const mail::KeyedHash hash(0x0706050403020100ULL, 0x0F0E0D0C0B0A0908ULL);
    std::string text;
    for (const std::uint64_t expected :
         {0xABAC0158050FC4DCULL, 0xC9F49BF37D57CA93ULL, 0x82CB9B024DC7D44DULL, 0x8BF80AB8E7DDF7FBULL,
          0xCF75576088D38328ULL, 0xDEF9D52F49533B67ULL, 0xC50D2B50C59F22A7ULL, 0xD3927D989BB11140ULL,
          0x369095118D299A8EULL, 0x25A48EB36C063DE4ULL}) {
        EXPECT(hash(text) == expected);
        text.push_back(static_cast<char>(text.size()));
    }
}

constexpr std::string_view kMessage =
    "From: Ann <ann@shop.example.com>\n"
    "Subject: Free money\n"
    "X-Spam-Flag: YES\n"
    "Content-Type: text/html\n"
    "\n"
    "<p align=Center>Hello DEAR friend http://www.example.com/a-b?c <span style='display:none'>secret</span></p>";

void names_have_the_prefix_of_their_source() {
    const auto found = features_of(kMessage);
    for (const std::string_view name :
         {"has:from", "from:Ann", "from:Ann ann@shop.example.com", "domain:shop.example.com", "domain:example.com",
          "subject:Free money", "flag:missing-date"})
        EXPECT(has(found, View::headers, name));
    for (const std::string_view name :
         {"Hello", "DEAR", "hello dear", "dear friend", "url:www.example.com", "url:example.com", "path:a-b", "path:c",
          "part:text/html", "tag:p", "attr:align=center", "flag:hidden-text", "hidden:secret"})
        EXPECT(has(found, View::body, name));
    for (const mail::Feature& each : found) EXPECT(each.name.find("spam") == each.name.npos);
    EXPECT(!has(found, View::body, "secret"));
}

void pairs_have_the_maximum_distance() {
    constexpr std::string_view kLetters = "\na b c d e f";
    const auto none = features_of(kLetters, {mail::Pairs::none, 0, 0});
    const auto sparse = features_of(kLetters, {mail::Pairs::sparse, 0, 0});
    EXPECT(!has(none, View::body, "a b") && has(none, View::body, "a"));
    for (const std::string_view name : {"a b", "a _ c", "a _ _ d", "a _ _ _ e", "e f"})
        EXPECT(has(sparse, View::body, name));
    EXPECT(!has(sparse, View::body, "a _ _ _ _ f"));
}

std::string random_damaged_message(Random& random) {
    std::string raw(kMessage);
    for (std::size_t n = random() % 30; n-- > 0;) raw[random() % raw.size()] = static_cast<char>(random());
    return raw.substr(0, random() % 5 ? raw.size() : random() % raw.size());
}

// State of `used` from earlier messages must not show.
void hashed_features_are_the_sorted_keys_of_the_names(Random& random) {
    const mail::FeatureSettings settings{mail::Pairs::sparse, 3, 99};
    mail::FeatureExtractor used(settings);
    mail::Reader reader;
    mail::Message message;
    std::string bytes;
    for (int time = 0; time < 500; ++time) {
        const std::string raw = random_damaged_message(random);
        reader.read(raw, message);
        used.hash(message, bytes);
        const auto features = features_of(raw, settings);
        for (const View view : {View::headers, View::body}) {
            std::vector<std::uint64_t> expected;
            for (const mail::Feature& each : features)
                if (each.view == view) expected.push_back(each.key);
            std::sort(expected.begin(), expected.end());
            EXPECT(keys_of(bytes, view) == expected);
            EXPECT(std::adjacent_find(expected.begin(), expected.end()) == expected.end());
        }
    }
}

void results_do_not_depend_on_threads(Random& random) {
    std::vector<std::string> raws;
    for (int i = 0; i < 200; ++i) raws.push_back(random_damaged_message(random));
    const std::vector<std::string_view> contents(raws.begin(), raws.end());
    const auto alone = mail::hash_features(contents, {}, 1);
    for (const std::size_t threads : {0, 2, 7, 500}) EXPECT(mail::hash_features(contents, {}, threads) == alone);
    EXPECT(mail::hash_features({}, {}, 4).empty());
}

void the_number_of_features_is_limited() {
    std::string raw = "Subject:";
    for (int i = 0; i < 30000; ++i) raw += " h" + std::to_string(i);
    raw += "\n\n";
    for (int i = 0; i < 30000; ++i) raw += " b" + std::to_string(i);
    const std::string_view content = raw;
    const std::string bytes = mail::hash_features({&content, 1}, {mail::Pairs::sparse, 4, 0}, 1)[0];
    EXPECT(load_number(bytes, 0, 4) == mail::kMaxFeatures && load_number(bytes, 4, 4) == mail::kMaxFeatures);
    const auto body = keys_of(bytes, View::body);
    EXPECT(std::is_sorted(body.begin(), body.end()) && std::adjacent_find(body.begin(), body.end()) == body.end());
}

}  // namespace

int main() {
    Random random(1);
    siphash_has_its_published_values();
    names_have_the_prefix_of_their_source();
    pairs_have_the_maximum_distance();
    hashed_features_are_the_sorted_keys_of_the_names(random);
    results_do_not_depend_on_threads(random);
    the_number_of_features_is_limited();
    return report();
}
