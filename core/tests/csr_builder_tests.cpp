// Tests of CSR building and name indexing against maps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "texts.h"
#include "weigh/csr_builder.h"
#include "weigh/name_indexer.h"

namespace {

using namespace weigh;
using namespace weigh::tests;

using Row = std::vector<std::pair<std::int32_t, double>>;

// One block in exactly sized memory, and its expected rows.
struct Block {
    Block(Random& random, std::size_t rows) : expected(rows) {
        const std::size_t width = 1 + below(random, 6);
        for (std::size_t k = 0; k < width; ++k) numbers.push_back(static_cast<std::int32_t>(k) - 1);
        std::shuffle(numbers.begin(), numbers.end(), random);
        part.form = std::vector{FeatureBlock::Form::codes, FeatureBlock::Form::column,
                                FeatureBlock::Form::entries}[below(random, 3)];
        switch (part.form) {
            case FeatureBlock::Form::codes: fill_codes(random); break;
            case FeatureBlock::Form::column: fill_column(random); break;
            case FeatureBlock::Form::entries: fill_entries(random);
        }
        numbers.shrink_to_fit();
        part.features = numbers;
    }
    Block(const Block&) = delete;

    void fill_codes(Random& random) {
        for (Row& row : expected) {
            codes.push_back(static_cast<std::int32_t>(below(random, numbers.size() + 1)) - 1);
            if (codes.back() < 0) continue;
            const std::int32_t number = numbers[static_cast<std::size_t>(codes.back())];
            if (number >= 0) row.emplace_back(number, 1.0);
        }
        codes.shrink_to_fit();
        part.codes = codes;
    }

    void fill_column(Random& random) {
        numbers.resize(1);
        for (Row& row : expected) {
            const std::size_t die = below(random, 5);
            const double value = die == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(die) - 1;
            if (!column.empty()) column.push_back(99);  // an element between those of the strided column
            column.push_back(value);
            if (numbers[0] >= 0 && !std::isnan(value) && value != 0) row.emplace_back(numbers[0], value);
        }
        column.shrink_to_fit();
        part.column = {column.data(), expected.size(), 2};
    }

