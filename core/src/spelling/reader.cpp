#include "weigh/spelling/reader.h"

#include <algorithm>
#include <stdexcept>

namespace weigh::spelling {
namespace {

template <class T>
void halve_all(std::vector<T>& values) {
    for (std::size_t i = 0; 2 * i < values.size(); ++i) values[i] = values[2 * i];
    values.resize((values.size() + 1) / 2);
}

}  // namespace

bool Kept::takes_next() {
    const std::uint64_t number = met_++;
    if (number % stride_ != 0) return false;
    if (columns.members.size() < most_) return true;
    halve();
    return number % stride_ == 0;
}

void Kept::halve() {
    stride_ *= 2;
    auto& [members, documents, at, begins, sizes, indptr, features] = columns;
    std::int64_t end = 0;
    for (std::size_t row = 0; row < members.size(); row += 2) {
        const std::int64_t begin = indptr[row], size = indptr[row + 1] - begin;
        std::copy_n(features.begin() + begin, size, features.begin() + end);
        indptr[row / 2] = end;
        end += size;
    }
    halve_all(members), halve_all(documents), halve_all(at), halve_all(begins), halve_all(sizes);
    indptr.resize(members.size() + 1);
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
