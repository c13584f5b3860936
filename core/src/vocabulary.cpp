#include "weigh/vocabulary.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bucket_names.h"
#include "token_rows.h"

namespace weigh {
namespace {

// The first eight bytes as an integer with the same order.
std::uint64_t prefix_of(std::string_view name) {
    std::uint64_t prefix = 0;
    for (std::size_t at = 0; at < 8; ++at)
        prefix = prefix << 8 | (at < name.size() ? static_cast<unsigned char>(name[at]) : 0);
    return prefix;
}

template <class Builder>
CsrRows find_known(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary,
                   Builder& rows) {
    return build_rows(documents, settings, rows, [&](std::span<const Token> tokens, Builder& builder) {
        for (const Token& token : tokens) vocabulary.prefetch(token.key);
        for (const Token& token : tokens)
            if (const std::int32_t index = vocabulary.find(token); index != Vocabulary::kUnknown)
                builder.add(index, token.value);
    });
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
    // Two passes, because the table is unordered: sizes first, then the bytes of every name.
    Names names;
    names.offsets.assign(dictionary_.size() + 1, 0);
    dictionary_.for_each([&](std::string_view name, std::int32_t code) {
        names.offsets[static_cast<std::size_t>(code) + 1] = static_cast<std::int64_t>(name.size());
    });
    std::partial_sum(names.offsets.begin(), names.offsets.end(), names.offsets.begin());
    names.text.resize(static_cast<std::size_t>(names.offsets.back()));
    dictionary_.for_each([&](std::string_view name, std::int32_t code) {
        name.copy(names.text.data() + names.offsets[static_cast<std::size_t>(code)], name.size());
    });
    return names;
}

std::vector<std::int32_t> argsort_names(NamesView names) {
    struct Entry {
        std::uint64_t prefix;
        std::int32_t index;
    };
    std::vector<Entry> entries(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) entries[k] = {prefix_of(names[k]), static_cast<std::int32_t>(k)};
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        return names[static_cast<std::size_t>(a.index)] < names[static_cast<std::size_t>(b.index)];
    });
    std::vector<std::int32_t> order(entries.size());
    std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& entry) { return entry.index; });
    return order;
}

Names take_names(NamesView names, std::span<const std::int32_t> order) {
    Names result;
    result.offsets.reserve(order.size() + 1);
    for (const std::int32_t index : order) result.add(names[static_cast<std::size_t>(index)]);
    return result;
}

MergedNames merge_names(NamesView first, NamesView second) {
    MergedNames result;
    result.first.reserve(first.size());
    result.second.reserve(second.size());
    for (std::size_t a = 0, b = 0; a < first.size() || b < second.size();) {
        const auto position = static_cast<std::int64_t>(result.names.offsets.size() - 1);
        const bool takes_first = b == second.size() || (a < first.size() && first[a] <= second[b]);
        const bool takes_second = a == first.size() || (b < second.size() && second[b] <= first[a]);
        result.names.add(takes_first ? first[a] : second[b]);
        if (takes_first) result.first.push_back(position), ++a;
        if (takes_second) result.second.push_back(position), ++b;
    }
    return result;
}

Names select_shorter_names(NamesView first, NamesView second) {
    Names names;
    for (std::size_t k = 0; k < first.size(); ++k) {
        const auto rank = [](std::string_view name) {
            return BucketNames::rank(key_of(name, false).hash, name.size());
        };
        names.add(rank(first[k]) >= rank(second[k]) ? first[k] : second[k]);
    }
    return names;
}

CsrRows find_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary) {
    SortedRowBuilder rows(documents.rows());
    return find_known(documents, settings, vocabulary, rows);
}

CsrRows find_unsorted_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary) {
    FirstSeenRowBuilder rows;
    return find_known(documents, settings, vocabulary, rows);
}

CsrRows find_or_add_tokens(const Documents& documents, const TokenSettings& settings, Vocabulary& vocabulary) {
    SortedRowBuilder rows(documents.rows());
    return build_rows(documents, settings, rows, [&](std::span<const Token> tokens, SortedRowBuilder& builder) {
        for (const Token& token : tokens) vocabulary.prefetch(token.key);
        for (const Token& token : tokens)
            builder.add(static_cast<std::int32_t>(vocabulary.find_or_add(token)), token.value);
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
            const std::int32_t index = vocabulary.find(token);
            if (index == Vocabulary::kUnknown) continue;
            const double* weights = table.data() + static_cast<std::size_t>(index) * classes;
            for (std::size_t c = 0; c < classes; c += 8) __builtin_prefetch(weights + c);
            found.push_back({weights, token.value});
        }
        for (const auto& [weights, value] : found)
            for (std::size_t c = 0; c < classes; ++c) row_scores[c] += value * weights[c];
    };
    for (std::size_t row = 0; row < documents.rows(); ++row, row_scores += classes)
        tokenizer.for_each_token(documents, row, take);
}

}  // namespace weigh