    void fill_entries(Random& random) {
        const bool valued = below(random, 2);
        std::vector<std::int32_t> own(numbers.size());
        std::iota(own.begin(), own.end(), 0);
        for (Row& row : expected) {
            std::shuffle(own.begin(), own.end(), random);
            for (std::size_t k = below(random, own.size() + 1); k > 0; --k) {
                indices.push_back(own[k - 1]);
                const double value = valued ? static_cast<double>(below(random, 5)) - 2 : 1;
                if (valued) values.push_back(value);
                const std::int32_t number = numbers[static_cast<std::size_t>(own[k - 1])];
                if (number >= 0 && value != 0) row.emplace_back(number, value);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
        // Trailing entries that belong to no row are ignored.
        if (below(random, 2)) indices.push_back(0), valued ? values.push_back(7) : void();
        part.entries = {indptr, indices, values};
    }

    FeatureBlock part;
    std::vector<std::int32_t> numbers, codes, indices;
    std::vector<std::int64_t> indptr{0};
    std::vector<double> column, values;
    std::vector<Row> expected;
};

void rows_have_the_features_of_all_blocks(Random& random) {
    const std::size_t rows = below(random, 12);
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<FeatureBlock> parts;
    for (std::size_t size = below(random, 4); size > 0; --size) {
        blocks.push_back(std::make_unique<Block>(random, rows));
        parts.push_back(blocks.back()->part);
    }
    const CsrRows found = build_csr(rows, parts);
    EXPECT(found.indptr.size() == rows + 1 && found.indptr[0] == 0 && found.indices.size() == found.values.size());
    for (std::size_t i = 0; i < rows; ++i) {
        Row row, expected;
        for (auto e = static_cast<std::size_t>(found.indptr[i]); e < static_cast<std::size_t>(found.indptr[i + 1]); ++e)
            row.emplace_back(found.indices[e], found.values[e]);
        for (const auto& block : blocks)
            expected.insert(expected.end(), block->expected[i].begin(), block->expected[i].end());
        EXPECT(row == expected);
    }
}

std::string random_name(Random& random) {
    std::string name;
    for (std::size_t size = below(random, 20) == 0 ? 40 + below(random, 40) : below(random, 4); size > 0; --size)
        name += static_cast<char>('a' + below(random, 3));
    return name;
}

Names random_names(Random& random) {
    Names names;
    for (std::size_t size = below(random, 30); size > 0; --size) names.add(random_name(random));
    return names;
}

void names_are_indexed_by_first_appearance(Random& random) {
    NameIndexer indexer;
    std::map<std::string, std::int32_t> place;
    std::vector<std::string> in_order;
    for (int batch = 0; batch < 4; ++batch) {
        const Names names = random_names(random);
        const NamesView view{names.text, names.offsets};
        const bool grow = below(random, 3) != 0;
        const std::vector<std::int32_t> found = indexer.index(view, grow);
        for (std::size_t k = 0; k < view.size(); ++k) {
            const std::string name(view[k]);
            if (grow && place.emplace(name, static_cast<std::int32_t>(place.size())).second) in_order.push_back(name);
            const auto known = place.find(name);
            EXPECT(found[k] == (known == place.end() ? Vocabulary::kUnknown : known->second));
        }
        EXPECT(indexer.size() == place.size());
    }
    const Names report = indexer.names();
    const NamesView view{report.text, report.offsets};
    EXPECT(view.size() == in_order.size());
    for (std::size_t k = 0; k < view.size(); ++k) EXPECT(view[k] == in_order[k]);
}

// Reference for the name of a bucket: the shortest, on ties the one with the smallest hash.
struct Shortest {
    static constexpr std::size_t kBuckets = 8, kLongest = 63;

    static std::uint64_t hash(std::string_view name) { return key_of(name, false).hash; }
    static std::size_t bucket(std::string_view name) { return hash(name) & (kBuckets - 1); }

    void offer(std::string_view name) {
        std::string& best = names[bucket(name)];
        const auto rank = [](std::string_view name) { return std::pair(name.size(), hash(name)); };
        if (name.empty() || name.size() > kLongest) return;
        if (best.empty() || rank(name) < rank(best)) best = name;
    }

    Strings names = Strings(kBuckets);
};

void buckets_are_named_after_their_shortest_name(Random& random) {
    NameIndexer indexer(Shortest::kBuckets), other(Shortest::kBuckets);
    EXPECT(indexer.size() == Shortest::kBuckets);
    Shortest shortest;
    for (int batch = 0; batch < 6; ++batch) {
        const Names names = random_names(random);
        const NamesView view = view_of(names);
        const bool grow = below(random, 3) != 0;
        const std::vector<std::int32_t> found = (batch % 2 ? other : indexer).index(view, grow);
        for (std::size_t k = 0; k < view.size(); ++k) {
            EXPECT(static_cast<std::size_t>(found[k]) == Shortest::bucket(view[k]));
            if (grow) shortest.offer(view[k]);
        }
    }
    indexer.merge(other);
    EXPECT(strings_of(indexer.names()) == shortest.names);
}

void documents_become_rows_of_their_tokens(Random& random, std::size_t round) {
    const TokenSettings settings = random_settings(random);
    const std::size_t buckets = round % 2 ? Shortest::kBuckets : 0;
    NameIndexer indexer(buckets);
    Shortest shortest;
    for (int batch = 0; batch < 3; ++batch) {
        std::vector<std::optional<std::string>> texts;
        for (std::size_t rows = below(random, 4); rows > 0; --rows) {
            texts.emplace_back();
            if (below(random, 9) != 0) texts.back() = random_text(random, below(random, 100));
        }
        const ExactTexts held(texts);
        const CsrRows found = indexer.index_tokens(held.view(), settings);
        const Strings names = strings_of(indexer.names());
        EXPECT(found.indptr.size() == texts.size() + 1);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::map<std::string, double> counts, own;
            for (const auto& token : texts[i] ? reference_tokens(*texts[i], settings) : Strings()) {
                ++counts[buckets ? std::to_string(Shortest::bucket(token)) : token];
                shortest.offer(token);
            }
            for (auto e = static_cast<std::size_t>(found.indptr[i]); e < static_cast<std::size_t>(found.indptr[i + 1]);
                 ++e) {
                const auto number = static_cast<std::size_t>(found.indices[e]);
                EXPECT(number < indexer.size());
                EXPECT(own.emplace(buckets ? std::to_string(number) : names[number], found.values[e]).second);
            }
            EXPECT(own == counts);
        }
    }
    if (buckets) EXPECT(strings_of(indexer.names()) == shortest.names);
}

// The order within a row must not depend on earlier documents.
void tokens_of_a_row_are_in_order_of_first_appearance() {
    NameIndexer indexer;
    const ExactTexts first({"noon free money"}), second({"money free free noon free lunch"});
    TokenSettings settings;
    settings.min_n = settings.max_n = 1;
    settings.min_length = 2;
    EXPECT((indexer.index_tokens(first.view(), settings).indices == std::vector<std::int32_t>{0, 1, 2}));
    const CsrRows rows = indexer.index_tokens(second.view(), settings);
    EXPECT((rows.indices == std::vector<std::int32_t>{2, 1, 0, 3}));
    EXPECT((rows.values == std::vector<double>{1, 3, 1, 1}));
}

void items_are_compacted_in_order_of_first_use(Random& random) {
    const std::size_t size = 1 + below(random, 9);
    IndexCompactor compactor(std::vector<std::int32_t>(size, -1));
    std::vector<std::int32_t> expected(size, -1);
    std::int32_t next = 0;
    for (int batch = 0; batch < 4; ++batch) {
        std::vector<std::int32_t> items;
        for (std::size_t k = below(random, 12); k > 0; --k)
            items.push_back(static_cast<std::int32_t>(below(random, size)));
        const bool grow = below(random, 2);
        const std::vector<std::int32_t> found = compactor.compact(items, grow);
        for (std::size_t k = 0; k < items.size(); ++k) {
            std::int32_t& place = expected[static_cast<std::size_t>(items[k])];
            if (place < 0 && grow) place = next++;
            EXPECT(found[k] == place);
        }
        EXPECT(compactor.size() == static_cast<std::size_t>(next));
        EXPECT(std::equal(expected.begin(), expected.end(), compactor.mapping().begin(), compactor.mapping().end()));
        compactor = IndexCompactor({compactor.mapping().begin(), compactor.mapping().end()});
    }
}

}  // namespace

int main() {
    Random random(1);
    for (int round = 0; round < 5000; ++round) rows_have_the_features_of_all_blocks(random);
    for (int round = 0; round < 500; ++round) {
        names_are_indexed_by_first_appearance(random);
        buckets_are_named_after_their_shortest_name(random);
        items_are_compacted_in_order_of_first_use(random);
    }
    for (std::size_t round = 0; round < 2000; ++round) documents_become_rows_of_their_tokens(random, round);
    tokens_of_a_row_are_in_order_of_first_appearance();
    return report();
}
