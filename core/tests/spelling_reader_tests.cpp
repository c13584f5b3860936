// Tests of the context reader: features, sampling, and arbitrary bytes.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "texts.h"
#include "weigh/spelling/reader.h"

namespace {

namespace spelling = weigh::spelling;
using weigh::tests::below;
using weigh::tests::Strings;

const std::vector<Strings> kSets{{"its", "it's"}, {"a", "\u00E9"}, {"a_b", "a7", "aa"}};
constexpr std::size_t kAll = 1 << 20;

Strings context(const spelling::Reader& reader, std::size_t set, std::size_t i) {
    const spelling::OccurrenceColumns& columns = reader.set(set).columns;
    const Strings names = weigh::tests::strings_of(reader.names());
    Strings found;
    for (std::int64_t at = columns.indptr[i]; at < columns.indptr[i + 1]; ++at)
        found.push_back(names[static_cast<std::size_t>(columns.features[static_cast<std::size_t>(at)])]);
    return found;
}

void contexts_have_the_expected_features() {
    spelling::Reader reader(kSets, 2, kAll);
    EXPECT(reader.read("No. The Dogs shook It\u2019s own own tail", {7, 100, 1000}) == 8);
    EXPECT(context(reader, 0, 0) == (Strings{"before:shook", "after:own", "before:dogs shook", "after:own own",
                                             "around:shook _ own", "before2:dogs", "after2:own", "ending-before:ook",
                                             "capital", "near:shook", "near:dogs", "near:own"}));
    const spelling::OccurrenceColumns& columns = reader.set(0).columns;
    EXPECT(columns.members == std::vector<std::int32_t>{1});
    EXPECT(columns.documents == std::vector<std::int32_t>{7});
    EXPECT(columns.at == std::vector<std::int64_t>{104});
    EXPECT(columns.begins == std::vector<std::int64_t>{1019});
    EXPECT(columns.sizes == std::vector<std::int32_t>{6});
    EXPECT(reader.set(1).columns.members.empty());
}

void contexts_end_at_paragraphs_and_chunks() {
    spelling::Reader reader(kSets, 6, kAll);
    reader.read("x\n\nits\n\ny", {});
    reader.read("its", {});
    for (const std::size_t i : {0, 1})
        EXPECT(context(reader, 0, i) ==
               (Strings{"before:\u00B6", "after:\u00B6", "before:\u00B6 \u00B6", "after:\u00B6 \u00B6",
                        "around:\u00B6 _ \u00B6", "before2:\u00B6", "after2:\u00B6"}));
}

void parts_of_compounds_are_counted_but_not_sampled() {
    spelling::Reader reader(kSets, 6, kAll);
    EXPECT(reader.read("its-own its", {}) == 3);
    EXPECT(reader.set(0).columns.at == std::vector<std::int64_t>{2});
}

std::vector<std::int32_t> taken_of(std::int32_t count, std::uint64_t stride) {
    std::vector<std::int32_t> taken;
    for (std::int32_t n = 0; n < count; ++n)
        if (weigh::mix(static_cast<std::uint64_t>(n)) % stride == 0) taken.push_back(n);
    return taken;
}

void a_full_sample_is_halved() {
    for (const std::size_t max_occurrences : {1, 2, 3, 8}) {
        spelling::Reader reader(kSets, 6, max_occurrences);
        for (std::int32_t n = 0; n < 50; ++n) {
            reader.read("w" + std::to_string(n) + " its", {n, 0, 0});
            const spelling::OccurrenceSample& kept = reader.set(0);
            EXPECT(kept.columns.documents == taken_of(n + 1, kept.stride()));
            EXPECT(kept.columns.documents.size() <= max_occurrences);
            EXPECT(kept.stride() == 1 || taken_of(n + 1, kept.stride() / 2).size() > max_occurrences);
            for (std::size_t i = 0; i < kept.columns.documents.size(); ++i)
                EXPECT(context(reader, 0, i)[0] == "before:w" + std::to_string(kept.columns.documents[i]));
        }
    }
}

void alternating_words_are_both_sampled() {
    spelling::Reader reader(kSets, 6, 64);
    for (int n = 0; n < 1000; ++n) reader.read("its it's", {});
    const std::vector<std::int32_t>& members = reader.set(0).columns.members;
    const auto first = std::count(members.begin(), members.end(), 0);
    EXPECT(first > 8 && static_cast<std::size_t>(first) + 8 < members.size());
}

void a_word_in_two_sets_is_rejected() {
    bool refused = false;
    try {
        spelling::Reader(std::vector<Strings>{{"its"}, {"it", "its"}}, 6, kAll);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    EXPECT(refused);
}

void arbitrary_bytes_are_read(Random& random) {
    for (int round = 0; round < 2000; ++round) {
        spelling::Reader reader(kSets, below(random, 8), 2 + below(random, 5));
        for (int piece = 0; piece < 4; ++piece) {
            const std::string made = weigh::tests::random_text(random, below(random, 200));
            const std::vector<char> bytes(made.begin(), made.end());
            const std::int64_t words = reader.read({bytes.data(), bytes.size()}, {piece, 0, 0});
            EXPECT(words >= 0 && words <= static_cast<std::int64_t>(bytes.size()));
        }
        const auto names = static_cast<std::int32_t>(reader.names().offsets.size()) - 1;
        for (std::size_t set = 0; set < reader.size(); ++set) {
            const spelling::OccurrenceColumns& columns = reader.set(set).columns;
            EXPECT(columns.indptr.size() == columns.members.size() + 1);
            EXPECT(columns.indptr.back() == static_cast<std::int64_t>(columns.features.size()));
            for (const std::int32_t feature : columns.features) EXPECT(feature >= 0 && feature < names);
        }
    }
}

}  // namespace

int main() {
    Random random(1);
    contexts_have_the_expected_features();
    contexts_end_at_paragraphs_and_chunks();
    parts_of_compounds_are_counted_but_not_sampled();
    a_full_sample_is_halved();
    alternating_words_are_both_sampled();
    a_word_in_two_sets_is_rejected();
    arbitrary_bytes_are_read(random);
    return report();
}
