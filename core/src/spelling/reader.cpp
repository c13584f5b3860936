#include "weigh/spelling/reader.h"

#include <algorithm>
#include <stdexcept>

namespace weigh::spelling {
namespace {

// Sequence numbers are hashed: plain subsampling would lose a word where two words alternate.
bool is_sampled(std::uint64_t number, std::uint64_t stride) { return mix(number) % stride == 0; }

template <class T>
void select_rows(std::vector<T>& values, const std::vector<std::size_t>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] = values[rows[i]];
    values.resize(rows.size());
}

}  // namespace

bool OccurrenceSample::accept_next() {
    const std::uint64_t number = n_seen_++;
    while (is_sampled(number, stride_)) {
        if (columns.members.size() < max_occurrences_) return true;
        halve(number);
    }
    return false;
}

void OccurrenceSample::halve(std::uint64_t n_seen) {
    std::vector<std::size_t> rows;
    std::size_t row = 0;
    for (std::uint64_t number = 0; number < n_seen; ++number) {
        if (!is_sampled(number, stride_)) continue;
        if (is_sampled(number, 2 * stride_)) rows.push_back(row);
        ++row;
    }
    stride_ *= 2;
    auto& [members, documents, at, begins, sizes, indptr, features] = columns;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int64_t begin = indptr[rows[i]], size = indptr[rows[i] + 1] - begin;
        std::copy_n(features.begin() + begin, size, features.begin() + end);
        indptr[i] = end;
        end += size;
    }
    select_rows(members, rows), select_rows(documents, rows), select_rows(at, rows);
    select_rows(begins, rows), select_rows(sizes, rows);
    indptr.resize(rows.size() + 1);
    indptr.back() = end;
    features.resize(static_cast<std::size_t>(end));
}

Reader::Reader(std::span<const std::vector<std::string>> sets, std::size_t window, std::size_t max_occurrences)
    : sets_(sets.size(), OccurrenceSample(max_occurrences)), contexts_(window) {
    for (std::size_t set = 0; set < sets.size(); ++set) {
        for (std::size_t i = 0; i < sets[set].size(); ++i) {
            std::int32_t& code = codes_.code(sets[set][i], false);
            if (code != Dictionary::kNew) throw std::invalid_argument("a word is in the sets twice: " + sets[set][i]);
            code = static_cast<std::int32_t>(members_.size());
            members_.push_back({set, static_cast<std::int32_t>(i)});
        }
    }
}

std::int64_t Reader::read(std::string_view chunk, const ChunkPosition& position) {
    paragraph_.clear();
    matches_.clear();
    std::int64_t words = 0;
    Token token;
    for (TokenScanner tokens(chunk); tokens.next(token);) {
        if (token.kind == Kind::paragraph) {
            end_paragraph(chunk, position);
            continue;
        }
        if (token.kind == Kind::word) check_word(token, chunk, words++);
        paragraph_.push_back(token);
    }
    end_paragraph(chunk, position);
    return words;
}

void Reader::check_word(const Token& word, std::string_view chunk, std::int64_t at) {
    const std::string_view name = name_of(word, scratch_);
    const std::int32_t code = codes_.find(key_of(name, false), name);
    if (code == Dictionary::kNew || is_part_of_compound(chunk, word.raw)) return;
    matches_.push_back({paragraph_.size(), members_[static_cast<std::size_t>(code)], at});
}

void Reader::end_paragraph(std::string_view chunk, const ChunkPosition& position) {
    for (const Match& match : matches_) {
        OccurrenceSample& sample = sets_[match.member.set];
        if (!sample.accept_next()) continue;
        const std::string_view raw = paragraph_[match.token].raw;
        OccurrenceColumns& to = sample.columns;
        contexts_.add(paragraph_, match.token, to.features);
        to.indptr.push_back(static_cast<std::int64_t>(to.features.size()));
        to.members.push_back(match.member.number);
        to.documents.push_back(position.document);
        to.at.push_back(position.words + match.at);
        to.begins.push_back(position.begin + (raw.data() - chunk.data()));
        to.sizes.push_back(static_cast<std::int32_t>(raw.size()));
    }
    matches_.clear();
    paragraph_.clear();
}

}  // namespace weigh::spelling
