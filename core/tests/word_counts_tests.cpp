// Tests of token counts and scores against maps and sums, on random texts and bytes.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "texts.h"
#include "weigh/word_counts.h"

namespace {

using namespace weigh;
using namespace weigh::tests;

using Cells = std::map<std::pair<std::string, std::size_t>, double>;

struct Batch {
    std::vector<std::optional<std::string>> texts;
    std::vector<std::int32_t> classes;
    std::vector<double> weights;
};

Batch random_batch(Random& random, std::size_t rows, std::size_t classes, bool weighted) {
    Batch batch;
    for (std::size_t i = 0; i < rows; ++i) {
        batch.texts.emplace_back();
        if (below(random, 9) != 0) batch.texts.back() = random_text(random, below(random, 150));
        batch.classes.push_back(static_cast<std::int32_t>(below(random, classes + 1)) - 1);
        if (weighted) batch.weights.push_back(0.25 * static_cast<double>(below(random, 9)));
    }
    return batch;
}

void count_reference(Cells& cells, const Batch& batch, const CountSettings& settings,
                     std::span<const std::int64_t> places) {
    for (std::size_t i = 0; i < batch.texts.size(); ++i) {
        if (!batch.texts[i] || batch.classes[i] < 0) continue;
        std::set<std::string> seen;
        for (const auto& token : reference_tokens(*batch.texts[i], settings.tokens)) {
            const std::string bucket = std::to_string(key_of(token, false).hash & (settings.buckets - 1));
            const std::string& name = settings.buckets ? bucket : token;
            if (settings.presence && !seen.insert(name).second) continue;
            const auto c = static_cast<std::size_t>(places[static_cast<std::size_t>(batch.classes[i])]);
            cells[{name, c}] += batch.weights.empty() ? 1.0 : batch.weights[i];
        }
    }
}

void counts_equal_a_map(Random& random, std::size_t n) {
    CountSettings settings{random_settings(random), n % 3 == 0 ? 8u : 0u, n % 2 == 0};
    if (n % 5 == 0) settings.max_count = 128;
    const std::vector<std::int64_t> places{2, 0, 1}, identity{0, 1, 2};
    WordCounts whole(settings);
    Cells cells;
    for (std::size_t part = 0; part < 4; ++part) {
        const Batch batch = random_batch(random, n, 3, part == 1 && n % 4 == 0);
        const ExactTexts held(batch.texts);
        WordCounts other(settings);
        WordCounts& counts = part % 2 == 0 ? whole : other;
        counts.add(held.view(), batch.classes, 3, batch.weights);
        if (part % 2 != 0) whole.merge(other, places, 3);
        count_reference(cells, batch, settings, part % 2 == 0 ? identity : places);
    }
    const WordTable table = whole.table(identity);
    const Strings names = strings_of(table.names);
    EXPECT(names.size() == table.words && (settings.buckets || std::is_sorted(names.begin(), names.end())));
    Cells found;
    const auto take = [&](const auto& cells) {
        for (std::size_t at = 0; at < 3 * table.words; ++at) {
            const std::size_t k = at % table.words, c = at / table.words;
            const auto count = static_cast<double>(cells.data()[at]);
            if (count != 0) found[{settings.buckets ? std::to_string(k) : names[k], c}] = count;
        }
    };
    std::visit(take, table.cells);
    std::erase_if(cells, [](const auto& cell) { return cell.second == 0; });
    EXPECT(found == cells);
}

void scores_equal_sums_over_sparse_rows(Random& random, std::size_t n) {
    const TokenSettings settings = random_settings(random);
    const Batch batch = random_batch(random, n, 1, false);
    const ExactTexts held(batch.texts);
    Vocabulary vocabulary(n % 2 == 0 ? 16 : 0);
    const CsrRows rows = find_or_add_tokens(held.view(), settings, vocabulary);
    const CsrRows again = find_tokens(held.view(), settings, vocabulary);
    EXPECT(rows.indptr == again.indptr && rows.indices == again.indices && rows.values == again.values);
    std::vector<double> table(vocabulary.size() * 2), scores(2 * n, 1.0);
    for (double& cell : table) cell = static_cast<double>(below(random, 9));
    score_tokens(held.view(), settings, vocabulary, table, 2, scores);
    for (std::size_t i = 0; i < n; ++i) {
        std::array<double, 2> expected{1.0, 1.0};
        const auto end = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < end; ++e)
            for (std::size_t c = 0; c < 2; ++c)
                expected[c] += rows.values[e] * table[2 * static_cast<std::size_t>(rows.indices[e]) + c];
        EXPECT(scores[2 * i] == expected[0] && scores[2 * i + 1] == expected[1]);
    }
}

}  // namespace

int main() {
    Random random(2);
    for (std::size_t n = 0; n < 60; ++n) {
        counts_equal_a_map(random, n);
        scores_equal_sums_over_sparse_rows(random, n);
    }
    return report();
}
