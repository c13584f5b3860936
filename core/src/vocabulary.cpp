#include "weigh/vocabulary.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bucket_names.h"
#include "token_rows.h"

namespace weigh {
namespace {

// The first eight bytes as a number that compares like them.
std::uint64_t prefix_of(std::string_view name) {
    std::uint64_t prefix = 0;
    for (std::size_t at = 0; at < 8; ++at)
        prefix = prefix << 8 | (at < name.size() ? static_cast<unsigned char>(name[at]) : 0);
    return prefix;
}

}  // namespace

bool Vocabulary::add_all(NamesView names) {
    dictionary_.reserve(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        std::int32_t& code = dictionary_.code(names[k], false);
        if (code != Dictionary::kNew) return false;
        code = static_cast<std::int32_t>(k);
    }
    return true;
}

Names Vocabulary::names() const {
    // Two passes, because the table is in no order: sizes first, then every name in its place.
    Names names;
    names.offsets.assign(dictionary_.size() + 1, 0);
    dictionary_.each([&](std::string_view name, std::int32_t code) {
        names.offsets[static_cast<std::size_t>(code) + 1] = static_cast<std::int64_t>(name.size());
    });
    std::partial_sum(names.offsets.begin(), names.offsets.end(), names.offsets.begin());
    names.text.resize(static_cast<std::size_t>(names.offsets.back()));
    dictionary_.each([&](std::string_view name, std::int32_t code) {
        name.copy(names.text.data() + names.offsets[static_cast<std::size_t>(code)], name.size());
    });
    return names;
}

std::vector<std::int32_t> sorted_order(NamesView names) {
    struct Entry {
        std::uint64_t prefix;
        std::int32_t number;
    };
    std::vector<Entry> entries(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) entries[k] = {prefix_of(names[k]), static_cast<std::int32_t>(k)};
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        return names[static_cast<std::size_t>(a.number)] < names[static_cast<std::size_t>(b.number)];
    });
    std::vector<std::int32_t> order(entries.size());
    std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& entry) { return entry.number; });
    return order;
}

Names taken(NamesView names, std::span<const std::int32_t> order) {
    Names result;
    result.offsets.reserve(order.size() + 1);
    for (const std::int32_t number : order) result.add(names[static_cast<std::size_t>(number)]);
    return result;
}

MergedNames merged(NamesView first, NamesView second) {
    MergedNames result;
    result.first.reserve(first.size());
    result.second.reserve(second.size());
    for (std::size_t a = 0, b = 0; a < first.size() || b < second.size();) {
        const auto place = static_cast<std::int64_t>(result.names.offsets.size() - 1);
        const bool takes_first = b == second.size() || (a < first.size() && first[a] <= second[b]);
        const bool takes_second = a == first.size() || (b < second.size() && second[b] <= first[a]);
        result.names.add(takes_first ? first[a] : second[b]);
        if (takes_first) result.first.push_back(place), ++a;
        if (takes_second) result.second.push_back(place), ++b;
    }
    return result;
}

Names shorter(NamesView first, NamesView second) {
    Names names;
    for (std::size_t k = 0; k < first.size(); ++k) {
        const auto rank = [](std::string_view name) {
            return BucketNames::rank(key_of(name, false).hash, name.size());
        };
        names.add(rank(first[k]) >= rank(second[k]) ? first[k] : second[k]);
    }
    return names;
}

TokenRows find_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary) {
    RowBuilder rows(documents.rows());
    return rows_of(documents, settings, rows, [&](std::span<const Token> tokens, RowBuilder& builder) {
        for (const Token& token : tokens) vocabulary.prefetch(token.key);
        for (const Token& token : tokens)
            if (const std::int32_t number = vocabulary.find(token); number != Vocabulary::kUnknown)
                builder.add(number, token.value);
    });
}

TokenRows learn_tokens(const Documents& documents, const TokenSettings& settings, Vocabulary& vocabulary) {
    RowBuilder rows(documents.rows());
    return rows_of(documents, settings, rows, [&](std::span<const Token> tokens, RowBuilder& builder) {
        for (const Token& token : tokens) vocabulary.prefetch(token.key);
        for (const Token& token : tokens) builder.add(static_cast<std::int32_t>(vocabulary.number(token)), token.value);
    });
}

void score_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary,
                  std::span<const double> table, std::size_t classes, std::span<double> scores) {
    Tokenizer tokenizer(settings);
    std::vector<std::pair<const double*, double>> found;
    double* row_scores = scores.data();
    const Tokenizer::Consume take = [&](std::span<const Token> tokens) {
        for (const Token& token : tokens) vocabulary.prefetch(token.key);
        found.clear();
        for (const Token& token : tokens) {
            const std::int32_t number = vocabulary.find(token);
            if (number == Vocabulary::kUnknown) continue;
            const double* weights = table.data() + static_cast<std::size_t>(number) * classes;
            for (std::size_t c = 0; c < classes; c += 8) __builtin_prefetch(weights + c);
            found.push_back({weights, token.value});
        }
        for (const auto& [weights, value] : found)
            for (std::size_t c = 0; c < classes; ++c) row_scores[c] += value * weights[c];
    };
    for (std::size_t row = 0; row < documents.rows(); ++row, row_scores += classes)
        tokenizer.each(documents, row, take);
}

}  // namespace weigh
