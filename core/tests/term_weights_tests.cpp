// Tests of weighted words against maps, on random texts and bytes.
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "texts.h"
#include "weigh/weighted_word_counts.h"

namespace {

using namespace weigh;
using namespace weigh::tests;

void the_logarithm_is_accurate() {
    for (double x = 1e-300; x < 1e300; x *= 1.37) {
        const double expected = std::log(x);
        EXPECT(std::abs(natural_log(x) - expected) <= 5e-16 * std::abs(expected));
    }
}

void sums_equal_a_map(Random& random, std::size_t n) {
    const TermWeighting weighting{n % 2 == 0, n % 3 == 0 ? Norm::none : n % 3 == 1 ? Norm::l1 : Norm::l2};
    const WeightedCountSettings settings{random_settings(random), n % 4 == 0 ? 8u : 0u, weighting};
    const std::vector<std::int64_t> identity{0, 1};
    WeightedWordCounts whole(settings);
    std::map<std::pair<std::string, std::size_t>, std::int64_t> sums;
    std::map<std::string, double> documents;
    for (std::size_t part = 0; part < 3; ++part) {
        std::vector<std::optional<std::string>> texts;
        std::vector<std::int32_t> classes;
        for (std::size_t i = 0; i < n; ++i) {
            texts.emplace_back(random_text(random, below(random, 150)));
            classes.push_back(static_cast<std::int32_t>(below(random, 3)) - 1);
            if (classes.back() < 0) continue;
            std::map<std::string, double> counts;
            for (const auto& token : reference_tokens(*texts.back(), settings.tokens))
                ++counts[settings.buckets ? std::to_string(key_of(token, false).hash & (settings.buckets - 1)) : token];
            std::vector<double> values;
            for (const auto& [name, count] : counts) values.push_back(count);
            TermWeigher(weighting).weigh(values, {}, {});
            std::size_t at = 0;
            for (const auto& [name, count] : counts) {
                sums[{name, static_cast<std::size_t>(classes.back())}] += to_fixed_point(values[at++]);
                documents[name] += 1;
            }
        }
        const ExactTexts held(texts);
        WeightedWordCounts other(settings);
        (part == 0 ? whole : other).add(held.view(), classes, 2, {});
        if (part != 0) whole.merge(other, identity, 2);
    }
    const WeightedWordTable table = whole.table(identity);
    const Strings names = strings_of(table.names);
    EXPECT(names.size() == table.words && table.documents.size() == table.words);
    for (std::size_t k = 0; k < table.words; ++k) {
        const std::string name = settings.buckets ? std::to_string(k) : names[k];
        EXPECT(table.documents[k] == documents[name]);
        for (std::size_t c = 0; c < 2; ++c) EXPECT((table.sums.data()[c * table.words + k] == sums[{name, c}]));
    }
}

}  // namespace

int main() {
    Random random(5);
    the_logarithm_is_accurate();
    for (std::size_t n = 0; n < 40; ++n) sums_equal_a_map(random, n);
    return report();
}
