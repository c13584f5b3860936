#include "weigh/spelling/reader.h"

#include <algorithm>
#include <stdexcept>

namespace weigh::spelling {
namespace {

// Numbers are mixed: every second one as it is would lose a word of a text in which two words alternate.
bool is_taken(std::uint64_t number, std::uint64_t stride) { return mix(number) % stride == 0; }

template <class T>
void keep_rows(std::vector<T>& values, const std::vector<std::size_t>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] = values[rows[i]];
    values.resize(rows.size());
}

}  // namespace

bool Kept::takes_next() {
    const std::uint64_t number = met_++;
    while (is_taken(number, stride_)) {
        if (columns.members.size() < most_) return true;
        thin(number);
    }
    return false;
}

void Kept::thin(std::uint64_t met) {
    std::vector<std::size_t> rows;
    std::size_t row = 0;
    for (std::uint64_t number = 0; number < met; ++number) {
        if (!is_taken(number, stride_)) continue;
        if (is_taken(number, 2 * stride_)) rows.push_back(row);
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
    keep_rows(members, rows), keep_rows(documents, rows), keep_rows(at, rows);
    keep_rows(begins, rows), keep_rows(sizes, rows);
    indptr.resize(rows.size() + 1);
    indptr.back() = end;
    features.resize(static_cast<std::size_t>(end));
}

Reader::Reader(std::span<const std::vector<std::string>> sets, std::size_t window, std::size_t most)
    : sets_(sets.size(), Kept(most)), contexts_(window) {
    for (std::size_t set = 0; set < sets.size(); ++set) {
        for (std::size_t i = 0; i < sets[set].size(); ++i) {
            std::int32_t& code = codes_.code(sets[set][i], false);
            if (code != Dictionary::kNew) throw std::invalid_argument("a word is in the sets twice: " + sets[set][i]);
            code = static_cast<std::int32_t>(members_.size());
            members_.push_back({set, static_cast<std::int32_t>(i)});
        }
    }
}

std::int64_t Reader::read(std::string_view piece, const Place& place) {
    paragraph_.clear();
    found_.clear();
    std::int64_t words = 0;
    Token token;
    for (Tokens tokens(piece); tokens.next(token);) {
        if (token.kind == Kind::paragraph) {
            end_paragraph(piece, place);
            continue;
        }
        if (token.kind == Kind::word) look_at(token, piece, words++);
        paragraph_.push_back(token);
    }
    end_paragraph(piece, place);
    return words;
}

void Reader::look_at(const Token& word, std::string_view piece, std::int64_t at) {
    const std::string_view name = name_of(word, scratch_);
    const std::int32_t code = codes_.find(key_of(name, false), name);
    if (code == Dictionary::kNew || is_joined(piece, word.raw)) return;
    found_.push_back({paragraph_.size(), members_[static_cast<std::size_t>(code)], at});
}

void Reader::end_paragraph(std::string_view piece, const Place& place) {
    for (const Found& found : found_) {
        Kept& kept = sets_[found.member.set];
        if (!kept.takes_next()) continue;
        const std::string_view raw = paragraph_[found.token].raw;
        Columns& to = kept.columns;
        contexts_.add(paragraph_, found.token, to.features);
        to.indptr.push_back(static_cast<std::int64_t>(to.features.size()));
        to.members.push_back(found.member.number);
        to.documents.push_back(place.document);
        to.at.push_back(place.words + found.at);
        to.begins.push_back(place.begin + (raw.data() - piece.data()));
        to.sizes.push_back(static_cast<std::int32_t>(raw.size()));
    }
    found_.clear();
    paragraph_.clear();
}

}  // namespace weigh::spelling
